/**
 * Task packages: zip packages of tasks, uploaded or taken from a git repository.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Deleted, Name, namedListQuery, OpenEnum, Page, RelativePath, Timestamp } from "../../contract/Common.ts"
import { UploadForm } from "../../contract/Files.ts"
import { SecretName, TaskPackageId, WorkspaceId } from "../../contract/Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import { CurrentVersion, VersionNote } from "./TaskPackageVersions.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export const taskPackageTypes = ["zip", "github", "gitlab"] as const
export type TaskPackageType = (typeof taskPackageTypes)[number]

const summaryFields = { id: TaskPackageId, name: Schema.String, type: OpenEnum(taskPackageTypes) }

/** A task package in lists, and in the response to its git configuration. */
export class TaskPackageSummary extends Struct<TaskPackageSummary>("TaskPackageSummary")(summaryFields) {}

export const gitModes = ["attached", "detached"] as const

/** The repository of a package, and the result of the last fetch. Names of secrets, never their values. */
export class GitSource extends Struct<GitSource>("GitSource")({
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
}) {}

/**
 * `download` is null and `tasks` empty while the package has no content; the address is valid for one hour. `git` and
 * `current` are extensions: null for an uploaded package, and for one without content.
 */
export class TaskPackage extends Struct<TaskPackage>("TaskPackage")({
  ...summaryFields,
  tasks: Schema.Array(Schema.Struct({ name: Schema.String })),
  download: Schema.NullOr(Schema.Struct({ url: Schema.String })),
  git: Schema.NullOr(GitSource).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  current: Schema.NullOr(CurrentVersion).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}) {}

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

export const get = /* @__PURE__ */ Endpoint.get(
  "getTaskPackage",
  "/workspaces/:workspace_id/task-packages/:task_package_id",
  () => ({
    params,
    success: TaskPackage,
    error: NotFoundResponse
  })
)

export const create = /* @__PURE__ */ Endpoint.post(
  "createTaskPackage",
  "/workspaces/:workspace_id/task-packages",
  () => ({
    params: { workspace_id: WorkspaceId },
    payload: Schema.Struct({
      name: Name,
      /** Default: `zip`, the only type that is created; `configureTaskPackage` changes it. */
      type: Schema.Literal("zip").pipe(Schema.withDecodingDefaultKey(Effect.succeed("zip" as const)))
    }),
    success: TaskPackage,
    error: [InvalidRequestResponse, ConflictResponse]
  })
)

export const configure = /* @__PURE__ */ Endpoint.post(
  "configureTaskPackage",
  "/workspaces/:workspace_id/task-packages/:task_package_id",
  () => ({
    params,
    payload: Schema.Struct({ type: Schema.Literals(["github", "gitlab"]), configuration: GitConfiguration }),
    success: TaskPackageSummary,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  })
)

export const remove = /* @__PURE__ */ Endpoint.delete(
  "deleteTaskPackage",
  "/workspaces/:workspace_id/task-packages/:task_package_id",
  () => ({
    params,
    success: Deleted(TaskPackageId),
    error: [NotFoundResponse, ConflictResponse]
  })
)

export const list = /* @__PURE__ */ Endpoint.get("listTaskPackages", "/workspaces/:workspace_id/task-packages", () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  query: namedListQuery,
  success: Page(TaskPackageSummary),
  error: InvalidRequestResponse
}))

export const getUpload = /* @__PURE__ */ Endpoint.get(
  "getTaskPackageUpload",
  "/workspaces/:workspace_id/task-packages/:task_package_id/upload",
  () => ({
    extension: true,
    params,
    /** `note`: why there is a new version. */
    query: { note: Schema.optional(VersionNote) },
    success: UploadForm,
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
  })
)
