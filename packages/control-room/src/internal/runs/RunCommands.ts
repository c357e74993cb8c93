/** Commands on whole runs and processes: start, stop, delete. */
import { type ProcessId, ProcessRunId, type WorkItemId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Callback, ProcessRun, StartInput } from "@signalbox/api/contract/ProcessRuns"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Engine from "../engine/Engine.ts"
import { isLimited } from "../engine/Limits.ts"
import type * as State from "../engine/State.ts"
import { Refused } from "../engine/Refused.ts"
import { Database } from "../store/database/Database.ts"
import { Files } from "../store/files/Files.ts"
import { Processes, type StoredProcess } from "../store/processes/Processes.ts"
import { Limits } from "../store/items/Limits.ts"
import { ProcessRuns, type StartedFrom } from "../store/runs/ProcessRuns.ts"
import { RunItems } from "../store/items/RunItems.ts"
import { Schedules } from "../store/starts/Schedules.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import { TaskPackages } from "../store/packages/TaskPackages.ts"
import { Triggers } from "../store/starts/Triggers.ts"
import { Webhooks } from "../store/notifications/Webhooks.ts"
import type { NewCallback } from "../store/notifications/StoredWebhook.ts"
import * as Traces from "../telemetry/Traces.ts"
import { InputSchemas } from "./InputSchemas.ts"
import { budget } from "./schemas/Check.ts"
import { Deletions } from "./Deletions.ts"
import { Transitions } from "./Transitions.ts"

export interface StartOptions {
  /** Receives the events of the run. */
  readonly callback?: Callback | undefined
  /** Of its items that have none of their own; default 0. */
  readonly priority?: number
  /** Who starts it, where that is a person. */
  readonly user?: Starter | undefined
}

type Starter = NonNullable<ProcessRun["started_by"]["details"]>

export interface RunCommands {
  /** Null when a start with the waiting inputs found none. */
  readonly start: (
    workspace: WorkspaceId,
    process: StoredProcess,
    input: StartInput,
    options?: StartOptions
  ) => Effect.Effect<ProcessRunId | null, Refused>
  /** Starts a run with copies of the inputs of one that has ended. */
  readonly startAgain: (
    workspace: WorkspaceId,
    run: ProcessRunId,
    user?: Starter
  ) => Effect.Effect<ProcessRunId, Refused>
  /** Like `start`, for a schedule or trigger. */
  readonly startFrom: (
    source: StartedFrom,
    workspace: WorkspaceId,
    process: StoredProcess,
    input: StartInput
  ) => Effect.Effect<ProcessRunId | null, Refused>
  /** An item that waits for limits has another payload. For callers that have locked its run, in their transaction. */
  readonly enterAgain: (run: State.Run, item: WorkItemId) => Effect.Effect<void>
  readonly stop: (run: ProcessRunId, command: Engine.StopCommand) => Effect.Effect<boolean>
  readonly remove: (run: ProcessRunId) => Effect.Effect<void, Refused>
  /** Deletes a process with its ended runs. */
  readonly removeProcess: (workspace: WorkspaceId, process: ProcessId) => Effect.Effect<void, Refused>
}

/** What a run starts with: what a request says, or copies of the inputs of another run. */
type Inputs = StartInput | { readonly type: "inputs_of"; readonly items: ReadonlyArray<WorkItemId> }

/** How a run starts, besides its inputs. */
interface How {
  readonly callback?: Omit<NewCallback, "processRun">
  /** Default 0. */
  readonly priority?: number
  /** Default: a request. */
  readonly source?: StartedFrom
  readonly user?: Starter | undefined
}

/** The refusal when the workspace has no such process. */
export const processNotFound = (id: ProcessId) =>
  new Refused({ code: "NOT_FOUND", message: `this workspace has no process ${id}` })

export const make = Effect.gen(function* () {
  const { newId, now, sql, transaction } = yield* Database
  const files = yield* Files
  const processes = yield* Processes
  const runs = yield* ProcessRuns
  const stepRuns = yield* StepRuns
  const runItems = yield* RunItems
  const limits = yield* Limits
  const taskPackages = yield* TaskPackages
  const webhooks = yield* Webhooks
  const schedules = yield* Schedules
  const triggers = yield* Triggers
  const inputSchemas = yield* InputSchemas
  const deletions = yield* Deletions
  const { commit, locked } = yield* Transitions

  const startWith = Effect.fnUntraced(function* (
    workspace: WorkspaceId,
    known: StoredProcess,
    input: Inputs,
    { callback, priority = 0, source, user }: How
  ) {
    // Read again under the lock: it may have been changed or deleted since it was looked up.
    const process = yield* processes.lock(workspace, known.view.id, "share")
    if (process === null) return yield* processNotFound(known.view.id)
    const { forwardDoneItems, pauseAfterFailures } = process
    const ofProcess = defined({
      forward_done_items: forwardDoneItems || undefined,
      pause_process_after: pauseAfterFailures ?? undefined,
      process_limits: process.limits ?? undefined
    })
    const conflict = (message: string) => new Refused({ code: "CONFLICT", message })
    if (process.steps.length === 0) {
      return yield* conflict(`the process "${process.view.name}" has no steps; add a step before starting it`)
    }
    for (const { task, task_package_version: pin } of process.steps) {
      if (task.package_id !== undefined) {
        yield* taskPackages.forTask(workspace, task.package_id, task.name, pin ?? null)
      }
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
    const copied = input.type === "inputs_of" ? input.items : null
    if (taken === null && copied === null) {
      const left = budget()
      for (const [index, payload] of payloads.entries()) {
        yield* inputSchemas.checkPayload(
          process,
          payload,
          input.type === undefined ? "default_work_item.payload" : `payloads.${index}`,
          left
        )
      }
    }
    const run = Engine.begin(
      {
        id: ProcessRunId.make(yield* newId),
        workspaceId: workspace,
        processId: process.view.id,
        steps: process.steps.map((step) => ({ ...ofProcess, ...step }))
      },
      (copied ?? taken ?? payloads).length
    )
    yield* runs.insert(run, process.view.name, {
      priority,
      source: source ?? null,
      trace: yield* Traces.current,
      user
    })
    if (copied !== null) {
      for (const { from, to } of yield* runItems.copy(run, copied)) yield* files.copy(workspace, from, to)
    } else if (taken === null) yield* runItems.create(run, payloads, priority)
    else if ((yield* runItems.take(run, taken, priority)) !== taken.length) {
      return yield* conflict(
        "work_item_ids must name work items that are new and of this process; at least one is not; nothing was started"
      )
    }
    if (isLimited(run.steps[0])) yield* limits.enter(run, yield* runItems.inputsOf(run.id))
    if (callback !== undefined) yield* webhooks.createCallback(workspace, { ...callback, processRun: run.id })
    yield* commit({ run, changes: [] })
    return run.id
  }, transaction)

  const start = Effect.fnUntraced(function* (
    workspace: WorkspaceId,
    process: StoredProcess,
    input: StartInput,
    { callback, priority = 0, user }: StartOptions = {}
  ) {
    if (callback === undefined) return yield* startWith(workspace, process, input, { priority, user })
    const events = callback.callback_events.map((action) => `process_run.${action}` as const)
    const sealed = yield* webhooks.sealCallback(callback.secret)
    return yield* startWith(workspace, process, input, {
      priority,
      user,
      callback: { ...sealed, endpoint: callback.url, events }
    })
  })

  const startFrom: RunCommands["startFrom"] = (source, workspace, process, input) =>
    startWith(workspace, process, input, { source }).pipe(
      // Each run has its own trace, not that of the poll that started several.
      Effect.withSpan("Runs.startFrom", { root: true, attributes: { "signalbox.source": source.type } }),
      Traces.working
    )

  const startAgain = Effect.fnUntraced(function* (workspace: WorkspaceId, id: ProcessRunId, user?: Starter) {
    const old = yield* runs.lock(id)
    if (old === null || old.workspaceId !== workspace) {
      return yield* new Refused({ code: "NOT_FOUND", message: `this workspace has no process run ${id}` })
    }
    const conflict = (message: string) => new Refused({ code: "CONFLICT", message })
    if (old.state !== "completed" && old.state !== "unresolved") {
      return yield* conflict(`the run is ${old.state}; wait for its end before starting it again`)
    }
    const process = yield* processes.get(workspace, old.processId)
    if (process === null) return yield* processNotFound(old.processId)
    const items = yield* runItems.inputsOf(id)
    if (items.length === 0) return yield* conflict("the inputs of the run were deleted; start a run with new ones")
    const priority = (yield* runs.get(workspace, id))?.priority ?? 0
    const run = yield* startWith(workspace, process, { type: "inputs_of", items }, { priority, user })
    return run ?? (yield* conflict("the run has no inputs"))
  }, transaction)

  const enterAgain = Effect.fnUntraced(function* (run: State.Run, item: WorkItemId) {
    yield* limits.enter(run, [item])
    yield* commit({ run, changes: [] })
  })

  const stop = Effect.fnUntraced(function* (id: ProcessRunId, command: Engine.StopCommand) {
    const run = yield* runs.lock(id)
    if (run === null) return false
    const live: Array<Engine.Live> = []
    for (const stepRun of yield* stepRuns.lockLive(id)) {
      live.push({ stepRun, item: (yield* runItems.held(stepRun)).item })
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
    yield* sql.afterCommit(deletions.runs({ run: id }))
  })

  const removeProcess = Effect.fnUntraced(function* (workspace: WorkspaceId, id: ProcessId) {
    yield* transaction(
      Effect.gen(function* () {
        const process = yield* processes.lock(workspace, id, "update")
        if (process === null) return yield* processNotFound(id)
        const { live, waiting } = yield* processes.inUse(id)
        if (live > 0 || waiting > 0) {
          return yield* new Refused({
            code: "CONFLICT",
            message: `the process has ${live} live runs and ${waiting} waiting work items; stop the runs and wait for their end, and delete the items, before deleting it`
          })
        }
        yield* schedules.removeOf(id)
        yield* triggers.removeOf(id)
        yield* processes.markDeleted(id)
      })
    )
    yield* sql.afterCommit(deletions.processes(id))
  })

  const commands: RunCommands = { start, startFrom, startAgain, enterAgain, stop, remove, removeProcess }
  return commands
})
