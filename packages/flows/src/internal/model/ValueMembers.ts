/**
 * Where the record of an execution has values: what is encrypted at rest, and withheld from those who may not see it. A new member with a
 * value is added here.
 */
import type * as Schema from "effect/Schema"
import type { Failure } from "../../FlowEvents.ts"
import type { Entry, NewMessage, Undo } from "./Execution.ts"
import type { Answer, Said } from "./Said.ts"

/** The place of a value in its execution. */
export type Place = ReadonlyArray<string | number>

export interface Conversion {
  readonly value: (json: Schema.Json, place: Place) => Schema.Json
  /** Messages and stacks of failures have values in them. */
  readonly failure: (failure: Failure, place: Place) => Failure
}

/** The members of an execution with values, of which some may be missing. */
type Values = { readonly [K in "input" | "result" | "error"]?: Schema.Json | undefined } & {
  readonly failure?: Failure | null | undefined
}

/** Returns how all values that belong to an execution are converted. */
export const converter = ({ failure, value }: Conversion) => {
  const failureAt = (one: Failure | null, ...place: Place) =>
    one === null ? null : failure(one, [...place, "failure"])
  return {
    /** Members that are not there stay away. */
    execution: <A extends Values>(all: A): A => {
      const converted: { -readonly [K in keyof Values]: Values[K] } = {}
      if (all.input !== undefined) converted.input = value(all.input, ["input"])
      if (all.result !== undefined) converted.result = value(all.result, ["result"])
      if (all.error !== undefined) converted.error = value(all.error, ["error"])
      if (all.failure !== undefined) converted.failure = failureAt(all.failure)
      return { ...all, ...converted }
    },
    entry: (one: Entry): Entry => {
      const place = [one.path, one.attempt, one.redo]
      const converted = {
        ...one,
        input: value(one.input, [...place, "input"]),
        value: value(one.value, [...place, "value"]),
        failure: failureAt(one.failure, ...place)
      }
      if (one.details !== undefined) converted.details = value(one.details, [...place, "details"])
      return converted
    },
    undo: (one: Undo): Undo => ({ ...one, failure: failureAt(one.failure, one.path, one.redo, "undo") }),
    message: <M extends NewMessage>(one: M): M => ({
      ...one,
      value: value(one.value, [one.kind, one.name, one.id, "message"])
    }),
    /** A state, or an item of a feed. */
    said: <S extends Said>(one: S): S => ({
      ...one,
      value: value(one.value, [one.kind, one.name, one.number, "said"])
    }),
    /** An answer to a request. The digest of an input that can be guessed would say which one it was. */
    answer: <A extends Pick<Answer, "name" | "id" | "value" | "asked">>(one: A): A => {
      const asked = value(one.asked ?? null, [one.name, one.id, "asked"])
      const answered = { ...one, value: value(one.value, [one.name, one.id, "answer"]) }
      return typeof asked === "string" ? { ...answered, asked } : answered
    },
    /** The result of a step that was committed with its rows. */
    transaction: (json: Schema.Json, scope: string): Schema.Json => value(json, [scope, "transaction"])
  }
}
