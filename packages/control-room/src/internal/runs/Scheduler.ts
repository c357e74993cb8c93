/**
 * Carries schedules out: on every node, each step of a schedule in one transaction that locks its row, so that no two
 * nodes decide about the same occurrence. A node that dies leaves the row as it was before the step.
 */
import type { StartInput } from "@signalbox/api/contract/ProcessRuns"
import type { ScheduleInputs } from "@signalbox/api/contract/Schedules"
import { unhurried } from "@signalbox/sql/QueryDeadline"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Repeat from "effect/Schedule"
import { forEachIndependently, steady } from "../background/BackgroundTask.ts"
import * as Engine from "../engine/Schedules.ts"
import { PollInterval } from "../background/PollInterval.ts"
import * as Chunks from "../store/database/Chunks.ts"
import { Changes } from "../store/room/Changes.ts"
import { Database } from "../store/database/Database.ts"
import { Processes, type StoredProcess } from "../store/processes/Processes.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { type Outcome, type ScheduleKey, Schedules } from "../store/starts/Schedules.ts"
import type { StoredSchedule } from "../store/starts/StoredSchedule.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { Runs } from "./Runs.ts"

/** The most schedules that one poll carries out, and the most steps of one of them, so that others need not wait long. */
const mostAtOnce = 500
const mostSteps = 100
/** How long the history of occurrences is stored. */
const keepOccurrences = Duration.days(90)

/** The inputs of the run of an occurrence. */
export const inputsAt = (inputs: ScheduleInputs, at: number): StartInput => {
  switch (inputs.type) {
    case "with_payloads":
      return { type: inputs.type, payloads: Engine.filled(JSON.stringify(inputs.payloads), at) }
    case "with_inputs":
      return { type: inputs.type }
    default:
      return {}
  }
}

/** The time of the next occurrence that is not decided about. */
export const nextAtOf = (definition: Engine.Definition, { state }: Engine.Progress): number | null =>
  Engine.nextAfter(definition, state.upTo.epochMilliseconds)

export class Scheduler extends Context.Service<
  Scheduler,
  {
    /** Carries out everything that is due now. */
    readonly tick: Effect.Effect<void>
    /** Deletes the history that has exceeded its retention. */
    readonly sweep: Effect.Effect<void>
    /** Writes a decision, in the transaction that has locked the schedule. */
    readonly apply: (
      schedule: StoredSchedule,
      definition: Engine.Definition,
      decision: Engine.Decision,
      pausedBy?: StoredSchedule["pausedBy"]
    ) => Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/Scheduler") {
  static readonly layer = Layer.effect(
    Scheduler,
    Effect.gen(function* () {
      const { millis, transaction } = yield* Database
      const { whenRunning } = yield* RoomState
      const schedules = yield* Schedules
      const changes = yield* Changes
      const processes = yield* Processes
      const processRuns = yield* ProcessRuns
      const runs = yield* Runs

      const save = (
        { id, pausedBy, workspaceId }: StoredSchedule,
        definition: Engine.Definition,
        progress: Engine.Progress,
        by = pausedBy
      ) =>
        schedules.save(workspaceId, id, progress, {
          nextAt: nextAtOf(definition, progress),
          pausedBy: progress.state.paused === null ? null : by
        })

      const apply: Scheduler["Service"]["apply"] = Effect.fnUntraced(function* (schedule, definition, decision, by) {
        yield* schedules.skip(schedule.workspaceId, schedule.id, decision.skipped)
        yield* save(schedule, definition, decision.progress, by)
        if (!decision.stop) return
        const reason = `the next occurrence of the schedule "${schedule.name}" is due`
        for (const run of yield* processRuns.liveOf(schedule.workspaceId, schedule.id)) {
          yield* runs.stop(run, { asDone: false, terminate: true, reason })
        }
      })

      /** Starts the run of an occurrence; the occurrence is claimed first, so that it can have no second one. */
      const start = Effect.fnUntraced(function* (schedule: StoredSchedule, process: StoredProcess, at: number) {
        const { id, inputs, name, workspaceId } = schedule
        if (!(yield* schedules.claim(workspaceId, id, at))) return
        const started = runs.startFrom({ type: "schedule", id, name }, workspaceId, process, inputsAt(inputs, at))
        const outcome = yield* Effect.match(started, {
          onSuccess: (run): Outcome =>
            run === null ? { reason: "no_items", why: "no work item waited in the queue of the process" } : { run },
          onFailure: ({ message }): Outcome => ({ reason: "refused", why: message })
        })
        yield* schedules.settle(workspaceId, id, at, outcome)
      })

      /** Carries out one step of a schedule; returns whether there may be another. */
      const step = Effect.fnUntraced(function* ({ id, processId, workspaceId }: ScheduleKey) {
        // The process before its schedules, as when it is deleted.
        const process = yield* processes.lock(workspaceId, processId, "share")
        const schedule = yield* schedules.lock(workspaceId, id, "skip")
        if (process === null || schedule === null || schedule.processId !== processId) return false
        const { progress } = schedule
        const definition = Engine.parseDefinition(id, schedule.definition)
        const now = yield* millis
        const live = definition.overlap === "allow" ? [] : yield* processRuns.liveOf(workspaceId, id)
        const move = Engine.moveOf(definition, progress, live, now)
        const [at, ...starting] = progress.starting
        if (move === "start" && at !== undefined) {
          yield* start(schedule, process, at)
          yield* save(schedule, definition, { ...progress, starting })
        } else if (move === "decide") {
          yield* apply(schedule, definition, Engine.decide(definition, progress, live, now))
        }
        return move !== "wait"
      }, transaction)

      const carryOut = Effect.fnUntraced(function* (key: ScheduleKey) {
        for (let steps = 0; steps < mostSteps; steps++) {
          if (!(yield* step(key))) return
          yield* changes.tell(key.workspaceId, () => [{ topic: "schedules", id: key.id }])
          yield* Effect.yieldNow
        }
      })

      return Scheduler.of({
        apply,
        tick: Effect.gen(function* () {
          const due = yield* schedules.due(mostAtOnce)
          yield* forEachIndependently(due, carryOut)
        }).pipe(whenRunning, Effect.withSpan("Scheduler.tick")),
        sweep: Effect.gen(function* () {
          const cutoff = new Date((yield* millis) - Duration.toMillis(keepOccurrences)).toISOString()
          yield* Chunks.sweep((limit) => schedules.sweep(cutoff, limit))
          yield* Chunks.sweep(schedules.sweepMany)
        }).pipe(unhurried, Effect.withSpan("Scheduler.sweep"))
      })
    })
  )

  /** Calls `tick` at the poll interval, and `sweep` every hour. */
  static readonly layerTicking = Layer.effectDiscard(
    Effect.gen(function* () {
      const { sweep, tick } = yield* Scheduler
      yield* tick.pipe(
        steady("carrying out schedules"),
        Effect.repeat(Repeat.spaced(yield* PollInterval)),
        Effect.forkScoped
      )
      yield* sweep.pipe(
        steady("deleting old occurrences of schedules"),
        Effect.repeat(Repeat.spaced("1 hour")),
        Effect.forkScoped
      )
    })
  )
}
