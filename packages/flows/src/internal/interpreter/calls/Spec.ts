/**
 * A step or a wait as the body called it, and its entry in the record.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Numbered, Place } from "../../body/Position.ts"
import type { Entry, EntryKind } from "../../model/Execution.ts"
import { canonical, type Codec, normalized } from "../../model/Values.ts"
import type { Kept } from "../state/Saying.ts"

/** The end of an attempt of a step. */
export type End =
  | { readonly _tag: "Succeeded"; readonly json: Schema.Json }
  | {
      readonly _tag: "Failed"
      readonly json: Schema.Json
      readonly cause: Cause.Cause<unknown>
      /** Milliseconds until the next attempt; null for none. */
      readonly retryMillis: number | null
    }
  | { readonly _tag: "Died"; readonly cause: Cause.Cause<unknown> }

/** How the code of an attempt says how far it is. */
export interface Report {
  /** What earlier attempts recorded last; null: nothing. */
  readonly details: Schema.Json
  /** Records details for later attempts. */
  readonly record: (details: Schema.Json) => void
  readonly append: (feed: Kept, value: Schema.Json) => Effect.Effect<void>
}

export interface AttemptInfo {
  readonly attempt: number
  /** Whether the external event of the step has happened. */
  readonly awaited: boolean
  /** Since the first attempt began. */
  readonly elapsedMillis: () => number
  readonly report: Report
}

export interface Spec extends Place {
  readonly kind: EntryKind
  readonly input: Schema.Json
  readonly inputSchema: Codec | null
  /** The name and key of a signal. */
  readonly address: string
  /** The deadline of a wait; null for none. */
  readonly dueMillis: number | null
  readonly subject: string | null
  readonly repeatable: boolean
  /** Whether its start is published as an event. */
  readonly announced: boolean
  /** Runs when the start of a wait is recorded. */
  readonly recorded: Effect.Effect<void>
  readonly numbered: Numbered | null
  readonly attempt: (info: AttemptInfo) => Effect.Effect<End>
  readonly resultOf: (entry: Entry) => Effect.Effect<unknown, unknown>
}

const never: Spec["attempt"] = () => Effect.never

/** Creates a wait: nothing runs until it ends. */
export const wait = (place: Place, kind: EntryKind, more: Partial<Spec> & Pick<Spec, "resultOf">): Spec => ({
  ...place,
  kind,
  input: null,
  inputSchema: null,
  address: "",
  dueMillis: null,
  subject: null,
  repeatable: true,
  announced: true,
  recorded: Effect.void,
  numbered: null,
  attempt: never,
  ...more
})

/** Creates an entry that is not recorded yet. */
export const newEntry = (
  { input, kind, name, path, subject }: Pick<Spec, "path" | "name" | "kind" | "input" | "subject">,
  redo: number
): Entry => ({
  path,
  attempt: 1,
  redo,
  name,
  kind,
  input,
  state: "running",
  value: null,
  failure: null,
  begun: 0,
  ended: null,
  startedAt: 0,
  endedAt: null,
  due: null,
  subject,
  host: null
})

/** Whether the recorded input equals that of this call, by the current schema. */
export const sameInput = ({ input, inputSchema }: Spec, recorded: Entry): boolean => {
  const today = canonical(input)
  if (canonical(recorded.input) === today) return true
  const read = inputSchema === null ? undefined : normalized(inputSchema, recorded.input)
  return read !== undefined && canonical(read) === today
}

/** Whether an entry is work, not a wait. */
export const isWork = ({ kind }: Pick<Entry, "kind">): boolean => kind === "step" || kind === "child"

/** Whether an entry has a result or an error for the body. */
export const isEnd = ({ state }: Entry): boolean => state === "succeeded" || state === "failed"
