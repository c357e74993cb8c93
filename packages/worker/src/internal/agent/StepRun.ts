/** One step run from its start to its end, independent of how its task is executed. */
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { UploadSourceError } from "@signalbox/api/Upload"
import type * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { isLeaseLost, messageOf, retryUntilAvailable } from "../outcome/Failures.ts"
import { LeaseLost } from "../outcome/LeaseLost.ts"
import * as Reports from "./Reports.ts"
import { type Ending, failed, type StepRunError } from "../outcome/StepRunError.ts"
import { inSpan } from "./Trace.ts"
import * as TimeLimit from "./TimeLimit.ts"
import * as Routine from "../outcome/Routine.ts"

/** The calls of a linked worker. */
export type Protocol = Effect.Success<ReturnType<typeof WorkerProtocol.make>> & Reports.Calls

/** Orders for a step run: end it, or drop it because the lease is lost. */
export type Order = "terminate" | "lost"

/** Why something of a task could not be saved. */
export type CollectError = CallError | UploadSourceError | LeaseLost

/** How the task of a step run is executed. */
export interface Execution<R> {
  /** Runs the task; null when it succeeded. May be interrupted. */
  readonly work: Effect.Effect<StepRunError | null, LeaseLost | CallError, R>
  /** Saves what is left of the task, such as its artifacts, however it ended. */
  readonly collect: Effect.Effect<void, CollectError>
  /** How many items came to which end, for the log; empty where only the task knows. */
  readonly counts: Effect.Effect<Readonly<Record<string, number>>>
}

export interface Options<R> {
  readonly lease: WorkerProtocol.Lease
  readonly execute: (
    reports: Reports.Reports,
    buildTime: TimeLimit.BuildTime
  ) => Effect.Effect<Execution<R>, never, Scope.Scope>
  readonly protocol: Pick<Protocol, "start" | "finish" | "build"> & Reports.Calls
  readonly order: Deferred.Deferred<Order>
  /** Runs as soon as the service knows that the step run has started. */
  readonly onStarted: Effect.Effect<void>
}

const work = <R>(
  { lease, onStarted, protocol }: Options<R>,
  execution: Execution<R>,
  limit: TimeLimit.TimeLimit,
  hurry: Reports.Reports["hurry"]
) => {
  const task: Effect.Effect<Ending, LeaseLost | CallError, R> = execution.work
  const seconds = lease.timeout_seconds
  const over = Effect.as(
    Effect.andThen(limit.over, hurry),
    failed("TIMEOUT", `the step run exceeded its time limit of ${seconds} s`)
  )
  const timed = seconds === null ? task : Effect.raceFirst(task, over)
  return retryUntilAvailable(protocol.start(lease)).pipe(
    Effect.tap(Effect.logDebug("step run started")),
    Effect.andThen(onStarted),
    Effect.andThen(timed),
    Effect.matchCause({
      onSuccess: (ending) => ending,
      onFailure: (cause): Ending => {
        if (Cause.hasInterruptsOnly(cause)) return failed("TERMINATED", "the task interrupted itself")
        const error = Cause.squash(cause)
        if (error instanceof LeaseLost) return "lost"
        return failed("ROBOT_FAILURE", messageOf(error))
      }
    })
  )
}

/** Combines the failure of collecting with the end of the task: the earlier failure wins. */
const collect = ({ collect }: Pick<Execution<never>, "collect">, ending: StepRunError | null) =>
  collect.pipe(
    Effect.as<Ending>(ending),
    Effect.catch((error) => {
      if (error instanceof LeaseLost || isLeaseLost(error)) return Effect.succeed<Ending>("lost")
      return Effect.as(
        Effect.annotateLogs(Effect.logWarning("artifacts not uploaded"), { error: error._tag }),
        ending ?? failed("UPLOAD_FAILURE", `an artifact could not be uploaded: ${messageOf(error)}`)
      )
    })
  )

/** Retries until the service is available: it would wait for the end of the step run. */
const report = Effect.fnUntraced(function* (
  { lease, protocol }: Pick<Options<never>, "lease" | "protocol">,
  ending: StepRunError | null,
  { counts, since }: { readonly counts: Readonly<Record<string, number>>; readonly since: number }
) {
  const milliseconds = (yield* Clock.currentTimeMillis) - since
  yield* retryUntilAvailable(protocol.finish(lease, ending)).pipe(
    Effect.andThen(Routine.log("step run ended")),
    Effect.catch((error) => Effect.annotateLogs(Effect.logWarning("step run not reported"), { error: error._tag })),
    Effect.annotateLogs({ ...counts, error_code: ending?.code ?? null, milliseconds })
  )
})

/** Starts, works, collects, and finishes the step run, and returns how it ended; never fails. An order interrupts the task. */
export const runStepRun = Effect.fnUntraced(
  function* <R>(options: Options<R>) {
    const { lease, order, protocol } = options
    const since = yield* Clock.currentTimeMillis
    const reports = yield* Reports.make(protocol, lease, Deferred.succeed(order, "lost"))
    const limit = yield* TimeLimit.make(lease.timeout_seconds, (state) => protocol.build(lease, state))
    const execution = yield* options.execute(reports, limit)
    const ordered = Effect.map(Effect.tap(Deferred.await(order), reports.hurry), (given): Ending =>
      given === "lost" ? "lost" : failed("TERMINATED", "the step run was terminated by an order of the service")
    )
    const ending = yield* Effect.raceFirst(work(options, execution, limit, reports.hurry), ordered)
    const collected = ending === "lost" ? ending : yield* collect(execution, ending)
    if (collected !== "lost") yield* reports.flush
    if (collected === "lost" || reports.isLost()) {
      yield* Effect.logWarning("the lease of the step run was lost; the step run was dropped")
      return "lost" as const
    }
    const shown = collected === null ? null : { ...collected, message: reports.mask.text(collected.message) }
    yield* report(options, shown, { counts: yield* execution.counts, since })
    return shown
  },
  Effect.scoped,
  (effect, { lease }) =>
    Effect.annotateLogs(inSpan(lease, effect), { step_run_id: lease.step_run_id, task: lease.task.name })
)
