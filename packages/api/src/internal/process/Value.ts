/**
 * A process as a value.
 */
import * as Predicate from "effect/Predicate"
import type { ProcessDefinition } from "../../contract/Processes.ts"
import type { InputOf, OutputOf, Steps } from "./Chain.ts"
import type { Codec } from "./Codec.ts"

export const TypeId = "~@signalbox/api/Process"

/** A process: a name, steps, and the schemas of its payloads and of its outputs. `make` creates it. */
export interface Process<out Name extends string = string, out S extends Steps = Steps> {
  readonly [TypeId]: typeof TypeId
  readonly name: Name
  readonly description: string | null
  readonly steps: S
  /** The schema of its payloads: the input of the first step. */
  readonly input: InputOf<S>
  /** The schema of its outputs: the output of the last step. */
  readonly output: OutputOf<S>
  /** The payload, decoded, of a run that is started without input; undefined: one empty work item. */
  readonly defaultWorkItem: { readonly payload: InputOf<S>["Type"] } | undefined
  /** Its schemas as functions over JSON. */
  readonly codec: Codec
  /** Whether the service refuses payloads that the first step does not take. */
  readonly checkPayloads: boolean
  /** After how many failures in a row it is paused; undefined: never. */
  readonly pauseAfterFailures: number | undefined
  /** How many items are in hand at a time in all its steps, and how many attempts begin in a time; undefined: no limit. */
  readonly concurrency: ProcessDefinition["concurrency"]
  readonly rate: ProcessDefinition["rate"]
  /** Pointers to secret fields besides those of the schema, and whether files are secret with them; undefined: none, and they are. */
  readonly sensitive: ProcessDefinition["sensitive"]
  readonly sensitiveFiles: boolean | undefined
}

/** The names of the steps of a process. */
export type StepName<P extends Process> = P["steps"][number]["name"]

/** Whether a value, such as one that a module exports, is a process that `make` created. */
export const isProcess = (value: unknown): value is Process => Predicate.hasProperty(value, TypeId)
