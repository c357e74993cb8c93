/**
 * The rule for every input and result of a step: it is JSON by its schema, and it is no secret. A step and a body always get the value
 * decoded from the JSON, so that a result that is read later equals the first.
 */
import * as SchemaProblem from "@signalbox/transport/SchemaProblem"
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { FlowDefect } from "../../FlowDefect.ts"
import * as Envelope from "./Envelope.ts"
import { InvalidInput, InvalidSignal, RecordUnreadable, type UnreadableValue } from "../../FlowErrors.ts"

/** A schema that needs no services to encode or decode. */
export type Codec = Schema.ConstraintCodec<unknown, unknown, never, never>

/** The largest result, in bytes of JSON. */
export const maxResultBytes = 1_000_000

const utf8 = new TextEncoder()

/** Returns the size of a value as JSON, in bytes. */
export const jsonBytes = (json: Schema.Json): number => utf8.encode(JSON.stringify(json)).length

const codecs = memoize((schema: Codec) => {
  const codec = Schema.toCodecJson(schema)
  return { encode: Schema.encodeUnknownEffect(codec), decode: Schema.decodeUnknownEffect(codec) }
})

/** Returns the encoder and decoder of a schema, built once. */
const codecOf = <S extends Codec>(schema: S) =>
  // `memoize` loses the type of the schema that was passed.
  codecs(schema) as {
    readonly encode: (value: unknown) => Effect.Effect<Schema.Json, Schema.SchemaError>
    readonly decode: (json: unknown) => Effect.Effect<S["Type"], Schema.SchemaError>
  }

const childrenOf = (value: object): Iterable<unknown> =>
  value instanceof Map || value instanceof Set ? value : Array.isArray(value) ? value : Object.values(value)

const holdsSecret = (value: unknown): boolean => {
  const seen = new Set<unknown>()
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (!Predicate.isObjectOrArray(next) || ArrayBuffer.isView(next) || seen.has(next)) continue
    if (Redacted.isRedacted(next)) return true
    seen.add(next)
    for (const child of childrenOf(next)) waiting.push(child)
  }
  return false
}

const refuse = (message: string) => Effect.die(new FlowDefect({ message }))

/** Why a value cannot be recorded. */
interface Unfit {
  /** The field; empty for the value as a whole. */
  readonly path: string
  readonly expected: string
  /** With all that does not fit. */
  readonly message: string
}

const unfitOf = (error: Schema.SchemaError): Unfit => {
  const { field: path, message: expected } = SchemaProblem.first(error)
  return { path, expected, message: error.message }
}

const reserved: Unfit = { path: "", expected: Envelope.reserved, message: Envelope.reserved }

/** Returns a value as JSON, and decoded from that; `invalid` decides what happens when it cannot be recorded. */
const recordOr = Effect.fnUntraced(function* <S extends Codec, E>(
  schema: S,
  value: S["Type"],
  what: string,
  invalid: (unfit: Unfit) => Effect.Effect<never, E>
) {
  if (holdsSecret(value)) {
    return yield* refuse(
      `${what} contains a Redacted: values that flows record must not be secret. Read the secret inside a step`
    )
  }
  const { decode, encode } = codecOf(schema)
  const json = yield* Effect.catch(encode(value), (error) => invalid(unfitOf(error)))
  if (Envelope.isSealed(json)) return yield* invalid(reserved)
  const decoded = yield* Effect.catch(decode(json), (error) => invalid(unfitOf(error)))
  return { json, value: decoded }
})

/** Returns a value as JSON, and decoded from that. `what` names it in the message of the defect. */
export const record = <S extends Codec>(schema: S, value: S["Type"], what: string) =>
  recordOr(schema, value, what, ({ message }) => refuse(`${what} does not fit its schema: ${message}`))

const sizeHint = "store large data in a file or a work item"

const recordWithin = (instead: string) =>
  Effect.fnUntraced(function* <S extends Codec>(schema: S, value: S["Type"], what: string) {
    const recorded = yield* record(schema, value, what)
    const bytes = jsonBytes(recorded.json)
    if (bytes <= maxResultBytes) return recorded
    return yield* refuse(
      `${what} is ${bytes} bytes of JSON, more than ${maxResultBytes}: ${sizeHint} ${instead} its name or id`
    )
  })

/** Like `record`, with the size limit of results. */
export const recordResult = recordWithin("in the step and return")

/** Like `recordResult`, for what a body says of its execution. */
export const recordSaid = recordWithin("and say")

/** Like `recordResult`, for what a step records for its next attempt. */
export const recordDetails = recordWithin("and record")

/** Returns the JSON type of the value at a path. */
const typeAt = (json: Schema.Json, keys: ReadonlyArray<PropertyKey>): string => {
  let at: unknown = json
  for (const key of keys) at = Predicate.hasProperty(at, key) ? at[key] : undefined
  if (at === undefined) return "nothing"
  if (at === null) return "null"
  return Array.isArray(at) ? "array" : typeof at
}

const invalidInput = (flow: { readonly name: string }, { expected, path }: Unfit) =>
  new InvalidInput({ flow: flow.name, path, expected })

/** Like `record`, for the input with which a program starts a flow. */
export const recordInput = <I extends Codec>(flow: { readonly name: string; readonly input: I }, input: I["Type"]) =>
  recordOr(flow.input, input, `the input of the flow ${flow.name}`, (unfit) => Effect.fail(invalidInput(flow, unfit)))

/** Like `recordInput`, with the size limit of results. */
export const recordSubmitted = Effect.fnUntraced(function* <I extends Codec>(
  flow: { readonly name: string; readonly input: I },
  input: I["Type"]
) {
  const recorded = yield* recordInput(flow, input)
  const bytes = jsonBytes(recorded.json)
  if (bytes <= maxResultBytes) return recorded
  const expected = `Expected at most ${maxResultBytes} bytes of JSON, not ${bytes}: ${sizeHint} and pass its name or id`
  return yield* new InvalidInput({ flow: flow.name, path: "", expected })
})

/** Like `recordSubmitted`, for an input that came as JSON. */
export const readSubmitted = Effect.fnUntraced(function* <I extends Codec>(
  flow: { readonly name: string; readonly input: I },
  json: Schema.Json
) {
  const input = yield* Effect.mapError(codecOf(flow.input).decode(json), (error) => invalidInput(flow, unfitOf(error)))
  return yield* recordSubmitted(flow, input)
})

/** Like `record`, for a value that a program sends to an execution. */
export const recordSignal = <S extends Codec>(
  signal: { readonly name: string; readonly schema: S },
  value: S["Type"]
) =>
  recordOr(signal.schema, value, `the signal ${signal.name}`, ({ message }) =>
    Effect.fail(
      new InvalidSignal({
        signal: signal.name,
        message: `value: does not fit the signal ${signal.name}: ${message}`
      })
    )
  )

/** Dies, with the error as the cause, when an error does not fit its schema. */
export const checkError = <E extends Codec>(schema: E, error: E["Type"], what: string): Effect.Effect<void> =>
  Effect.catchDefect(Effect.asVoid(record(schema, error, `the error of ${what}`)), (defect) =>
    Effect.die(defect instanceof FlowDefect ? new FlowDefect({ message: defect.message, cause: error }) : defect)
  )

/** Decodes recorded JSON by its schema; dies when it does not fit. */
export const decodeRecorded = <S extends Codec>(schema: S, json: Schema.Json, what: string): Effect.Effect<S["Type"]> =>
  Envelope.isSealed(json)
    ? refuse(Envelope.cannotRead(what, json))
    : Effect.catch(codecOf(schema).decode(json), (error) => refuse(`${what} does not fit its schema: ${error.message}`))

const unreadableOf = (error: Schema.SchemaError, json: Schema.Json, what: string): UnreadableValue => {
  const { field: path, keys, message: expected } = SchemaProblem.first(error)
  return { what, path, expected, type: typeAt(json, keys) }
}

/** The sentence about a value that does not fit. */
const unreadable = ({ expected, path, type, what }: UnreadableValue): string =>
  `${what} does not fit its schema: ${path === "" ? "" : `${path}: `}${expected}, and ${type} is recorded`

/** Like `decodeRecorded`, for the record that an execution continues from: another build may be able to read it. */
export const readRecorded = <S extends Codec>(
  execution: string,
  schema: S,
  json: Schema.Json,
  what: string
): Effect.Effect<S["Type"]> =>
  Envelope.isSealed(json)
    ? Effect.die(Envelope.unreadable(execution, what, json))
    : Effect.catch(codecOf(schema).decode(json), (error) => {
        const value = unreadableOf(error, json, what)
        return Effect.die(new RecordUnreadable({ execution, message: unreadable(value), value }))
      })

/** Like `decodeRecorded`, for what may be lost: one that does not fit is logged. Null is none. */
export const readIfFits = <S extends Codec>(
  schema: S,
  json: Schema.Json,
  what: string
): Effect.Effect<Option.Option<S["Type"]>> => {
  const ignored = (why: string) => Effect.as(Effect.logWarning(`${why}; ignored`), Option.none<S["Type"]>())
  if (json === null) return Effect.succeedNone
  if (Envelope.isSealed(json)) return ignored(Envelope.cannotRead(what, json))
  return Effect.matchEffect(codecOf(schema).decode(json), {
    onFailure: (error) => ignored(unreadable(unreadableOf(error, json, what))),
    onSuccess: Effect.succeedSome
  })
}

/** Returns JSON with the members of objects sorted by name: equal values have equal texts. */
export const canonical = (json: Schema.Json): string => JSON.stringify(json, sorted)

const sorted = (_key: string, value: unknown): unknown =>
  Predicate.isObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value

/** Decodes recorded JSON by the current schema and encodes it again. Undefined when it does not fit. */
export const normalized = (schema: Codec, json: Schema.Json): Schema.Json | undefined => {
  const codec = Schema.toCodecJson(schema)
  const decoded = Schema.decodeUnknownExit(codec)(json)
  if (decoded._tag === "Failure") return undefined
  const encoded = Schema.encodeUnknownExit(codec)(decoded.value)
  return encoded._tag === "Failure" ? undefined : encoded.value
}
