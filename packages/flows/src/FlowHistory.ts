/**
 * The history of one execution, exported: all that is recorded of it, what was set aside included.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { Entry, Execution, Message, Undo } from "./internal/management/Rows.ts"

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
  /** Of this form; another one is refused. */
  format: Schema.Literal(1),
  execution: Execution,
  /** In the order in which they began. */
  entries: Schema.Array(Entry),
  /** What `retry` and `Flow.continueAs` have set aside, the oldest first. */
  aside: Schema.Array(Entry),
  undos: Schema.Array(Undo),
  /** Signals, messages of inboxes and commands, in the order of arrival. */
  messages: Schema.Array(Message),
  /** How often steps were to be done again after they had succeeded, by path: of all that `retry` has set aside. */
  redos: Redos
})
export interface FlowHistory extends Schema.Schema.Type<typeof FlowHistory> {}

/** What was read is no exported history; the message names the field. */
export class InvalidHistory extends Schema.TaggedError<InvalidHistory>()("InvalidHistory", {
  message: Schema.String
}) {}

const decodeJson = Schema.decodeUnknownEffect(FlowHistory)

/**
 * Reads an exported history from JSON, such as a file that `signalbox flows export` has written. Fails with
 * `InvalidHistory` when it is none, or is of another format.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 * import * as FlowHistory from "@signalbox/flows/FlowHistory"
 *
 * export const copied = (execution: string) =>
 *   FlowExecutions.history(execution).pipe(Effect.flatMap(FlowHistory.encode), Effect.flatMap(FlowHistory.decode))
 * ```
 */
export const decode = (json: unknown): Effect.Effect<FlowHistory, InvalidHistory> =>
  Effect.mapError(
    decodeJson(json),
    (error) => new InvalidHistory({ message: `this is no history of an execution in format 1: ${error.message}` })
  )

/** Writes an exported history as JSON. */
export const encode: (history: FlowHistory) => Effect.Effect<typeof FlowHistory.Encoded> = (history) =>
  Effect.orDie(Schema.encodeEffect(FlowHistory)(history))
