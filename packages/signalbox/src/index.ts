/** Every module under its name, and those of the packages that a program begins with. `vitest` stands apart. */
export * from "@signalbox/api"
export * from "@signalbox/flows"
export * from "@signalbox/worker"
export * as Embedded from "./Embedded.ts"
export * as ListenError from "./ListenError.ts"
export * as Mounted from "./Mounted.ts"
export * as Testing from "./Testing.ts"
