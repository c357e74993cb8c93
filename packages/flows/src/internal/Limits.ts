/**
 * Limits of executions: how a flow states them, and when one admits another execution.
 */
import { FlowDefect } from "../FlowDefect.ts"
import type { FlowVersion, Limit } from "./Journal.ts"

/** How often: a number per second, minute, hour or day. */
export type Rate = `${number}/${"s" | "min" | "h" | "d"}`

/** A limit of the executions of a flow; see `Flow.make`. */
export interface FlowLimit<Input> {
  /** What it is for, such as a customer: each key has the limit to itself. Default: the whole flow. */
  readonly key?: (input: Input) => string
  /** Executions that have begun and not ended; those that wait, are halted or suspended count. */
  readonly concurrency?: number
  /** Executions that begin: so many together after a quiet time, then evenly spaced. */
  readonly rate?: Rate
}

const units: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["min", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000]
])

const isCount = (count: number): boolean => Number.isSafeInteger(count) && count > 0

const rateOf = (text: string): Limit["rate"] => {
  const [, count = "", unit = ""] = /^(\d+)\/(\w+)$/.exec(text) ?? []
  const perMillis = units.get(unit)
  return perMillis === undefined || !isCount(Number(count)) ? null : { count: Number(count), perMillis }
}

/** The limits of a flow, checked: a mistake is a defect that names the field. */
export const limitsOf = <Input>(flow: string, limits: ReadonlyArray<FlowLimit<Input>>): ReadonlyArray<Limit> =>
  limits.map(({ concurrency, key, rate }, index) => {
    const refuse = (field: string, expected: string): never => {
      throw new FlowDefect({ message: `the flow ${flow}: limit[${index}]${field}: Expected ${expected}` })
    }
    if (concurrency === undefined && rate === undefined) refuse("", "concurrency, rate or both")
    if (concurrency !== undefined && !isCount(concurrency)) refuse(".concurrency", "a whole number above 0")
    const parsed = rate === undefined ? null : rateOf(rate)
    if (rate !== undefined && parsed === null) {
      refuse(".rate", `a number per second, minute, hour or day, such as "10/s", "100/min", "5/h" or "2/d"`)
    }
    return { keyed: key !== undefined, concurrency: concurrency ?? null, rate: parsed }
  })

/** What an execution is limited by: its keys, in the order of the limits. */
export const keysOf = <Input>(limits: ReadonlyArray<FlowLimit<Input>>, input: Input): ReadonlyArray<string | null> =>
  limits.map(({ key }) => (key === undefined ? null : key(input)))

// ---- what one limit and key have admitted

/** The names of what is counted and of what is queued, in which `address` shortens texts. */
export const namesOf = (address: (text: string) => string) => ({
  /** What a limit counts by itself: a key, or the whole flow. Begins with the place of the limit. */
  bucketOf: (flow: string, index: number, { keyed }: Limit, key: string | null): string =>
    `${index} ${address(JSON.stringify(keyed && key !== null ? [flow, key] : [flow]))}`,
  /** The queue of executions with the same version and keys. */
  laneOf: ({ flow, version }: FlowVersion, keys: ReadonlyArray<string | null>): string =>
    address(JSON.stringify([flow, version, ...keys]))
})
export type Names = ReturnType<typeof namesOf>

/** The place of the limit of a bucket in the list. */
export const indexOf = (bucket: string): number => Number.parseInt(bucket, 10)

export interface Bucket {
  /** How many have begun and not ended. */
  readonly held: number
  /** When its rate has fully recovered: milliseconds since 1970. */
  readonly recoveredAt: number
}

export const empty: Bucket = { held: 0, recoveredAt: 0 }

/** Times are compared to less than this: parts of milliseconds are not exact. */
const tolerance = 1e-6
const spacing = ({ count, perMillis }: NonNullable<Limit["rate"]>): number => perMillis / count

/** Whether an execution is admitted, and why not: too many have not ended, or the rate admits it at a time. */
export type Verdict =
  | { readonly _tag: "Admitted" }
  | { readonly _tag: "Full" }
  | { readonly _tag: "TooSoon"; readonly at: number }

const admitted: Verdict = { _tag: "Admitted" }
const full: Verdict = { _tag: "Full" }

export const verdictOf = ({ concurrency, rate }: Limit, { held, recoveredAt }: Bucket, now: number): Verdict => {
  if (concurrency !== null && held >= concurrency) return full
  if (rate === null) return admitted
  const at = Math.ceil(recoveredAt - rate.perMillis + spacing(rate) - tolerance)
  return at <= now ? admitted : { _tag: "TooSoon", at }
}

/** How many more it admits now, at most `most`. */
export const openOf = (limit: Limit, { held, recoveredAt }: Bucket, now: number, most: number): number => {
  const free = limit.concurrency === null ? most : limit.concurrency - held
  const { rate } = limit
  const left =
    rate === null ? most : Math.floor((now + rate.perMillis - Math.max(recoveredAt, now)) / spacing(rate) + tolerance)
  return Math.max(0, Math.min(most, free, left))
}

/** After one more has begun. */
export const taken = ({ concurrency, rate }: Limit, { held, recoveredAt }: Bucket, now: number): Bucket => ({
  held: concurrency === null ? held : held + 1,
  recoveredAt: rate === null ? recoveredAt : Math.max(recoveredAt, now) + spacing(rate)
})
