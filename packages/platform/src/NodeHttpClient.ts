export * from "@effect/platform-node/NodeHttpClient"
