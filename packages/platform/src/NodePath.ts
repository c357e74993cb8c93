export * from "@effect/platform-node/NodePath"
