/** The worker: links itself to a control room, leases step runs of its tasks, and runs them in this process. */
import { TaggedError } from "@signalbox/transport/Printed"
import { address, check, text, time, timeOrForever, whole } from "@signalbox/transport/OptionError"
import type { StepRunId } from "@signalbox/api/contract/Ids"
import type { StepRunErrorCode } from "@signalbox/api/contract/StepRuns"
import type { CallError } from "@signalbox/api/ControlRoomError"
import * as StepRunSession from "@signalbox/api/robot/StepRunSession"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as HttpClient from "effect/http/HttpClient"
import type { Home, HomeError } from "./Home.ts"
import { serve } from "./internal/agent/Agent.ts"
import { backoff, isUnavailable, isUnknownWorker } from "./internal/outcome/Failures.ts"
import * as WorkerSource from "./internal/items/WorkerSource.ts"
import * as Batching from "./internal/items/Batching.ts"
import * as Variables from "./internal/environments/Variables.ts"
import { failed } from "./internal/outcome/StepRunError.ts"
import * as Trace from "./internal/agent/Trace.ts"
import * as TaskRun from "./internal/tasks/TaskRun.ts"
import type * as Task from "./Task.ts"
import * as Routine from "./internal/outcome/Routine.ts"

/** The worker is not, or no longer, linked to the service; the message contains the remedy. */
export class NotLinked extends TaggedError<NotLinked>()("NotLinked", { message: Schema.String }) {}

/** How a worker has ended by itself: with the step run of `once`; null: it was drained, and with `once` before it had one. */
export type Ended = {
  readonly id: StepRunId
  /** Null: completed. `lost`: the service had ended it before. */
  readonly error: { readonly code: StepRunErrorCode; readonly message: string } | "lost" | null
} | null

/** The failures that stop a worker. */
export type WorkerError = CallError | HomeError | NotLinked

export interface Options<T extends Task.Any> {
  /** The address of the service without a path, such as `http://127.0.0.1:4700`. */
  readonly origin: string
  /**
   * Can be used once; request one per worker. Not needed if `home` has a linked worker. An effect runs only when the
   * token is needed.
   */
  readonly linkToken?: Redacted.Redacted | Effect.Effect<Redacted.Redacted, CallError> | undefined
  /** The name of this worker at the service. */
  readonly name: string
  /** The tasks of this worker; their names differ. */
  readonly tasks: ReadonlyArray<T>
  /** With it, the worker also runs task packages, and is the same worker after a restart. */
  readonly home?: Home
  /** How many step runs may be active concurrently, 1 to 1,000; default 1. */
  readonly capacity?: number
  /** What this worker has or is, such as `gpu`, for steps that ask for it; default: nothing. */
  readonly labels?: ReadonlyArray<string>
  /** Takes one step run, and ends with it; default false. */
  readonly once?: boolean
  /** The pause between heartbeats; default: what the service asks for. */
  readonly heartbeat?: Duration.Input
  /**
   * How long step runs may continue their reserved item when the worker ends; default 10 seconds. Use 0 in tests with
   * virtual time, which does not advance when the worker closes.
   */
  readonly drain?: Duration.Input
  /** Ends the step runs at once, although `drain` is not over, when it completes; default: never. */
  readonly hurry?: Effect.Effect<void>
}

/** Retries until the service is available, and logs its unavailability once. */
const untilThere = <A, E extends WorkerError>(call: Effect.Effect<A, E, HttpClient.HttpClient>) =>
  Effect.suspend(() => {
    let told = false
    const isTransient = (error: E) => error._tag === "ControlRoomError" && isUnavailable(error)
    return call.pipe(
      Effect.tapError((error) => {
        if (told || !isTransient(error)) return Effect.void
        told = true
        return Effect.annotateLogs(Effect.logWarning("the service is unavailable; retrying"), { error: error.message })
      }),
      Effect.retry({ while: isTransient, schedule: backoff })
    )
  })

const link = Effect.fnUntraced(function* (options: Options<never>, tasks: ReadonlyArray<string>) {
  const { home, labels = [], linkToken, name, origin } = options
  if (linkToken === undefined) {
    return yield* new NotLinked({ message: "the worker is not linked to the service yet: give it a link token" })
  }
  const token = Effect.isEffect(linkToken) ? yield* untilThere(linkToken) : linkToken
  const identity = yield* WorkerProtocol.link({ origin, linkToken: token, name, tasks, labels }).pipe(
    Effect.tap((identity) => (home === undefined ? Effect.void : home.remember({ origin, identity }))),
    // The token can be used once, so its result must not be lost.
    Effect.uninterruptible,
    untilThere
  )
  yield* Effect.annotateLogs(Routine.log("worker linked"), { worker_id: identity.workerId })
  return identity
})

/** Returns the identity of the worker: the one in its home, if the service still knows it. */
const identify = Effect.fnUntraced(function* (options: Options<never>, tasks: ReadonlyArray<string>) {
  const { home, linkToken, origin } = options
  const linked = home === undefined ? null : yield* home.linked
  if (linked === null) return yield* link(options, tasks)
  const { heartbeat } = yield* WorkerProtocol.make(origin, linked.identity)
  const known = yield* untilThere(heartbeat([], { starting: true })).pipe(
    Effect.as(true),
    Effect.catchIf(isUnknownWorker, () => Effect.succeed(false))
  )
  if (known) return linked.identity
  return linkToken === undefined ? yield* removed() : yield* link(options, tasks)
})

const removed = () =>
  new NotLinked({
    message: "the worker was removed from the service: create a new link token and link it again"
  })

/** The most step runs that the service leases to one worker concurrently. */
const maxCapacity = 1000

const rules = {
  origin: address,
  name: text,
  capacity: whole(1, maxCapacity),
  heartbeat: time,
  drain: timeOrForever
}

const serveLinked = Effect.fnUntraced(function* <R>(
  options: Options<Task.Task<Task.PayloadSchema, Task.PayloadSchema, R>>
) {
  check("Worker", options, rules)
  const { home, origin } = options
  const tasks = new Map(options.tasks.map((task) => [task.name, task]))
  if (tasks.size < options.tasks.length) {
    return yield* Effect.die(new Error(`two tasks of the worker "${options.name}" have the same name`))
  }
  const { capacity = 1 } = options
  const client = yield* HttpClient.HttpClient
  const names = [...tasks.keys()]
  const identity = yield* identify({ ...options, tasks: [] }, names)
  const { workspaceId } = identity
  const calls = yield* WorkerProtocol.make(origin, identity)
  const reportCalls = yield* WorkerProtocol.makeReports(origin, identity)
  const next = yield* Batching.make(yield* WorkerProtocol.makeItems(origin, identity))
  const openSession = (lease: WorkerProtocol.Lease) =>
    StepRunSession.make({
      origin,
      token: Redacted.make(lease.run_token),
      workspaceId,
      processId: lease.process_id,
      processRunId: lease.process_run_id,
      stepRunId: lease.step_run_id
    }).pipe(Effect.provideService(HttpClient.HttpClient, client))
  const worked = yield* serve({
    protocol: { ...calls, ...reportCalls },
    tasks: names,
    packages: home !== undefined,
    execute: Effect.fnUntraced(function* (lease, reports, mayReserve, buildTime) {
      const ref = lease.package
      if (ref !== null && home !== undefined) {
        const trace = yield* Trace.variables(lease)
        const env = { step: lease.env, service: { ...Variables.ofStepRun(lease, origin, workspaceId), ...trace } }
        return yield* home.packages.execution({
          ref,
          task: lease.task.name,
          environment: lease.environment,
          env,
          reports,
          buildTime
        })
      }
      const task = ref === null ? tasks.get(lease.task.name) : undefined
      if (task === undefined) {
        const why = failed("START_FAILURE", `this worker has no task "${lease.task.name}"`)
        return { work: Effect.succeed(why), collect: Effect.void, counts: Effect.succeed({}) }
      }
      const session = yield* openSession(lease)
      return TaskRun.execution({
        lease,
        task,
        session,
        items: WorkerSource.make(lease, next, session),
        reports,
        mayReserve
      })
    }),
    capacity,
    heartbeat: options.heartbeat ?? `${identity.heartbeatSeconds} seconds`,
    drain: options.drain ?? "10 seconds",
    labels: options.labels ?? [],
    once: options.once ?? false,
    hurry: options.hurry ?? Effect.never
  }).pipe(Effect.catchIf(isUnknownWorker, removed))
  const ended: Ended = worked === null ? null : { id: worked.id, error: worked.ending }
  return ended
}, Effect.scoped)

/**
 * Links the worker, unless its home has a linked one, and works until it is interrupted or drained (`Workers.drain`), or
 * with `once` until one step run has ended. It survives an unavailable
 * service: calls are retried after 0.25 s to 5 s, and reports of step runs are sent once the service is available
 * again.
 *
 * When interrupted, it takes no more leases, lets each step run finish its reserved item for up to `drain`, and
 * terminates the rest. A task is stopped by interruption, so one that makes itself uninterruptible, or computes without
 * a pause, can delay the end.
 *
 * Fails with `NotLinked` (no link token, or the worker was removed), with `ControlRoomError` (`Forbidden`: the link
 * token is unknown or used), with `InvalidRequest`, such as for a name that is too long, and with `HomeError`. Two
 * tasks of one name are a defect.
 */
export const run = <T extends Task.Any>(
  options: Options<T>
): Effect.Effect<Ended, WorkerError, HttpClient.HttpClient | Task.Services<T>> =>
  // `T` is a union of tasks that require different services; `Services<T>` is the union of those, which TypeScript
  // cannot conclude for an abstract `T`. It excludes `Robot`, since `runItems` provides it.
  serveLinked(options as unknown as Options<Task.Task<Task.PayloadSchema, Task.PayloadSchema, Task.Services<T>>>)

/**
 * A worker beside the rest of a program: started with the layer, drained when it closes. Its failure is logged as an
 * error; use `run` to handle it.
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
 *     Worker.layer({
 *       origin: "http://127.0.0.1:4700",
 *       linkToken,
 *       name: "greeter",
 *       tasks: [greet],
 *       capacity: 4
 *     })
 *   )
 * ).pipe(Layer.provide(FetchHttpClient.layer))
 * ```
 */
export const layer = <T extends Task.Any>(
  options: Options<T>
): Layer.Layer<never, never, HttpClient.HttpClient | Task.Services<T>> => {
  // Here too, since what `run` fails with is only logged.
  check("Worker", options, rules)
  return Layer.effectDiscard(
    run(options).pipe(
      Effect.andThen(Routine.log("the worker has ended: it was drained")),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.logError("the worker has stopped", cause)
      ),
      Effect.forkScoped
    )
  )
}

/**
 * Removes the worker of a home from its workspace; another worker can then use its folder. Fails with `NotLinked` when
 * none is linked, and with `Conflict` while it holds a lease.
 */
export const unlink = Effect.fn("Worker.unlink")(function* (home: Home) {
  const linked = yield* home.linked
  if (linked === null) return yield* new NotLinked({ message: `no worker is linked in ${home.folder}` })
  const reports = yield* WorkerProtocol.makeReports(linked.origin, linked.identity)
  // The service may have removed it already.
  yield* reports.unlink.pipe(Effect.catchIf(isUnknownWorker, () => Effect.void))
  yield* home.forget
})
