/** What workers run, as functions with promises. */
import type { Deleted, Named } from "../../contract/Common.ts"
import type { AssistantId, TaskPackageId } from "../../contract/Ids.ts"
import * as Assistants from "../../Assistants.ts"
import * as TaskPackages from "../../TaskPackages.ts"
import type { Plain } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { AwaitOptions, ListOptions, NamedListOptions, NamedSize, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"
import type { ProgressOptions, UploadSource } from "./WorkClients.ts"

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
  /** Returns one package with its tasks. */
  readonly get: (taskPackage: string, options?: CallOptions) => ApiPromise<TaskPackages.TaskPackage>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.taskPackages.list({ name: "invoices" })
   */
  readonly list: (
    page?: NamedListOptions,
    options?: CallOptions
  ) => ApiPromise<ListPage<TaskPackages.TaskPackageSummary>>
  /**
   * All task packages, newest first.
   * @example for await (const { name } of room.taskPackages.stream()) console.log(name)
   */
  readonly stream: (page?: NamedSize, options?: CallOptions) => AsyncIterable<TaskPackages.TaskPackageSummary>
  /** Creates a package without content; rejects with `Conflict` when the name is in use. */
  readonly create: (name: string, options?: CallOptions) => ApiPromise<TaskPackages.TaskPackage>
  /**
   * Takes the content of a package from a git repository, which the service fetches before it responds.
   * @example
   * const git = { mode: "detached", reference: "v2" } as const
   * await room.taskPackages.configureGit(taskPackage, "gitlab", git)
   */
  readonly configureGit: (
    taskPackage: string,
    type: "github" | "gitlab",
    repository: GitRepository,
    options?: CallOptions
  ) => ApiPromise<TaskPackages.TaskPackageSummary>
  /**
   * Uploads a zip as the newest version of a package.
   * @example
   * const blob = await openAsBlob("robot.zip")
   * await room.taskPackages.upload(taskPackage, { name: "robot.zip", blob })
   */
  readonly upload: (
    taskPackage: string,
    source: UploadSource,
    upload?: PackageUpload,
    options?: CallOptions
  ) => ApiPromise<void>
  /**
   * The zip of a package as it arrives; nothing while it has no content.
   * @example
   * for await (const bytes of room.taskPackages.download(taskPackage))
   *   file.write(bytes)
   */
  readonly download: (taskPackage: string, options?: CallOptions) => AsyncIterable<Uint8Array>
  /**
   * Returns one page of the versions of a package, newest first.
   * @example const { data } = await room.taskPackages.listVersions(taskPackage)
   */
  readonly listVersions: (
    taskPackage: string,
    page?: ListOptions,
    options?: CallOptions
  ) => ApiPromise<ListPage<TaskPackages.TaskPackageVersionListed>>
  /**
   * All versions of a package, newest first.
   * @example
   * for await (const { version } of room.taskPackages.streamVersions(taskPackage))
   *   console.log(version)
   */
  readonly streamVersions: (
    taskPackage: string,
    page?: Size,
    options?: CallOptions
  ) => AsyncIterable<TaskPackages.TaskPackageVersionListed>
  /**
   * Returns a version with its tasks and the address of its zip.
   * @example const { tasks } = await room.taskPackages.getVersion(taskPackage, 3)
   */
  readonly getVersion: (
    taskPackage: string,
    version: number,
    options?: CallOptions
  ) => ApiPromise<TaskPackages.TaskPackageVersion>
  /**
   * Makes a version the current one, older or newer, and returns it.
   * @example await room.taskPackages.promote(taskPackage, 3)
   */
  readonly promote: (
    taskPackage: string,
    version: number,
    options?: CallOptions
  ) => ApiPromise<TaskPackages.TaskPackageVersion>
  /**
   * Makes the version before the current one current; with `from`, rejects with `Conflict` unless that is current.
   * @example await room.taskPackages.rollback(taskPackage, { from: 4 })
   */
  readonly rollback: (
    taskPackage: string,
    rollback?: { readonly from?: number | undefined },
    options?: CallOptions
  ) => ApiPromise<TaskPackages.TaskPackageVersion>
  /** Deletes a package; rejects with `Conflict` while a step or an assistant names it. Irreversible. */
  readonly remove: (taskPackage: string, options?: CallOptions) => ApiPromise<Deleted<TaskPackageId>>
}

export const taskPackages = /* @__PURE__ */ members<TaskPackagesClient>(TaskPackages, {
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
  /** Returns one assistant. */
  readonly get: (assistant: string, options?: CallOptions) => ApiPromise<Assistants.Assistant>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.assistants.list({ limit: 50 })
   */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<Assistants.Assistant>>
  /**
   * All assistants, newest first.
   * @example for await (const { name } of room.assistants.stream()) console.log(name)
   */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<Assistants.Assistant>
  /**
   * Creates an assistant for a task; rejects with `Conflict` when the name is in use.
   * @example await room.assistants.create({ name: "mia", taskPackage, task: "Ask" })
   */
  readonly create: (input: NewAssistant, options?: CallOptions) => ApiPromise<Named<AssistantId>>
  /** Returns one run of an assistant. */
  readonly getRun: (run: string, options?: CallOptions) => ApiPromise<Assistants.AssistantRun>
  /**
   * Returns one page of runs, newest first.
   * @example const { data } = await room.assistants.listRuns({ assistant })
   */
  readonly listRuns: (
    filter?: AssistantRunFilter,
    options?: CallOptions
  ) => ApiPromise<ListPage<Assistants.AssistantRun>>
  /**
   * All runs that match, newest first.
   * @example
   * for await (const { state } of room.assistants.streamRuns({ assistant }))
   *   console.log(state)
   */
  readonly streamRuns: (
    filter?: Omit<AssistantRunFilter, "cursor">,
    options?: CallOptions
  ) => AsyncIterable<Assistants.AssistantRun>
  /**
   * Waits until a run has ended (`completed` or `failed`).
   * @example const { error } = await room.assistants.awaitRunEnd(run, { timeout: "1 hour" })
   */
  readonly awaitRunEnd: (
    run: string,
    wait?: AwaitOptions<Assistants.AssistantRun>,
    options?: CallOptions
  ) => ApiPromise<Assistants.AssistantRun>
  /** Starts a run, which the caller executes, keeps alive and completes. */
  readonly startRun: (assistant: string, options?: CallOptions) => ApiPromise<Assistants.AssistantRunStarted>
  /** Keeps a run alive; rejects with `Conflict` when it has ended: stop the task. */
  readonly heartbeat: (run: string, options?: CallOptions) => ApiPromise<Assistants.AssistantRun>
  /**
   * Completes a run, with an error or without.
   * @example await room.assistants.completeRun(run, "ROBOT_FAILURE")
   */
  readonly completeRun: (
    run: string,
    error?: Assistants.AssistantRunErrorCode | null,
    options?: CallOptions
  ) => ApiPromise<Assistants.AssistantRun>
}

export const assistants = /* @__PURE__ */ members<AssistantsClient>(Assistants, {
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
