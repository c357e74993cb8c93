/**
 * The rule for every value that goes into or comes out of a step: it is JSON by its schema, and it is no secret. What a
 * step and a body get is always what the JSON decodes to, so that a result read back later is no other than the first.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { FlowDefect } from "../FlowDefect.ts"

/** A schema that needs no services to encode or decode. */
export type Codec = Schema.ConstraintCodec<unknown, unknown, never, never>

/** The largest result, in bytes of JSON. */
export const maxResultBytes = 1_000_000

/** Bytes of a value as JSON. */
export const jsonBytes = (json: Schema.Json): number => new TextEncoder().encode(JSON.stringify(json)).length

const childrenOf = (value: object): Iterable<unknown> =>
  value instanceof Map || value instanceof Set ? value : Array.isArray(value) ? value : Object.values(value)

const holdsSecret = (value: unknown): boolean => {
  const seen = new Set<unknown>()
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== "object" || next === null || ArrayBuffer.isView(next) || seen.has(next)) continue
    if (Redacted.isRedacted(next)) return true
    seen.add(next)
    for (const child of childrenOf(next)) waiting.push(child)
  }
  return false
}

const refuse = (message: string) => Effect.die(new FlowDefect({ message }))

/** A value as JSON, and as it comes back from JSON. `what` names it in the message of the defect. */
export const record = Effect.fnUntraced(function* <S extends Codec>(schema: S, value: S["Type"], what: string) {
  if (holdsSecret(value)) {
    return yield* refuse(
      `${what} holds a Redacted: what flows record must not be secret. Read the secret inside a step`
    )
  }
  const codec = Schema.toCodecJson(schema)
  const invalid = (error: Schema.SchemaError) => refuse(`${what} does not fit its schema: ${error.message}`)
  const json = yield* Effect.catch(Schema.encodeEffect(codec)(value), invalid)
  const decoded = yield* Effect.catch(Schema.decodeEffect(codec)(json), invalid)
  return { json, value: decoded }
})

/** `record`, for results: they have a largest size. */
export const recordResult = Effect.fnUntraced(function* <S extends Codec>(schema: S, value: S["Type"], what: string) {
  const recorded = yield* record(schema, value, what)
  const bytes = jsonBytes(recorded.json)
  if (bytes <= maxResultBytes) return recorded
  return yield* refuse(
    `${what} is ${bytes} bytes of JSON, more than ${maxResultBytes}: store large data in a file or a work item in the ` +
      "step and return its name or id"
  )
})

/** Dies, with the error as the cause, when an error is not one that its schema takes. */
export const checkError = <E extends Codec>(schema: E, error: E["Type"], what: string): Effect.Effect<void> =>
  Effect.catchDefect(Effect.asVoid(record(schema, error, `the error of ${what}`)), (defect) =>
    Effect.die(defect instanceof FlowDefect ? new FlowDefect({ message: defect.message, cause: error }) : defect)
  )

/** What was recorded as JSON, by its schema; dies when it does not fit. */
export const decodeRecorded = <S extends Codec>(schema: S, json: Schema.Json, what: string): Effect.Effect<S["Type"]> =>
  Effect.catch(Schema.decodeEffect(Schema.toCodecJson(schema))(json), (error) =>
    refuse(`${what} does not fit its schema: ${error.message}`)
  )
