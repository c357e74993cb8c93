/**
 * Definitions of flows: what programs need that start a flow and do not run it.
 */
import type { FlowDefinition } from "./internal/body/FlowType.ts"
import { type FlowLimit, keysOf, limitsOf } from "./internal/model/Limits.ts"
import type { Codec } from "./internal/model/Values.ts"
import type { Signal } from "./Signals.ts"
import { type AnyState, checkStates } from "./States.ts"

export type { FlowDefinition } from "./internal/body/FlowType.ts"
export { request, type Request, type RequestOptions } from "./Requests.ts"
export { approval, Approval, type ApprovalSignal, Counted, inbox, type Signal, signal } from "./Signals.ts"
export { feed, type Feed, type FeedOptions, state, type State } from "./States.ts"

export interface DefinitionOptions<I extends Codec, S extends Codec, E extends Codec> {
  /** To be incremented when the body calls other steps than before. */
  readonly version: number
  readonly input: I
  readonly success: S
  /** The errors of the flow: a schema, such as `Flow.errorsOf(startRun)`; `Schema.Never` for a flow that cannot fail. */
  readonly error: E
  readonly idempotencyKey: (input: I["Type"]) => string
  /** What is sent to its executions: `Flow.signal`, `Flow.inbox`, `Flow.request`, `Flow.approval`. */
  readonly signals?: ReadonlyArray<Signal<Codec>> | undefined
  /** What its executions say of themselves: `Flow.state`, `Flow.feed`. */
  readonly states?: ReadonlyArray<AnyState> | undefined
  /** Returns tags by which an execution can be found. */
  readonly tags?: ((input: I["Type"]) => ReadonlyArray<string>) | undefined
  /**
   * The limits of the executions of this flow, across all processes. An execution is `queued` until all limits admit it. A limit
   * with a `key` applies to each key separately, and the keys take turns. `concurrency` counts executions that have begun and not
   * ended; `rate` their starts: `"10/s"` (or `min`, `h`, `d`) admits ten together after an idle second, then one every 100 ms. The
   * values of the newest registered version apply. `Flow.run` and `Flow.call` have no limits.
   */
  readonly limit?: ReadonlyArray<FlowLimit<I["Type"]>> | undefined
}

/**
 * Creates the definition of a flow. `Flow.implement` adds its body, in a module that only the program has that runs it, so that the
 * bundle of a web application that starts it with `FlowClient` has nothing of the body. Throws a `FlowDefect` when a limit is
 * invalid, or two states have one name.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { define } from "@signalbox/flows/FlowDefinition"
 *
 * export const payment = define("payment", {
 *   version: 1,
 *   input: Schema.Struct({ order: Schema.String, cents: Schema.Int }),
 *   success: Schema.Struct({ receipt: Schema.String }),
 *   error: Schema.Never,
 *   idempotencyKey: ({ order }) => order
 * })
 * ```
 */
export const define = <I extends Codec, S extends Codec, E extends Codec>(
  name: string,
  {
    error,
    idempotencyKey,
    input,
    limit = [],
    signals = [],
    states = [],
    success,
    tags = () => [],
    version
  }: DefinitionOptions<I, S, E>
): FlowDefinition<I, S, E> => ({
  name,
  version,
  input,
  success,
  error,
  idempotencyKey,
  signals,
  states: checkStates(name, states),
  tags,
  limits: limitsOf(name, limit),
  limitKeys: (given) => keysOf(limit, given)
})
