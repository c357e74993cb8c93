/** The limits of a process or a step while they are edited. */
import type { StepDefinition } from "@signalbox/api/contract/Processes"

type Limits = Pick<typeof StepDefinition.Encoded, "concurrency" | "rate">
export type Period = NonNullable<Limits["rate"]>["per"]

export const periods = ["second", "minute", "hour", "day"] as const satisfies ReadonlyArray<Period>

export interface LimitsDraft {
  /** How many items at a time; empty: no limit. */
  readonly limit: string
  /** A JSON pointer; empty: all items are counted together. */
  readonly key: string
  /** How many attempts in a time; empty: no limit. */
  readonly rate: string
  readonly per: Period
  readonly rateKey: string
}

export const limitsDraftOf = ({ concurrency, rate }: Partial<Limits>): LimitsDraft => ({
  limit: String(concurrency?.limit ?? ""),
  key: concurrency?.key ?? "",
  rate: String(rate?.limit ?? ""),
  per: rate?.per ?? "minute",
  rateKey: rate?.key ?? ""
})

const counted = (limit: string, key: string) =>
  key.trim() === "" ? { limit: Number(limit) } : { limit: Number(limit), key: key.trim() }

/** What is sent; the service checks it and names the field that is wrong. */
export const limitsOf = ({ key, limit, per, rate, rateKey }: LimitsDraft) => ({
  concurrency: limit === "" ? undefined : counted(limit, key),
  rate: rate === "" ? undefined : { ...counted(rate, rateKey), per }
})
