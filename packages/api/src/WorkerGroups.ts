/**
 * Worker groups: sets of workers that steps may be bound to, and the tokens with which workers join.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import type { LinkTokenId, WorkerGroupId, WorkerId } from "./contract/Ids.ts"
import type { Deleted, Page } from "./contract/Common.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as pauses from "./internal/endpoints/Pauses.ts"
import type { PauseState } from "./contract/Pauses.ts"
import * as contract from "./internal/endpoints/WorkerGroups.ts"
import { names, namedPage, namedPageSize, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { ListOptions, NamedListOptions } from "./ListOptions.ts"

export type { GroupLinkToken, GroupLinkTokenCreated, Membership, WorkerGroup } from "./contract/WorkerGroups.ts"

const call = {
  get: returning<contract.WorkerGroup, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.WorkerGroup>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.WorkerGroup, Conflict | InvalidRequest>()(inWorkspace(contract.create)),
  pause: returning<PauseState, InvalidRequest | NotFound>()(inWorkspace(pauses.pauseGroup)),
  resume: returning<PauseState, NotFound>()(inWorkspace(pauses.resumeGroup)),
  update: returning<contract.WorkerGroup, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.update)),
  remove: returning<Deleted<WorkerGroupId>, Conflict | NotFound>()(inWorkspace(contract.remove)),
  addWorker: returning<contract.Membership, InvalidRequest | NotFound>()(inWorkspace(contract.addWorker)),
  removeWorker: returning<contract.Membership, NotFound>()(inWorkspace(contract.removeWorker)),
  listLinkTokens: returning<Page<contract.GroupLinkToken>, InvalidRequest | NotFound>()(
    inWorkspace(contract.listLinkTokens)
  ),
  createLinkToken: returning<contract.GroupLinkTokenCreated, InvalidRequest | NotFound>()(
    inWorkspace(contract.createLinkToken)
  ),
  getLinkToken: returning<contract.GroupLinkToken, NotFound>()(inWorkspace(contract.getLinkToken)),
  updateLinkToken: returning<contract.GroupLinkToken, InvalidRequest | NotFound>()(
    inWorkspace(contract.updateLinkToken)
  ),
  removeLinkToken: returning<Deleted<LinkTokenId>, NotFound>()(inWorkspace(contract.removeLinkToken))
}

export const get = Effect.fn("WorkerGroups.get")((group: WorkerGroupId) =>
  call.get({ params: { worker_group_id: group } })
)

/** Returns one page, newest first. */
export const list = Effect.fn("WorkerGroups.list")(
  (options: NamedListOptions = {}) => call.list({ query: options }),
  refusing("workerGroups.list", { 0: namedPage })
)

/** Emits all worker groups, newest first. */
export const stream = (options: Omit<NamedListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("workerGroups.stream", namedPageSize, options))

/** Creates a group; fails with `Conflict` when the name is in use. */
export const create = Effect.fn("WorkerGroups.create")((name: string) => call.create({ payload: { name } }))

/** Renames a group. */
export const rename = Effect.fn("WorkerGroups.rename")((group: WorkerGroupId, name: string) =>
  call.update({ params: { worker_group_id: group }, payload: { name } })
)

/** Why something is paused. */
export interface PauseOptions {
  readonly note?: string | undefined
}

/**
 * Pauses a group: steps that are bound to it wait. Returns the pause. An extension.
 *
 * ```ts
 * import type { WorkerGroupId } from "@signalbox/api/contract/Ids"
 * import * as WorkerGroups from "@signalbox/api/WorkerGroups"
 *
 * export const stop = (group: WorkerGroupId) =>
 *   WorkerGroups.pause(group, { note: "the machines move" })
 * ```
 */
export const pause = Effect.fn("WorkerGroups.pause")(
  (group: WorkerGroupId, { note }: PauseOptions = {}) =>
    call.pause({ params: { worker_group_id: group }, payload: defined({ note }) }),
  refusing("workerGroups.pause", { 1: names<PauseOptions>("option", { note: 1 }) })
)

/** Resumes a group. Does nothing when it is not paused. An extension. */
export const resume = Effect.fn("WorkerGroups.resume")((group: WorkerGroupId) =>
  call.resume({ params: { worker_group_id: group } })
)

/** Deletes a group; fails with `Conflict` while a step names it. Its workers remain. Irreversible. */
export const remove = Effect.fn("WorkerGroups.remove")((group: WorkerGroupId) =>
  call.remove({ params: { worker_group_id: group } })
)

/** Adds a worker to a group; returns its groups. */
export const addWorker = Effect.fn("WorkerGroups.addWorker")((group: WorkerGroupId, worker: WorkerId) =>
  call.addWorker({ params: { worker_group_id: group }, payload: { worker: { id: worker } } })
)

/** Removes a worker from a group; returns its groups. Fails with `NotFound` when it is not in the group. */
export const removeWorker = Effect.fn("WorkerGroups.removeWorker")((group: WorkerGroupId, worker: WorkerId) =>
  call.removeWorker({ params: { worker_group_id: group, worker_id: worker } })
)

/**
 * Emits the link tokens of a group, newest first. An extension of the hosted service's interface, like all functions
 * for link tokens.
 */
export const linkTokens = (group: WorkerGroupId, options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) =>
    call.listLinkTokens({
      params: { worker_group_id: group },
      query: { ...options, cursor }
    })
  ).pipe(refusingStream("workerGroups.linkTokens", pageSize, options))

export const getLinkToken = Effect.fn("WorkerGroups.getLinkToken")((group: WorkerGroupId, token: LinkTokenId) =>
  call.getLinkToken({ params: { worker_group_id: group, token_id: token } })
)

/** A new token. */
export interface NewLinkToken {
  readonly name: string
  /** ISO 8601; default: never. */
  readonly expiresAt?: string | undefined
}

/** What changes of a token. */
export interface LinkTokenChange {
  readonly name?: string | undefined
  /** ISO 8601; null: never. */
  readonly expiresAt?: string | null | undefined
}

const linkTokenMembers = names<NewLinkToken & LinkTokenChange>("member", { name: 1, expiresAt: 1 })

/**
 * Creates a token with which any number of workers join, until `expiresAt` (ISO 8601) or until it is deleted.
 *
 * ```ts
 * import type { WorkerGroupId } from "@signalbox/api/contract/Ids"
 * import * as WorkerGroups from "@signalbox/api/WorkerGroups"
 *
 * export const token = (group: WorkerGroupId) =>
 *   WorkerGroups.createLinkToken(group, {
 *     name: "vm scale set",
 *     expiresAt: "2027-01-01T00:00:00Z"
 *   })
 * ```
 */
export const createLinkToken = Effect.fn("WorkerGroups.createLinkToken")(
  (group: WorkerGroupId, options: NewLinkToken) =>
    call.createLinkToken({
      params: { worker_group_id: group },
      payload: {
        name: options.name,
        ...defined({ expires_at: options.expiresAt })
      }
    }),
  refusing("workerGroups.createLinkToken", { 1: linkTokenMembers })
)

/** Changes the name of a token, or its expiry (null: never). */
export const updateLinkToken = Effect.fn("WorkerGroups.updateLinkToken")(
  (group: WorkerGroupId, token: LinkTokenId, change: LinkTokenChange) =>
    call.updateLinkToken({
      params: { worker_group_id: group, token_id: token },
      payload: defined({ name: change.name, expires_at: change.expiresAt })
    }),
  refusing("workerGroups.updateLinkToken", { 2: linkTokenMembers })
)

/** Deletes a token; workers that joined with it remain. Irreversible. */
export const removeLinkToken = Effect.fn("WorkerGroups.removeLinkToken")((group: WorkerGroupId, token: LinkTokenId) =>
  call.removeLinkToken({ params: { worker_group_id: group, token_id: token } })
)
