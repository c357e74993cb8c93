/**
 * A flow as a workflow: what the engine runs, again and again until the body is through.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Workflow from "effect/workflow/Workflow"
import * as WorkflowEngine from "effect/workflow/WorkflowEngine"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import type { Flow } from "./FlowType.ts"
import type { FlowEngine } from "../FlowEngine.ts"
import { FlowChanged } from "../FlowErrors.ts"
import { FlowEvents } from "../FlowEvents.ts"
import { failureOf, publishTo } from "./Announce.ts"
import * as Durable from "./Durable.ts"
import type { Engine } from "./engine/Parts.ts"
import { theEngine } from "./engine/TheEngine.ts"
import type { Session } from "./DurableStep.ts"
import { FlowPayload, payloadOf, workflowName } from "./FlowPayload.ts"
import type { Execution } from "./FlowStore.ts"
import { at, inSpan, reveal } from "./Position.ts"
import { checkError, type Codec, decodeRecorded, record, recordResult } from "./Values.ts"
import * as Replay from "./Replay.ts"
import { RunWatchers } from "./RunWatchers.ts"
import * as Undos from "./Undos.ts"

/** The workflow that a version of a flow is. Results and errors are JSON by the flow's schemas already. */
export const workflowOf = (of: Pick<FlowPayload, "flow" | "version">) =>
  Workflow.make(workflowName(of), {
    payload: FlowPayload,
    success: Schema.Json,
    error: Schema.Json,
    idempotencyKey: ({ flow, generation, key }) => JSON.stringify([flow, key, generation])
  })

/** Starts an execution that is in the store, and gives its id. */
export const start = (workflows: Engine["workflows"], execution: Execution): Effect.Effect<string> =>
  workflows
    .execute(workflowOf(execution), { executionId: execution.id, payload: payloadOf(execution), discard: true })
    .pipe(Effect.orDie)

const isInterrupted = (exit: Exit.Exit<unknown, unknown>) => Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)

/** Runs the body of an execution from its start to where it is put aside, or to its end. */
const runBody = Effect.fnUntraced(function* <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  payload: FlowPayload,
  executionId: string
) {
  const engine = yield* theEngine
  const { store } = engine
  const watchers = yield* RunWatchers
  const events = yield* FlowEvents
  const publish = publishTo(events)
  const what = `the flow ${flow.name}`
  const replay = Replay.make(yield* store.replay(executionId))
  const { resumes } = payload
  const session: Session = {
    executionId,
    flow: flow.name,
    version: flow.version,
    engine,
    events,
    replay,
    seeds: resumes === null ? new Map() : Replay.seedsOf(yield* store.steps(resumes.execution), resumes.before),
    root: yield* WorkflowEngine.WorkflowInstance,
    undoing: false
  }
  const undos = Undos.make(`${what}, execution ${executionId}`)
  const fields = (now: number) => ({ executionId, flow: flow.name, at: now })
  /** How the body ended; what the engine hands on has results and errors as JSON. Not there when it was put aside. */
  let ended: Exit.Exit<Schema.Json, unknown> | undefined

  yield* Workflow.addFinalizer(
    Effect.fnUntraced(function* () {
      const canceled = session.root.interrupted
      // Put aside, or the process ends, or another one takes over: the execution goes on later.
      if (!canceled && (ended === undefined || isInterrupted(ended))) return
      yield* watchers.drop(executionId)
      if (ended !== undefined && Exit.isSuccess(ended)) {
        const result = ended.value
        yield* store.recordEnd(executionId, { state: "completed", result, error: null, failure: null })
        return yield* publish((now) => ({ _tag: "FlowCompleted", ...fields(now), result }))
      }
      const cause = ended === undefined ? Cause.interrupt() : ended.cause
      if (!(Cause.squash(cause) instanceof FlowChanged)) {
        session.undoing = true
        // When the process ends meanwhile, the next one goes on with it.
        yield* Effect.interruptible(undos.run)
      }
      const failure = failureOf(cause)
      const typed = Cause.findErrorOption(cause)
      const error = Option.isNone(typed) ? null : (yield* record(flow.error, typed.value, `the error of ${what}`)).json
      yield* store.recordEnd(executionId, { state: canceled ? "canceled" : "failed", result: null, error, failure })
      yield* publish((now) => ({ _tag: "FlowFailed", ...fields(now), failure }))
    })
  )
  if (replay.isFirst) yield* publish((now) => ({ _tag: "FlowStarted", ...fields(now), version: flow.version }))

  const body = Effect.gen(function* () {
    const given = yield* decodeRecorded(flow.input, payload.input, `the input of ${what}`)
    const value = yield* Effect.suspend(() => reveal(flow.body(given))).pipe(
      at({ interpreter: Durable.make(session, undos, watchers), prefix: "" }),
      Effect.tapError((error) => checkError(flow.error, error, what))
    )
    const missed = replay.missed()
    if (missed !== null) {
      const { name, version } = flow
      return yield* Effect.die(
        new FlowChanged({ flow: name, version, execution: executionId, recorded: missed, reached: null })
      )
    }
    return (yield* recordResult(flow.success, value, `the result of ${what}`)).json
  })
  const attributes = { "flow.version": flow.version, "flow.execution_id": executionId }
  return yield* inSpan(`flow ${flow.name}`, attributes, body).pipe(
    Effect.onExit((exit) =>
      Effect.sync(() => {
        ended = exit
      })
    ),
    Effect.catch((error) =>
      Effect.flatMap(record(flow.error, error, `the error of ${what}`), ({ json }) => Effect.fail(json))
    )
  )
})

/** Lets the engine run executions of the flow, with the services that are there. */
export const register = Effect.fnUntraced(function* <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>
) {
  const { registered, workflows } = yield* theEngine
  const context = yield* Effect.context<R | FlowEngine | RunWatchers>()
  const of = { flow: flow.name, version: flow.version }
  const name = workflowName(of)
  yield* Effect.acquireRelease(
    Effect.sync(() => registered.add(name)),
    () => Effect.sync(() => registered.delete(name))
  )
  yield* workflows.register(workflowOf(of), (payload, executionId) =>
    runBody(flow, payload, executionId).pipe(
      Effect.updateContext((inner: Context.Context<WorkflowEngine.WorkflowInstance>) => Context.merge(context, inner))
    )
  )
  const room = Context.getOption(context, ControlRoom)
  if (Option.isSome(room)) yield* (yield* RunWatchers).takeUp(room.value)
})
