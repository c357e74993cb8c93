export * from "@effect/platform-node/NodeHttpServer"
