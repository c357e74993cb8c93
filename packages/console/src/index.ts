/** The console of a control room. */
export * as Files from "./Files.ts"
