/**
 * Versions of task packages. Each upload and each commit that changes the content of a package appends one and makes it
 * current; an older one becomes current again in one call. The newest 20 are retained, and every version that is
 * current, named by a step, or used by a task in progress.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as Schema from "effect/Schema"
import { RequiredPermission, StartsWork } from "./Authorization.ts"
import { listQuery, OpenEnum, Page, Text, Timestamp } from "./Common.ts"
import { extension } from "./Documentation.ts"
import { TaskPackageId, WorkspaceId } from "./Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"

/** The number of a version: 1 is the first of its package. Numbers are not used again. */
export const VersionNumber = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

/** Why there is a version, in the words of who uploads it. */
export const VersionNote = Text.check(Schema.isMaxLength(1000))

/** A key by its id and its name, or a commit by its hash and its author. */
export const PackageAuthor = Schema.Struct({
  type: OpenEnum(["api_key", "commit"]),
  id: Schema.String,
  name: Schema.NullOr(Schema.String)
})
export interface PackageAuthor extends Schema.Schema.Type<typeof PackageAuthor> {}

export const versionStates = ["current", "available", "rolled_back"] as const
export type VersionState = (typeof versionStates)[number]

const fields = {
  version: VersionNumber,
  /** `rolled_back`: an older version was made current in its place. */
  state: OpenEnum(versionStates),
  /** `sha256:` and the hex digest of the zip. */
  digest: Schema.String,
  /** In bytes. */
  size: Schema.Finite,
  created_at: Timestamp,
  /** Null for what is older than versions. */
  created_by: Schema.NullOr(PackageAuthor),
  /** What was said at the upload, or the first line of the message of the commit. */
  note: Schema.NullOr(Schema.String)
}

/** A version in lists. */
export const TaskPackageVersionListed = Schema.Struct(fields).annotate({ identifier: "TaskPackageVersionListed" })
export interface TaskPackageVersionListed extends Schema.Schema.Type<typeof TaskPackageVersionListed> {}

/** A version with the names of its tasks. The address of its zip is valid for one hour. */
export const TaskPackageVersion = Schema.Struct({
  ...fields,
  tasks: Schema.Array(Schema.Struct({ name: Schema.String })),
  download: Schema.Struct({ url: Schema.String })
}).annotate({ identifier: "TaskPackageVersion" })
export interface TaskPackageVersion extends Schema.Schema.Type<typeof TaskPackageVersion> {}

/** The version that a package has now. `newest` is greater than `version` after a rollback. */
export const CurrentVersion = Schema.Struct({
  version: VersionNumber,
  newest: VersionNumber,
  digest: Schema.String,
  since: Timestamp,
  /** Who made it current. */
  by: Schema.NullOr(PackageAuthor)
}).annotate({ identifier: "CurrentVersion" })
export interface CurrentVersion extends Schema.Schema.Type<typeof CurrentVersion> {}

const params = { workspace_id: WorkspaceId, task_package_id: TaskPackageId }
const path = "/workspaces/:workspace_id/task-packages/:task_package_id"

/** The number of a version in a path. */
const versionParams = { ...params, version: VersionNumber }

/** Extension. */
export const listVersions = HttpApiEndpoint.get("listTaskPackageVersions", `${path}/versions`, {
  params,
  query: listQuery,
  success: Page(TaskPackageVersionListed),
  error: [InvalidRequestResponse, NotFoundResponse]
})
  .annotate(RequiredPermission, "Tasks.read_task_packages")
  .annotateMerge(extension("List the versions of a task package, newest first"))

/** Extension. */
export const getVersion = HttpApiEndpoint.get("getTaskPackageVersion", `${path}/versions/:version`, {
  params: versionParams,
  success: TaskPackageVersion,
  error: [InvalidRequestResponse, NotFoundResponse]
})
  .annotate(RequiredPermission, "Tasks.read_task_packages")
  .annotateMerge(extension("Get a version of a task package"))

/**
 * Extension: makes a version the current one. Step runs in progress continue with their version. Does nothing when it is
 * current. Versions between an older one and the one that was current are rolled back.
 */
export const promote = HttpApiEndpoint.post("promoteTaskPackageVersion", `${path}/versions/:version/promote`, {
  params: versionParams,
  success: TaskPackageVersion,
  error: [InvalidRequestResponse, NotFoundResponse]
})
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotate(StartsWork, true)
  .annotateMerge(extension("Make a version of a task package the current one"))

/**
 * Extension: makes the one before the current version current, of those that are not rolled back. With `from`, only if
 * that is current still; else, and without an older one, a 409.
 */
export const rollback = HttpApiEndpoint.post("rollbackTaskPackage", `${path}/rollback`, {
  params,
  payload: [Schema.Struct({ from: Schema.optionalKey(VersionNumber) }), Schema.Undefined],
  success: TaskPackageVersion,
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
})
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotate(StartsWork, true)
  .annotateMerge(extension("Go back to the version of a task package before the current one"))
