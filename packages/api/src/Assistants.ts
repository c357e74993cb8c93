/**
 * Assistants, and their runs.
 */
import * as Effect from "effect/Effect"
import * as runs from "./internal/endpoints/AssistantRuns.ts"
import type { Named, Page } from "./contract/Common.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/Assistants.ts"
import type { AssistantId, AssistantRunId, TaskPackageId } from "./contract/Ids.ts"
import { type AwaitOptions, awaitUntil } from "./internal/calls/AwaitUntil.ts"
import { names, page, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { ListOptions } from "./ListOptions.ts"

export type {
  AssistantRun,
  AssistantRunErrorCode,
  AssistantRunStarted,
  AssistantRunState
} from "./contract/AssistantRuns.ts"
export type { Assistant } from "./contract/Assistants.ts"

const call = {
  get: returning<contract.Assistant, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.Assistant>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<Named<AssistantId>, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.create)),
  getRun: returning<runs.AssistantRun, NotFound>()(inWorkspace(runs.get)),
  listRuns: returning<Page<runs.AssistantRun>, InvalidRequest>()(inWorkspace(runs.list)),
  start: returning<runs.AssistantRunStarted, Conflict | NotFound>()(inWorkspace(runs.start)),
  heartbeat: returning<runs.AssistantRun, Conflict | NotFound>()(inWorkspace(runs.heartbeat)),
  complete: returning<runs.AssistantRun, Conflict | InvalidRequest | NotFound>()(inWorkspace(runs.complete))
}

export const get = Effect.fn("Assistants.get")((assistant: AssistantId) =>
  call.get({ params: { assistant_id: assistant } })
)

/** Returns one page, newest first. */
export const list = Effect.fn("Assistants.list")(
  (options: ListOptions = {}) => call.list({ query: options }),
  refusing("assistants.list", { 0: page })
)

/** Emits all assistants, newest first. */
export const stream = (options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("assistants.stream", pageSize, options))

/** A new assistant: its name, and the task of a package that it runs. */
export interface NewAssistant {
  readonly name: string
  readonly task: string
  readonly taskPackage: TaskPackageId
}

const newAssistant = names<NewAssistant>("member", { name: 1, task: 1, taskPackage: 1 })

/**
 * Creates an assistant for a task; fails with `Conflict` when the name is in use.
 *
 * ```ts
 * import type { TaskPackageId } from "@signalbox/api/contract/Ids"
 * import * as Assistants from "@signalbox/api/Assistants"
 *
 * export const helper = (taskPackage: TaskPackageId) =>
 *   Assistants.create({ name: "helper", task: "Help", taskPackage })
 * ```
 */
export const create = Effect.fn("Assistants.create")(
  (input: NewAssistant) =>
    call.create({ payload: { name: input.name, task: { name: input.task, package_id: input.taskPackage } } }),
  refusing("assistants.create", { 0: newAssistant })
)

export interface RunFilter extends ListOptions {
  readonly assistant?: AssistantId | undefined
}

const runPage = names<RunFilter>("filter", { assistant: 1, limit: 1, cursor: 1 })
const runFilter = names<Omit<RunFilter, "cursor">>("filter", { assistant: 1, limit: 1 })

export const getRun = Effect.fn("Assistants.getRun")((run: AssistantRunId) =>
  call.getRun({ params: { assistant_run_id: run } })
)

/**
 * Returns one page of runs, newest first.
 *
 * ```ts
 * import type { AssistantId } from "@signalbox/api/contract/Ids"
 * import * as Assistants from "@signalbox/api/Assistants"
 *
 * export const lastRuns = (assistant: AssistantId) =>
 *   Assistants.listRuns({ assistant, limit: 10 })
 * ```
 */
export const listRuns = Effect.fn("Assistants.listRuns")(
  ({ assistant, cursor, limit }: RunFilter = {}) =>
    call.listRuns({ query: { assistant_id: assistant, cursor, limit } }),
  refusing("assistants.listRuns", { 0: runPage })
)

/** Emits all runs that match, newest first. */
export const streamRuns = (filter: Omit<RunFilter, "cursor"> = {}) =>
  pages((cursor) => listRuns({ ...filter, cursor })).pipe(refusingStream("assistants.streamRuns", runFilter, filter))

/** Waits until a run has ended (`completed` or `failed`). */
export const awaitRunEnd = Effect.fn("Assistants.awaitRunEnd")(
  (run: AssistantRunId, options: AwaitOptions<runs.AssistantRun> = {}) =>
    awaitUntil(
      getRun(run),
      (seen) => seen.state === "completed" || seen.state === "failed",
      { of: "assistants.awaitRunEnd", path: `/assistant-runs/${run}`, unfinished: "the run did not end" },
      options
    )
)

/**
 * Starts a run, which the caller executes, keeps alive and completes. An extension of the hosted service's interface.
 */
export const startRun = Effect.fn("Assistants.startRun")((assistant: AssistantId) =>
  call.start({ params: { assistant_id: assistant } })
)

/** Keeps a run alive. Fails with `Conflict` when it has ended: stop the task. */
export const heartbeat = Effect.fn("Assistants.heartbeat")((run: AssistantRunId) =>
  call.heartbeat({ params: { assistant_run_id: run } })
)

/** Completes a run, with an error or without. */
export const completeRun = Effect.fn("Assistants.completeRun")(
  (run: AssistantRunId, error: runs.AssistantRunErrorCode | null = null) =>
    call.complete({ params: { assistant_run_id: run }, payload: { error: error === null ? null : { code: error } } })
)
