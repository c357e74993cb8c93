/**
 * Deletes runs and processes that are marked as deleted, with everything that belongs to them, and details of step
 * runs. Each transaction is short, however much there is to delete; the next poll continues an interrupted deletion.
 */
import type { ProcessId, ProcessRunId, StepRunId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as UnusedBlobs from "../blobs/UnusedBlobs.ts"
import { rowsPerChunk } from "../store/database/Chunks.ts"
import { Database } from "../store/database/Database.ts"
import { Files } from "../store/files/Files.ts"
import { Outputs } from "../store/items/Outputs.ts"
import { type DeletedOf, ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { Processes } from "../store/processes/Processes.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import { WorkerReports } from "../store/runs/WorkerReports.ts"
import { WorkItems } from "../store/items/WorkItems.ts"

/** How many runs, or step runs, one transaction deletes at most. */
export const runsAtOnce = 100

/** The result of one transaction. */
interface Part {
  /** Blobs of deleted rows. */
  readonly blobs: ReadonlyArray<string>
  /** Whether there may be more to do. */
  readonly more: boolean
}

const nothing: Part = { blobs: [], more: false }

export class Deletions extends Context.Service<
  Deletions,
  {
    /** Deletes runs that are marked so. */
    readonly runs: (which: DeletedOf) => Effect.Effect<void>
    /** Deletes a process that is marked so, or all such. */
    readonly processes: (only: ProcessId | null) => Effect.Effect<void>
    /** Deletes console messages, events and artifacts of step runs that ended before `cutoff`. */
    readonly details: (cutoff: string) => Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/Deletions") {
  static readonly layer = Layer.effect(
    Deletions,
    Effect.gen(function* () {
      const { transaction } = yield* Database
      const dropBlobs = yield* UnusedBlobs.make
      const files = yield* Files
      const items = yield* WorkItems
      const outputs = yield* Outputs
      const processes = yield* Processes
      const processRuns = yield* ProcessRuns
      const reports = yield* WorkerReports
      const stepRuns = yield* StepRuns

      /**
       * Repeats a part until nothing is left. Blobs are deleted after the commit, when no row names them; a part is
       * uninterruptible, or they would stay until the next start.
       */
      const inParts = (part: Effect.Effect<Part>): Effect.Effect<void> =>
        Effect.gen(function* () {
          const done = yield* transaction(part)
          yield* dropBlobs(done.blobs)
          yield* Effect.yieldNow
          return done.more
        }).pipe(Effect.uninterruptible, Effect.repeat({ while: (more) => more }), Effect.asVoid)

      /** Owners of files with their files, or as many of the files as one transaction may delete. */
      const dropOwners = Effect.fnUntraced(function* <Id extends string>(
        owners: ReadonlyArray<Id>,
        remove: (ids: ReadonlyArray<Id>) => Effect.Effect<void>
      ): Effect.fn.Return<Part> {
        const freed = yield* files.removeSome(owners, rowsPerChunk)
        if (freed.length === rowsPerChunk) return { blobs: freed, more: true }
        yield* Effect.yieldNow
        yield* remove(owners)
        yield* Effect.yieldNow
        return { blobs: freed, more: owners.length === rowsPerChunk }
      })

      const dropDetails = Effect.fnUntraced(function* (ids: ReadonlyArray<StepRunId>): Effect.fn.Return<Part> {
        if (ids.length === 0) return nothing
        const freed = yield* files.removeSome(ids, rowsPerChunk)
        yield* Effect.yieldNow
        const messages = yield* reports.removeMessages(ids, rowsPerChunk)
        yield* Effect.yieldNow
        const events = yield* stepRuns.removeEvents(ids, rowsPerChunk)
        return { blobs: freed, more: Math.max(freed.length, messages, events) === rowsPerChunk }
      })

      const dropRuns = Effect.fnUntraced(function* (runs: ReadonlyArray<ProcessRunId>): Effect.fn.Return<Part> {
        const ofItems = yield* dropOwners(yield* items.someOf(runs, rowsPerChunk), items.remove)
        if (ofItems.more) return ofItems
        const ofOutputs = yield* dropOwners(yield* outputs.someOf(runs, rowsPerChunk), outputs.remove)
        const freed = [...ofItems.blobs, ...ofOutputs.blobs]
        if (ofOutputs.more) return { blobs: freed, more: true }
        const executions = yield* stepRuns.someOf(runs, runsAtOnce)
        const ofDetails = yield* dropDetails(executions)
        const all = [...freed, ...ofDetails.blobs]
        if (ofDetails.more) return { blobs: all, more: true }
        yield* stepRuns.remove(executions)
        if (executions.length < runsAtOnce) yield* processRuns.remove(runs)
        return { blobs: all, more: true }
      })

      const runs = (which: DeletedOf) =>
        inParts(
          Effect.flatMap(processRuns.deleted(which, runsAtOnce), (ids) =>
            ids.length === 0 ? Effect.succeed(nothing) : dropRuns(ids)
          )
        )

      const process = Effect.fnUntraced(function* (id: ProcessId) {
        while ((yield* processRuns.markOf(id, runsAtOnce)) > 0) yield* runs({ process: id })
        // Runs that were already marked, when this resumes an interrupted deletion.
        yield* runs({ process: id })
        yield* processes.remove(id)
      })

      return Deletions.of({
        runs,
        processes: Effect.fn("Deletions.processes")(function* (only) {
          for (const id of only === null ? yield* processes.deleted : [only]) yield* process(id)
        }),
        details: (cutoff) =>
          inParts(
            Effect.gen(function* () {
              const ids = yield* stepRuns.withOldDetails(cutoff, runsAtOnce)
              const part = yield* dropDetails(ids)
              if (part.more || ids.length === 0) return part
              yield* stepRuns.detailsGone(ids)
              return { ...part, more: true }
            })
          )
      })
    })
  )
}
