/**
 * What a flow is, for those that run it.
 */
import type * as Effect from "effect/Effect"
import type { FlowContext } from "../FlowContext.ts"
import type { Signal } from "../Signals.ts"
import type { Codec } from "./Values.ts"

/** A flow: a name, a version, schemas and a body. `R` is what its steps need. */
export interface Flow<I extends Codec, S extends Codec, E extends Codec, R> {
  readonly name: string
  /** Raised when the body calls other steps than before. */
  readonly version: number
  readonly input: I
  readonly success: S
  readonly error: E
  /** Tells which inputs mean the same execution, for engines that keep executions. Plain runs are always new. */
  readonly idempotencyKey: (input: I["Type"]) => string
  /** What can be sent to an execution. */
  readonly signals: ReadonlyArray<Signal<Codec>>
  /** Words to find an execution by. */
  readonly tags: (input: I["Type"]) => ReadonlyArray<string>
  readonly body: (input: I["Type"]) => Effect.Effect<S["Type"], E["Type"], FlowContext<R>>
}

/** A flow of any types. */
export interface AnyFlow {
  readonly name: string
  readonly version: number
  readonly signals: ReadonlyArray<Signal<Codec>>
}
