/**
 * What executions say of themselves, decoded by the states and feeds of their flow.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { AnyState, Feed, State } from "../../States.ts"
import { segment } from "../body/Position.ts"
import type { Journal } from "../journal/Journal.ts"
import { nameOf } from "../model/Path.ts"
import { type Codec, decodeRecorded } from "../model/Values.ts"

interface Said {
  readonly name: string
  readonly kind: "state" | "feed"
  readonly value: Schema.Json
}

const defaultLimit = 100
/** The largest page. */
export const mostItems = 1_000

/** Returns how many items a page has. */
export const sizeOf = (limit: number = defaultLimit) => Math.min(Math.max(Math.trunc(limit), 1), mostItems)

/** Returns the state or feed of what was said; undefined when the flow lists it no more. */
const listed = (states: ReadonlyArray<AnyState>, { kind, name }: Said) =>
  states.find((one) => one.kind === kind && one.name === (kind === "state" ? nameOf(name) : name))

/** Decodes a value; returns none when the flow lists its state or feed no more. */
export const decoded = Effect.fnUntraced(function* <S extends Said>(states: ReadonlyArray<AnyState>, said: S) {
  const state = listed(states, said)
  if (state === undefined) return []
  const value: unknown = yield* decodeRecorded(state.schema, said.value, `the ${said.kind} ${said.name}`)
  return [{ ...said, value }]
})

/** Returns the value of a state. */
export const stateOf = Effect.fnUntraced(function* <S extends Codec>(
  journal: Journal["Service"],
  execution: string,
  { name, schema }: State<S>,
  key: string | undefined
) {
  const address = segment(name, key)
  const row = yield* journal.state(execution, address)
  if (row === null) return Option.none<S["Type"]>()
  return Option.some(yield* decodeRecorded(schema, row.value, `the state ${address}`))
})

/** Returns items of a feed, without those that are too old for it. */
export const itemsOf = Effect.fnUntraced(function* <S extends Codec>(
  journal: Journal["Service"],
  execution: string,
  { ageMillis, name, schema }: Feed<S>,
  page: { readonly after: number | null; readonly limit: number }
) {
  const oldest = ageMillis === null ? -Infinity : (yield* journal.now) - ageMillis
  const rows = (yield* journal.feed(execution, name, page)).filter(({ at }) => at >= oldest)
  return yield* Effect.forEach(rows, ({ at, number: cursor, value }) =>
    Effect.map(decodeRecorded(schema, value, `an item of the feed ${name}`), (value) => ({ cursor, value, at }))
  )
})
