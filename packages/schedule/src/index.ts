/** Every module under its name. */
export * as Definition from "./Definition.ts"
export * as Due from "./Due.ts"
export * as Occurrences from "./Occurrences.ts"
