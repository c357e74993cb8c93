/**
 * Signals: values that a flow waits for and somebody outside sends, such as the decision of a person.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { FlowContext } from "./FlowContext.ts"
import type { FlowEngine } from "./FlowEngine.ts"
import { ExecutionConflict, ExecutionNotFound } from "./FlowErrors.ts"
import { theEngine } from "./internal/engine/TheEngine.ts"
import { claimed, conceal } from "./internal/Interpreter.ts"
import { type Codec, recordResult } from "./internal/Values.ts"
import { completeSignal } from "./internal/Waits.ts"

/**
 * Waits for a value that somebody sends with `Flow.signal` to this execution and path, for as long as it takes. One that
 * was sent before is there at once; of several, the first counts. A plain run asks `FlowSignals`.
 */
export const awaitSignal = <S extends Codec>(
  name: string,
  schema: S,
  options: { readonly key?: string } = {}
): Effect.Effect<S["Type"], never, FlowContext<never>> =>
  conceal(claimed(name, options.key, (path, interpreter) => interpreter.signal({ path, name }, schema)))

/**
 * Sends a value to the `Flow.awaitSignal` at a path of a durable execution, which need not wait for it yet. Fails when
 * the execution is not there or has ended. The path is that of the step, such as `order[7]/approval`.
 */
export const signal = Effect.fn("Flow.signal")(function* <S extends Codec>(
  execution: string,
  path: string,
  schema: S,
  value: S["Type"]
): Effect.fn.Return<void, ExecutionNotFound | ExecutionConflict, FlowEngine> {
  const engine = yield* theEngine
  const { json } = yield* recordResult(schema, value, `the signal ${path}`)
  const found = yield* engine.store.find(execution)
  if (found === null) return yield* new ExecutionNotFound({ execution })
  if (found.state !== "running") {
    const message = `the execution ${execution} has ended (${found.state}) and takes no signals`
    return yield* new ExecutionConflict({ execution, state: found.state, message })
  }
  yield* completeSignal(engine, found, path, Exit.succeed(json))
})

/** What a person decided. */
export const Approval = Schema.Struct({
  approved: Schema.Boolean,
  /** Who decided. */
  by: Schema.String,
  comment: Schema.NullOr(Schema.String)
})
export interface Approval extends Schema.Schema.Type<typeof Approval> {}

/** Waits until somebody decides with `Flow.approve`; a refusal is a result, not an error. */
export const awaitApproval = (name: string, options: { readonly key?: string } = {}) =>
  awaitSignal(name, Approval, options)

/** Tells a durable execution what a person decided about its `Flow.awaitApproval` at this path. */
export const approve = (
  execution: string,
  path: string,
  decision: { readonly approved: boolean; readonly by: string; readonly comment?: string | null }
): Effect.Effect<void, ExecutionNotFound | ExecutionConflict, FlowEngine> =>
  signal(execution, path, Approval, { comment: null, ...decision })
