/**
 * The messages between a test and a process whose database goes away (`away-process.ts`).
 */
import * as Schema from "effect/Schema"

export const AwayPlan = Schema.Struct({ url: Schema.String, schema: Schema.String })
export interface AwayPlan extends Schema.Schema.Type<typeof AwayPlan> {}

export const AwayOrder = Schema.Struct({
  do: Schema.Literals(["submit", "execute", "signal", "list"]),
  n: Schema.Finite,
  /** How long its step takes; it waits for a signal when this is negative. */
  millis: Schema.Finite,
  /** By whom the call is ended: by its limit, or by an interruption. */
  by: Schema.Literals(["limit", "interruption", "nobody"])
})
export type AwayOrder = typeof AwayOrder.Type

export const NumberedAwayOrder = Schema.Struct({ id: Schema.Finite, order: AwayOrder })
