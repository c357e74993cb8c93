export * from "@effect/platform-node/NodeRuntime"
