export * from "@effect/platform-node/NodeFileSystem"
