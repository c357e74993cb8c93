export * from "@effect/platform-node/NodeServices"
