/**
 * Flows of promises without their bodies.
 */
import { type AnySchema, codecOf, type TypeOf } from "@signalbox/api/StandardSchema"
import type * as Schema from "effect/Schema"
import { define, type FlowDefinition } from "../../FlowDefinition.ts"
import type { Signal } from "../../Signals.ts"
import type { AnyState } from "../../States.ts"
import type { FlowLimit } from "../model/Limits.ts"
import type { Codec } from "../model/Values.ts"
import { FlowError } from "./Thrown.ts"

export interface FlowDeclaration<I extends AnySchema, O extends AnySchema> {
  readonly name: string
  /** Increment it when the body calls other steps than before; default 1. */
  readonly version?: number
  readonly input: I
  readonly output: O
  /** Returns the idempotency key: inputs with the same key are the same execution. */
  readonly key: (input: TypeOf<I>) => string
  /** The signals and inboxes of its executions. */
  readonly signals?: ReadonlyArray<Signal<Codec>>
  /** What its executions say of themselves: see `Flow.state` and `Flow.feed`. */
  readonly states?: ReadonlyArray<AnyState>
  /** Returns tags by which an execution can be found. */
  readonly tags?: (input: TypeOf<I>) => ReadonlyArray<string>
  /** The limits of its executions: see `Flow.make`. */
  readonly limit?: ReadonlyArray<FlowLimit<TypeOf<I>>>
}

/** A flow of promises without its body. */
export type DeclaredFlow<I, O> = FlowDefinition<Schema.Codec<I, unknown>, Schema.Codec<O, unknown>, typeof FlowError>

/**
 * Declares a flow: what programs need that start it and follow its executions. `implementFlow` of `Promises` adds the body, in a module
 * that only the program has that runs it.
 *
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { declareFlow } from "@signalbox/flows/PromiseClient"
 *
 * export const payment = declareFlow({
 *   name: "payment",
 *   input: Schema.Struct({ order: Schema.String, cents: Schema.Int }),
 *   output: Schema.Struct({ receipt: Schema.String }),
 *   key: ({ order }) => order
 * })
 * ```
 */
export const declareFlow = <I extends AnySchema, O extends AnySchema>({
  input,
  key,
  limit,
  name,
  output,
  signals,
  states,
  tags,
  version = 1
}: FlowDeclaration<I, O>): DeclaredFlow<TypeOf<I>, TypeOf<O>> =>
  define(name, {
    version,
    input: codecOf(input),
    success: codecOf(output),
    error: FlowError,
    idempotencyKey: key,
    signals,
    states,
    tags,
    limit
  })
