/** The messages to a process whose executions say something and answer requests. */
import * as Schema from "effect/Schema"
import { Plan } from "./Orders.ts"

export const SaidPlan = Schema.Struct({ store: Plan.fields.store, leaseMillis: Schema.Finite })
export interface SaidPlan extends Schema.Schema.Type<typeof SaidPlan> {}

const n = Schema.Finite

export const SaidOrder = Schema.Union([
  Schema.Struct({ do: Schema.Literal("submit"), n }),
  Schema.Struct({ do: Schema.Literal("request"), n, id: Schema.String }),
  /** Returns a page of what the execution says. */
  Schema.Struct({ do: Schema.Literal("next"), n, after: Schema.Finite }),
  /** Ends the process at the so manieth write from now on. */
  Schema.Struct({
    do: Schema.Literal("die"),
    at: Schema.Literals(["before a write", "after a write"]),
    count: Schema.Finite
  })
])
export type SaidOrder = typeof SaidOrder.Type

export const NumberedSaidOrder = Schema.Struct({ id: Schema.Finite, order: SaidOrder })

export const SaidPage = Schema.Struct({
  items: Schema.Array(Schema.Struct({ cursor: Schema.Finite, name: Schema.String, value: Schema.Json })),
  cursor: Schema.Finite,
  ended: Schema.Boolean
})

/** How many rounds an execution works, and how many requests it answers. */
export const rounds = 12
export const requests = 8
