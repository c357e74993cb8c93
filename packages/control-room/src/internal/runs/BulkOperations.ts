/**
 * Carries out bulk operations: a job at a time, in short transactions, each of which saves how far the job has come. Any
 * node continues a job, and jobs take turns.
 */
import type { BulkFilter, BulkOperation, BulkOperationName, BulkRefusal } from "@signalbox/api/contract/BulkOperations"
import { BulkOperationId, ProcessRunId, WorkItemId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import * as StorageFailure from "@signalbox/sql/StorageFailure"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import * as Counters from "../telemetry/Counters.ts"
import * as Traces from "../telemetry/Traces.ts"
import { steady } from "../background/BackgroundTask.ts"
import { normalise } from "../engine/Failures.ts"
import { PollInterval } from "../background/PollInterval.ts"
import { Refused } from "../engine/Refused.ts"
import { BulkOperations as Store, type ClaimedOperation } from "../store/room/BulkOperations.ts"
import { BulkTargets, statesOf, type Target } from "../store/room/BulkTargets.ts"
import { rowsPerChunk } from "../store/database/Chunks.ts"
import { Changes } from "../store/room/Changes.ts"
import { Database } from "../store/database/Database.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { Runs } from "./Runs.ts"

/** What one transaction takes at most. It takes fewer when the last one took longer than this many milliseconds. */
const chunkSize = 50
const chunkMillis = 10

/** Rows that one transaction looks at, of which fewer may match. */
const windowSize = 200

/**
 * Attempts at a chunk that do not end, because it fails unexpectedly or the process ends. After these its targets are
 * taken one at a time; after as many at one of them, it is refused untried.
 */
const mostAttempts = 3

/** Chunks of a job before the next one has its turn. */
const chunksPerTurn = 20

/** Reasons, and ids for each, that a job keeps. */
const keptReasons = 20
const keptIds = 5

/** Keys of a filter that only work items have. */
const ofItems = [
  "process_run_id",
  "step_id",
  "failure_id",
  "type",
  "code",
  "reference",
  "tag",
  "state_updated_after",
  "state_updated_before"
] as const satisfies ReadonlyArray<keyof BulkFilter>

const times = [
  "created_after",
  "created_before",
  "state_updated_after",
  "state_updated_before"
] as const satisfies ReadonlyArray<keyof BulkFilter>

/** Returns why a filter cannot be used; null for one that can. */
const problemOf = (operation: BulkOperationName, filter: BulkFilter): string | null => {
  const states: ReadonlyArray<string> = statesOf[operation]
  if (filter.state !== undefined && !states.includes(filter.state)) {
    return `filter.state: ${operation} applies only to the states ${states.join(" and ")}`
  }
  const alien = operation === "start_again" ? ofItems.find((key) => filter[key] !== undefined) : undefined
  if (alien !== undefined) return `filter.${alien}: not supported by start_again, which applies to runs; remove it`
  const ofException = (["failure_id", "type", "code"] as const).find((key) => filter[key] !== undefined)
  if (ofException !== undefined && filter.state !== undefined && filter.state !== "failed") {
    return `filter.${ofException}: only failed items have one; remove it, or the state`
  }
  const wrong = times.find((key) => Number.isNaN(Date.parse(filter[key] ?? "1970-01-01T00:00:00Z")))
  if (wrong !== undefined) return `filter.${wrong}: the time does not exist`
  const narrowing = Object.keys(filter).filter((key) => key !== "state" && key !== "everything")
  return narrowing.length === 0 && filter.everything !== true
    ? "filter: matches everything; narrow it, or confirm with everything: true"
    : null
}

interface Refusal {
  readonly id: string
  readonly refused: Pick<BulkRefusal, "code" | "message">
}

const deadly = {
  code: "UNEXPECTED_ERROR",
  message: "each attempt failed unexpectedly or ended the service; see the log of the service, and retry this one alone"
}

/** Adds refusals to the groups of a job. */
const grouped = (known: ReadonlyArray<BulkRefusal>, refusals: ReadonlyArray<Refusal>): ReadonlyArray<BulkRefusal> => {
  const groups = [...known]
  for (const { id, refused } of refusals) {
    const message = normalise(refused.message)
    const index = groups.findIndex((group) => group.code === refused.code && group.message === message)
    const group = groups[index] ?? { code: refused.code, message, count: 0, ids: [] }
    const added = { ...group, count: group.count + 1, ids: group.ids.length < keptIds ? [...group.ids, id] : group.ids }
    if (index >= 0) groups[index] = added
    else if (groups.length < keptReasons) groups.push(added)
  }
  return groups
}

interface Carried {
  readonly done: number
  readonly refusals: ReadonlyArray<Refusal>
}

export class BulkOperations extends Context.Service<
  BulkOperations,
  {
    /** Counts what matches, and unless it is a dry run creates the job. */
    readonly create: (
      workspace: WorkspaceId,
      operation: BulkOperationName,
      filter: BulkFilter,
      dryRun: boolean
    ) => Effect.Effect<{ readonly total: number; readonly bulk_operation: BulkOperation | null }, Refused>
    /** Continues all jobs that no other node has claimed to their end. */
    readonly tick: Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/BulkOperations") {
  static readonly layer = Layer.effect(
    BulkOperations,
    Effect.gen(function* () {
      const { newId, now, transaction } = yield* Database
      const { whenRunning } = yield* RoomState
      const store = yield* Store
      const targets = yield* BulkTargets
      const runs = yield* Runs
      const changes = yield* Changes

      const count = Effect.fnUntraced(function* (target: Target) {
        let total = 0
        for (let next: string | null = ""; next !== null;) {
          const window: Effect.Success<ReturnType<typeof targets.window>> = yield* targets.window(
            target,
            next,
            rowsPerChunk
          )
          total += window.ids.length
          next = window.next
          yield* Effect.yieldNow
        }
        return total
      })

      const create = Effect.fn("BulkOperations.create")(function* (
        workspace: WorkspaceId,
        operation: BulkOperationName,
        filter: BulkFilter,
        dryRun: boolean
      ) {
        const problem = problemOf(operation, filter)
        if (problem !== null) return yield* new Refused({ code: "INVALID_REQUEST", message: problem })
        const id = BulkOperationId.make(yield* newId)
        const target: Target = { id, workspaceId: workspace, operation, filter, createdAt: yield* now }
        const total = yield* count(target)
        if (dryRun) return { total, bulk_operation: null }
        return { total, bulk_operation: yield* store.create(target, total) }
      })

      const single = (target: Target, id: string): Effect.Effect<void, Refused> =>
        target.operation === "start_again"
          ? Effect.asVoid(runs.startAgain(target.workspaceId, ProcessRunId.make(id)))
          : Effect.asVoid(runs.batch(target.workspaceId, target.operation, [WorkItemId.make(id)]))

      /** One by one, until the time of a chunk is over. */
      const oneByOne = Effect.fnUntraced(function* (target: Target, ids: ReadonlyArray<string>) {
        const began = yield* Clock.currentTimeMillis
        const refusals: Array<Refusal> = []
        let tried = 0
        for (const id of ids) {
          const result = yield* Effect.result(single(target, id))
          tried++
          if (Result.isFailure(result)) refusals.push({ id, refused: result.failure })
          if ((yield* Clock.currentTimeMillis) - began >= chunkMillis) break
        }
        return { done: tried - refusals.length, refusals }
      })

      /** Items together, which costs least; one by one when one of them is refused. Runs one by one. */
      const carryOut = Effect.fnUntraced(function* (target: Target, ids: ReadonlyArray<string>) {
        if (ids.length === 0) return { done: 0, refusals: [] } satisfies Carried
        if (target.operation === "start_again") return yield* oneByOne(target, ids)
        const together = runs.batch(
          target.workspaceId,
          target.operation,
          ids.map((id) => WorkItemId.make(id))
        )
        const result = yield* Effect.result(together)
        return Result.isSuccess(result) ? { done: ids.length, refusals: [] } : yield* oneByOne(target, ids)
      })

      /** Null when the job is no longer this node's. */
      const chunk = Effect.fnUntraced(function* (claimed: ClaimedOperation, size: number) {
        const job = yield* store.lock(claimed)
        if (job === null) return null
        const isSingle = job.singles > 0
        if (job.attempts > mostAttempts && !isSingle) {
          // In a separate transaction, which the next attempt cannot roll back.
          yield* store.record(job, {
            done: 0,
            refused: 0,
            refusals: job.refusals,
            position: job.position,
            singles: chunkSize
          })
          return { done: 0, refused: 0, more: true }
        }
        const { ids, next } = yield* targets.window(job, job.position, windowSize)
        const some = ids.slice(0, isSingle ? 1 : size)
        // Readers do not wait for the transaction.
        yield* Effect.yieldNow
        const { done, refusals }: Carried =
          job.attempts > mostAttempts
            ? { done: 0, refusals: some.map((id) => ({ id, refused: deadly })) }
            : yield* carryOut(job, some)
        const tried = done + refusals.length
        const position = tried < ids.length ? (ids[tried - 1] ?? job.position) : next
        yield* store.record(job, {
          done,
          refused: refusals.length,
          refusals: grouped(job.refusals, refusals),
          position,
          singles: Math.max(0, job.singles - tried)
        })
        yield* changes.tell(job.workspaceId, () => [{ topic: "bulk_operations", id: job.id }])
        return { done, refused: refusals.length, more: position !== null }
      }, transaction)

      /** Some chunks of a job. Between them others have as much time as they took. */
      const turn = Effect.fnUntraced(function* (claimed: ClaimedOperation) {
        let size = chunkSize
        for (let chunks = 0; chunks < chunksPerTurn; chunks++) {
          const began = yield* Clock.currentTimeMillis
          const written = yield* chunk(claimed, size)
          if (written === null) return
          yield* Metric.update(Counters.bulkTargets.done, written.done)
          yield* Metric.update(Counters.bulkTargets.refused, written.refused)
          if (!written.more) return
          const took = (yield* Clock.currentTimeMillis) - began
          size = Math.max(1, Math.min(chunkSize, Math.floor((size * chunkMillis) / Math.max(1, took))))
          yield* took > 0 ? Effect.sleep(took) : Effect.yieldNow
        }
        yield* store.release(claimed)
      })

      /** A turn that fails unexpectedly is retried after a pause; `counted`, unless the storage was the reason. */
      const attempt = (claimed: ClaimedOperation) =>
        turn(claimed).pipe(
          Effect.withSpan("BulkOperations.turn", { root: true }),
          Traces.working,
          Effect.onInterrupt(() => store.release(claimed)),
          Effect.tapCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.void
              : Effect.ignoreCause(store.retry(claimed, StorageFailure.ofCause(cause) === null))
          ),
          Effect.exit
        )

      const tick = Effect.gen(function* () {
        let failed: Exit.Exit<void> = Exit.void
        for (;;) {
          const claimed = yield* store.claim
          // One that fails holds up no other.
          if (claimed === null) return yield* failed
          const exit = yield* attempt(claimed)
          if (Exit.isFailure(exit)) failed = exit
        }
      }).pipe(whenRunning, Effect.withSpan("BulkOperations.tick"))

      return BulkOperations.of({ create, tick })
    })
  )

  /** Calls `tick` at the poll interval. */
  static readonly layerTicking = Layer.effectDiscard(
    Effect.gen(function* () {
      const { tick } = yield* BulkOperations
      const store = yield* Store
      const sql = yield* SqlClient.SqlClient
      // A SQLite file belongs to one process: claims found at its start were made by one that has ended.
      yield* sql.onDialectOrElse({ pg: () => Effect.void, orElse: () => store.releaseAll })
      yield* tick.pipe(
        steady("carrying out bulk operations"),
        Effect.repeat(Schedule.spaced(yield* PollInterval)),
        Effect.forkScoped
      )
    })
  )
}
