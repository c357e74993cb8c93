/**
 * Limits of processes and steps: how many items are in hand at a time, and how many are given out in a time, of each key.
 */
import * as Schema from "effect/Schema"
import { Text, Timestamp } from "../../contract/Common.ts"
import { ProcessRunId, StepId, WorkItemId } from "../../contract/Ids.ts"
import { Struct } from "./Endpoint.ts"

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

/** What waits for one value of a limit of a process, and what has it. */
export class LimitWait extends Struct<LimitWait>("LimitWait")({
  kind: Schema.Literals(["concurrency", "rate"]),
  /** The step whose limit it is; null: that of the process. */
  step: Schema.NullOr(Schema.Struct({ id: StepId, name: Schema.String })),
  /** The pointer of the limit, and the value there; null: it counts all items together. */
  key: Schema.NullOr(Schema.String),
  value: Schema.NullOr(Schema.String),
  /** Null: the limit was lifted. */
  limit: Schema.NullOr(Schema.Int),
  in_hand: Schema.Int,
  waiting: Schema.Int,
  /** Since when the first of them waits. */
  since: Schema.NullOr(Timestamp),
  /** When a rate has room again; null for a concurrency. */
  room_at: Schema.NullOr(Timestamp),
  /** The first of the items in hand, at most five. */
  held_by: Schema.Array(Schema.Struct({ work_item_id: WorkItemId, process_run_id: ProcessRunId, since: Timestamp }))
}) {}
