/**
 * Worker groups over HTTP.
 */
import type { WorkerGroupId, WorkerId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Database } from "../store/database/Database.ts"
import { WorkerGroups } from "../store/workers/WorkerGroups.ts"
import { Workers } from "../store/workers/Workers.ts"
import { WorkSignal } from "../runs/WorkSignal.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { refusals, conflict, notFound, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { expiryOf } from "./Workers.ts"

interface GroupParams {
  readonly workspace_id: WorkspaceId
  readonly worker_group_id: WorkerGroupId
}

export const layer = Endpoints.group(
  "workerGroups",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* WorkerGroups
    const workers = yield* Workers
    const signal = yield* WorkSignal
    const { millis, transaction } = yield* Database
    const { page } = yield* Pagination
    const find = ({ worker_group_id, workspace_id }: GroupParams) =>
      orNotFound("worker group", worker_group_id, store.get(workspace_id, worker_group_id))
    const findToken = Effect.fnUntraced(function* (params: GroupParams & { readonly token_id: string }) {
      const group = yield* find(params)
      return yield* orNotFound("link token", params.token_id, store.getLinkToken(group.id, params.token_id))
    })
    const taken = (name: string) => conflict(`name: a worker group "${name}" already exists; choose another name`)
    const membership = (id: WorkerId) =>
      Effect.map(store.ofWorker(id), (worker_groups) => ({ worker: { id }, worker_groups }))
    return handlers.handleAll({
      getWorkerGroup: ({ params }) => find(params),
      listWorkerGroups: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createWorkerGroup: Effect.fnUntraced(function* ({ params, payload: { name } }) {
        return (yield* store.create(params.workspace_id, name)) ?? (yield* taken(name))
      }),
      updateWorkerGroup: Effect.fnUntraced(function* ({ params, payload: { name } }) {
        const group = yield* find(params)
        return name === undefined ? group : ((yield* store.rename(group, name)) ?? (yield* taken(name)))
      }),
      deleteWorkerGroup: Effect.fnUntraced(function* ({ params }) {
        yield* refusals("NOT_FOUND", "CONFLICT")(store.remove(params.workspace_id, params.worker_group_id))
        return { id: params.worker_group_id, deleted: true } as const
      }),
      addWorkerToGroup: ({ params, payload }) =>
        transaction(
          Effect.gen(function* () {
            const group = yield* find(params)
            const { id } = payload.worker
            const worker = yield* workers.get(params.workspace_id, id)
            if (worker === null) return yield* notFound("worker", id, "worker.id")
            yield* store.addWorker(group.id, worker.id)
            // The worker may be waiting for work that is bound to this group.
            yield* signal.afterCommit
            return yield* membership(worker.id)
          })
        ),
      removeWorkerFromGroup: Effect.fnUntraced(function* ({ params }) {
        const group = yield* find(params)
        if (!(yield* store.removeWorker(group.id, params.worker_id))) {
          return yield* notFound("member of this worker group", params.worker_id)
        }
        return yield* membership(params.worker_id)
      }),
      listGroupLinkTokens: Effect.fnUntraced(function* ({ params, query, request }) {
        const group = yield* find(params)
        return yield* page(request, query, (from) => store.listLinkTokens(group.id, from), Effect.succeed)
      }),
      createGroupLinkToken: Effect.fnUntraced(function* ({ params, payload: { expires_at, name } }) {
        const group = yield* find(params)
        const expires =
          expires_at === undefined || expires_at === null ? null : yield* expiryOf(expires_at, yield* millis)
        const { token, view } = yield* store.createLinkToken(group.id, name, expires)
        return { ...view, link_token: Redacted.make(token) }
      }),
      getGroupLinkToken: ({ params }) => findToken(params),
      updateGroupLinkToken: Effect.fnUntraced(function* ({ params, payload: { expires_at, name } }) {
        const group = yield* find(params)
        const known = yield* orNotFound("link token", params.token_id, store.lockLinkToken(group.id, params.token_id))
        const token = {
          ...known,
          ...defined({ name, expires_at: expires_at == null ? expires_at : yield* expiryOf(expires_at, yield* millis) })
        }
        yield* store.updateLinkToken(token)
        return token
      }, transaction),
      deleteGroupLinkToken: Effect.fnUntraced(function* ({ params }) {
        const token = yield* findToken(params)
        yield* store.removeLinkToken(token.worker_group.id, token.id)
        return { id: token.id, deleted: true } as const
      })
    })
  })
)
