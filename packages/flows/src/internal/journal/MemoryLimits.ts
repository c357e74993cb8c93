/**
 * Limits of the journal in memory: the rows of `Admission.ts` as sorted lists.
 */
import * as Effect from "effect/Effect"
import { type Execution, type FlowVersion, hasEnded, type Limit, type QueuePlace } from "../Journal.ts"
import { type Bucket, type Names, namesOf, verdictOf } from "../Limits.ts"
import type { Lane, Rows, Saved } from "./Admission.ts"
import { compareTexts } from "./Common.ts"

/** Creates a sorted list with binary search. */
const sorted = <A>(compare: (a: A, b: A) => number) => {
  const items: Array<A> = []
  const indexOf = (item: A): number => {
    let [low, high] = [0, items.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const other = items[middle]
      if (other !== undefined && compare(other, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    items,
    indexOf,
    add: (item: A) => void items.splice(indexOf(item), 0, item),
    remove: (item: A) => {
      const index = indexOf(item)
      const there = items[index]
      if (there !== undefined && compare(there, item) === 0) items.splice(index, 1)
    }
  }
}
type Sorted<A> = ReturnType<typeof sorted<A>>

/** Returns the list of a name, creating it if it is missing. */
const listOf = <A>(lists: Map<string, Sorted<A>>, name: string, compare: (a: A, b: A) => number): Sorted<A> => {
  const list = lists.get(name) ?? sorted(compare)
  lists.set(name, list)
  return list
}

interface Member {
  readonly id: string
  readonly at: number
}
const byPlace = (a: Member, b: Member) => a.at - b.at || compareTexts(a.id, b.id)

interface LaneRow extends Lane, FlowVersion {
  stamp: number
  turn: number
  blocked: string | null
  readonly members: Sorted<Member>
}
const byTurn = (a: LaneRow, b: LaneRow) => a.turn - b.turn || compareTexts(a.lane, b.lane)

interface FlowRow {
  version: number
  limits: ReadonlyArray<Limit>
  turns: number
  readonly held: Map<string, Set<string>>
  readonly rates: Map<string, Saved["rates"][number]>
  /** Executions with slots that have ended or are queued again. */
  readonly over: Set<string>
}

const names: Names = namesOf((text) => text)
const mostHolders = 5
const isQueued = ({ limits, state }: Execution) => state === "queued" && limits.length > 0

export const make = () => {
  const flows = new Map<string, FlowRow>()
  const lanes = new Map<string, LaneRow>()
  /** Unblocked lanes by flow and version, and blocked ones by flow and bucket. */
  const ready = new Map<string, Sorted<LaneRow>>()
  const blocked = new Map<string, Sorted<LaneRow>>()
  const slots = new Map<string, ReadonlyArray<string>>()
  /** The number of lanes of each flow and version. */
  const counts = new Map<string, number>()
  const count = ({ flow, version }: FlowVersion, by: number) => {
    const name = JSON.stringify([flow, version])
    counts.set(name, (counts.get(name) ?? 0) + by)
  }

  const listFor = (lane: LaneRow): Sorted<LaneRow> =>
    lane.blocked === null
      ? listOf(ready, JSON.stringify([lane.flow, lane.version]), byTurn)
      : listOf(blocked, JSON.stringify([lane.flow, lane.blocked]), byTurn)
  const move = (lane: LaneRow, to: Partial<Pick<LaneRow, "turn" | "blocked">>) => {
    listFor(lane).remove(lane)
    Object.assign(lane, to)
    listFor(lane).add(lane)
  }

  const laneOf = (execution: Execution): LaneRow => {
    const lane = names.laneOf(execution, execution.limits)
    const there = lanes.get(lane)
    if (there !== undefined) return there
    const { flow, limits, queuedAt, version } = execution
    const turn = queuedAt ?? 0
    const made = { lane, flow, version, keys: limits, stamp: 0, turn, blocked: null, members: sorted(byPlace) }
    lanes.set(lane, made)
    count(execution, 1)
    listFor(made).add(made)
    return made
  }
  const memberOf = ({ id, queuedAt }: Execution): Member => ({ id, at: queuedAt ?? 0 })

  const bucketOf = ({ held, rates }: FlowRow, name: string): Bucket => ({
    held: held.get(name)?.size ?? 0,
    recoveredAt: rates.get(name)?.recoveredAt ?? 0
  })

  /** Called when an execution was created, changed or deleted. */
  const changed = (before: Execution | null, after: Execution | null): void => {
    if (before !== null && isQueued(before)) laneOf(before).members.remove(memberOf(before))
    if (after !== null && isQueued(after)) {
      const lane = laneOf(after)
      lane.stamp++
      lane.members.add(memberOf(after))
    }
    if (before === null || !slots.has(before.id)) return
    if (after === null || isQueued(after) || hasEnded(after.state)) flows.get(before.flow)?.over.add(before.id)
  }

  const limit = ({ flow, version }: FlowVersion, limits: ReadonlyArray<Limit>): boolean => {
    const known = flows.get(flow)
    if (known === undefined) {
      if (limits.length === 0) return false
      flows.set(flow, { version, limits, turns: 0, held: new Map(), rates: new Map(), over: new Set() })
      return true
    }
    if (known.version <= version) Object.assign(known, { version, limits })
    for (const lane of lanes.values()) if (lane.flow === flow) move(lane, { blocked: null })
    return true
  }

  const release = (row: FlowRow): ReadonlyArray<string> => {
    const freed = [...row.over].flatMap((id) => {
      const own = slots.get(id) ?? []
      slots.delete(id)
      for (const name of own) row.held.get(name)?.delete(id)
      return own
    })
    row.over.clear()
    return freed
  }

  const unblock: (flow: string) => (...of: Parameters<Rows<never>["unblock"]>) => number = (flow) => (buckets) => {
    const first = buckets.flatMap(({ bucket, most }) =>
      (blocked.get(JSON.stringify([flow, bucket]))?.items ?? []).slice(0, most)
    )
    for (const lane of first) move(lane, { blocked: null })
    return first.length
  }

  const save = (row: FlowRow, { emptied, lanes: turned, rates, slots: taken }: Saved, turns: number) => {
    for (const { bucket, execution } of taken) {
      const held = row.held.get(bucket) ?? new Set()
      row.held.set(bucket, held.add(execution))
      slots.set(execution, [...(slots.get(execution) ?? []), bucket])
    }
    for (const { lane, ...to } of turned) {
      const there = lanes.get(lane)
      if (there !== undefined) move(there, to)
    }
    for (const { lane, stamp } of emptied) {
      const there = lanes.get(lane)
      if (there === undefined || there.stamp !== stamp) continue
      listFor(there).remove(there)
      lanes.delete(lane)
      count(there, -1)
    }
    for (const rate of rates) row.rates.set(rate.bucket, rate)
    row.turns = turns
  }

  const recovered = (row: FlowRow, now: number): ReadonlyArray<string> =>
    [...row.rates.values()].flatMap((rate) => {
      if (rate.recoveredAt <= now) row.rates.delete(rate.bucket)
      else if (rate.wakesAt !== null && rate.wakesAt <= now) row.rates.set(rate.bucket, { ...rate, wakesAt: null })
      return rate.wakesAt !== null && rate.wakesAt <= now ? [rate.bucket] : []
    })

  /** Returns the rows of a flow; `begin` claims those that are still queued. */
  const rowsOf = (
    { flow, version }: FlowVersion,
    now: number,
    begin: (id: string) => Execution | null
  ): Rows<never> => {
    const onRow = <A>(missing: A, use: (row: FlowRow) => A): Effect.Effect<A> =>
      Effect.sync(() => {
        const row = flows.get(flow)
        return row === undefined ? missing : use(row)
      })
    return {
      names,
      limits: onRow<{ limits: ReadonlyArray<Limit>; turns: number } | null>(null, ({ limits, turns }) => ({
        limits,
        turns
      })),
      release: onRow<ReadonlyArray<string>>([], release),
      recovered: onRow<ReadonlyArray<string>>([], (row) => recovered(row, now)),
      load: (buckets) =>
        onRow(new Map<string, Bucket>(), (row) => new Map(buckets.map((name) => [name, bucketOf(row, name)]))),
      unblock: (buckets) => Effect.sync(() => unblock(flow)(buckets)),
      lanes: (most) =>
        Effect.sync(() =>
          (ready.get(JSON.stringify([flow, version]))?.items ?? [])
            .slice(0, most)
            .map(({ keys, lane, stamp }) => ({ keys, lane, stamp }))
        ),
      heads: (of) =>
        Effect.sync(() =>
          of.flatMap(({ lane, most }) =>
            (lanes.get(lane)?.members.items ?? []).slice(0, most).map(({ id }) => ({ lane, id }))
          )
        ),
      begin: (ids) => Effect.sync(() => ids.flatMap((id) => begin(id) ?? [])),
      save: (saved, turns) => Effect.asVoid(onRow(undefined, (row) => save(row, saved, turns))),
      next: onRow<number | null>(null, ({ rates }) => {
        const times = [...rates.values()].flatMap(({ wakesAt }) => wakesAt ?? [])
        return times.length === 0 ? null : Math.min(...times)
      })
    }
  }

  const place = (execution: Execution, now: number): QueuePlace | null => {
    if (!isQueued(execution)) return null
    const { flow, limits: keys } = execution
    const place = laneOf(execution).members.indexOf(memberOf(execution)) + 1
    const row = flows.get(flow)
    for (const [index, limit] of (row?.limits ?? []).entries()) {
      const key = keys[index]
      if (row === undefined || key === undefined) continue
      const name = names.bucketOf(flow, index, limit, key)
      const verdict = verdictOf(limit, bucketOf(row, name), now)
      if (verdict._tag === "Admitted") continue
      const held = [...(row.held.get(name) ?? [])].filter((id) => !row.over.has(id)).sort(compareTexts)
      return {
        limit: index,
        key: limit.keyed ? key : null,
        place,
        holders: verdict._tag === "Full" ? held.slice(0, mostHolders) : [],
        admitsAt: verdict._tag === "TooSoon" ? verdict.at : null
      }
    }
    return { limit: null, key: null, place, holders: [], admitsAt: null }
  }

  /** Whether something of a version is queued. */
  const isWaiting = ({ flow, version }: FlowVersion): boolean => (counts.get(JSON.stringify([flow, version])) ?? 0) > 0

  return { changed, limit, place, rowsOf, isWaiting }
}
