/**
 * Starts runs of processes whose triggers' conditions hold: on every node, each start in one transaction that locks the
 * trigger.
 */
import { unhurried } from "@signalbox/sql/QueryDeadline"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Repeat from "effect/Schedule"
import { forEachIndependently, steady } from "../background/BackgroundTask.ts"
import { PollInterval } from "../background/PollInterval.ts"
import * as Chunks from "../store/database/Chunks.ts"
import { Changes } from "../store/room/Changes.ts"
import { Database } from "../store/database/Database.ts"
import { Processes } from "../store/processes/Processes.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import type { Starts, StoredTrigger } from "../store/starts/StoredTrigger.ts"
import { Triggers } from "../store/starts/Triggers.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { Runs } from "./Runs.ts"

/** How long the ids of events are stored: as long as idempotency keys at most. */
const keepEvents = Duration.days(7)

/** Whether a run is to start for so many waiting items, the oldest since then. */
export const holds = (
  { atLeast, oldestSeconds }: Starts,
  { count, since }: { readonly count: number; readonly since: string | null },
  now: number
): boolean =>
  count > 0 &&
  ((atLeast !== null && count >= atLeast) ||
    (oldestSeconds !== null && since !== null && now - Date.parse(since) >= oldestSeconds * 1000))

export class TriggerStarts extends Context.Service<
  TriggerStarts,
  {
    /** Starts everything whose condition holds now. */
    readonly tick: Effect.Effect<void>
    /** Deletes the ids of events that are no longer needed. */
    readonly sweep: Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/TriggerStarts") {
  static readonly layer = Layer.effect(
    TriggerStarts,
    Effect.gen(function* () {
      const { millis, transaction } = yield* Database
      const { whenRunning } = yield* RoomState
      const triggers = yield* Triggers
      const changes = yield* Changes
      const processes = yield* Processes
      const processRuns = yield* ProcessRuns
      const runs = yield* Runs

      const start = Effect.fnUntraced(function* ({ id, processId, workspaceId }: StoredTrigger) {
        // The process before its triggers, as when it is deleted.
        const process = yield* processes.lock(workspaceId, processId, "share")
        const trigger = yield* triggers.lock(workspaceId, id, "skip")
        if (process === null || trigger === null || trigger.processId !== processId) return
        const { enabled, name, starts } = trigger
        if (starts === null || !enabled) return
        if ((yield* processRuns.liveOf(workspaceId, id)).length >= starts.maxRuns) return
        const waiting = yield* triggers.waiting(processId, starts.atLeast ?? 1)
        if (!holds(starts, waiting, yield* millis)) return
        const source = { type: "trigger", id, name } as const
        const problem = yield* Effect.match(runs.startFrom(source, workspaceId, process, { type: "with_inputs" }), {
          onSuccess: () => null,
          onFailure: ({ message }) => message
        })
        yield* triggers.setProblem(trigger, problem)
        yield* changes.tell(workspaceId, () => [{ topic: "triggers", id }])
      }, transaction)

      return TriggerStarts.of({
        tick: Effect.gen(function* () {
          const candidates = yield* triggers.candidates
          yield* forEachIndependently(candidates, start)
        }).pipe(whenRunning, Effect.withSpan("TriggerStarts.tick")),
        sweep: Effect.gen(function* () {
          const cutoff = new Date((yield* millis) - Duration.toMillis(keepEvents)).toISOString()
          yield* Chunks.sweep((limit) => triggers.sweepEvents(cutoff, limit))
        }).pipe(unhurried, Effect.withSpan("TriggerStarts.sweep"))
      })
    })
  )

  /** Calls `tick` at the poll interval, and `sweep` every hour. */
  static readonly layerTicking = Layer.effectDiscard(
    Effect.gen(function* () {
      const { sweep, tick } = yield* TriggerStarts
      yield* tick.pipe(
        steady("starting runs of triggers"),
        Effect.repeat(Repeat.spaced(yield* PollInterval)),
        Effect.forkScoped
      )
      yield* sweep.pipe(
        steady("deleting old events of triggers"),
        Effect.repeat(Repeat.spaced("1 hour")),
        Effect.forkScoped
      )
    })
  )
}
