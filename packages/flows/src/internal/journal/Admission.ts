/**
 * The admission of queued executions, over the rows of the journal.
 *
 * Executions with the same version and keys are in one lane. A refused lane is blocked at the bucket that refused it, and skipped
 * until that bucket has room; the others take turns. So the cost depends on the number of admitted executions, not on the length of
 * the queue. Invariant: no lane is blocked at a bucket that has room.
 */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Admitted, Execution, FlowVersion, Limit } from "../model/Execution.ts"
import { type Bucket, empty, indexOf, openOf, taken, verdictOf } from "../model/Limits.ts"
import { bucketOf } from "./sql/Lanes.ts"

export interface Lane {
  readonly lane: string
  readonly keys: ReadonlyArray<string | null>
  /** Increments with each execution that is queued in it: a lane whose stamp has changed is not empty. */
  readonly stamp: number
}

export interface Rate {
  readonly bucket: string
  readonly recoveredAt: number
  readonly wakesAt: number | null
}

/** The writes of an admission. */
export interface Saved {
  readonly slots: ReadonlyArray<{ readonly bucket: string; readonly execution: string }>
  /** The lanes that were checked: their next turn, and the bucket that refused them. */
  readonly lanes: ReadonlyArray<{ readonly lane: string; readonly turn: number; readonly blocked: string | null }>
  readonly emptied: ReadonlyArray<Pick<Lane, "lane" | "stamp">>
  /** Buckets with a rate; `wakesAt` is when that of a key admits again, for the lanes blocked at it. */
  readonly rates: ReadonlyArray<Rate>
}

/** The rows of one flow, while no other admission of the flow runs. */
export interface Rows {
  /** Locks and returns the limits of the flow and its last turn; null: it has none. */
  readonly limits: Effect.Effect<{ readonly limits: ReadonlyArray<Limit>; readonly turns: number } | null, SqlError>
  /** Releases the slots of ended executions, and returns their buckets. */
  readonly release: Effect.Effect<ReadonlyArray<string>, SqlError>
  /** Returns the buckets of keys whose rate admits again. */
  readonly recovered: Effect.Effect<ReadonlyArray<string>, SqlError>
  readonly load: (buckets: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Bucket>, SqlError>
  /** Unblocks the first lanes that are blocked at buckets; returns how many. */
  readonly unblock: (
    buckets: ReadonlyArray<{ readonly bucket: string; readonly most: number }>
  ) => Effect.Effect<number, SqlError>
  /** Returns the first lanes of the version that are not blocked, in their turns. */
  readonly lanes: (most: number) => Effect.Effect<ReadonlyArray<Lane>, SqlError>
  /** Returns the first executions of lanes, in their order. */
  readonly heads: (
    lanes: ReadonlyArray<{ readonly lane: string; readonly most: number }>
  ) => Effect.Effect<ReadonlyArray<{ readonly lane: string; readonly id: string }>, SqlError>
  /** Claims those that are still queued. `holds`: whether they hold slots until they end. */
  readonly begin: (ids: ReadonlyArray<string>, holds: boolean) => Effect.Effect<ReadonlyArray<Execution>, SqlError>
  readonly save: (saved: Saved, turns: number) => Effect.Effect<void, SqlError>
  /** Returns when the rate of a key that refused an execution admits again. */
  readonly next: Effect.Effect<number | null, SqlError>
}

/** The numbers of lanes that are checked together, at least and at most. */
const fewest = 20
const largest = 100
/** A pass without an admission ends after so many rounds, so that others can run. */
const mostRounds = 50

const nothing: Admitted = { executions: [], more: false, next: null }

export const admit = Effect.fnUntraced(function* (
  rows: Rows,
  { flow }: FlowVersion,
  most: number,
  now: number
): Effect.fn.Return<Admitted, SqlError> {
  const known = yield* rows.limits
  if (known === null) return nothing
  const { limits } = known
  // The turn of a lane is the time when it was last served, or created.
  let turns = Math.max(known.turns, now)
  const holds = limits.some(({ concurrency }) => concurrency !== null)
  const buckets = new Map<string, Bucket>()
  const executions: Array<Execution> = []
  const bucketsOf = (keys: ReadonlyArray<string | null>, isWanted: (limit: Limit) => boolean) =>
    limits.flatMap((limit, index) => {
      const key = keys[index]
      // An execution that was queued before this limit was added is not limited by it.
      return key === undefined || !isWanted(limit) ? [] : [{ limit, name: bucketOf(flow, index, limit, key) }]
    })
  const common = bucketsOf(
    limits.map(() => null),
    ({ keyed }) => !keyed
  )
  const load = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
    const missing = [...new Set(names)].filter((name) => !buckets.has(name))
    if (missing.length === 0) return
    const found = yield* rows.load(missing)
    for (const name of missing) buckets.set(name, found.get(name) ?? empty)
  })
  const bucket = (name: string): Bucket => buckets.get(name) ?? empty
  const openIn = (name: string): number => {
    const limit = limits[indexOf(name)]
    return limit === undefined ? largest : openOf(limit, bucket(name), now, largest)
  }

  const hasRate = limits.some(({ rate }) => rate !== null)
  const isCommonFull = () => common.some(({ limit, name }) => verdictOf(limit, bucket(name), now)._tag !== "Admitted")

  let freed = new Set(yield* rows.release)
  if (hasRate) for (const name of yield* rows.recovered) freed.add(name)
  yield* load(common.map(({ name }) => name))
  let more = false
  let isFirst = true
  let hasOthers = true
  for (let round = 0; ; round++) {
    yield* load([...freed])
    const woken = [...freed].map((name) => ({ bucket: name, most: openIn(name) })).filter(({ most }) => most > 0)
    freed = new Set()
    const unblocked = woken.length === 0 ? 0 : yield* rows.unblock(woken)
    if (!isFirst && !hasOthers && unblocked === 0) break
    isFirst = false
    const room = common.reduce((least, { limit, name }) => openOf(limit, bucket(name), now, least), most)
    if (room === 0) break
    more = executions.length === most || round === mostRounds
    if (more) break
    const left = Math.min(room, most - executions.length)
    const asked = Math.min(Math.max(left, fewest), largest)
    const lanes = yield* rows.lanes(asked)
    if (lanes.length === 0) break
    const share = Math.min(Math.ceil(left / lanes.length), largest)
    const heads = Map.groupBy(yield* rows.heads(lanes.map(({ lane }) => ({ lane, most: share }))), ({ lane }) => lane)
    yield* load(lanes.flatMap(({ keys }) => bucketsOf(keys, ({ keyed }) => keyed).map(({ name }) => name)))

    const begun: Array<{ readonly id: string; readonly names: ReadonlyArray<string> }> = []
    const turned = new Map<string, { readonly turn: number; readonly blocked: string | null }>()
    const rates = new Map<string, Limit>()
    /** Admits one more execution of a lane, unless one of its keys refuses it. */
    const take = (lane: string, keys: Lane["keys"], id: string) => {
      const own = bucketsOf(keys, ({ keyed }) => keyed)
      for (const { limit, name } of own) {
        const verdict = verdictOf(limit, bucket(name), now)
        if (verdict._tag === "Admitted") continue
        if (verdict._tag === "TooSoon") rates.set(name, limit)
        turned.set(lane, { turn: ++turns, blocked: name })
        // Another lane may use the room that this one cannot.
        for (const other of own) if (other.name !== name) freed.add(other.name)
        return
      }
      turned.set(lane, { turn: ++turns, blocked: null })
      const all = [...common, ...own]
      for (const { limit, name } of all) {
        buckets.set(name, taken(limit, bucket(name), now))
        if (limit.rate !== null) rates.set(name, limit)
      }
      begun.push({ id, names: all.flatMap(({ limit, name }) => (limit.concurrency === null ? [] : [name])) })
    }
    for (let n = 0; n < share; n++) {
      for (const { keys, lane } of lanes) {
        if (begun.length === left || isCommonFull()) break
        const head = heads.get(lane)?.[n]
        if (head !== undefined && (turned.get(lane)?.blocked ?? null) === null) take(lane, keys, head.id)
      }
    }
    const isBegun = new Set(begun.map(({ id }) => id))
    const emptied = lanes.filter(({ lane }) => {
      const there = heads.get(lane) ?? []
      return there.length < share && there.every(({ id }) => isBegun.has(id))
    })
    for (const { keys } of emptied) for (const { name } of bucketsOf(keys, ({ keyed }) => keyed)) freed.add(name)
    const isEmpty = new Set(emptied.map(({ lane }) => lane))
    hasOthers =
      lanes.length === asked ||
      lanes.some(({ lane }) => !isEmpty.has(lane) && (turned.get(lane)?.blocked ?? null) === null)

    const claimed = begun.length === 0 ? [] : yield* rows.begin([...isBegun], holds)
    const isClaimed = new Set(claimed.map(({ id }) => id))
    executions.push(...claimed)
    const saved: Saved = {
      slots: begun.flatMap(({ id, names }) =>
        isClaimed.has(id) ? names.map((name) => ({ bucket: name, execution: id })) : []
      ),
      lanes: [...turned].flatMap(([lane, one]) => (isEmpty.has(lane) ? [] : [{ lane, ...one }])),
      emptied,
      rates: [...rates].map(([name, limit]) => {
        const verdict = verdictOf(limit, bucket(name), now)
        const wakesAt = limit.keyed && verdict._tag === "TooSoon" ? verdict.at : null
        return { bucket: name, recoveredAt: bucket(name).recoveredAt, wakesAt }
      })
    }
    yield* rows.save(saved, turns)
  }
  const times = common.flatMap(({ limit, name }) => {
    const verdict = verdictOf(limit, bucket(name), now)
    return verdict._tag === "TooSoon" ? [verdict.at] : []
  })
  const next = hasRate ? yield* rows.next : null
  return { executions, more, next: next === null && times.length === 0 ? null : Math.min(next ?? Infinity, ...times) }
})
