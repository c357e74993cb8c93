/**
 * What executions say of themselves, by their ids: the values of their states, and the items of their feeds, as JSON. `Flow.handle` has
 * the same, typed by the flow. Reading wakes no execution.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { FlowEngine } from "./FlowEngine.ts"
import { ExecutionNotFound } from "./FlowErrors.ts"
import { seen } from "./internal/operate/Seeing.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"
import { follow } from "./internal/engine/Following.ts"
import { asCall, ofEngine } from "./internal/journal/Calling.ts"
import type { Said } from "./internal/model/Said.ts"
import { mostItems, sizeOf } from "./internal/operate/SaidValues.ts"

/** An item of a feed, or a value of a state. */
export interface Item {
  /** Counts what the execution has said, from 1: reading continues after it. */
  readonly cursor: number
  /** That of the state or feed; for a state with its key as in `progress[a]`. */
  readonly name: string
  readonly kind: "state" | "feed"
  readonly value: Schema.Json
  /** When it was said: milliseconds since 1970. */
  readonly at: number
}

export interface ReadOptions {
  /** The cursor after which reading begins. */
  readonly after?: number | undefined
  /** The largest number of items, 1 to 1,000; default 100. */
  readonly limit?: number | undefined
}

export interface NextOptions extends ReadOptions {
  /** How long to wait when there is nothing yet; default: not at all. */
  readonly wait?: Duration.Input | undefined
}

/** What an execution has said after a cursor. */
export interface ItemPage {
  readonly items: ReadonlyArray<Item>
  /** The `after` of the next page. */
  readonly cursor: number
  /** Whether the execution has ended, and has said nothing more. */
  readonly ended: boolean
}

/** How long a stream waits for the next page. */
const waitOfStream = "1 minute"

const toItem = ({ number, ...said }: Said): Item => ({ cursor: number, ...said })

const exists = Effect.fnUntraced(function* (execution: string) {
  const { engine } = yield* engineOf
  if ((yield* engine.journal.find(execution)) === null) return yield* new ExecutionNotFound({ execution })
  return engine.journal
})

/** Returns the values of all states of an execution, in the order in which they were set. Fails with `ExecutionNotFound`. */
export const states = Effect.fn("FlowStates.states")(function* (
  execution: string
): Effect.fn.Return<ReadonlyArray<Item>, ExecutionNotFound, FlowEngine> {
  const journal = yield* exists(execution)
  return (yield* journal.states(execution)).map((yield* seen).said).map(toItem)
}, asCall)

/** Returns the names of the feeds of an execution that have items, in their order. Fails with `ExecutionNotFound`. */
export const feeds = Effect.fn("FlowStates.feeds")(function* (
  execution: string
): Effect.fn.Return<ReadonlyArray<string>, ExecutionNotFound, FlowEngine> {
  const journal = yield* exists(execution)
  return yield* journal.feeds(execution)
}, asCall)

/**
 * Returns items of a feed of an execution in their order: the first ones after a cursor, or without one the last ones. Fails with
 * `ExecutionNotFound`.
 */
export const feed = Effect.fn("FlowStates.feed")(function* (
  execution: string,
  name: string,
  { after = null, limit }: { readonly after?: number | null | undefined; readonly limit?: number | undefined } = {}
): Effect.fn.Return<ReadonlyArray<Item>, ExecutionNotFound, FlowEngine> {
  const journal = yield* exists(execution)
  const { said } = yield* seen
  return (yield* journal.feed(execution, name, { after, limit: sizeOf(limit) })).map(said).map(toItem)
}, asCall)

/** Reads a page, and waits while there is nothing and the execution has not ended. */
const read = Effect.fnUntraced(function* (execution: string, { after = 0, limit, wait = 0 }: NextOptions) {
  const { engine } = yield* engineOf
  const { journal } = engine
  const size = sizeOf(limit)
  const { said } = yield* seen
  const waitMillis = Duration.toMillis(Duration.fromInputUnsafe(wait))
  const page = yield* follow(engine, execution, waitMillis, (isOpen) =>
    Effect.map(journal.said(execution, after, size), (rows): ItemPage | null => {
      const ended = !isOpen && rows.length < size
      const cursor = rows.at(-1)?.number ?? after
      return rows.length > 0 || ended ? { items: rows.map(said).map(toItem), cursor, ended } : null
    })
  )
  if (page?.ended === true && page.items.length === 0) yield* exists(execution)
  return page ?? { items: [], cursor: after, ended: false }
})

/**
 * Returns what an execution has said after a cursor: of each state its last value, and the items of all feeds. Waits for it, if `wait`
 * says so, unless the execution has ended. Fails with `ExecutionNotFound`.
 */
export const next = Effect.fn("FlowStates.next")(
  (execution: string, options: NextOptions = {}): Effect.Effect<ItemPage, ExecutionNotFound, FlowEngine> =>
    read(execution, options),
  asCall
)

/**
 * Emits what an execution says, from a cursor on, until it has ended. It follows the execution through every process that runs it. A
 * state that is set more often than it is read is emitted with its last value; items of feeds are all emitted, unless their feed has
 * deleted them. Fails with `ExecutionNotFound`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 * import * as FlowStates from "@signalbox/flows/FlowStates"
 *
 * export const printed = (execution: string) =>
 *   Stream.runForEach(FlowStates.watch(execution), ({ name, value }) =>
 *     Effect.logInfo(name, value)
 *   )
 * ```
 */
export const watch = (
  execution: string,
  { after = 0 }: { readonly after?: number | undefined } = {}
): Stream.Stream<Item, ExecutionNotFound, FlowEngine> =>
  Stream.paginate(after, (cursor) =>
    Effect.map(
      ofEngine(read(execution, { after: cursor, limit: mostItems, wait: waitOfStream })),
      (page) => [page.items, page.ended ? Option.none<number>() : Option.some(page.cursor)] as const
    )
  )
