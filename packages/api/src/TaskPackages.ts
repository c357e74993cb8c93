/**
 * Task packages: zip packages of tasks, uploaded or taken from a git repository.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { TaskPackageId } from "./contract/Ids.ts"
import type { Deleted, Page } from "./contract/Common.ts"
import type { UploadForm } from "./contract/Files.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/TaskPackages.ts"
import * as versionContract from "./internal/endpoints/TaskPackageVersions.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { type DownloadError, fetchSigned } from "./Files.ts"
import { names, namedPage, namedPageSize, page, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { ListOptions, NamedListOptions } from "./ListOptions.ts"
import { RetryPolicy } from "./Policy.ts"
import { type OnProgress, open, sendForm, type UploadSource } from "./Upload.ts"

export type {
  GitConfiguration,
  GitSource,
  TaskPackage,
  TaskPackageSummary,
  TaskPackageType
} from "./contract/TaskPackages.ts"
export type { PackageAuthor, TaskPackageVersion, TaskPackageVersionListed } from "./contract/TaskPackageVersions.ts"

const call = {
  get: returning<contract.TaskPackage, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.TaskPackageSummary>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.TaskPackage, Conflict | InvalidRequest>()(inWorkspace(contract.create)),
  configure: returning<contract.TaskPackageSummary, Conflict | InvalidRequest | NotFound>()(
    inWorkspace(contract.configure)
  ),
  getUpload: returning<UploadForm, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.getUpload)),
  listVersions: returning<Page<versionContract.TaskPackageVersionListed>, InvalidRequest | NotFound>()(
    inWorkspace(versionContract.listVersions)
  ),
  getVersion: returning<versionContract.TaskPackageVersion, InvalidRequest | NotFound>()(
    inWorkspace(versionContract.getVersion)
  ),
  promote: returning<versionContract.TaskPackageVersion, InvalidRequest | NotFound>()(
    inWorkspace(versionContract.promote)
  ),
  rollback: returning<versionContract.TaskPackageVersion, Conflict | InvalidRequest | NotFound>()(
    inWorkspace(versionContract.rollback)
  ),
  remove: returning<Deleted<TaskPackageId>, Conflict | NotFound>()(inWorkspace(contract.remove))
}

export const get = Effect.fn("TaskPackages.get")((taskPackage: TaskPackageId) =>
  call.get({ params: { task_package_id: taskPackage } })
)

/** Returns one page, newest first. An extension of the hosted service's interface. */
export const list = Effect.fn("TaskPackages.list")(
  (options: NamedListOptions = {}) => call.list({ query: options }),
  refusing("taskPackages.list", { 0: namedPage })
)

/** Emits all task packages, newest first. */
export const stream = (options: Omit<NamedListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("taskPackages.stream", namedPageSize, options))

/** Creates a package without content; fails with `Conflict` when the name is in use. */
export const create = Effect.fn("TaskPackages.create")((name: string) =>
  call.create({ payload: { name, type: "zip" } })
)

/** The service ends a fetch after two minutes. */
const configureTimeoutMillis = 150_000

/**
 * Takes the content of a package from a git repository, which the service fetches before it responds: an attempt may
 * take two and a half minutes. Fails with `Conflict`, and changes nothing, when the repository cannot be read or is not
 * a package.
 */
export const configureGit = Effect.fn("TaskPackages.configureGit")(
  (taskPackage: TaskPackageId, type: "github" | "gitlab", configuration: contract.GitConfiguration) =>
    call.configure({ params: { task_package_id: taskPackage }, payload: { type, configuration } }).pipe(
      Effect.updateService(RetryPolicy, (policy) => ({
        ...policy,
        attemptTimeoutMillis: Math.max(policy.attemptTimeoutMillis, configureTimeoutMillis)
      }))
    ),
  refusing("taskPackages.configureGit", { 2: contract.GitConfiguration })
)

/** How a zip is uploaded. */
export interface UploadOptions {
  readonly onProgress?: OnProgress | undefined
  /** Why there is a new version. */
  readonly note?: string | undefined
}

const uploadOptions = names<UploadOptions>("option", { onProgress: 1, note: 1 })

/**
 * Uploads a zip as the new content of a package: its newest version, with a `note` that says why, unless it is the content
 * that the package has. Memory stays flat whatever the size; the old content is current until the new one is complete.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as TaskPackages from "@signalbox/api/TaskPackages"
 *
 * export const publish = Effect.gen(function* () {
 *   const { id } = yield* TaskPackages.create("invoices")
 *   yield* TaskPackages.upload(id, "./invoices.zip")
 *   return yield* TaskPackages.get(id)
 * })
 * ```
 */
export const upload = Effect.fn("TaskPackages.upload")(
  function* (taskPackage: TaskPackageId, source: UploadSource, { note, onProgress }: UploadOptions = {}) {
    const room = yield* ControlRoom
    const file = yield* open(room.uploads, source)
    const form = yield* call.getUpload({ params: { task_package_id: taskPackage }, query: { note } })
    yield* sendForm(room.transport.connection, form, file, onProgress)
  },
  refusing("taskPackages.upload", { 2: uploadOptions })
)

/** Emits the zip of a package as it arrives; nothing while it has no content. */
export const download = (taskPackage: TaskPackageId): Stream.Stream<Uint8Array, DownloadError, ControlRoom> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const room = yield* ControlRoom
      const found = yield* get(taskPackage)
      return found.download === null ? Stream.empty : fetchSigned(room.transport, found.download.url)
    })
  )

/** Returns one page of the versions of a package, newest first. An extension of the hosted service's interface. */
export const listVersions = Effect.fn("TaskPackages.listVersions")(
  (taskPackage: TaskPackageId, options: ListOptions = {}) =>
    call.listVersions({ params: { task_package_id: taskPackage }, query: options }),
  refusing("taskPackages.listVersions", { 1: page })
)

/** Emits all versions of a package, newest first. */
export const streamVersions = (taskPackage: TaskPackageId, options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) => listVersions(taskPackage, { ...options, cursor })).pipe(
    refusingStream("taskPackages.streamVersions", pageSize, options)
  )

/** Returns a version with its tasks and the address of its zip. */
export const getVersion = Effect.fn("TaskPackages.getVersion")((taskPackage: TaskPackageId, version: number) =>
  call.getVersion({ params: { task_package_id: taskPackage, version } })
)

/**
 * Makes a version the current one, older or newer, and returns it. Tasks that workers have go on with what they began with; what
 * is given to workers from now on has this version, unless its step names another.
 *
 * ```ts
 * import type { TaskPackageId } from "@signalbox/api/contract/Ids"
 * import * as TaskPackages from "@signalbox/api/TaskPackages"
 *
 * export const release = (invoices: TaskPackageId) =>
 *   TaskPackages.promote(invoices, 7)
 * ```
 */
export const promote = Effect.fn("TaskPackages.promote")((taskPackage: TaskPackageId, version: number) =>
  call.promote({ params: { task_package_id: taskPackage, version } })
)

/** From which version to go back. */
export interface RollbackOptions {
  /** The version that is current. */
  readonly from?: number | undefined
}

/**
 * Makes the version before the current one current, and returns it. With `from`, fails with `Conflict` unless that is
 * current, so that two concurrent calls do not go back twice. Fails with `Conflict` when there is none to go
 * back to.
 *
 * ```ts
 * import type { TaskPackageId } from "@signalbox/api/contract/Ids"
 * import * as TaskPackages from "@signalbox/api/TaskPackages"
 *
 * export const back = (invoices: TaskPackageId) =>
 *   TaskPackages.rollback(invoices, { from: 7 })
 * ```
 */
export const rollback = Effect.fn("TaskPackages.rollback")(
  (taskPackage: TaskPackageId, { from }: RollbackOptions = {}) =>
    call.rollback({ params: { task_package_id: taskPackage }, payload: defined({ from }) }),
  refusing("taskPackages.rollback", { 1: names<RollbackOptions>("option", { from: 1 }) })
)

/** Deletes a package; fails with `Conflict` while a step or an assistant names it. Irreversible. */
export const remove = Effect.fn("TaskPackages.remove")((taskPackage: TaskPackageId) =>
  call.remove({ params: { task_package_id: taskPackage } })
)
