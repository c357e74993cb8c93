/**
 * Task packages over HTTP.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import { BlobStore } from "../blobs/BlobStore.ts"
import { limits } from "../Limits.ts"
import { type PackageContent, type StoredPackage, TaskPackages } from "../store/TaskPackages.ts"
import * as Endpoints from "./Endpoints.ts"
import { answering, conflict, orNotFound } from "./Failures.ts"
import { FileLinks } from "./FileLinks.ts"
import { Pagination } from "./Pagination.ts"

/** Where the zip of a package is fetched, and its digest. */
export const locate = (
  links: FileLinks["Service"],
  { name, workspaceId }: StoredPackage,
  { digest, file }: PackageContent
) =>
  Effect.map(links.download(workspaceId, { id: file.id, name: `${name}.zip`, type: "application/zip" }), (url) => ({
    digest,
    url
  }))

export const layer = Endpoints.group(
  "taskPackages",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* TaskPackages
    const blobs = yield* BlobStore
    const links = yield* FileLinks
    const { page } = yield* Pagination
    const find = (params: { readonly workspace_id: WorkspaceId; readonly task_package_id: string }) =>
      orNotFound("task package", params.task_package_id, store.get(params.workspace_id, params.task_package_id))

    const view = Effect.fnUntraced(function* (taskPackage: StoredPackage) {
      const { content, id, name, tasks, type } = taskPackage
      const download = content === null ? null : { url: (yield* locate(links, taskPackage, content)).url }
      return { id, name, type, tasks: tasks.map((task) => ({ name: task })), download }
    })

    return handlers.handleAll({
      getTaskPackage: ({ params }) => Effect.flatMap(find(params), view),
      listTaskPackages: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createTaskPackage: Effect.fnUntraced(function* ({ params, payload: { name } }) {
        const created = yield* store.create(params.workspace_id, name)
        if (created === null) {
          return yield* conflict(`name: a task package "${name}" exists already; choose another name`)
        }
        return yield* view(created)
      }),
      configureTaskPackage: Effect.fnUntraced(function* ({ params }) {
        const { name } = yield* find(params)
        return yield* conflict(
          `this service does not fetch git repositories; upload the zip of the task package "${name}" instead`
        )
      }),
      getTaskPackageUpload: Effect.fnUntraced(function* ({ params }) {
        const { id, name } = yield* find(params)
        return yield* links.uploadForm(
          { workspace: params.workspace_id, id, stepRun: null, kind: "package" },
          { file_name: `${name}.zip`, file_size: limits.package }
        )
      }),
      deleteTaskPackage: Effect.fnUntraced(function* ({ params }) {
        const found = yield* find(params)
        const unused = yield* answering("CONFLICT")(store.remove(found))
        yield* Effect.forEach(unused, blobs.remove, { discard: true })
        return { id: found.id, deleted: true } as const
      })
    })
  })
)
