/**
 * The messages between a test and a process that runs the family, as lines of JSON.
 */
import * as Schema from "effect/Schema"
import { Kind } from "./Family.ts"

/** Where a process ends itself: at the so manieth of its kind from now on. */
export const Die = Schema.Struct({
  do: Schema.Literal("die"),
  at: Schema.Literals(["before a write", "after a write", "event"]),
  count: Schema.Finite
})

/** Sets the clocks of a process apart from those of the machine, the monotonic one included. */
export const Jump = Schema.Struct({ do: Schema.Literal("jump"), millis: Schema.Finite })

export const Plan = Schema.Struct({
  store: Schema.Union([
    Schema.Struct({ file: Schema.String }),
    /** With `directUrl`, the other one is that of a connection pooler. */
    Schema.Struct({ url: Schema.String, directUrl: Schema.optionalKey(Schema.String), schema: Schema.String })
  ]),
  effects: Schema.String,
  version: Schema.Finite,
  more: Schema.Literals(["none", "before", "after"]),
  retry: Schema.Literals(["durable", "never"]),
  timeoutMillis: Schema.Finite,
  limited: Schema.Boolean,
  /** Also the version before, as in a rolling deployment. */
  alsoBefore: Schema.Boolean,
  /** Whether the process is a runner of a cluster. */
  cluster: Schema.Boolean,
  /** Whether the process reads and writes messages as those of the first protocol do. */
  first: Schema.Boolean,
  /** The lease of a process that can be killed at a given event; null for the usual one. */
  leaseMillis: Schema.NullOr(Schema.Finite),
  /** Whether the process can be killed at a given event. */
  mortal: Schema.Boolean,
  /** Whether executions are cancelled, each at a different event. */
  cancels: Schema.Boolean
})
export interface Plan extends Schema.Schema.Type<typeof Plan> {}

const n = Schema.Finite

export const Order = Schema.Union([
  /** With the value of a signal, which the execution then has when it begins. */
  Schema.Struct({ do: Schema.Literal("submit"), n, kind: Kind, value: Schema.optionalKey(Schema.String) }),
  /** Waits for the end, and says how it ended. */
  Schema.Struct({ do: Schema.Literal("execute"), n, kind: Kind }),
  Schema.Struct({ do: Schema.Literal("state"), n }),
  Schema.Struct({ do: Schema.Literal("states") }),
  Schema.Struct({ do: Schema.Literal("history"), n }),
  Schema.Struct({ do: Schema.Literal("signal"), n, value: Schema.String }),
  /** With an `id`, a repeat is one command. */
  Schema.Struct({
    do: Schema.Literals(["cancel", "terminate", "suspend", "resume"]),
    n,
    id: Schema.optionalKey(Schema.String)
  }),
  Die,
  Jump,
  Schema.Struct({
    do: Schema.Literal("retry"),
    n,
    from: Schema.NullOr(Schema.String),
    version: Schema.NullOr(n),
    id: Schema.optionalKey(Schema.String)
  })
])
export type Order = typeof Order.Type

export const Numbered = Schema.Struct({ id: Schema.Finite, order: Order })
export const Reply = Schema.Struct({
  id: Schema.Finite,
  ok: Schema.Boolean,
  value: Schema.Json
})
