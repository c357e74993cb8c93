/**
 * The worker: links itself to a control room, leases step runs of the tasks that it brings, and runs them in this
 * process.
 */
import type { ControlRoomError, InvalidRequest } from "@signalbox/api/ControlRoomError"
import * as StepRunSession from "@signalbox/api/robot/StepRunSession"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as HttpClient from "effect/http/HttpClient"
import { serve } from "./internal/Agent.ts"
import { backoff, isAway } from "./internal/Failures.ts"
import * as HandSource from "./internal/HandSource.ts"
import * as NextCalls from "./internal/NextCalls.ts"
import { failed } from "./internal/StepRun.ts"
import * as TaskRun from "./internal/TaskRun.ts"
import type * as Task from "./Task.ts"

export interface Options<T extends Task.Any> {
  /** The address of the service without a path, such as `http://127.0.0.1:4700`. */
  readonly origin: string
  /** Serves once; ask the service for one per worker. */
  readonly linkToken: Redacted.Redacted
  /** What the service calls this worker. */
  readonly name: string
  /** The tasks that this worker brings; their names differ. */
  readonly tasks: ReadonlyArray<T>
  /** How many step runs may live at once, 1 to 1,000; default 1. */
  readonly capacity?: number
  /** The pause between heartbeats; default: what the service asks for. */
  readonly heartbeat?: Duration.Input
  /**
   * How long step runs may go on with the item in hand when the worker ends; default 10 seconds. Use 0 in tests with
   * virtual time, which stands still when the worker closes.
   */
  readonly drain?: Duration.Input
}

const serveLinked = Effect.fnUntraced(function* <R>(
  options: Options<Task.Task<Task.PayloadSchema, Task.PayloadSchema, R>>
) {
  const tasks = new Map(options.tasks.map((task) => [task.name, task]))
  if (tasks.size < options.tasks.length) {
    return yield* Effect.die(new Error(`two tasks of the worker "${options.name}" have the same name`))
  }
  const client = yield* HttpClient.HttpClient
  const identity = yield* WorkerProtocol.link({
    origin: options.origin,
    linkToken: options.linkToken,
    name: options.name,
    tasks: [...tasks.keys()]
  }).pipe(Effect.retry({ while: isAway, schedule: backoff }))
  yield* Effect.annotateLogs(Effect.logInfo("worker linked"), { worker_id: identity.workerId })
  const calls = yield* WorkerProtocol.make(options.origin, identity)
  const reportCalls = yield* WorkerProtocol.makeReports(options.origin, identity)
  const next = yield* NextCalls.make(yield* WorkerProtocol.makeItems(options.origin, identity))
  const openSession = (lease: WorkerProtocol.Lease) =>
    StepRunSession.make({
      origin: options.origin,
      token: Redacted.make(lease.run_token),
      workspaceId: identity.workspaceId,
      processId: lease.process_id,
      processRunId: lease.process_run_id,
      stepRunId: lease.step_run_id
    }).pipe(Effect.provideService(HttpClient.HttpClient, client))
  return yield* serve({
    protocol: { ...calls, ...reportCalls },
    tasks: [...tasks.keys()],
    packages: false,
    execute: Effect.fnUntraced(function* (lease, reports, mayReserve) {
      const task = lease.package === null ? tasks.get(lease.task.name) : undefined
      if (task === undefined) {
        const why = failed("START_FAILURE", `this worker has no task "${lease.task.name}"`)
        return { work: Effect.succeed(why), collect: Effect.void }
      }
      const session = yield* openSession(lease)
      return TaskRun.execution({
        lease,
        task,
        session,
        items: HandSource.make(lease, next, session),
        reports,
        mayReserve
      })
    }),
    capacity: options.capacity ?? 1,
    heartbeat: options.heartbeat ?? `${identity.heartbeatSeconds} seconds`,
    drain: options.drain ?? "10 seconds"
  })
}, Effect.scoped)

/**
 * Links and works until it is interrupted. It outlives a service that is away: calls are tried again after 0.25 s to
 * 5 s, and what a step run has to report is reported once the service is back.
 *
 * Interrupted, it leases no more, lets each step run finish the item in hand for up to `drain`, and terminates what is
 * left. A task is stopped by interruption, so one that makes itself uninterruptible, or computes without a pause,
 * ends when it likes.
 *
 * Fails with `ControlRoomError` (`Forbidden`: the link token is unknown or used, or the worker was removed) and with
 * `InvalidRequest`, such as for a name that is too long. Two tasks of one name are a defect.
 */
export const run = <T extends Task.Any>(
  options: Options<T>
): Effect.Effect<never, ControlRoomError | InvalidRequest, HttpClient.HttpClient | Task.Services<T>> =>
  // `T` is a union of tasks with services of their own; `Services<T>` is the union of those, which TypeScript cannot
  // see for a `T` that it does not know yet. `Robot` is not among them, for `runItems` provides it.
  serveLinked(options as unknown as Options<Task.Task<Task.PayloadSchema, Task.PayloadSchema, Task.Services<T>>>)

/**
 * A worker beside the rest of a program: started with the layer, drained when it closes. A worker that the service
 * refuses is logged as an error; use `run` to act on it.
 *
 * ```ts
 * import * as Config from "effect/Config"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Schema from "effect/Schema"
 * import * as FetchHttpClient from "effect/http/FetchHttpClient"
 * import * as Task from "@signalbox/worker/Task"
 * import * as Worker from "@signalbox/worker/Worker"
 *
 * const greet = Task.make("greet", {
 *   input: Schema.Struct({ name: Schema.String }),
 *   output: Schema.Struct({ greeting: Schema.String }),
 *   run: (item) => Effect.succeed({ greeting: `Hello, ${item.payload.name}` })
 * })
 *
 * export const GreetWorker = Layer.unwrap(
 *   Effect.map(Config.Redacted("SIGNALBOX_LINK_TOKEN"), (linkToken) =>
 *     Worker.layer({ origin: "http://127.0.0.1:4700", linkToken, name: "greeter", tasks: [greet], capacity: 4 })
 *   )
 * ).pipe(Layer.provide(FetchHttpClient.layer))
 * ```
 */
export const layer = <T extends Task.Any>(
  options: Options<T>
): Layer.Layer<never, never, HttpClient.HttpClient | Task.Services<T>> =>
  Layer.effectDiscard(
    run(options).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.logError("the worker has stopped", cause)
      ),
      Effect.forkScoped
    )
  )
