/**
 * Task packages: zip packages of tasks, uploaded or taken from a git repository.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { Deleted, Name, namedListQuery, OpenEnum, Page, RelativePath, Timestamp } from "./Common.ts"
import { extension, ExtensionKeys, summary } from "./Documentation.ts"
import { UploadForm } from "./Files.ts"
import { SecretName, TaskPackageId, WorkspaceId } from "./Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"
import { WithoutRecord } from "./IdempotencyKeys.ts"
import { CurrentVersion, getVersion, listVersions, promote, rollback, VersionNote } from "./TaskPackageVersions.ts"

export const taskPackageTypes = ["zip", "github", "gitlab"] as const
export type TaskPackageType = (typeof taskPackageTypes)[number]

const summaryFields = { id: TaskPackageId, name: Schema.String, type: OpenEnum(taskPackageTypes) }

/** A task package in lists, and in the response to its git configuration. */
export const TaskPackageSummary = Schema.Struct(summaryFields).annotate({ identifier: "TaskPackageSummary" })
export interface TaskPackageSummary extends Schema.Schema.Type<typeof TaskPackageSummary> {}

export const gitModes = ["attached", "detached"] as const

/** The repository of a package, and the result of the last fetch. Names of secrets, never their values. */
export const GitSource = Schema.Struct({
  repository: Schema.String,
  directory: Schema.NullOr(Schema.String),
  credentials_secret: Schema.NullOr(Schema.String),
  mode: OpenEnum(gitModes),
  /** The branch; for a detached package its reference: a commit, tag or branch. */
  reference: Schema.String,
  automatic_deployment: Schema.Boolean,
  /** The newest commit that was fetched; after a rollback the content is that of an older one. */
  commit: Schema.String,
  fetched_at: Timestamp,
  /** Why the last poll of the branch failed; the content does not change. Null after a success. */
  error: Schema.NullOr(Schema.Struct({ message: Schema.String, failed_at: Timestamp }))
}).annotate({ identifier: "GitSource" })
export interface GitSource extends Schema.Schema.Type<typeof GitSource> {}

/**
 * `download` is null and `tasks` empty while the package has no content; the address is valid for one hour. `git` and
 * `current` are extensions: null for an uploaded package, and for one without content.
 */
export const TaskPackage = Schema.Struct({
  ...summaryFields,
  tasks: Schema.Array(Schema.Struct({ name: Schema.String })),
  download: Schema.NullOr(Schema.Struct({ url: Schema.String })),
  git: Schema.NullOr(GitSource).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  current: Schema.NullOr(CurrentVersion).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}).annotate({ identifier: "TaskPackage" })
export interface TaskPackage extends Schema.Schema.Type<typeof TaskPackage> {}

/** The `http` or `https` address of a repository, without credentials. */
export const RepositoryUrl = Schema.String.check(
  Schema.isMaxLength(2048),
  Schema.isPattern(/^https?:\/\/[^\s/@]+\/\S+$/i, {
    message: "Expected an http or https address without credentials; put those into a secret"
  })
)

const repository = {
  /** Extension: the address to clone. Required the first time; unchanged when absent. */
  repository: Schema.optionalKey(RepositoryUrl),
  /**
   * Extension: the secret with the credentials of the repository, in its items `password` (may be a token) and
   * `username` (optional). Null: none. Unchanged when absent.
   */
  credentials_secret: Schema.optionalKey(Schema.NullOr(SecretName)),
  /** Extension: the folder of the package inside the repository; null: its root. Unchanged when absent. */
  directory: Schema.optionalKey(Schema.NullOr(RelativePath))
}

/** The name of a branch or tag with git's rules, or a commit hash. */
export const GitReference = Name.check(
  Schema.isPattern(/^(?![-/.])(?!.*(?:\.\.|@\{|\/\/|\/\.))[^\s~^:?*[\\\p{Cc}]+(?<!\/|\.|\.lock)$/u, {
    message: "Expected the name of a branch or tag, or a commit hash"
  })
)

/** The commit of a repository that a package uses. */
export const GitConfiguration = Schema.Union([
  /** The package follows a branch: by polling, or (`automatic_deployment` false) each time that this is sent. */
  Schema.Struct({
    mode: Schema.Literal("attached"),
    branch: GitReference,
    automatic_deployment: Schema.Boolean,
    ...repository
  }),
  /** The package is this commit, tag or branch as it is now. */
  Schema.Struct({ mode: Schema.Literal("detached"), reference: GitReference, ...repository })
])
export type GitConfiguration = typeof GitConfiguration.Type

const params = { workspace_id: WorkspaceId, task_package_id: TaskPackageId }

export const get = HttpApiEndpoint.get("getTaskPackage", "/workspaces/:workspace_id/task-packages/:task_package_id", {
  params,
  success: TaskPackage,
  error: NotFoundResponse
})
  .annotate(RequiredPermission, "Tasks.read_task_packages")
  .annotateMerge(summary("Get a task package"))

/** The name is unique in the workspace. */
export const create = HttpApiEndpoint.post("createTaskPackage", "/workspaces/:workspace_id/task-packages", {
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({
    name: Name,
    /** Default: `zip`, the only type that is created; `configureTaskPackage` changes it. */
    type: Schema.Literal("zip").pipe(Schema.withDecodingDefaultKey(Effect.succeed("zip" as const)))
  }),
  success: TaskPackage,
  error: [InvalidRequestResponse, ConflictResponse]
})
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotateMerge(summary("Create a task package without content"))

/** Fetches the repository before it responds. One that cannot be read is a 409, and nothing is changed. */
export const configure = HttpApiEndpoint.post(
  "configureTaskPackage",
  "/workspaces/:workspace_id/task-packages/:task_package_id",
  {
    params,
    payload: Schema.Struct({ type: Schema.Literals(["github", "gitlab"]), configuration: GitConfiguration }),
    success: TaskPackageSummary,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  }
)
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotate(WithoutRecord, true)
  .annotate(ExtensionKeys, ["repository", "credentials_secret", "directory"])
  .annotateMerge(summary("Take a task package from a git repository"))

/** Irreversible. A package that a step or an assistant names is a 409. */
export const remove = HttpApiEndpoint.delete(
  "deleteTaskPackage",
  "/workspaces/:workspace_id/task-packages/:task_package_id",
  {
    params,
    success: Deleted(TaskPackageId),
    error: [NotFoundResponse, ConflictResponse]
  }
)
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotateMerge(summary("Delete a task package"))

/** Extension. */
export const list = HttpApiEndpoint.get("listTaskPackages", "/workspaces/:workspace_id/task-packages", {
  params: { workspace_id: WorkspaceId },
  query: namedListQuery,
  success: Page(TaskPackageSummary),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Tasks.read_task_packages")
  .annotateMerge(extension("List the task packages, newest first"))

/** Extension: the form with which a new zip is uploaded, valid for one hour. A package from git is a 409. */
export const getUpload = HttpApiEndpoint.get(
  "getTaskPackageUpload",
  "/workspaces/:workspace_id/task-packages/:task_package_id/upload",
  {
    params,
    /** `note`: why there is a new version. */
    query: { note: Schema.optional(VersionNote) },
    success: UploadForm,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  }
)
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotateMerge(extension("Get the form with which a zip is uploaded"))

/**
 * Extension, for clients of an older generation: the zip itself; or where it is, as `{"url": …}` valid for one hour, for those
 * that send `Accept: application/json`. A package without content is a 404.
 */
export const download = HttpApiEndpoint.get(
  "downloadTaskPackage",
  "/workspaces/:workspace_id/task-packages/:task_package_id/download",
  {
    params,
    success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/zip" })),
    error: NotFoundResponse
  }
)
  .annotate(RequiredPermission, "Tasks.read_task_packages")
  .annotateMerge(extension("Download the zip of a task package"))

export const TaskPackages = /* @__PURE__ */ HttpApiGroup.make("taskPackages")
  .add(get, create, configure, remove, list, getUpload, download, listVersions, getVersion, promote, rollback)
  .middleware(WorkspaceAuthorization)
