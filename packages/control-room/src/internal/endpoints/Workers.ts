/**
 * Workers over the public interface.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import { Database } from "../store/database/Database.ts"
import { Processes } from "../store/processes/Processes.ts"
import { QueueDepth } from "../store/runs/QueueDepth.ts"
import { WorkerGroups } from "../store/workers/WorkerGroups.ts"
import { Workers } from "../store/workers/Workers.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { conflict, invalidRequest, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"

const linkTokenMillis = 60 * 60 * 1000

export const holdsLease =
  "the worker holds a lease; stop the worker, or the run, and try again when its step run has ended"

/** When a link token expires, as stored. */
export const expiryOf = Effect.fnUntraced(function* (given: string, now: number) {
  const expires = Date.parse(given)
  if (!(expires > now)) {
    return yield* invalidRequest("expires_at: must be a time in the future")
  }
  return new Date(expires).toISOString()
})

export const layer = Endpoints.group(
  "workers",
  Effect.fnUntraced(function* (handlers) {
    const { millis } = yield* Database
    const store = yield* Workers
    const depth = yield* QueueDepth
    const groups = yield* WorkerGroups
    const processes = yield* Processes
    const { page } = yield* Pagination
    const find = (params: { readonly workspace_id: WorkspaceId; readonly worker_id: string }) =>
      orNotFound("worker", params.worker_id, store.get(params.workspace_id, params.worker_id))
    return handlers.handleAll({
      createWorkerLinkToken: Effect.fnUntraced(function* ({ params, payload }) {
        const now = yield* millis
        const expires =
          payload?.expires_at === undefined
            ? new Date(now + linkTokenMillis).toISOString()
            : yield* expiryOf(payload.expires_at, now)
        return yield* store.createLinkToken(params.workspace_id, expires)
      }),
      getWorker: ({ params }) => find(params),
      listWorkers: ({ params, query, request }) =>
        page(
          request,
          query,
          (from) => store.list(params.workspace_id, query.worker_group_id ?? null, from),
          Effect.succeed
        ),
      updateWorker: Effect.fnUntraced(function* ({ params, payload: { name } }) {
        const worker = yield* find(params)
        if (name === undefined) return worker
        yield* store.rename(worker.id, name)
        return { ...worker, name }
      }),
      getQueueDepth: Effect.fnUntraced(function* ({ params: { workspace_id }, query }) {
        const { labels, process_id, worker_group_id } = query
        if (process_id !== undefined) yield* orNotFound("process", process_id, processes.get(workspace_id, process_id))
        if (worker_group_id)
          yield* orNotFound("worker group", worker_group_id, groups.get(workspace_id, worker_group_id))
        const { assigned, waiting } = yield* depth.count(workspace_id, {
          process: process_id,
          group: worker_group_id === "" ? null : worker_group_id,
          labels: labels === "" ? [] : labels?.split(",")
        })
        return { waiting, assigned, total: waiting + assigned }
      }),
      drainWorker: Effect.fnUntraced(function* ({ params }) {
        const worker = yield* find(params)
        yield* store.setDraining(worker.id, true)
        return { ...worker, draining: true }
      }),
      deleteWorker: Effect.fnUntraced(function* ({ params }) {
        const worker = yield* find(params)
        if (!(yield* store.remove(worker.id))) {
          // Deleted concurrently, or processing a step run.
          yield* find(params)
          return yield* conflict(holdsLease)
        }
        return { id: worker.id, deleted: true } as const
      })
    })
  })
)
