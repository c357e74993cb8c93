/** Operations by hand on many work items: retry, mark as done, delete. */
import type { ProcessId, ProcessRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { BatchOperation } from "@signalbox/api/contract/WorkItems"
import * as Effect from "effect/Effect"
import * as Engine from "../engine/Engine.ts"
import type * as State from "../engine/State.ts"
import { Refused } from "../engine/Refused.ts"
import { Database } from "../store/database/Database.ts"
import { Files } from "../store/files/Files.ts"
import { Outputs } from "../store/items/Outputs.ts"
import { Processes } from "../store/processes/Processes.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import type { StoredState } from "../store/items/StoredItem.ts"
import { WorkItems } from "../store/items/WorkItems.ts"
import { processNotFound } from "./RunCommands.ts"
import { decided, Transitions } from "./Transitions.ts"

export interface BatchCommand {
  /**
   * Applies the operation to all of these items or to none; returns how many outputs of retried or deleted ones were
   * passed on before.
   */
  readonly batch: (
    workspace: WorkspaceId,
    operation: BatchOperation,
    items: ReadonlyArray<WorkItemId>
  ) => Effect.Effect<number, Refused>
  /** Deletes items in the queue of a process, all or none. For callers that have locked the process, in their transaction. */
  readonly removeWaiting: (process: ProcessId, items: ReadonlyArray<WorkItemId>) => Effect.Effect<void, Refused>
}

export const make = Effect.gen(function* () {
  const { now, transaction } = yield* Database
  const files = yield* Files
  const items = yield* WorkItems
  const outputs = yield* Outputs
  const processes = yield* Processes
  const runs = yield* ProcessRuns
  const { commit, dropBlobs } = yield* Transitions

  const batch = Effect.fnUntraced(function* (
    workspace: WorkspaceId,
    operation: BatchOperation,
    ids: ReadonlyArray<WorkItemId>
  ) {
    const allowed = Engine.batchStates[operation]
    const isIn = (states: ReadonlyArray<string>, item: StoredState) => states.includes(item.state)
    const firstTen = (names: ReadonlyArray<string>) =>
      names.slice(0, 10).join(", ") + (names.length > 10 ? ` and ${names.length - 10} more` : "")
    return yield* transaction(
      Effect.gen(function* () {
        // Runs are locked before their items, and both before the states are read that are checked here, so that the
        // checked states are those that change.
        const runIds = yield* items.runsOf(ids)
        const lockedRuns = new Map<ProcessRunId, State.Run>()
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
            message: `${operation} requires work items that are ${allowed.from.join(" or ")}; others: ${firstTen(wrong.map((item) => `${item.id} (${item.state})`))}; nothing was changed`
          })
        }
        const taken = found.find(({ processRunId }) => processRunId !== null && !lockedRuns.has(processRunId))
        if (taken !== undefined) {
          return yield* new Refused({
            code: "CONFLICT",
            message: `the work item ${taken.id} was added to a run concurrently; nothing was changed, try again`
          })
        }
        const todo = found.filter((item) => isIn(allowed.from, item))
        // A run that resumes keeps its process from being deleted, and vice versa.
        if (operation === "retry") {
          for (const id of [...new Set(todo.map((item) => item.processId))].sort()) {
            if ((yield* processes.lock(workspace, id, "share")) === null) return yield* processNotFound(id)
          }
        }
        const at = yield* now
        const byRun = Map.groupBy(todo, (item) => item.processRunId)
        for (const run of lockedRuns.values()) {
          const ofRun = byRun.get(run.id) ?? []
          if (ofRun.length > 0) yield* commit(yield* decided(Engine.batch(run, operation, ofRun, at)))
        }
        const changed = todo.map((item) => item.id)
        if (operation === "delete") {
          yield* items.remove((byRun.get(null) ?? []).map((item) => item.id))
          yield* dropBlobs(yield* files.removeOwners(changed))
        }
        return operation === "mark_as_done" ? 0 : yield* outputs.countPassedOn(changed)
      })
    )
  })

  const removeWaiting = Effect.fnUntraced(function* (process: ProcessId, ids: ReadonlyArray<WorkItemId>) {
    const found = yield* items.lockMany(ids)
    const waiting = new Set(
      found.flatMap((item) =>
        item.processId === process && item.processRunId === null && item.state === "new" ? item.id : []
      )
    )
    const other = ids.find((id) => !waiting.has(id))
    if (other !== undefined) {
      return yield* new Refused({
        code: "CONFLICT",
        message: `delete_work_items: ${other} does not wait in the queue of the process; nothing was changed`
      })
    }
    yield* items.remove([...waiting])
    yield* dropBlobs(yield* files.removeOwners([...waiting]))
  })

  const commands: BatchCommand = { batch, removeWaiting }
  return commands
})
