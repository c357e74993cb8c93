/** Workers and their groups, as functions with promises. */
import type { Deleted } from "../../contract/Common.ts"
import type { LinkTokenId, WorkerGroupId, WorkerId } from "../../contract/Ids.ts"
import type { PauseState } from "../../contract/Pauses.ts"
import * as WorkerGroups from "../../WorkerGroups.ts"
import * as Workers from "../../Workers.ts"
import type { Plain } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { NamedListOptions, NamedSize, Noted, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"

/** Which workers, and which page of them. */
export interface WorkerFilter extends NamedListOptions {
  /** Only the members of this group. An extension: the hosted service ignores it, and lists all workers. */
  readonly workerGroup?: string | undefined
}

/** Which step runs `queueDepth` counts. */
export interface QueueDepthFilter extends Omit<Plain<Workers.QueueDepthOptions>, "process"> {
  readonly process?: string | undefined
}

/** Workers of the workspace. */
export interface WorkersClient {
  /** Returns one worker with its state. */
  readonly get: (worker: string, options?: CallOptions) => ApiPromise<Workers.Worker>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.workers.list({ workerGroup: group })
   */
  readonly list: (filter?: WorkerFilter, options?: CallOptions) => ApiPromise<ListPage<Workers.Worker>>
  /**
   * All workers, newest first.
   * @example for await (const { name } of room.workers.stream()) console.log(name)
   */
  readonly stream: (filter?: Omit<WorkerFilter, "cursor">, options?: CallOptions) => AsyncIterable<Workers.Worker>
  /** Renames a worker. */
  readonly rename: (worker: string, name: string, options?: CallOptions) => ApiPromise<Workers.Worker>
  /** Lets a worker finish its step runs and end; it leases nothing more until it is started again. */
  readonly drain: (worker: string, options?: CallOptions) => ApiPromise<Workers.Worker>
  /**
   * Pauses a worker: it finishes what it has, and gets nothing more. Returns the pause.
   * @example await room.workers.pause(worker, { note: "new disk" })
   */
  readonly pause: (worker: string, pause?: Noted, options?: CallOptions) => ApiPromise<PauseState>
  /** Resumes a worker. Does nothing when it is not paused. */
  readonly resume: (worker: string, options?: CallOptions) => ApiPromise<PauseState>
  /** Deletes a worker; rejects with `Conflict` while it holds a lease. Irreversible. */
  readonly remove: (worker: string, options?: CallOptions) => ApiPromise<Deleted<WorkerId>>
  /**
   * Creates a token with which one worker links itself; valid for one hour unless `expiresAt` (ISO 8601) is given.
   * @example const link = await room.workers.createLinkToken()
   */
  readonly createLinkToken: (
    token?: { readonly expiresAt?: string | undefined },
    options?: CallOptions
  ) => ApiPromise<Workers.LinkToken>
  /**
   * Counts the step runs that want a worker: `waiting` for one, `assigned` to one, and the `total` of both.
   * @example const { waiting } = await room.workers.queueDepth({ process })
   */
  readonly queueDepth: (filter?: QueueDepthFilter, options?: CallOptions) => ApiPromise<Workers.QueueDepth>
}

export const workers = /* @__PURE__ */ members<WorkersClient>(Workers, {
  get: 1,
  list: 1,
  stream: 1,
  rename: 2,
  drain: 1,
  pause: 2,
  resume: 1,
  remove: 1,
  createLinkToken: 1,
  queueDepth: 1
})

/** Worker groups: sets of workers that steps may be bound to, and the tokens with which workers join. */
export interface WorkerGroupsClient {
  /** Returns one group. */
  readonly get: (group: string, options?: CallOptions) => ApiPromise<WorkerGroups.WorkerGroup>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.workerGroups.list({ name: "windows" })
   */
  readonly list: (page?: NamedListOptions, options?: CallOptions) => ApiPromise<ListPage<WorkerGroups.WorkerGroup>>
  /**
   * All worker groups, newest first.
   * @example for await (const { name } of room.workerGroups.stream()) console.log(name)
   */
  readonly stream: (page?: NamedSize, options?: CallOptions) => AsyncIterable<WorkerGroups.WorkerGroup>
  /** Creates a group; rejects with `Conflict` when the name is in use. */
  readonly create: (name: string, options?: CallOptions) => ApiPromise<WorkerGroups.WorkerGroup>
  /** Renames a group. */
  readonly rename: (group: string, name: string, options?: CallOptions) => ApiPromise<WorkerGroups.WorkerGroup>
  /**
   * Pauses a group: steps that are bound to it wait. Returns the pause.
   * @example await room.workerGroups.pause(group, { note: "updates" })
   */
  readonly pause: (group: string, pause?: Noted, options?: CallOptions) => ApiPromise<PauseState>
  /** Resumes a group. Does nothing when it is not paused. */
  readonly resume: (group: string, options?: CallOptions) => ApiPromise<PauseState>
  /** Deletes a group; rejects with `Conflict` while a step names it. Its workers remain. Irreversible. */
  readonly remove: (group: string, options?: CallOptions) => ApiPromise<Deleted<WorkerGroupId>>
  /** Adds a worker to a group; returns its groups. */
  readonly addWorker: (group: string, worker: string, options?: CallOptions) => ApiPromise<WorkerGroups.Membership>
  /** Removes a worker from a group; returns its groups. */
  readonly removeWorker: (group: string, worker: string, options?: CallOptions) => ApiPromise<WorkerGroups.Membership>
  /**
   * The link tokens of a group, newest first.
   * @example
   * for await (const { name } of room.workerGroups.linkTokens(group))
   *   console.log(name)
   */
  readonly linkTokens: (group: string, page?: Size, options?: CallOptions) => AsyncIterable<WorkerGroups.GroupLinkToken>
  /** Returns one link token, without its secret. */
  readonly getLinkToken: (
    group: string,
    token: string,
    options?: CallOptions
  ) => ApiPromise<WorkerGroups.GroupLinkToken>
  /**
   * Creates a token with which any number of workers join, until `expiresAt` (ISO 8601) or until it is deleted.
   * @example const link = await room.workerGroups.createLinkToken(group, { name: "lab" })
   */
  readonly createLinkToken: (
    group: string,
    token: { readonly name: string; readonly expiresAt?: string | undefined },
    options?: CallOptions
  ) => ApiPromise<WorkerGroups.GroupLinkTokenCreated>
  /**
   * Changes the name of a token, or its expiry (null: never).
   * @example await room.workerGroups.updateLinkToken(group, token, { expiresAt: null })
   */
  readonly updateLinkToken: (
    group: string,
    token: string,
    change: { readonly name?: string | undefined; readonly expiresAt?: string | null | undefined },
    options?: CallOptions
  ) => ApiPromise<WorkerGroups.GroupLinkToken>
  /** Deletes a token; workers that joined with it remain. Irreversible. */
  readonly removeLinkToken: (group: string, token: string, options?: CallOptions) => ApiPromise<Deleted<LinkTokenId>>
}

export const workerGroups = /* @__PURE__ */ members<WorkerGroupsClient>(WorkerGroups, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  rename: 2,
  pause: 2,
  resume: 1,
  remove: 1,
  addWorker: 2,
  removeWorker: 2,
  linkTokens: 2,
  getLinkToken: 2,
  createLinkToken: 2,
  updateLinkToken: 3,
  removeLinkToken: 2
})
