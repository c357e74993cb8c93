/**
 * States and feeds: what a flow says of itself while it runs, for programs and people that read it from outside.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { FlowContext } from "./FlowContext.ts"
import { FlowDefect } from "./FlowDefect.ts"
import { conceal, isSegment, Position, segment } from "./internal/body/Position.ts"
import type { Codec } from "./internal/model/Values.ts"

/** A value of an execution that its body sets, and that others read. */
export interface State<S extends Codec> {
  readonly kind: "state"
  readonly name: string
  readonly schema: S
  /**
   * Sets the value: JSON by the schema, at most 1 MB, without secrets. It is no step, so a body may set it a thousand times: it is
   * written with the next step or wait, and at the end. `key` distinguishes values of one state, in branches.
   */
  readonly set: (
    value: S["Type"],
    options?: { readonly key?: string | undefined }
  ) => Effect.Effect<void, never, FlowContext<never>>
}

/** A list of values to which a body and its steps append, and that others read. */
export interface Feed<S extends Codec> {
  readonly kind: "feed"
  readonly name: string
  readonly schema: S
  /** How many items it keeps. */
  readonly count: number
  /** How long it keeps them, in milliseconds; null: without a limit. */
  readonly ageMillis: number | null
  /**
   * Appends an item: JSON by the schema, at most 1 MB, without secrets. Written like a state; every item is. The `run` of a step may append
   * too: its items are written within a second, and those of failed attempts stay.
   */
  readonly append: (value: S["Type"]) => Effect.Effect<void>
}

/** A state or a feed of any type, in the `states` of a flow. */
export type AnyState = Omit<State<Codec>, "set"> | Omit<Feed<Codec>, "append">

export interface FeedOptions {
  /** How many items it keeps, 1 to 10,000; the oldest are deleted. Default: 1,000. */
  readonly count?: number | undefined
  /** How long it keeps them. Default: as long as the execution. */
  readonly age?: Duration.Input | undefined
}

const defaultCount = 1_000
const mostItems = 10_000
const longestName = 200

const invalid = (message: string) => new FlowDefect({ message })

const checkName = (kind: AnyState["kind"], name: string) => {
  if (isSegment(name) && name.length <= longestName) return
  throw invalid(
    `the name of the ${kind} ${JSON.stringify(name)} has 1 to ${longestName} characters, and no "/", "[", "]" or "#": put ` +
      "variable parts into the key of a state"
  )
}

/**
 * Defines a state: a current value of an execution, such as its progress. List it in the `states` of the flow. Programs read it with
 * `handle.state`, and follow it with `handle.watch`; neither wakes the execution. Throws a `FlowDefect` when the name is invalid.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const progress = Flow.state("progress", Schema.Finite)
 *
 * export const patient = Flow.make("patient", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.Void,
 *   error: Schema.Never,
 *   idempotencyKey: (id) => id,
 *   states: [progress],
 *   run: Effect.fnUntraced(function* () {
 *     yield* progress.set(0)
 *     yield* Flow.sleep("first half", "1 hour")
 *     yield* progress.set(50)
 *     yield* Flow.sleep("second half", "1 hour")
 *   })
 * })
 *
 * export const progressOf = (id: string) =>
 *   Effect.flatMap(Flow.handle(patient, id), (handle) => handle.state(progress))
 * ```
 */
export const state = <S extends Codec>(name: string, schema: S): State<S> => {
  checkName("state", name)
  return {
    kind: "state",
    name,
    schema,
    set: (value, { key } = {}) =>
      conceal(
        Effect.flatMap(Position, ({ interpreter }) =>
          interpreter.say(segment(name, key), { name, schema, value, keeps: null })
        )
      )
  }
}

/**
 * Defines a feed: a list of values of an execution, such as the lines that it has processed. List it in the `states` of the flow.
 * Programs read it with `handle.feed`, and follow it with `handle.watch`. Throws a `FlowDefect` when an option is invalid.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * export const lines = Flow.feed("lines", Schema.String, {
 *   count: 100,
 *   age: "1 day"
 * })
 * ```
 */
export const feed = <S extends Codec>(
  name: string,
  schema: S,
  { age, count = defaultCount }: FeedOptions = {}
): Feed<S> => {
  checkName("feed", name)
  if (!Number.isInteger(count) || count < 1 || count > mostItems) {
    throw invalid(`the feed ${name}: count is 1 to ${mostItems}, not ${count}`)
  }
  const ageMillis = age === undefined ? null : Duration.toMillis(Duration.fromInputUnsafe(age))
  if (ageMillis !== null && !(ageMillis > 0)) throw invalid(`the feed ${name}: age is longer than 0`)
  const keeps = { count, ageMillis: ageMillis === Infinity ? null : ageMillis }
  return {
    kind: "feed",
    name,
    schema,
    ...keeps,
    append: (value) =>
      Effect.flatMap(Position, ({ interpreter }) => interpreter.say(name, { name, schema, value, keeps }))
  }
}

/** Throws a `FlowDefect` when two states or feeds of a flow have one name. */
export const checkStates = (flow: string, states: ReadonlyArray<AnyState>): ReadonlyArray<AnyState> => {
  const names = states.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw invalid(`the flow ${flow} lists two states or feeds with the name ${twice}`)
  return states
}
