/**
 * The messages between a test and a process whose steps keep its event loop (`busy-process.ts`).
 */
import * as Schema from "effect/Schema"

export const BusyPlan = Schema.Struct({
  url: Schema.String,
  schema: Schema.String,
  stallLimitMillis: Schema.Finite,
  /** The module of the thread: the usual one, none, or one that is missing. */
  thread: Schema.Literals(["usual", "none", "missing"]),
  /** Runs nothing. */
  idle: Schema.Boolean
})
export interface BusyPlan extends Schema.Schema.Type<typeof BusyPlan> {}

/**
 * `sync`: computes at once. `later`: in an async function, after an await. `native`: waits for a child process, synchronously. `idle`:
 * waits for a timer.
 */
export const How = Schema.Literals(["sync", "later", "native", "idle"])

export const BusyOrder = Schema.Union([
  Schema.Struct({ do: Schema.Literal("submit"), n: Schema.Finite, how: How, millis: Schema.Finite }),
  Schema.Struct({ do: Schema.Literals(["inspect", "resume"]), n: Schema.Finite })
])
export type BusyOrder = typeof BusyOrder.Type

export const NumberedBusyOrder = Schema.Struct({ id: Schema.Finite, order: BusyOrder })
