/** Commands on whole runs and processes: start, stop, delete. */
import { type ProcessId, ProcessRunId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Callback, StartInput } from "@signalbox/api/contract/ProcessRuns"
import * as Effect from "effect/Effect"
import * as Engine from "../engine/Engine.ts"
import { Refused } from "../Refused.ts"
import { Database } from "../store/Database.ts"
import { Processes, type StoredProcess } from "../store/Processes.ts"
import { ProcessRuns, type StartedFrom } from "../store/ProcessRuns.ts"
import { RunItems } from "../store/RunItems.ts"
import { Schedules } from "../store/Schedules.ts"
import type { StoredState } from "../store/StoredItem.ts"
import { StepRuns } from "../store/StepRuns.ts"
import type { StoredStepRun } from "../store/StoredStepRun.ts"
import { TaskPackages } from "../store/TaskPackages.ts"
import { Triggers } from "../store/Triggers.ts"
import { Webhooks } from "../store/Webhooks.ts"
import type { NewCallback } from "../store/StoredWebhook.ts"
import { InputSchemas } from "./InputSchemas.ts"
import { Deletions } from "./Deletions.ts"
import { Transitions } from "./Transitions.ts"

export interface RunCommands {
  /** Null when a start with the waiting inputs found none. `callback` receives the events of the run. */
  readonly start: (
    workspace: WorkspaceId,
    process: StoredProcess,
    input: StartInput,
    callback?: Callback
  ) => Effect.Effect<ProcessRunId | null, Refused>
  /** Like `start`, for a schedule or trigger. */
  readonly startFrom: (
    source: StartedFrom,
    workspace: WorkspaceId,
    process: StoredProcess,
    input: StartInput
  ) => Effect.Effect<ProcessRunId | null, Refused>
  readonly stop: (run: ProcessRunId, command: Engine.StopCommand) => Effect.Effect<boolean>
  readonly remove: (run: ProcessRunId) => Effect.Effect<void, Refused>
  /** Deletes a process with its ended runs. */
  readonly removeProcess: (workspace: WorkspaceId, process: ProcessId) => Effect.Effect<void, Refused>
}

/** The refusal when the workspace has no such process. */
export const processNotFound = (id: ProcessId) =>
  new Refused({ code: "NOT_FOUND", message: `this workspace has no process ${id}` })

export const make = Effect.gen(function* () {
  const { newId, now, transaction } = yield* Database
  const processes = yield* Processes
  const runs = yield* ProcessRuns
  const stepRuns = yield* StepRuns
  const runItems = yield* RunItems
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
    input: StartInput,
    callback: Omit<NewCallback, "processRun"> | null,
    source: StartedFrom | null
  ) {
    // Read again under the lock: it may have been changed or deleted since it was looked up.
    const process = yield* processes.lock(workspace, known.view.id, "share")
    if (process === null) return yield* processNotFound(known.view.id)
    const { forwardDoneItems } = process
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
    if (taken === null) {
      for (const [index, payload] of payloads.entries()) {
        yield* inputSchemas.checkPayload(
          process,
          payload,
          input.type === undefined ? "default_work_item.payload" : `payloads.${index}`
        )
      }
    }
    const run = Engine.begin(
      {
        id: ProcessRunId.make(yield* newId),
        workspaceId: workspace,
        processId: process.view.id,
        steps: process.steps.map((step) => ({ ...(forwardDoneItems ? { forward_done_items: true } : {}), ...step }))
      },
      taken?.length ?? payloads.length
    )
    yield* runs.insert(run, process.view.name, source)
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

  const start = Effect.fnUntraced(function* (
    workspace: WorkspaceId,
    process: StoredProcess,
    input: StartInput,
    callback?: Callback
  ) {
    if (callback === undefined) return yield* startWith(workspace, process, input, null, null)
    const events = callback.callback_events.map((action) => `process_run.${action}` as const)
    const sealed = yield* webhooks.sealCallback(callback.secret)
    return yield* startWith(workspace, process, input, { ...sealed, endpoint: callback.url, events }, null)
  })

  const startFrom: RunCommands["startFrom"] = (source, workspace, process, input) =>
    startWith(workspace, process, input, null, source)

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
    yield* deletions.processes(id)
  })

  const commands: RunCommands = { start, startFrom, stop, remove, removeProcess }
  return commands
})
