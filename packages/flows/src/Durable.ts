/**
 * Durable executions: registered, started and joined.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Flow } from "./internal/FlowType.ts"
import { FlowDefect } from "./FlowDefect.ts"
import type { FlowEngine } from "./FlowEngine.ts"
import { FlowCanceled, type FlowNotRegistered } from "./FlowErrors.ts"
import { register, workflowOf } from "./internal/DurableRun.ts"
import { begin, claim } from "./internal/DurableStart.ts"
import { theEngine } from "./internal/engine/TheEngine.ts"
import { withDefects } from "./internal/DurableStep.ts"
import { payloadOf } from "./internal/FlowPayload.ts"
import type { Execution } from "./internal/FlowStore.ts"
import { type Codec, decodeRecorded } from "./internal/Values.ts"
import { RunWatchers } from "./internal/RunWatchers.ts"

/**
 * Registers a flow with the engine, which then runs its executions: those that `Flow.execute` starts, and those that were
 * under way when the program ended. Register several versions of a flow side by side for as long as executions of the
 * older ones are under way.
 */
export const layer = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>
): Layer.Layer<never, never, R | FlowEngine> =>
  Layer.effectDiscard(register(flow)).pipe(Layer.provide(RunWatchers.layer))

/** How an execution ended, from the record. */
const outcomeOf = Effect.fnUntraced(function* <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  execution: Execution
) {
  const { error, failure, id, result, state, version } = execution
  const what = `the execution ${id} of ${flow.name}, version ${version},`
  if (state === "completed") return yield* decodeRecorded(flow.success, result, `the result of ${what}`)
  if (state === "canceled") return yield* new FlowCanceled({ execution: id })
  if (failure?.kind === "failed") {
    return yield* Effect.fail(yield* decodeRecorded(flow.error, error, `the error of ${what}`))
  }
  const { workflows } = yield* theEngine
  const known = yield* workflows.poll(workflowOf(execution), id)
  if (Option.isSome(known) && known.value._tag === "Complete" && Exit.isFailure(known.value.exit)) {
    const { cause } = known.value.exit
    if (Cause.hasDies(cause)) return yield* withDefects(Effect.die(Cause.squash(cause)))
  }
  return yield* Effect.die(new FlowDefect({ message: `${what} died: ${failure?.message ?? "unknown"}` }))
})

/**
 * Starts an execution, or joins the one with the same idempotency key, and waits for its result, however long that takes
 * and whoever started it. One that has ended gives its result once more: a key is used once. The caller may go away and
 * ask again; the execution goes on.
 *
 * Fails with the errors of the flow, with `FlowCanceled`, and with `FlowNotRegistered` when the execution is of a version
 * that the program has not registered.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const reminder = Flow.make("reminder", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.String,
 *   error: Schema.Never,
 *   idempotencyKey: (text) => text,
 *   run: (text) => Effect.as(Flow.sleep("a while", "3 days"), text)
 * })
 *
 * export const program = Flow.execute(reminder, "water the plants").pipe(Effect.provide(Flow.layer(reminder)))
 * ```
 */
export const execute = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"]
): Effect.Effect<S["Type"], E["Type"] | FlowCanceled | FlowNotRegistered, FlowEngine> =>
  Effect.gen(function* () {
    const { store, workflows } = yield* theEngine
    const execution = yield* claim(flow, input)
    if (execution.state !== "running") return yield* outcomeOf(flow, execution)
    const what = `the execution ${execution.id} of ${flow.name}`
    const running = workflows.execute(workflowOf(execution), {
      executionId: execution.id,
      payload: payloadOf(execution)
    })
    const result = yield* withDefects(running).pipe(
      Effect.catch((error) =>
        Effect.flatMap(decodeRecorded(flow.error, error, `the error of ${what}`), (decoded) => Effect.fail(decoded))
      ),
      Effect.catchCause((cause) =>
        Effect.gen(function* () {
          const ended = Cause.hasInterruptsOnly(cause) ? yield* store.find(execution.id) : null
          if (ended?.state === "canceled") return yield* new FlowCanceled({ execution: execution.id })
          return yield* Effect.failCause(cause)
        })
      )
    )
    return yield* decodeRecorded(flow.success, result, `the result of ${what}`)
  })

/** As `execute`, without waiting: gives the id of the execution. */
export const submit = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  input: I["Type"]
): Effect.Effect<string, FlowNotRegistered, FlowEngine> => begin(flow, input)
