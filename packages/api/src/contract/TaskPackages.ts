/**
 * Task packages: zip packages of tasks, uploaded or taken from a git repository.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { extension, ExtensionKeys } from "./Documentation.ts"
import { TaskPackageId, WorkspaceId } from "./Ids.ts"
import { NotFoundResponse } from "./Responses.ts"
import { WithoutRecord } from "./IdempotencyKeys.ts"
import { getVersion, listVersions, promote, rollback } from "./TaskPackageVersions.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/TaskPackages.ts"

export * from "../internal/endpoints/TaskPackages.ts"

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a task package").annotate(
  RequiredPermission,
  "Tasks.read_task_packages"
)

/** The name is unique in the workspace. */
export const create: EndpointOf<typeof declared.create> = endpoint(
  declared.create,
  "Create a task package without content"
)
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotate(Audited, entry("task_package"))

/** Fetches the repository before it responds. One that cannot be read is a 409, and nothing is changed. */
export const configure: EndpointOf<typeof declared.configure> = endpoint(
  declared.configure,
  "Take a task package from a git repository"
)
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotate(WithoutRecord, true)
  .annotate(ExtensionKeys, ["repository", "credentials_secret", "directory"])
  .annotate(Audited, entry("task_package"))

/** Irreversible. A package that a step or an assistant names is a 409. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete a task package")
  .annotate(RequiredPermission, "Tasks.write_task_packages")
  .annotate(Audited, entry("task_package"))

/** Extension. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the task packages, newest first"
).annotate(RequiredPermission, "Tasks.read_task_packages")

/** Extension: the form with which a new zip is uploaded, valid for one hour. A package from git is a 409. */
export const getUpload: EndpointOf<typeof declared.getUpload> = endpoint(
  declared.getUpload,
  "Get the form with which a zip is uploaded"
).annotate(RequiredPermission, "Tasks.write_task_packages")

/**
 * Extension, for clients of an older generation: the zip itself; or where it is, as `{"url": …}` valid for one hour, for those
 * that send `Accept: application/json`. A package without content is a 404.
 */
export const download = HttpApiEndpoint.get(
  "downloadTaskPackage",
  "/workspaces/:workspace_id/task-packages/:task_package_id/download",
  {
    params: { workspace_id: WorkspaceId, task_package_id: TaskPackageId },
    success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/zip" })),
    error: NotFoundResponse
  }
)
  .annotate(RequiredPermission, "Tasks.read_task_packages")
  .annotateMerge(extension("Download the zip of a task package"))

export const TaskPackages: Group<
  "taskPackages",
  | typeof get
  | typeof create
  | typeof configure
  | typeof remove
  | typeof list
  | typeof getUpload
  | typeof download
  | typeof listVersions
  | typeof getVersion
  | typeof promote
  | typeof rollback,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("taskPackages")
  .add(get, create, configure, remove, list, getUpload, download, listVersions, getVersion, promote, rollback)
  .middleware(WorkspaceAuthorization)
