/**
 * Deletes what has exceeded its retention, and gives the space of deleted rows back: on every node, at its start and every hour.
 * Nodes skip what another has locked, so any number of them may run concurrently.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { steady } from "../background/BackgroundTask.ts"
import { Deletions, runsAtOnce } from "./Deletions.ts"
import * as UnusedBlobs from "../blobs/UnusedBlobs.ts"
import * as Chunks from "../store/database/Chunks.ts"
import { Assistants } from "../store/workers/Assistants.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { ConsoleSessions } from "../store/access/ConsoleSessions.ts"
import { ProviderSignIns } from "../store/access/ProviderSignIns.ts"
import { AuditChain } from "../store/audit/AuditChain.ts"
import { SignInPauses } from "../store/access/SignInPauses.ts"
import { BulkOperations } from "../store/room/BulkOperations.ts"
import { Database } from "../store/database/Database.ts"
import { Failures } from "../store/items/Failures.ts"
import * as FreeSpace from "../store/database/FreeSpace.ts"
import { IdempotencyRecords } from "../store/access/IdempotencyRecords.ts"
import { Nodes } from "../store/room/Nodes.ts"
import { PackageUses } from "../store/packages/PackageUses.ts"
import { Blocked } from "../store/runs/Blocked.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { WorkerGroups } from "../store/workers/WorkerGroups.ts"
import { unhurried } from "@signalbox/sql/QueryDeadline"
import { Workers } from "../store/workers/Workers.ts"

/**
 * Retention of console messages, events and artifacts after the end of their step run, and of link tokens of groups
 * after they expired.
 */
const keepDetails = Duration.days(90)

/** Retention of groups of failures after their last change, once they have no failed items. */
const keepFailures = Duration.days(90)

/** Retention of bulk operations after their end. */
const keepBulkOperations = Duration.days(30)

export class Retention extends Context.Service<
  Retention,
  {
    /** Deletes everything that has exceeded its retention now. */
    readonly tick: Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/Retention") {
  /** How long runs are stored after their end, and entries of the audit; undefined: for ever. */
  static readonly layer = (retainRuns?: Duration.Input, retainAudit?: Duration.Input) =>
    Layer.effect(
      Retention,
      Effect.gen(function* () {
        const { millis } = yield* Database
        const audit = yield* AuditChain
        const deletions = yield* Deletions
        const runs = yield* ProcessRuns
        const assistants = yield* Assistants
        const idempotencyRecords = yield* IdempotencyRecords
        const workers = yield* Workers
        const groups = yield* WorkerGroups
        const sessions = yield* ConsoleSessions
        const accountSessions = yield* AccountSessions
        const signInPauses = yield* SignInPauses
        const providerSignIns = yield* ProviderSignIns
        const failures = yield* Failures
        const bulkOperations = yield* BulkOperations
        const nodes = yield* Nodes
        const blocked = yield* Blocked
        const uses = yield* PackageUses
        const dropBlobs = yield* UnusedBlobs.make
        const { whenRunning } = yield* RoomState
        const giveBack = yield* FreeSpace.make

        const before = (age: Duration.Duration) =>
          Effect.map(millis, (time) => new Date(time - Duration.toMillis(age)).toISOString())

        const oldRuns = Effect.fnUntraced(function* (age: Duration.Duration) {
          const cutoff = yield* before(age)
          while ((yield* runs.markEndedBefore(cutoff, runsAtOnce)) > 0) yield* deletions.runs("all")
          yield* Chunks.sweep((limit) => assistants.removeEndedBefore(cutoff, limit))
        })

        /** Versions that are neither among the newest of their package nor used. */
        const oldVersions = Effect.gen(function* () {
          for (const { id, workspace } of yield* uses.crowded) {
            const removed = Effect.flatMap(uses.removeOld(workspace, id), dropBlobs)
            yield* Effect.andThen(Effect.uninterruptible(removed), Effect.yieldNow)
          }
        })

        /** A day at a time, since each removal is an entry too. */
        const oldEntries = Effect.fnUntraced(function* (age: Duration.Duration) {
          const day = `${(yield* before(age)).slice(0, 10)}T00:00:00.000Z`
          yield* Chunks.sweep((limit) => audit.removeBefore(day, limit))
        })

        const tick = Effect.gen(function* () {
          const cutoff = yield* before(keepDetails)
          yield* Chunks.sweep(idempotencyRecords.sweep)
          const bulkCutoff = yield* before(keepBulkOperations)
          yield* Chunks.sweep((limit) => bulkOperations.sweep(bulkCutoff, limit))
          const failureCutoff = yield* before(keepFailures)
          yield* Chunks.sweep((limit) => failures.sweep(failureCutoff, limit))
          yield* Chunks.sweep(workers.sweepLinkTokens)
          yield* Chunks.sweep(sessions.sweep)
          yield* Chunks.sweep(accountSessions.sweep)
          yield* Chunks.sweep(signInPauses.sweep)
          yield* Chunks.sweep(providerSignIns.sweep)
          yield* nodes.sweep
          yield* Chunks.sweep(blocked.sweep)
          yield* Chunks.sweep((limit) => groups.sweepLinkTokens(cutoff, limit))
          // Deletions that a killed process has not finished.
          yield* deletions.processes(null)
          yield* deletions.runs("all")
          if (retainRuns !== undefined) yield* oldRuns(Duration.fromInputUnsafe(retainRuns))
          if (retainAudit !== undefined) yield* oldEntries(Duration.fromInputUnsafe(retainAudit))
          yield* deletions.details(cutoff)
          yield* oldVersions
          while (yield* giveBack) yield* Effect.yieldNow
        }).pipe(whenRunning, unhurried, Effect.withSpan("Retention.tick"))

        return Retention.of({ tick })
      })
    ).pipe(Layer.provide(Deletions.layer))

  static readonly layerTicking = Layer.effectDiscard(
    Effect.gen(function* () {
      const { tick } = yield* Retention
      yield* tick.pipe(
        steady("deleting data past its retention"),
        Effect.repeat(Schedule.spaced("1 hour")),
        Effect.forkScoped
      )
    })
  )
}
