/**
 * Versions of task packages. Each upload and each commit that changes the content of a package appends one and makes it
 * current; an older one becomes current again in one call. The newest 20 are retained, and every version that is
 * current, named by a step, or used by a task in progress.
 */
import * as Schema from "effect/Schema"
import { listQuery, OpenEnum, Page, Text, Timestamp } from "../../contract/Common.ts"
import { TaskPackageId, WorkspaceId } from "../../contract/Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/** The number of a version: 1 is the first of its package. Numbers are not used again. */
export const VersionNumber = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

/** Why there is a version, in the words of who uploads it. */
export const VersionNote = Text.check(Schema.isMaxLength(1000))

/** A key by its id and its name, or a commit by its hash and its author. */
export class PackageAuthor extends Struct<PackageAuthor>()({
  type: OpenEnum(["api_key", "user", "commit"]),
  id: Schema.String,
  name: Schema.NullOr(Schema.String)
}) {}

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
export class TaskPackageVersionListed extends Struct<TaskPackageVersionListed>("TaskPackageVersionListed")(fields) {}

/** A version with the names of its tasks. The address of its zip is valid for one hour. */
export class TaskPackageVersion extends Struct<TaskPackageVersion>("TaskPackageVersion")({
  ...fields,
  tasks: Schema.Array(Schema.Struct({ name: Schema.String })),
  download: Schema.Struct({ url: Schema.String })
}) {}

/** The version that a package has now. `newest` is greater than `version` after a rollback. */
export class CurrentVersion extends Struct<CurrentVersion>("CurrentVersion")({
  version: VersionNumber,
  newest: VersionNumber,
  digest: Schema.String,
  since: Timestamp,
  /** Who made it current. */
  by: Schema.NullOr(PackageAuthor)
}) {}

const params = { workspace_id: WorkspaceId, task_package_id: TaskPackageId }
const path = "/workspaces/:workspace_id/task-packages/:task_package_id"

/** The number of a version in a path. */
const versionParams = { ...params, version: VersionNumber }

export const listVersions = /* @__PURE__ */ Endpoint.get("listTaskPackageVersions", `${path}/versions`, () => ({
  extension: true,
  params,
  query: listQuery,
  success: Page(TaskPackageVersionListed),
  error: [InvalidRequestResponse, NotFoundResponse]
}))

export const getVersion = /* @__PURE__ */ Endpoint.get("getTaskPackageVersion", `${path}/versions/:version`, () => ({
  extension: true,
  params: versionParams,
  success: TaskPackageVersion,
  error: [InvalidRequestResponse, NotFoundResponse]
}))

export const promote = /* @__PURE__ */ Endpoint.post(
  "promoteTaskPackageVersion",
  `${path}/versions/:version/promote`,
  () => ({
    extension: true,
    params: versionParams,
    success: TaskPackageVersion,
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

export const rollback = /* @__PURE__ */ Endpoint.post("rollbackTaskPackage", `${path}/rollback`, () => ({
  extension: true,
  params,
  payload: [Schema.Struct({ from: Schema.optionalKey(VersionNumber) }), Schema.Undefined],
  success: TaskPackageVersion,
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
}))
