/**
 * The type of flows.
 */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { FlowContext } from "../../FlowContext.ts"
import type { Signal } from "../../Signals.ts"
import type { AnyState } from "../../States.ts"
import type { Limit } from "../model/Execution.ts"
import type { Codec } from "../model/Values.ts"

/** A flow without its body: what those need that start it, signal it and read its result. */
export interface FlowDefinition<I extends Codec, S extends Codec, E extends Codec> {
  readonly name: string
  /** To be incremented when the body calls other steps than before. */
  readonly version: number
  readonly input: I
  readonly success: S
  readonly error: E
  /** Inputs with the same key are the same durable execution. Plain runs are always new. */
  readonly idempotencyKey: (input: I["Type"]) => string
  /** The signals and inboxes of its executions. */
  readonly signals: ReadonlyArray<Signal<Codec>>
  /** The states and feeds of its executions. */
  readonly states: ReadonlyArray<AnyState>
  /** Returns tags by which an execution can be found. */
  readonly tags: (input: I["Type"]) => ReadonlyArray<string>
  /** The limits of its executions. */
  readonly limits: ReadonlyArray<Limit>
  /** Returns the keys of an execution with this input, in the order of the limits. */
  readonly limitKeys: (input: I["Type"]) => ReadonlyArray<string | null>
}

/** A flow: its definition and a body. `R` are the requirements of its steps. */
export interface Flow<I extends Codec, S extends Codec, E extends Codec, R> extends FlowDefinition<I, S, E> {
  readonly body: (input: I["Type"]) => Effect.Effect<S["Type"], E["Type"], FlowContext<R>>
}

/** What a new execution has from its input. */
export const startOf = <I extends Codec>(
  flow: FlowDefinition<I, Codec, Codec>,
  given: { readonly json: Schema.Json; readonly value: I["Type"] },
  key: string = flow.idempotencyKey(given.value)
) => ({
  flow: flow.name,
  version: flow.version,
  key,
  input: given.json,
  tags: [...flow.tags(given.value)],
  limits: flow.limitKeys(given.value)
})

export type Start = ReturnType<typeof startOf>

/** A flow of any types. */
export interface AnyFlow {
  readonly name: string
  readonly version: number
  readonly signals: ReadonlyArray<Signal<Codec>>
  readonly states: ReadonlyArray<AnyState>
}

const members: Readonly<Record<keyof Flow<Codec, Codec, Codec, unknown>, (member: unknown) => boolean>> = {
  name: Predicate.isString,
  version: Predicate.isNumber,
  input: Schema.isSchema,
  success: Schema.isSchema,
  error: Schema.isSchema,
  idempotencyKey: Predicate.isFunction,
  signals: Array.isArray,
  states: Array.isArray,
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
 * export const flowsIn = (module: object) =>
 *   Object.values(module).filter(Flow.isFlow)
 * ```
 */
export const isFlow = (value: unknown): value is Flow<Codec, Codec, Codec, unknown> =>
  Predicate.isObject(value) &&
  Object.entries(members).every(([name, fits]) => Predicate.hasProperty(value, name) && fits(value[name]))
