/**
 * Carries out commands on runs: loads what a command touches, asks the engine, and writes what it answers, each in one
 * transaction.
 */
import {
  type ProcessId,
  ProcessRunId,
  type StepRunId,
  type WorkerId,
  type WorkItemId,
  type WorkspaceId
} from "@signalbox/api/contract/Ids"
import type { Callback, StartInput } from "@signalbox/api/contract/ProcessRuns"
import type { StepRunErrorCode } from "@signalbox/api/contract/StepRuns"
import type { BatchOperation } from "@signalbox/api/contract/WorkItems"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import * as Engine from "../engine/Engine.ts"
import { Deletions } from "./Deletions.ts"
import { steady } from "../BackgroundTask.ts"
import { Pace } from "../Pace.ts"
import { Refused } from "../Refused.ts"
import { Database } from "../store/Database.ts"
import { Assets } from "../store/Assets.ts"
import { Assistants, silentAfter } from "../store/Assistants.ts"
import { Files } from "../store/Files.ts"
import { Outputs } from "../store/Outputs.ts"
import { ProcessRuns } from "../store/ProcessRuns.ts"
import { Processes, type StoredProcess } from "../store/Processes.ts"
import { RunItems } from "../store/RunItems.ts"
import { type Leased, type StoredStepRun, StepRuns } from "../store/StepRuns.ts"
import { lostAfter } from "../store/Workers.ts"
import { type NewCallback, Webhooks } from "../store/Webhooks.ts"
import type { StoredState } from "../store/StoredItem.ts"
import { TaskPackages } from "../store/TaskPackages.ts"
import { WorkItems } from "../store/WorkItems.ts"
import { decided, Transitions } from "./Transitions.ts"
import { Unserved } from "./Unserved.ts"
import { WorkSignal } from "./WorkSignal.ts"

/** A lease that is not started within this goes back. */
const leaseTime = Duration.seconds(30)

export interface StepRunError {
  readonly code: StepRunErrorCode
  readonly message: string
}

export class Runs extends Context.Service<
  Runs,
  {
    /** Null when a start with the waiting inputs found none. `callback` is told of the run. */
    readonly start: (
      workspace: WorkspaceId,
      process: StoredProcess,
      input: StartInput,
      callback?: Callback
    ) => Effect.Effect<ProcessRunId | null, Refused>
    readonly stop: (run: ProcessRunId, command: Engine.StopCommand) => Effect.Effect<boolean>
    readonly remove: (run: ProcessRunId) => Effect.Effect<void, Refused>
    /** Deletes a process with its ended runs. */
    readonly removeProcess: (workspace: WorkspaceId, process: ProcessId) => Effect.Effect<void, Refused>
    readonly batch: (
      workspace: WorkspaceId,
      operation: BatchOperation,
      items: ReadonlyArray<WorkItemId>
    ) => Effect.Effect<void, Refused>
    readonly lease: (
      worker: { readonly id: WorkerId; readonly workspaceId: WorkspaceId },
      tasks: ReadonlyArray<string>,
      packages: boolean,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Leased>>
    readonly startStepRun: (stepRun: StoredStepRun) => Effect.Effect<void, Refused>
    readonly reserveNext: (stepRun: StoredStepRun) => Effect.Effect<WorkItemId | null, Refused>
    readonly release: (
      stepRun: StoredStepRun,
      item: WorkItemId,
      exception: Engine.Exception | null
    ) => Effect.Effect<void, Refused>
    readonly createOutput: (
      stepRun: StoredStepRun,
      item: WorkItemId,
      payload: Schema.Json
    ) => Effect.Effect<WorkItemId, Refused>
    readonly finish: (stepRun: StoredStepRun, error: StepRunError | null) => Effect.Effect<void, Refused>
    /**
     * A worker was heard of, with these step runs in hand: which of them it must stop, and which are no longer its own. One
     * that it had and does not name any more is lost, as if the worker were: it was killed, and has started again.
     */
    readonly heard: (
      worker: WorkerId,
      stepRuns: ReadonlyArray<StepRunId>
    ) => Effect.Effect<{ readonly stop: ReadonlyArray<StepRunId>; readonly lost: ReadonlyArray<StepRunId> }>
    /** One look for what time has brought: leases not started, lost workers, overdue step runs, delays that are over. */
    readonly tick: Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/Runs") {
  static readonly layer = Layer.effect(
    Runs,
    Effect.gen(function* () {
      const { millis, newId, now, transaction } = yield* Database
      const processes = yield* Processes
      const runs = yield* ProcessRuns
      const stepRuns = yield* StepRuns
      const items = yield* WorkItems
      const runItems = yield* RunItems
      const outputs = yield* Outputs
      const files = yield* Files
      const assets = yield* Assets
      const assistants = yield* Assistants
      const taskPackages = yield* TaskPackages
      const deletions = yield* Deletions
      const signal = yield* WorkSignal
      const { commit, dropBlobs, locked, lockedStepRun } = yield* Transitions
      const webhooks = yield* Webhooks
      const unserved = yield* Unserved
      let upSince = yield* millis
      let failed = false

      const startWith = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        known: StoredProcess,
        input: StartInput,
        callback: Omit<NewCallback, "processRun"> | null
      ) {
        // As it is now: it may have been changed or deleted since it was looked up.
        const process = yield* processes.lock(workspace, known.view.id, "share")
        if (process === null) return yield* processGone(known.view.id)
        const conflict = (message: string) => new Refused({ code: "CONFLICT", message })
        if (process.steps.length === 0) {
          return yield* conflict(`the process "${process.view.name}" has no steps; add one before starting it`)
        }
        for (const { task } of process.steps) {
          if (task.package_id !== undefined) yield* taskPackages.forTask(workspace, task.package_id, task.name)
        }
        const taken =
          input.type === "with_inputs"
            ? yield* runItems.queued(process.view.id)
            : input.type === "with_work_item_ids"
              ? input.work_item_ids
              : null
        if (input.type === "with_work_item_ids" && new Set(taken).size !== input.work_item_ids.length) {
          return yield* conflict("work_item_ids names a work item twice")
        }
        if (taken !== null && taken.length === 0) return null
        const payloads = input.type === "with_payloads" ? input.payloads : [process.defaultWorkItem?.payload ?? null]
        const run = Engine.begin(
          {
            id: ProcessRunId.make(yield* newId),
            workspaceId: workspace,
            processId: process.view.id,
            steps: process.steps
          },
          taken?.length ?? payloads.length
        )
        yield* runs.insert(run, process.view.name)
        if (taken === null) yield* runItems.create(run, payloads)
        else if ((yield* runItems.take(run, taken)) !== taken.length) {
          return yield* conflict(
            "work_item_ids must name work items that are new and of this process; at least one is not, so nothing was started"
          )
        }
        if (callback !== null) yield* webhooks.createCallback(workspace, { ...callback, processRun: run.id })
        yield* commit({ run, changes: [] })
        return run.id
      }, transaction)

      const processGone = (id: ProcessId) =>
        new Refused({ code: "NOT_FOUND", message: `there is no process ${id} in this workspace` })

      const start = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        process: StoredProcess,
        input: StartInput,
        callback?: Callback
      ) {
        if (callback === undefined) return yield* startWith(workspace, process, input, null)
        const events = callback.callback_events.map((action) => `process_run.${action}` as const)
        const sealed = yield* webhooks.sealCallback(callback.secret)
        return yield* startWith(workspace, process, input, { ...sealed, endpoint: callback.url, events })
      })

      const stop = Effect.fnUntraced(function* (id: ProcessRunId, command: Engine.StopCommand) {
        const run = yield* runs.lock(id)
        if (run === null) return false
        const live: Array<{ readonly stepRun: StoredStepRun; readonly item: StoredState | null }> = []
        for (const stepRun of yield* stepRuns.lockLive(id)) {
          live.push({ stepRun, item: yield* runItems.held(stepRun.id) })
        }
        const outcome = Engine.stop(run, live, command, yield* now)
        if (outcome.changes.length > 0 || outcome.run !== run) yield* commit(outcome)
        return outcome.accepted
      }, transaction)

      const remove = Effect.fnUntraced(function* (id: ProcessRunId) {
        yield* transaction(
          Effect.gen(function* () {
            const run = yield* locked(id)
            if (run.state !== "completed" && run.state !== "unresolved") {
              return yield* new Refused({
                code: "CONFLICT",
                message: `the run is ${run.state}; stop it and wait for its end before deleting it`
              })
            }
            yield* runs.markDeleted(id)
          })
        )
        yield* deletions.runs({ run: id })
      })

      const removeProcess = Effect.fnUntraced(function* (workspace: WorkspaceId, id: ProcessId) {
        yield* transaction(
          Effect.gen(function* () {
            const process = yield* processes.lock(workspace, id, "update")
            if (process === null) return yield* processGone(id)
            const { live, waiting } = yield* processes.inUse(id)
            if (live > 0 || waiting > 0) {
              return yield* new Refused({
                code: "CONFLICT",
                message: `the process has ${live} live runs and ${waiting} waiting work items; stop the runs and wait for their end, and delete the items, before deleting it`
              })
            }
            yield* processes.markDeleted(id)
          })
        )
        yield* deletions.processes(id)
      })

      const batch = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        operation: BatchOperation,
        ids: ReadonlyArray<WorkItemId>
      ) {
        const allowed = Engine.batchStates[operation]
        const isIn = (states: ReadonlyArray<string>, item: StoredState) => states.includes(item.state)
        const firstTen = (names: ReadonlyArray<string>) =>
          names.slice(0, 10).join(", ") + (names.length > 10 ? ` and ${names.length - 10} more` : "")
        const unused = yield* transaction(
          Effect.gen(function* () {
            // Runs are locked before their items, and both before they are read for good, so that the states checked here
            // are those that change.
            const runIds = yield* items.runsOf(ids)
            const lockedRuns = new Map<ProcessRunId, Engine.Run>()
            for (const id of [...runIds].sort()) {
              const run = yield* runs.lock(id)
              if (run !== null) lockedRuns.set(id, run)
            }
            const isGoing = (id: ProcessRunId | null) => id !== null && runIds.has(id) && !lockedRuns.has(id)
            const found = (yield* items.lockMany(ids)).filter(
              (item) => item.workspaceId === workspace && !isGoing(item.processRunId)
            )
            const known = new Set<string>(found.map((item) => item.id))
            const missing = ids.filter((id) => !known.has(id))
            if (new Set(ids).size !== ids.length) {
              return yield* new Refused({ code: "INVALID_REQUEST", message: "work_item_ids names a work item twice" })
            }
            if (missing.length > 0) {
              return yield* new Refused({
                code: "NOT_FOUND",
                message: `work_item_ids: not in this workspace: ${firstTen(missing)}; nothing was changed`
              })
            }
            const wrong = found.filter((item) => !isIn(allowed.from, item) && !isIn(allowed.already, item))
            if (wrong.length > 0) {
              return yield* new Refused({
                code: "CONFLICT",
                message: `${operation} takes work items that are ${allowed.from.join(" or ")}; not so: ${firstTen(
                  wrong.map((item) => `${item.id} (${item.state})`)
                )}; nothing was changed`
              })
            }
            const taken = found.find(({ processRunId }) => processRunId !== null && !lockedRuns.has(processRunId))
            if (taken !== undefined) {
              return yield* new Refused({
                code: "CONFLICT",
                message: `the work item ${taken.id} was just taken into a run; nothing was changed, try again`
              })
            }
            const todo = found.filter((item) => isIn(allowed.from, item))
            // A run that goes on again keeps its process from being deleted, and the other way round.
            if (operation === "retry") {
              for (const id of [...new Set(todo.map((item) => item.processId))].sort()) {
                if ((yield* processes.lock(workspace, id, "share")) === null) return yield* processGone(id)
              }
            }
            const at = yield* now
            const byRun = Map.groupBy(todo, (item) => item.processRunId)
            for (const run of lockedRuns.values()) {
              const ofRun = byRun.get(run.id) ?? []
              if (ofRun.length > 0) yield* commit(yield* decided(Engine.batch(run, operation, ofRun, at)))
            }
            if (operation !== "delete") return []
            yield* items.remove((byRun.get(null) ?? []).map((item) => item.id))
            return yield* files.removeOwners(todo.map((item) => item.id))
          })
        )
        yield* dropBlobs(unused)
      })

      const lease = Effect.fnUntraced(function* (
        worker: { readonly id: WorkerId; readonly workspaceId: WorkspaceId },
        tasks: ReadonlyArray<string>,
        packages: boolean,
        limit: number
      ) {
        const expires = (yield* millis) + Duration.toMillis(leaseTime)
        return yield* stepRuns.lease(worker, tasks, packages, limit, new Date(expires).toISOString())
      }, transaction)

      const startStepRun = Effect.fnUntraced(function* (known: StoredStepRun) {
        const { run, stepRun } = yield* lockedStepRun(known)
        // Said again by the same lease, because the answer was lost: nothing more to do.
        if (stepRun.state === "in_progress") return
        const item = yield* runItems.held(stepRun.id)
        yield* commit(yield* decided(Engine.startStepRun(run, stepRun, item, yield* now)))
      }, transaction)

      const reserveNext = Effect.fnUntraced(function* (known: StoredStepRun) {
        const { run, stepRun } = yield* lockedStepRun(known)
        const held = yield* runItems.held(stepRun.id)
        const [next] = held === null ? yield* runItems.due(run.id, stepRun.step, 1) : []
        const outcome = yield* decided(Engine.reserveNext(run, stepRun, held, next ?? null, yield* now))
        if (outcome.changes.length > 0) yield* commit(outcome)
        return outcome.item
      }, transaction)

      const itemOf = Effect.fnUntraced(function* (stepRun: StoredStepRun, id: WorkItemId) {
        const item = yield* items.get(stepRun.workspaceId, id)
        if (item !== null && item.processRunId === stepRun.processRunId) return item
        return yield* new Refused({ code: "NOT_FOUND", message: `no work item ${id} in this run` })
      })

      const release = Effect.fnUntraced(function* (
        known: StoredStepRun,
        id: WorkItemId,
        exception: Engine.Exception | null
      ) {
        const { run, stepRun } = yield* lockedStepRun(known)
        const item = yield* itemOf(stepRun, id)
        const outcome = yield* decided(Engine.release(run, stepRun, item, exception, yield* now))
        if (outcome.changes.length > 0) yield* commit(outcome)
      }, transaction)

      const createOutput = Effect.fnUntraced(function* (known: StoredStepRun, id: WorkItemId, payload: Schema.Json) {
        const { run, stepRun } = yield* lockedStepRun(known)
        const item = yield* itemOf(stepRun, id)
        if (stepRun.state !== "in_progress") {
          return yield* new Refused({ code: "LEASE_LOST", message: `the step run is ${stepRun.state}; stop the task` })
        }
        if (item.stepRun !== stepRun.id || item.state !== "in_progress") {
          return yield* new Refused({
            code: "CONFLICT",
            message: `the work item is ${item.state} and not in the hand of this step run; reserve it first`
          })
        }
        const [output] = yield* outputs.create(run, [{ item: item.id, stepRun: stepRun.id, payload }])
        yield* stepRuns.addEvents([{ stepRun: stepRun.id, type: "OUTPUT_CREATED", item: item.id }])
        return output ?? (yield* Effect.die(new Error("an output was not made")))
      }, transaction)

      const finish = Effect.fnUntraced(function* (known: StoredStepRun, error: StepRunError | null) {
        const { run, stepRun } = yield* lockedStepRun(known)
        const held = yield* runItems.held(stepRun.id)
        const unreleased = yield* outputs.count(stepRun.id, held?.id ?? null)
        yield* commit(yield* decided(Engine.finish(run, stepRun, held, unreleased, error, yield* now)))
      }, transaction)

      /** Ends a step run for a reason of the platform; one that has just ended by itself is fine. */
      const end = (stepRun: StoredStepRun, error: StepRunError) =>
        Effect.catchTag(finish(stepRun, error), "Refused", () => Effect.void)

      const heard = Effect.fnUntraced(function* (worker: WorkerId, ids: ReadonlyArray<StepRunId>) {
        // What was just started may not have been known to the worker when it called.
        const cutoff = new Date((yield* millis) - Duration.toMillis(lostAfter)).toISOString()
        const { dropped, lost, stop } = yield* stepRuns.ofWorker(worker, ids, cutoff)
        for (const stepRun of dropped) {
          yield* end(stepRun, { code: "WORKER_LOST", message: "the worker has started again without it" })
        }
        return { stop, lost }
      })

      const wake = Effect.fnUntraced(function* (id: ProcessRunId) {
        const run = yield* runs.lock(id)
        if (run !== null) yield* commit({ run, changes: [] })
      }, transaction)

      const tick = Effect.gen(function* () {
        const asked = yield* millis
        if ((yield* stepRuns.expireLeases) > 0) yield* signal.afterCommit
        // Behind a long transaction heartbeats wait too.
        const waited = (yield* millis) - asked > Duration.toMillis(lostAfter) / 4
        if (failed || waited) upSince = yield* millis
        failed = false
        const cutoff = (yield* millis) - Duration.toMillis(lostAfter)
        // While service or database were away no worker could be heard: each gets its time to call again.
        if (cutoff >= upSince) {
          for (const stepRun of yield* stepRuns.withLostWorker(new Date(cutoff).toISOString())) {
            yield* end(stepRun, { code: "WORKER_LOST", message: "the worker was not heard of any more" })
          }
          yield* unserved.look(new Date(cutoff).toISOString())
        }
        const silent = (yield* millis) - silentAfter
        if (silent >= upSince) yield* assistants.failSilent(new Date(silent).toISOString())
        yield* assets.expireUploads
        for (const stepRun of yield* stepRuns.overdue) {
          yield* end(stepRun, { code: "TIMEOUT", message: "the step run took longer than the step allows" })
        }
        for (const run of yield* runItems.runsWithDelayOver) yield* wake(run)
      }).pipe(
        Effect.onError(() =>
          Effect.sync(() => {
            failed = true
          })
        ),
        Effect.withSpan("Runs.tick")
      )

      return Runs.of({
        start,
        stop,
        remove,
        removeProcess,
        batch,
        lease,
        startStepRun,
        reserveNext,
        release,
        createOutput,
        finish,
        heard,
        tick
      })
    })
  ).pipe(Layer.provide([Deletions.layer, Transitions.layer, Unserved.layer]))

  /** Lets time pass: calls `tick` at the pace of the service. */
  static readonly layerTicking = Layer.effectDiscard(
    Effect.gen(function* () {
      const { tick } = yield* Runs
      yield* tick.pipe(
        steady("looking for lost workers and delays"),
        Effect.repeat(Schedule.spaced(yield* Pace)),
        Effect.forkScoped
      )
    })
  )
}
