/** Workers and what they run, as functions with promises. */
import type { Deleted, Named } from "../../contract/Common.ts"
import type { AssistantId, LinkTokenId, TaskPackageId, WorkerGroupId, WorkerId } from "../../contract/Ids.ts"
import type { PauseState } from "../../contract/Pauses.ts"
import * as Assistants from "../../Assistants.ts"
import * as TaskPackages from "../../TaskPackages.ts"
import * as WorkerGroups from "../../WorkerGroups.ts"
import * as Workers from "../../Workers.ts"
import type { Plain } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { AwaitOptions, ListOptions, NamedListOptions, NamedSize, Noted, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"
import type { ProgressOptions, UploadSource } from "./WorkClients.ts"

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
  readonly get: (worker: string, options?: CallOptions) => ApiPromise<Workers.Worker>
  /** Returns one page, newest first. */
  readonly list: (filter?: WorkerFilter, options?: CallOptions) => ApiPromise<ListPage<Workers.Worker>>
  /** All workers, newest first. */
  readonly stream: (filter?: Omit<WorkerFilter, "cursor">, options?: CallOptions) => AsyncIterable<Workers.Worker>
  /** Renames a worker. */
  readonly rename: (worker: string, name: string, options?: CallOptions) => ApiPromise<Workers.Worker>
  /** Lets a worker finish its step runs and end; it leases nothing more until it is started again. */
  readonly drain: (worker: string, options?: CallOptions) => ApiPromise<Workers.Worker>
  /** Pauses a worker: it finishes what it has, and gets nothing more. Returns the pause. */
  readonly pause: (worker: string, pause?: Noted, options?: CallOptions) => ApiPromise<PauseState>
  /** Resumes a worker. Does nothing when it is not paused. */
  readonly resume: (worker: string, options?: CallOptions) => ApiPromise<PauseState>
  /** Deletes a worker; rejects with `Conflict` while it holds a lease. Irreversible. */
  readonly remove: (worker: string, options?: CallOptions) => ApiPromise<Deleted<WorkerId>>
  /** Creates a token with which one worker links itself; valid for one hour unless `expiresAt` (ISO 8601) is given. */
  readonly createLinkToken: (
    token?: { readonly expiresAt?: string | undefined },
    options?: CallOptions
  ) => ApiPromise<Workers.LinkToken>
  /** Counts the step runs that want a worker: `waiting` for one, `assigned` to one, and the `total` of both. */
  readonly queueDepth: (filter?: QueueDepthFilter, options?: CallOptions) => ApiPromise<Workers.QueueDepth>
}

export const workers = members<WorkersClient>(Workers, {
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
  readonly get: (group: string, options?: CallOptions) => ApiPromise<WorkerGroups.WorkerGroup>
  /** Returns one page, newest first. */
  readonly list: (page?: NamedListOptions, options?: CallOptions) => ApiPromise<ListPage<WorkerGroups.WorkerGroup>>
  /** All worker groups, newest first. */
  readonly stream: (page?: NamedSize, options?: CallOptions) => AsyncIterable<WorkerGroups.WorkerGroup>
  /** Creates a group; rejects with `Conflict` when the name is in use. */
  readonly create: (name: string, options?: CallOptions) => ApiPromise<WorkerGroups.WorkerGroup>
  /** Renames a group. */
  readonly rename: (group: string, name: string, options?: CallOptions) => ApiPromise<WorkerGroups.WorkerGroup>
  /** Pauses a group: steps that are bound to it wait. Returns the pause. */
  readonly pause: (group: string, pause?: Noted, options?: CallOptions) => ApiPromise<PauseState>
  /** Resumes a group. Does nothing when it is not paused. */
  readonly resume: (group: string, options?: CallOptions) => ApiPromise<PauseState>
  /** Deletes a group; rejects with `Conflict` while a step names it. Its workers remain. Irreversible. */
  readonly remove: (group: string, options?: CallOptions) => ApiPromise<Deleted<WorkerGroupId>>
  /** Adds a worker to a group; returns its groups. */
  readonly addWorker: (group: string, worker: string, options?: CallOptions) => ApiPromise<WorkerGroups.Membership>
  /** Removes a worker from a group; returns its groups. */
  readonly removeWorker: (group: string, worker: string, options?: CallOptions) => ApiPromise<WorkerGroups.Membership>
  /** The link tokens of a group, newest first. */
  readonly linkTokens: (group: string, page?: Size, options?: CallOptions) => AsyncIterable<WorkerGroups.GroupLinkToken>
  readonly getLinkToken: (
    group: string,
    token: string,
    options?: CallOptions
  ) => ApiPromise<WorkerGroups.GroupLinkToken>
  /** Creates a token with which any number of workers join, until `expiresAt` (ISO 8601) or until it is deleted. */
  readonly createLinkToken: (
    group: string,
    token: { readonly name: string; readonly expiresAt?: string | undefined },
    options?: CallOptions
  ) => ApiPromise<WorkerGroups.GroupLinkTokenCreated>
  /** Changes the name of a token, or its expiry (null: never). */
  readonly updateLinkToken: (
    group: string,
    token: string,
    change: { readonly name?: string | undefined; readonly expiresAt?: string | null | undefined },
    options?: CallOptions
  ) => ApiPromise<WorkerGroups.GroupLinkToken>
  /** Deletes a token; workers that joined with it remain. Irreversible. */
  readonly removeLinkToken: (group: string, token: string, options?: CallOptions) => ApiPromise<Deleted<LinkTokenId>>
}

export const workerGroups = members<WorkerGroupsClient>(WorkerGroups, {
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

type Repository = Plain<TaskPackages.GitConfiguration>

/** A branch, which the package follows: by polling, or (`automatic_deployment` false) each time that this is sent. */
export interface AttachedRepository extends Extract<Repository, { readonly mode: "attached" }> {}

/** A commit, tag or branch as it is now. */
export interface DetachedRepository extends Extract<Repository, { readonly mode: "detached" }> {}

/** How a package is taken from a git repository. */
export type GitRepository = AttachedRepository | DetachedRepository

/** How a package is uploaded. */
export interface PackageUpload extends ProgressOptions {
  /** Why there is this version. */
  readonly note?: string | undefined
}

/** Task packages: zip packages of tasks, uploaded or taken from a git repository. */
export interface TaskPackagesClient {
  readonly get: (taskPackage: string, options?: CallOptions) => ApiPromise<TaskPackages.TaskPackage>
  /** Returns one page, newest first. */
  readonly list: (
    page?: NamedListOptions,
    options?: CallOptions
  ) => ApiPromise<ListPage<TaskPackages.TaskPackageSummary>>
  /** All task packages, newest first. */
  readonly stream: (page?: NamedSize, options?: CallOptions) => AsyncIterable<TaskPackages.TaskPackageSummary>
  /** Creates a package without content; rejects with `Conflict` when the name is in use. */
  readonly create: (name: string, options?: CallOptions) => ApiPromise<TaskPackages.TaskPackage>
  /** Takes the content of a package from a git repository, which the service fetches before it responds. */
  readonly configureGit: (
    taskPackage: string,
    type: "github" | "gitlab",
    repository: GitRepository,
    options?: CallOptions
  ) => ApiPromise<TaskPackages.TaskPackageSummary>
  /** Uploads a zip as the newest version of a package. */
  readonly upload: (
    taskPackage: string,
    source: UploadSource,
    upload?: PackageUpload,
    options?: CallOptions
  ) => ApiPromise<void>
  /** The zip of a package as it arrives; nothing while it has no content. */
  readonly download: (taskPackage: string, options?: CallOptions) => AsyncIterable<Uint8Array>
  /** Returns one page of the versions of a package, newest first. */
  readonly listVersions: (
    taskPackage: string,
    page?: ListOptions,
    options?: CallOptions
  ) => ApiPromise<ListPage<TaskPackages.TaskPackageVersionListed>>
  /** All versions of a package, newest first. */
  readonly streamVersions: (
    taskPackage: string,
    page?: Size,
    options?: CallOptions
  ) => AsyncIterable<TaskPackages.TaskPackageVersionListed>
  /** Returns a version with its tasks and the address of its zip. */
  readonly getVersion: (
    taskPackage: string,
    version: number,
    options?: CallOptions
  ) => ApiPromise<TaskPackages.TaskPackageVersion>
  /** Makes a version the current one, older or newer, and returns it. */
  readonly promote: (
    taskPackage: string,
    version: number,
    options?: CallOptions
  ) => ApiPromise<TaskPackages.TaskPackageVersion>
  /** Makes the version before the current one current; with `from`, rejects with `Conflict` unless that is current. */
  readonly rollback: (
    taskPackage: string,
    rollback?: { readonly from?: number | undefined },
    options?: CallOptions
  ) => ApiPromise<TaskPackages.TaskPackageVersion>
  /** Deletes a package; rejects with `Conflict` while a step or an assistant names it. Irreversible. */
  readonly remove: (taskPackage: string, options?: CallOptions) => ApiPromise<Deleted<TaskPackageId>>
}

export const taskPackages = members<TaskPackagesClient>(TaskPackages, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  configureGit: 3,
  upload: 3,
  download: 1,
  listVersions: 2,
  streamVersions: 2,
  getVersion: 2,
  promote: 2,
  rollback: 2,
  remove: 1
})

/** An assistant: its name, and the task that it runs. */
export interface NewAssistant extends Omit<Plain<Parameters<typeof Assistants.create>[0]>, "name"> {
  readonly name: string
}

/** Which runs of assistants, and which page of them. */
export interface AssistantRunFilter extends Omit<Plain<Assistants.RunFilter>, "assistant"> {
  readonly assistant?: string | undefined
}

/** Assistants, and their runs. */
export interface AssistantsClient {
  readonly get: (assistant: string, options?: CallOptions) => ApiPromise<Assistants.Assistant>
  /** Returns one page, newest first. */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<Assistants.Assistant>>
  /** All assistants, newest first. */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<Assistants.Assistant>
  /** Creates an assistant for a task; rejects with `Conflict` when the name is in use. */
  readonly create: (input: NewAssistant, options?: CallOptions) => ApiPromise<Named<AssistantId>>
  readonly getRun: (run: string, options?: CallOptions) => ApiPromise<Assistants.AssistantRun>
  /** Returns one page of runs, newest first. */
  readonly listRuns: (
    filter?: AssistantRunFilter,
    options?: CallOptions
  ) => ApiPromise<ListPage<Assistants.AssistantRun>>
  /** All runs that match, newest first. */
  readonly streamRuns: (
    filter?: Omit<AssistantRunFilter, "cursor">,
    options?: CallOptions
  ) => AsyncIterable<Assistants.AssistantRun>
  /** Waits until a run has ended (`completed` or `failed`). */
  readonly awaitRunEnd: (
    run: string,
    wait?: AwaitOptions<Assistants.AssistantRun>,
    options?: CallOptions
  ) => ApiPromise<Assistants.AssistantRun>
  /** Starts a run, which the caller executes, keeps alive and completes. */
  readonly startRun: (assistant: string, options?: CallOptions) => ApiPromise<Assistants.AssistantRunStarted>
  /** Keeps a run alive; rejects with `Conflict` when it has ended: stop the task. */
  readonly heartbeat: (run: string, options?: CallOptions) => ApiPromise<Assistants.AssistantRun>
  /** Completes a run, with an error or without. */
  readonly completeRun: (
    run: string,
    error?: Assistants.AssistantRunErrorCode | null,
    options?: CallOptions
  ) => ApiPromise<Assistants.AssistantRun>
}

export const assistants = members<AssistantsClient>(Assistants, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  getRun: 1,
  listRuns: 1,
  streamRuns: 1,
  awaitRunEnd: 2,
  startRun: 1,
  heartbeat: 1,
  completeRun: 2
})
