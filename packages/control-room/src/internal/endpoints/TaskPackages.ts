/**
 * Task packages over HTTP.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { GitSource } from "@signalbox/api/contract/TaskPackages"
import { packageLimits } from "@signalbox/task-package/PackageLimits"
import * as Effect from "effect/Effect"
import * as HttpPlatform from "effect/http/HttpPlatform"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { BlobStore } from "../../BlobStore.ts"
import * as UnusedBlobs from "../blobs/UnusedBlobs.ts"
import { GitPackages } from "../git/GitPackages.ts"
import { PackageSources, type Source } from "../store/packages/PackageSources.ts"
import { notUploaded, type PackageContent, PackageVersions } from "../store/packages/PackageVersions.ts"
import { type StoredPackage, TaskPackages } from "../store/packages/TaskPackages.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import * as Actor from "../edge/Actor.ts"
import { refusals, conflict, notFound, orNotFound } from "../edge/Failures.ts"
import { FileLinks } from "../transfers/FileLinks.ts"
import { Pagination } from "../edge/Pagination.ts"
import { need } from "../edge/Permissions.ts"
import { blobResponse } from "./BlobResponses.ts"
import { attachmentHeaders } from "./Transfers.ts"

/** The download address of a zip of a package, and its digest. */
export const locate = (
  links: FileLinks["Service"],
  workspace: WorkspaceId,
  { digest, file, packageName }: PackageContent
) => {
  const named = { id: file.id, name: `${packageName}.zip`, type: "application/zip" }
  return Effect.map(links.download(workspace, named), (url) => ({ digest, url }))
}

const gitOf = (source: Source): GitSource => ({
  repository: source.repository,
  directory: source.directory,
  credentials_secret: source.credentialsSecret,
  mode: source.mode,
  reference: source.reference,
  automatic_deployment: source.automatic,
  commit: source.commit,
  fetched_at: source.fetchedAt,
  error: source.error === null ? null : { message: source.error.message, failed_at: source.error.failedAt }
})

export const layer = Endpoints.group(
  "taskPackages",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* TaskPackages
    const versions = yield* PackageVersions
    const by = yield* Actor.make
    const sources = yield* PackageSources
    const gitPackages = yield* GitPackages
    const blobs = yield* BlobStore
    const dropBlobs = yield* UnusedBlobs.make
    const links = yield* FileLinks
    const platform = yield* HttpPlatform.HttpPlatform
    const { page } = yield* Pagination
    const find = (params: { readonly workspace_id: WorkspaceId; readonly task_package_id: string }) =>
      orNotFound("task package", params.task_package_id, store.get(params.workspace_id, params.task_package_id))

    const view = Effect.fnUntraced(function* (taskPackage: StoredPackage) {
      const { content, current, id, name, tasks, type, workspaceId } = taskPackage
      const download = content === null ? null : { url: (yield* locate(links, workspaceId, content)).url }
      const source = type === "zip" ? null : yield* sources.get(id)
      const git = source === null ? null : gitOf(source)
      return { id, name, type, tasks: tasks.map((task) => ({ name: task })), download, git, current }
    })

    const version = Effect.fnUntraced(function* ({ id, name, workspaceId }: StoredPackage, number: number) {
      const found = yield* orNotFound(
        `task package "${name}" with a version`,
        String(number),
        versions.get(workspaceId, id, number)
      )
      const { url } = yield* locate(links, workspaceId, found.content)
      return { ...found.view, tasks: found.content.tasks.map((name) => ({ name })), download: { url } }
    })

    return handlers.handleAll({
      getTaskPackage: ({ params }) => Effect.flatMap(find(params), view),
      listTaskPackages: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createTaskPackage: Effect.fnUntraced(function* ({ params, payload: { name } }) {
        const created = yield* store.create(params.workspace_id, name)
        if (created === null) {
          return yield* conflict(`name: a task package "${name}" already exists; choose another name`)
        }
        return yield* view(created)
      }),
      configureTaskPackage: Effect.fnUntraced(function* ({ params, payload: { configuration, type } }) {
        const found = yield* find(params)
        if (yield* refusals("INVALID_REQUEST")(gitPackages.sendsSecret(found, configuration))) {
          yield* need(
            "Vault.read_secret_values",
            "configuration.credentials_secret: its user and password are sent to the repository"
          )
        }
        yield* refusals("INVALID_REQUEST", "NOT_FOUND", "CONFLICT")(gitPackages.configure(found, type, configuration))
        return { id: found.id, name: found.name, type }
      }),
      downloadTaskPackage: Effect.fnUntraced(function* ({ params, request }) {
        const { content, name } = yield* find(params)
        if (content === null) return yield* notFound("content of the task package", params.task_package_id)
        if (/^\s*application\/json\b/i.test(request.headers["accept"] ?? "")) {
          return HttpServerResponse.jsonUnsafe({ url: (yield* locate(links, params.workspace_id, content)).url })
        }
        const options = { contentType: "application/zip", headers: attachmentHeaders(`${name}.zip`) }
        const response = blobResponse(blobs, content.file, options)
        return yield* Effect.orDie(Effect.provideService(response, HttpPlatform.HttpPlatform, platform))
      }),
      getTaskPackageUpload: Effect.fnUntraced(function* ({ params, query: { note } }) {
        const { id, name, type } = yield* find(params)
        if (type !== "zip") return yield* conflict(notUploaded(name))
        return yield* links.uploadForm(
          {
            workspace: params.workspace_id,
            id,
            stepRun: null,
            kind: "package",
            by: yield* by,
            note
          },
          { file_name: `${name}.zip`, file_size: packageLimits.zip }
        )
      }),
      listTaskPackageVersions: Effect.fnUntraced(function* ({ params, query, request }) {
        const { id, workspaceId } = yield* find(params)
        return yield* page(request, query, (from) => versions.list(workspaceId, id, from), Effect.succeed)
      }),
      getTaskPackageVersion: ({ params }) => Effect.flatMap(find(params), (found) => version(found, params.version)),
      promoteTaskPackageVersion: Effect.fnUntraced(function* ({ params }) {
        const found = yield* find(params)
        const promoted = versions.promote(params.workspace_id, found.id, params.version, yield* by)
        yield* refusals("NOT_FOUND")(promoted)
        return yield* version(found, params.version)
      }),
      rollbackTaskPackage: Effect.fnUntraced(function* ({ params, payload }) {
        const found = yield* find(params)
        const back = versions.rollback(params.workspace_id, found.id, payload?.from ?? null, yield* by)
        return yield* version(found, yield* refusals("NOT_FOUND", "CONFLICT")(back))
      }),
      deleteTaskPackage: Effect.fnUntraced(function* ({ params }) {
        const found = yield* find(params)
        const unused = yield* refusals("CONFLICT")(store.remove(found))
        yield* dropBlobs(unused)
        return { id: found.id, deleted: true } as const
      })
    })
  })
)
