export * from "@effect/platform-node/Undici"
