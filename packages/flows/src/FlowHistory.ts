/**
 * The exported history of one execution: its record since the last `Flow.continueAs`, discarded entries included, and a summary of
 * each chapter before.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { Chapter, Entry, Execution, Message, Undo } from "./internal/management/Wire.ts"

const Redos = Schema.Record(Schema.String, Schema.Finite).pipe(
  Schema.decodeTo(
    Schema.instanceOf(Map<string, number>),
    SchemaTransformation.transform({
      decode: (record) => new Map(Object.entries(record)),
      encode: (map: Map<string, number>) => Object.fromEntries(map)
    })
  )
)

/** An exported history. As JSON its times are in ISO 8601 and its names have underscores. */
export const FlowHistory = Schema.Struct({
  /** The version of the format; others are refused. */
  format: Schema.Literal(1),
  execution: Execution,
  /** In the order in which they began. */
  entries: Schema.Array(Entry),
  /** Entries that `retry` discarded since the last `Flow.continueAs`, the oldest first. */
  aside: Schema.Array(Entry),
  undos: Schema.Array(Undo),
  /** Signals, messages of inboxes and commands, in the order of arrival. */
  messages: Schema.Array(Message),
  /** How often each step is repeated although it had succeeded, by path: from all entries that `retry` discarded. */
  redos: Redos,
  /** What remains of the chapters that `Flow.continueAs` has ended, the oldest first: at most the last 1,000. */
  chapters: Schema.Array(Chapter).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  /** Whether the values are withheld, because the token that exported it is not for `values`. Nothing can be checked against it. */
  withheld: Schema.optionalKey(Schema.Boolean)
})
export interface FlowHistory extends Schema.Schema.Type<typeof FlowHistory> {}

/** The value is no exported history; the message names the field. */
export class InvalidHistory extends TaggedError<InvalidHistory>()("InvalidHistory", {
  message: Schema.String
}) {}

const decodeJson = Schema.decodeUnknownEffect(FlowHistory)

/**
 * Decodes an exported history from JSON, such as the output of `signalbox flows export`. Fails with `InvalidHistory` when it is
 * not one, or has another format.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 * import * as FlowHistory from "@signalbox/flows/FlowHistory"
 *
 * export const copied = (execution: string) =>
 *   FlowExecutions.history(execution).pipe(
 *     Effect.flatMap(FlowHistory.encode),
 *     Effect.flatMap(FlowHistory.decode)
 *   )
 * ```
 */
export const decode = (json: unknown): Effect.Effect<FlowHistory, InvalidHistory> =>
  Effect.mapError(
    decodeJson(json),
    (error) => new InvalidHistory({ message: `not a history of an execution in format 1: ${error.message}` })
  )

/** Encodes an exported history as JSON. */
export const encode: (history: FlowHistory) => Effect.Effect<typeof FlowHistory.Encoded> = (history) =>
  Effect.orDie(Schema.encodeEffect(FlowHistory)(history))
