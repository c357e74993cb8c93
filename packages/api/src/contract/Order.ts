/** In which order work items are given to workers, when they are due, and how their senders know them. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { OpenEnum, Text, Timestamp, TimestampInput } from "./Common.ts"

/**
 * −100 to 100, default 0: how early a waiting item is given to a worker. Each point counts like ten minutes of waiting,
 * so that nothing waits for ever.
 */
export const Priority = Schema.Int.check(Schema.isBetween({ minimum: -100, maximum: 100 }))

/** By which the sender of an item knows it: 1 to 255 characters. */
export const Reference = Text.check(Schema.isBetweenLength(1, 255))

/** A word to find items by: 1 to 64 characters. */
export const Tag = Text.check(Schema.isBetweenLength(1, 64))

export const Tags = Schema.Array(Tag).check(Schema.isMaxLength(20))

/** `late`: the item is open after its `due_at`; `at_risk`: less than a fifth of its time is left; else `on_time`. */
export const dueStates = ["on_time", "at_risk", "late"] as const
export type DueState = (typeof dueStates)[number]

/** `refuse` is a 409 that names the open item with the reference, `join` returns it. */
export const whenReferenceExists = ["refuse", "join"] as const
export type WhenReferenceExists = (typeof whenReferenceExists)[number]

/** What a work item shows of its order. Extensions: the hosted service has none of them. */
export const orderFields = {
  priority: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  due_at: Schema.NullOr(Timestamp).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** Null without a `due_at`, and for items that are done or failed. */
  due_state: Schema.NullOr(OpenEnum(dueStates)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  reference: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  tags: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
}

/** What requests say of the order of all items that they make. */
export const newOrderFields = {
  priority: Schema.optionalKey(Priority),
  due_at: Schema.optionalKey(TimestampInput),
  tags: Schema.optionalKey(Tags),
  /** What happens when an open item of the process has the reference; default `refuse`. */
  when_reference_exists: Schema.optionalKey(Schema.Literals(whenReferenceExists))
}
