/** Every module under its name. */
export * as Faults from "./Faults.ts"
export * as GraphSandbox from "./GraphSandbox.ts"
export * as Seed from "./Seed.ts"
export * as SeedFolder from "./SeedFolder.ts"
