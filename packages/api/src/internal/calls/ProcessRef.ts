/** Of which process something is. */
import * as Predicate from "effect/Predicate"
import type { ProcessId } from "../../contract/Ids.ts"

/** A process, by its id or by an object that has it, such as the process itself. */
export type ProcessRef = ProcessId | { readonly id: ProcessId }

/** The process as the service expects it. What programs without types give instead stays, and is refused by the schema. */
export const processOf = (process: ProcessRef): { readonly id: ProcessId } => {
  if (typeof process === "string") return { id: process }
  return Predicate.isObject(process) ? { id: process.id } : process
}

/** A definition with its process as the service expects it. */
export const withProcess = <D extends { readonly process: ProcessRef }>(definition: D) => ({
  ...definition,
  process: processOf(definition.process)
})
