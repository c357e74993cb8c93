/**
 * One step run from its start to its end.
 */
import type { StepRunErrorCode } from "@signalbox/api/contract/StepRuns"
import type { CallError } from "@signalbox/api/ControlRoomError"
import type { StepRunSession } from "@signalbox/api/robot/StepRunSession"
import type * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { PayloadSchema, Task } from "../Task.ts"
import { LeaseLost, messageOf, patiently } from "./Failures.ts"
import { runItems, type Tools } from "./ItemRun.ts"

/** The calls of a linked worker. */
export type Protocol = Effect.Success<ReturnType<typeof WorkerProtocol.make>>

/** What the outside may demand of a step run: end it, or drop it because it is no longer ours. */
export type Order = "terminate" | "lost"

export interface Options<R> {
  readonly lease: WorkerProtocol.Lease
  readonly task: Task<PayloadSchema, PayloadSchema, R> | undefined
  readonly session: StepRunSession
  readonly tools: Tools
  readonly protocol: Pick<Protocol, "start" | "finish">
  readonly order: Deferred.Deferred<Order>
  /** Called as soon as the service knows that the step run is under way. */
  readonly onStarted: Effect.Effect<void>
  /** False when the worker is about to end: the item in hand is the last. */
  readonly mayReserve: Effect.Effect<boolean>
}

type StepRunError = { readonly code: StepRunErrorCode; readonly message: string }

/** `null`: ended well. `"lost"`: nothing to report any more. */
type Ending = StepRunError | null | "lost"

const failed = (code: StepRunErrorCode, message: string): StepRunError => ({ code, message })

const work = <R>({ lease, mayReserve, onStarted, protocol, session, task, tools }: Options<R>) => {
  const items: Effect.Effect<Ending, LeaseLost | CallError, R> =
    task === undefined
      ? Effect.succeed(failed("START_FAILURE", `this worker has no task "${lease.task.name}"`))
      : runItems(task, session, lease.work_item_id, mayReserve, tools).pipe(
          // The environment of the step comes first in what a task reads with Config.
          Effect.updateService(ConfigProvider.ConfigProvider, (provider) =>
            ConfigProvider.orElse(ConfigProvider.fromEnvRecord(lease.env), provider)
          ),
          Effect.tap((counts) => Effect.annotateLogs(Effect.logInfo("step run worked"), { ...counts })),
          Effect.as(null)
        )
  const seconds = lease.timeout_seconds
  const timed =
    seconds === null
      ? items
      : Effect.timeoutOrElse(items, {
          duration: `${seconds} seconds`,
          orElse: () => Effect.succeed(failed("TIMEOUT", `the step run took longer than ${seconds} s`))
        })
  return patiently(protocol.start(lease)).pipe(
    Effect.tap(Effect.logInfo("step run started")),
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

const report = ({ lease, protocol }: Pick<Options<never>, "lease" | "protocol">, ending: StepRunError | null) =>
  patiently(protocol.finish(lease, ending)).pipe(
    Effect.andThen(Effect.logInfo("step run ended")),
    Effect.catch((error) => Effect.annotateLogs(Effect.logWarning("step run not reported"), { error: error._tag })),
    // By then the service has given the step run up, or soon will, for want of heartbeats.
    Effect.timeoutOrElse({
      duration: "1 minute",
      orElse: () => Effect.annotateLogs(Effect.logWarning("step run not reported"), { error: "Timeout" })
    }),
    Effect.annotateLogs({ error_code: ending?.code ?? null })
  )

/** Starts, works, and finishes the step run; never fails. An order interrupts the task. */
export const runStepRun = <R>(options: Options<R>): Effect.Effect<void, never, R> => {
  const ordered = Effect.map(Deferred.await(options.order), (order): Ending =>
    order === "lost" ? "lost" : failed("TERMINATED", "the step run was told to stop")
  )
  return Effect.raceFirst(work(options), ordered).pipe(
    Effect.flatMap((ending) =>
      ending === "lost" ? Effect.logWarning("step run lost to the service; dropped") : report(options, ending)
    ),
    Effect.annotateLogs({ step_run_id: options.lease.step_run_id, task: options.lease.task.name })
  )
}
