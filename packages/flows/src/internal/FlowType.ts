/**
 * What a flow is, for those that run it.
 */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { FlowContext } from "../FlowContext.ts"
import type { Signal } from "../Signals.ts"
import type { Limit } from "./Journal.ts"
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
  /** What limits its executions. */
  readonly limits: ReadonlyArray<Limit>
  /** What an execution with this input is limited by: its keys, in the order of the limits. */
  readonly limitKeys: (input: I["Type"]) => ReadonlyArray<string | null>
  readonly body: (input: I["Type"]) => Effect.Effect<S["Type"], E["Type"], FlowContext<R>>
}

/** A flow of any types. */
export interface AnyFlow {
  readonly name: string
  readonly version: number
  readonly signals: ReadonlyArray<Signal<Codec>>
}

const members: Readonly<Record<keyof Flow<Codec, Codec, Codec, unknown>, (member: unknown) => boolean>> = {
  name: Predicate.isString,
  version: Predicate.isNumber,
  input: Schema.isSchema,
  success: Schema.isSchema,
  error: Schema.isSchema,
  idempotencyKey: Predicate.isFunction,
  signals: Array.isArray,
  tags: Predicate.isFunction,
  limits: Array.isArray,
  limitKeys: Predicate.isFunction,
  body: Predicate.isFunction
}

/**
 * Returns whether a value is a flow: of `Flow.make`, or of `defineFlow`. For programs that load flows from modules.
 *
 * ```ts
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * export const flowsIn = (module: object) => Object.values(module).filter(Flow.isFlow)
 * ```
 */
export const isFlow = (value: unknown): value is Flow<Codec, Codec, Codec, unknown> =>
  Predicate.isObject(value) &&
  Object.entries(members).every(([name, fits]) => Predicate.hasProperty(value, name) && fits(value[name]))
