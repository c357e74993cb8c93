/** What becomes due with time: leases that were not started, lost workers, overdue step runs, delays that are over. */
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { leasesExpired } from "../telemetry/Counters.ts"
import { Assets } from "../store/files/Assets.ts"
import { Assistants, silentAfter } from "../store/workers/Assistants.ts"
import { Database } from "../store/database/Database.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { RunItems } from "../store/items/RunItems.ts"
import { Leases } from "../store/runs/Leases.ts"
import { lostAfter } from "../settings/Limits.ts"
import { HandOver } from "./HandOver.ts"
import { LimitWaker } from "./LimitWaker.ts"
import type { StepRunCommands } from "./StepRunCommands.ts"
import { Transitions } from "./Transitions.ts"
import { UnassignedStepRuns } from "./UnassignedStepRuns.ts"
import { WorkSignal } from "./WorkSignal.ts"

export interface Timers {
  /** Handles everything due now. */
  readonly tick: Effect.Effect<void>
  /** To be run when the program was suspended until now: no worker could send a heartbeat, so each has the full time again. */
  readonly awoke: Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* ({ end }: StepRunCommands) {
  const { millis, transaction } = yield* Database
  const assets = yield* Assets
  const assistants = yield* Assistants
  const runs = yield* ProcessRuns
  const runItems = yield* RunItems
  const leases = yield* Leases
  const { commit } = yield* Transitions
  const signal = yield* WorkSignal
  const unassigned = yield* UnassignedStepRuns
  const handOver = yield* HandOver
  const waker = yield* LimitWaker
  const room = yield* RoomState
  let upSince = yield* millis
  let failed = false

  const wake = Effect.fnUntraced(function* (id: ProcessRunId) {
    const run = yield* runs.lock(id)
    if (run !== null) yield* commit({ run, changes: [] })
  }, transaction)

  const awoke = Effect.gen(function* () {
    upSince = yield* millis
  })

  const tick = Effect.gen(function* () {
    if (!(yield* room.running)) return yield* awoke
    const asked = yield* millis
    const expired = yield* leases.expire
    if (expired > 0) {
      yield* Metric.update(leasesExpired, expired)
      yield* signal.afterCommit
    }
    // Heartbeats wait behind a long transaction too.
    const waited = (yield* millis) - asked > Duration.toMillis(lostAfter) / 4
    // While the service or its database was unavailable no worker could send a heartbeat.
    if (failed || waited) yield* awoke
    failed = false
    const cutoff = (yield* millis) - Duration.toMillis(lostAfter)
    if (cutoff >= upSince) {
      for (const stepRun of yield* leases.withLostWorker(new Date(cutoff).toISOString())) {
        yield* end(stepRun, { code: "WORKER_LOST", message: "the worker has sent no heartbeat in time" })
      }
    }
    yield* unassigned.report(upSince)
    yield* handOver.look
    const silent = (yield* millis) - silentAfter
    if (silent >= upSince) yield* assistants.failSilent(new Date(silent).toISOString())
    yield* assets.expireUploads
    for (const stepRun of yield* leases.overdue) {
      yield* end(stepRun, { code: "TIMEOUT", message: "the step run exceeded the time limit of its step" })
    }
    for (const run of yield* runItems.runsWithDelayOver) yield* wake(run)
    yield* waker.look
  }).pipe(
    Effect.onError(() =>
      Effect.sync(() => {
        failed = true
      })
    ),
    Effect.withSpan("Runs.tick")
  )
  const timers: Timers = { tick, awoke }
  return timers
})
