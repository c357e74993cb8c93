/**
 * Step runs that give their worker to another process before their items are used up.
 *
 * An item costs no statement for it: each node remembers which processes waited when it looked last, and asks the database
 * only while another process of the workspace waits.
 */
import type { ProcessId, StepRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { steady } from "../background/BackgroundTask.ts"
import * as Order from "../engine/Turns.ts"
import type { Run } from "../engine/State.ts"
import { Database } from "../store/database/Database.ts"
import { Turns } from "../store/runs/Turns.ts"
import { WorkSignal } from "./WorkSignal.ts"

/** The least time between two looks because of new work, and how many times longer than a look it is. */
const lookInterval = Duration.millis(50)
const lookShare = 50

const nobody: ReadonlySet<StepRunId> = new Set()

export class HandOver extends Context.Service<
  HandOver,
  {
    /** Finds out which processes wait for a worker. */
    readonly look: Effect.Effect<void>
    /** Those of these step runs of a run, all of one worker, that take no further item, so that another process gets the worker. */
    readonly of: (
      run: Pick<Run, "workspaceId" | "processId">,
      worker: string | null,
      stepRuns: ReadonlyArray<StepRunId>
    ) => Effect.Effect<ReadonlySet<StepRunId>>
    /** Records that a step run has ended, while another process waits. */
    readonly ended: (run: Pick<Run, "workspaceId" | "processId">) => Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/HandOver") {
  static readonly layer = Layer.effect(
    HandOver,
    Effect.gen(function* () {
      const { millis } = yield* Database
      const turns = yield* Turns
      let waiting: ReadonlyMap<WorkspaceId, ReadonlyArray<ProcessId>> = new Map()
      /** The processes, each on a worker, that had nothing to give since the last look. */
      let asked = new Set<string>()
      const othersWait = ({ processId, workspaceId }: Pick<Run, "workspaceId" | "processId">) =>
        waiting.get(workspaceId)?.some((process) => process !== processId) === true

      return HandOver.of({
        look: Effect.gen(function* () {
          const found = Map.groupBy(yield* turns.waiting, (row) => row.workspace_id)
          waiting = new Map([...found].map(([workspace, rows]) => [workspace, rows.map((row) => row.process_id)]))
          asked = new Set()
        }),
        of: Effect.fnUntraced(function* (run, worker, stepRuns) {
          if (worker === null || stepRuns.length === 0 || !othersWait(run)) return nobody
          const asking = `${worker} ${run.processId}`
          if (asked.has(asking)) return nobody
          const { running, shares, waiting } = yield* turns.around(
            { id: worker, workspaceId: run.workspaceId },
            stepRuns
          )
          const over = Order.handedOver(running, waiting, shares, yield* millis)
          if (over.size === 0) asked.add(asking)
          return new Set(stepRuns.filter((id) => over.has(id)))
        }),
        ended: (run) => (othersWait(run) ? turns.ended(run.processId) : Effect.void)
      })
    })
  )

  /** Looks whenever step runs become available. */
  static readonly layerListening = Layer.effectDiscard(
    Effect.gen(function* () {
      const { look } = yield* HandOver
      const next = yield* (yield* WorkSignal).listen
      const looking = steady("looking for processes that wait for workers")(look)
      const loop = Effect.gen(function* () {
        yield* next
        const [took] = yield* Effect.timed(looking)
        yield* Effect.sleep(Duration.max(lookInterval, Duration.times(took, lookShare)))
      })
      yield* Effect.forkScoped(Effect.forever(loop))
    })
  )
}
