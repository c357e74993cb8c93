/**
 * Limits of executions: their declaration, and the arithmetic of admissions.
 */
import { FlowDefect } from "../../FlowDefect.ts"
import type { Limit } from "./Execution.ts"

/** How often: a number per second, minute, hour or day. */
export type Rate = `${number}/${"s" | "min" | "h" | "d"}`

/** A limit of the executions of a flow; see `Flow.make`. */
export interface FlowLimit<Input> {
  /** Returns the key, such as a customer: the limit applies to each key separately. Default: the whole flow. */
  readonly key?: (input: Input) => string
  /** The largest number of executions that have begun and not ended, waiting, halted and suspended ones included. */
  readonly concurrency?: number
  /** How many executions may begin: that many together after an idle time, then evenly spaced. */
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

/** Checks and converts the limits of a flow; an invalid one throws a `FlowDefect` that names the field. */
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

/** Returns the keys of an execution, in the order of the limits. */
export const keysOf = <Input>(limits: ReadonlyArray<FlowLimit<Input>>, input: Input): ReadonlyArray<string | null> =>
  limits.map(({ key }) => (key === undefined ? null : key(input)))

// ---- what one limit and key have admitted

/** Returns the index of the limit of a bucket. */
export const indexOf = (bucket: string): number => Number.parseInt(bucket, 10)

export interface Bucket {
  /** The number of executions that have begun and not ended. */
  readonly held: number
  /** When its rate has fully recovered: milliseconds since 1970. */
  readonly recoveredAt: number
}

export const empty: Bucket = { held: 0, recoveredAt: 0 }

/** The tolerance of comparisons: fractions of milliseconds are not exact. */
const tolerance = 1e-6
const spacing = ({ count, perMillis }: NonNullable<Limit["rate"]>): number => perMillis / count

/** Whether an execution is admitted, or why not: too many have not ended, or the rate admits it later. */
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

/** Returns how many more a limit admits now, at most `most`. */
export const openOf = (limit: Limit, { held, recoveredAt }: Bucket, now: number, most: number): number => {
  const free = limit.concurrency === null ? most : limit.concurrency - held
  const { rate } = limit
  const left =
    rate === null ? most : Math.floor((now + rate.perMillis - Math.max(recoveredAt, now)) / spacing(rate) + tolerance)
  return Math.max(0, Math.min(most, free, left))
}

/** Returns the bucket after one more execution has begun. */
export const taken = ({ concurrency, rate }: Limit, { held, recoveredAt }: Bucket, now: number): Bucket => ({
  held: concurrency === null ? held : held + 1,
  recoveredAt: rate === null ? recoveredAt : Math.max(recoveredAt, now) + spacing(rate)
})
