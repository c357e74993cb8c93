/**
 * Limits of processes and steps: how many items are in hand at a time, and how many are given out in a time, of each key.
 */
import * as Schema from "effect/Schema"
import { Text } from "../../contract/Common.ts"

/** A JSON pointer (RFC 6901) into the payload of an item. */
export const LimitKey = Text.check(
  Schema.isMaxLength(1024),
  Schema.isPattern(/^(?:\/(?:[^~/]|~[01])*)+$/, {
    message: "Expected a JSON pointer into the payload, such as /customer or /order/system"
  })
)

/** How many items may be in hand at a time. */
export const Concurrency = Schema.Struct({
  /** Counts the items of each value there by themselves; those without one are not limited. Absent: all items together. */
  key: Schema.optionalKey(LimitKey),
  limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000 }))
})

export const ratePeriods = ["second", "minute", "hour", "day"] as const

/** How many attempts may begin: so many together after an idle time, then evenly spaced. */
export const Rate = Schema.Struct({
  /** As in `Concurrency`. */
  key: Schema.optionalKey(LimitKey),
  limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })),
  per: Schema.Literals(ratePeriods)
})
