/**
 * Workers of the workspace.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import type { ProcessId, WorkerGroupId, WorkerId } from "./contract/Ids.ts"
import type { Deleted, Page } from "./contract/Common.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as pauses from "./internal/endpoints/Pauses.ts"
import type { PauseState } from "./contract/Pauses.ts"
import * as contract from "./internal/endpoints/Workers.ts"
import type { NamedListOptions } from "./ListOptions.ts"
import { names, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"

export type { LinkToken, QueueDepth, Worker, WorkerState } from "./contract/Workers.ts"

const call = {
  createLinkToken: returning<contract.LinkToken, InvalidRequest>()(inWorkspace(contract.createLinkToken)),
  get: returning<contract.Worker, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.Worker>, InvalidRequest>()(inWorkspace(contract.list)),
  queueDepth: returning<contract.QueueDepth, InvalidRequest | NotFound>()(inWorkspace(contract.queueDepth)),
  pause: returning<PauseState, InvalidRequest | NotFound>()(inWorkspace(pauses.pauseWorker)),
  resume: returning<PauseState, NotFound>()(inWorkspace(pauses.resumeWorker)),
  update: returning<contract.Worker, InvalidRequest | NotFound>()(inWorkspace(contract.update)),
  drain: returning<contract.Worker, NotFound>()(inWorkspace(contract.drain)),
  remove: returning<Deleted<WorkerId>, Conflict | NotFound>()(inWorkspace(contract.remove))
}

export const get = Effect.fn("Workers.get")((worker: WorkerId) => call.get({ params: { worker_id: worker } }))

/** Which workers, and which page of them. */
export interface WorkerListOptions extends NamedListOptions {
  /** Only the members of this group. An extension: the hosted service ignores it, and lists all workers. */
  readonly workerGroup?: WorkerGroupId | undefined
}

const listed = names<WorkerListOptions>("option", { workerGroup: 1, name: 1, limit: 1, cursor: 1 })
const streamed = names<Omit<WorkerListOptions, "cursor">>("option", { workerGroup: 1, name: 1, limit: 1 })

/**
 * Returns one page, newest first.
 *
 * ```ts
 * import type { WorkerGroupId } from "@signalbox/api/contract/Ids"
 * import * as Workers from "@signalbox/api/Workers"
 *
 * export const members = (workerGroup: WorkerGroupId) =>
 *   Workers.list({ workerGroup, limit: 500 })
 * ```
 */
export const list = Effect.fn("Workers.list")(
  ({ cursor, limit, name, workerGroup }: WorkerListOptions = {}) =>
    call.list({ query: { worker_group_id: workerGroup, name, limit, cursor } }),
  refusing("workers.list", { 0: listed })
)

/** Emits all workers, newest first. */
export const stream = (options: Omit<WorkerListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("workers.stream", streamed, options))

/** Renames a worker. */
export const rename = Effect.fn("Workers.rename")((worker: WorkerId, name: string) =>
  call.update({ params: { worker_id: worker }, payload: { name } })
)

/** Lets a worker finish its step runs and end; it leases nothing more until it is started again. */
export const drain = Effect.fn("Workers.drain")((worker: WorkerId) => call.drain({ params: { worker_id: worker } }))

/** Why something is paused. */
export interface PauseOptions {
  readonly note?: string | undefined
}

/**
 * Pauses a worker: it finishes what it has, and gets nothing more. Returns the pause. An extension.
 *
 * ```ts
 * import type { WorkerId } from "@signalbox/api/contract/Ids"
 * import * as Workers from "@signalbox/api/Workers"
 *
 * export const stop = (worker: WorkerId) =>
 *   Workers.pause(worker, { note: "its disk is full" })
 * ```
 */
export const pause = Effect.fn("Workers.pause")(
  (worker: WorkerId, { note }: PauseOptions = {}) =>
    call.pause({ params: { worker_id: worker }, payload: defined({ note }) }),
  refusing("workers.pause", { 1: names<PauseOptions>("option", { note: 1 }) })
)

/** Resumes a worker. Does nothing when it is not paused. An extension. */
export const resume = Effect.fn("Workers.resume")((worker: WorkerId) => call.resume({ params: { worker_id: worker } }))

/** Deletes a worker; fails with `Conflict` while it holds a lease. Irreversible. */
export const remove = Effect.fn("Workers.remove")((worker: WorkerId) => call.remove({ params: { worker_id: worker } }))

/** How long a token is valid. */
export interface LinkTokenOptions {
  /** ISO 8601; default: in one hour. */
  readonly expiresAt?: string | undefined
}

/**
 * Creates a token with which one worker links itself; valid for one hour unless `expiresAt` (ISO 8601) is given.
 *
 * ```ts
 * import * as Workers from "@signalbox/api/Workers"
 *
 * export const token = Workers.createLinkToken({
 *   expiresAt: "2027-01-01T00:00:00Z"
 * })
 * ```
 */
export const createLinkToken = Effect.fn("Workers.createLinkToken")(
  ({ expiresAt }: LinkTokenOptions = {}) => call.createLinkToken({ payload: defined({ expires_at: expiresAt }) }),
  refusing("workers.createLinkToken", { 0: names<LinkTokenOptions>("option", { expiresAt: 1 }) })
)

/** Which step runs `queueDepth` counts. */
export interface QueueDepthOptions {
  /** Only those of this process. */
  readonly process?: ProcessId | undefined
  /** Only those that are bound to this group; null: to none. */
  readonly group?: WorkerGroupId | null | undefined
  /** Only those that ask for exactly these labels; with none: that ask for none. */
  readonly labels?: ReadonlyArray<string> | undefined
}

/**
 * Counts the step runs that want a worker: `waiting` for one, `assigned` to one, and the `total` of both, for what starts and
 * stops workers. What a pause holds back is not counted. Fails with `NotFound` for an unknown process or group. An extension.
 *
 * ```ts
 * import * as Workers from "@signalbox/api/Workers"
 * import * as Effect from "effect/Effect"
 *
 * export const machinesForGpus = Effect.map(
 *   Workers.queueDepth({ labels: ["gpu"] }),
 *   ({ total }) => Math.min(total, 8)
 * )
 * ```
 */
export const queueDepth = Effect.fn("Workers.queueDepth")(
  ({ group, labels, process }: QueueDepthOptions = {}) =>
    call.queueDepth({
      query: {
        process_id: process,
        worker_group_id: group === null ? "" : group,
        labels: labels?.join(",")
      }
    }),
  refusing("workers.queueDepth", { 0: names<QueueDepthOptions>("option", { process: 1, group: 1, labels: 1 }) })
)
