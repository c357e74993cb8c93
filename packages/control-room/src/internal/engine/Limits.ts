/**
 * Limits of processes and steps: which of them an item is under, by the values in its payload, and whether they have room.
 *
 * A bucket is what a limit counts together: the items of one value. The values of an item for the limits of its step are its
 * lane, in which items wait in their order.
 */
import type { ProcessId, StepId } from "@signalbox/api/contract/Ids"
import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import * as ExactJson from "@signalbox/transport/ExactJson"
import type * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { valueAt } from "./JsonPointer.ts"
import { millisPerPoint } from "./Order.ts"
import type { RunStep } from "./State.ts"

/** What a process says of all its steps together; steps have members of the same names. */
export type ProcessLimits = Pick<ProcessDefinition, "concurrency" | "rate">

/** A limit that an item of a step is under. */
interface Limit {
  readonly kind: "concurrency" | "rate"
  readonly scope: ProcessId | StepId
  /** The JSON pointer of its values; null: it counts all items together. */
  readonly key: string | null
}

/** The items of one value of a limit. */
export interface Bucket extends Limit {
  readonly value: string
  /** As it is stored. */
  readonly name: string
}

/** How much a limit allows. */
export interface Allowance {
  readonly limit: number
  /** Of a rate, its time in milliseconds; null for a concurrency. */
  readonly per: number | null
}

/** What a process allows now, by `kind scope`. */
export type Allowances = ReadonlyMap<string, Allowance>

const millisOf = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/** The longest value that is stored as it is. */
const longestValue = 200

/** Whether items of a step are under a limit. Such items are given one at a time, when they are begun, and never ahead. */
export const isLimited = (step: RunStep | undefined): boolean =>
  step !== undefined && (step.concurrency !== undefined || step.rate !== undefined || step.process_limits !== undefined)

const limitsOf = (scope: ProcessId | StepId, { concurrency, rate }: ProcessLimits): ReadonlyArray<Limit> => [
  ...(concurrency === undefined ? [] : [{ kind: "concurrency", scope, key: concurrency.key ?? null } as const]),
  ...(rate === undefined ? [] : [{ kind: "rate", scope, key: rate.key ?? null } as const])
]

/** The limits of a step of a run, at most four, always in this order. */
const limitsOfStep = (process: ProcessId, step: RunStep): ReadonlyArray<Limit> => [
  ...limitsOf(process, step.process_limits ?? {}),
  ...limitsOf(step.id, step)
]

/** A value as text: equal for `70`, `"70"` and `70.0`; null: not limited. */
const textOf = (value: Schema.Json | undefined): string | null => {
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean"
  if (!isPlain && !ExactJson.isRaw(value)) return null
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return Buffer.byteLength(text) <= longestValue ? text : `sha256:${createHash("sha256").update(text).digest("hex")}`
}

/** The lane of an item: its values for the limits of its step. */
export const laneOf = (process: ProcessId, step: RunStep, payload: Schema.Json): string =>
  JSON.stringify(limitsOfStep(process, step).map(({ key }) => (key === null ? "" : textOf(valueAt(payload, key)))))

type Name = readonly [kind: Limit["kind"], scope: Limit["scope"], key: string | null, value: string]

/** The bucket of a name that `bucketsOf` has made. */
export const bucketOf = (name: string): Bucket => {
  // The program has written it.
  const [kind, scope, key, value] = JSON.parse(name) as Name
  return { kind, scope, key, value, name }
}

const bucketFor = (limit: Limit, value: string): Bucket => ({
  ...limit,
  value,
  name: JSON.stringify([limit.kind, limit.scope, limit.key, value] satisfies Name)
})

/** The buckets of a lane. */
export const bucketsOf = (process: ProcessId, step: RunStep, lane: string): ReadonlyArray<Bucket> => {
  // `laneOf` has made it for the same step, which a run never changes.
  const values = JSON.parse(lane) as ReadonlyArray<string | null>
  return limitsOfStep(process, step).flatMap((limit, index) => {
    const value = values[index] ?? null
    return value === null ? [] : [bucketFor(limit, value)]
  })
}

/** Why an item of a bucket waits, for people; `isHidden`: without its value, which is secret. */
export const roomless = ({ key, kind, value }: Bucket, isHidden: boolean): string =>
  `the ${kind} limit${key === null ? "" : ` of ${key}${isHidden ? "" : ` "${value}"`}`} has no room`

/** The buckets that all items of a step are in. */
export const sharedBuckets = (process: ProcessId, step: RunStep): ReadonlyArray<string> =>
  limitsOfStep(process, step).flatMap((limit) => (limit.key === null ? [bucketFor(limit, "").name] : []))

const allowancesOf = (scope: string, { concurrency, rate }: ProcessLimits) => {
  const all: Array<readonly [string, Allowance]> = []
  if (concurrency !== undefined) all.push([`concurrency ${scope}`, { limit: concurrency.limit, per: null }])
  if (rate !== undefined) all.push([`rate ${scope}`, { limit: rate.limit, per: millisOf[rate.per] }])
  return all
}

/** What a process allows. */
export const allowances = (
  process: ProcessId,
  limits: ProcessLimits | null,
  steps: ReadonlyArray<RunStep>
): Allowances =>
  new Map([...allowancesOf(process, limits ?? {}), ...steps.flatMap((step) => allowancesOf(step.id, step))])

/** What a bucket allows; null: its limit was lifted. */
export const allowanceOf = (all: Allowances, { kind, scope }: Pick<Limit, "kind" | "scope">): Allowance | null =>
  all.get(`${kind} ${scope}`) ?? null

// ---- rates: a bucket has the time at which all its attempts are paid for (GCRA)

/** How many attempts may begin now. */
export const paid = (dueAt: number, limit: number, per: number, now: number): number =>
  // A clock that was set back, or a lower rate, costs one burst at most.
  Math.floor(((now + per - Math.max(Math.min(dueAt, now + per), now)) * limit) / per + 1e-9)

/** The same time after one more attempt. */
export const afterOne = (dueAt: number, limit: number, per: number, now: number): number =>
  Math.max(Math.min(dueAt, now + per), now) + per / limit

/** When the next attempt may begin. */
export const paidAt = (dueAt: number, limit: number, per: number): number => Math.ceil(dueAt - per + per / limit)

// ---- turns

/**
 * The place of a lane; the lowest is first: the sort key of its first item, but not before its last item was given, so that lanes
 * take turns. A priority lets ahead by ten minutes a point, as between processes.
 */
export const placeOf = (first: { readonly sortKey: number; readonly priority: number }, givenAt: number): number =>
  Math.max(first.sortKey, givenAt - Math.max(0, first.priority) * millisPerPoint)

/** So much longer a lane must have waited for a bucket than the one that has it now, to be given it instead. */
export const turnMillis = 1000
