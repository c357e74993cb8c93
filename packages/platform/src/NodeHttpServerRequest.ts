export * from "@effect/platform-node/NodeHttpServerRequest"
