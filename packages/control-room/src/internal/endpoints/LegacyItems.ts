/**
 * Work items for the older interface, with the names of their processes and the numbers of their runs.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import { orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"
import { Processes } from "../store/processes/Processes.ts"
import * as RunNumbers from "../store/runs/RunNumbers.ts"
import type { StoredPageItem, StoredSummary } from "../store/items/StoredItem.ts"
import { type ItemFilter, WorkItems } from "../store/items/WorkItems.ts"
import { fileView, itemView, sizeOf } from "./LegacyViews.ts"
import { Masking } from "./Masking.ts"
import { Views, withData } from "./Views.ts"

interface ItemQuery {
  readonly includeData?: boolean | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export const make = Effect.gen(function* () {
  const { page, pageOfTexts } = yield* Pagination
  const processes = yield* Processes
  const numbersOf = yield* RunNumbers.make
  const items = yield* WorkItems
  const { filesOf } = yield* Views
  const masking = yield* Masking

  /** The view of each of these items, which are of one process. */
  const viewOf = Effect.fnUntraced(function* (processName: string, found: ReadonlyArray<StoredSummary>) {
    const numbers = yield* numbersOf(found.flatMap((item) => item.processRunId ?? []))
    return (item: StoredSummary) =>
      itemView(item, processName, item.processRunId === null ? null : (numbers.get(item.processRunId) ?? 0))
  })
  const heads = (processName: string) => (found: ReadonlyArray<StoredSummary>) =>
    Effect.map(viewOf(processName, found), (view) => found.map(view))
  const texts = (processName: string) =>
    Effect.fnUntraced(function* (found: ReadonlyArray<StoredPageItem>) {
      const view = yield* viewOf(processName, found)
      const ofItem = yield* filesOf(found)
      const seen = yield* masking.payloads(found)
      return found.flatMap((item, index) => {
        const payload = seen[index]
        return payload === undefined ? [] : [withData(view(item), payload, ofItem(item.id).map(fileView))]
      })
    })

  const find = (params: { readonly workspace_id: WorkspaceId; readonly work_item_id: string }) =>
    orNotFound("work item", params.work_item_id, items.get(params.workspace_id, params.work_item_id))

  return {
    find,
    get: Effect.fnUntraced(function* (params: Parameters<typeof find>[0], includeData = false) {
      const item = yield* find(params)
      const process = yield* processes.get(item.workspaceId, item.processId)
      const view = yield* viewOf(process?.view.name ?? "", [item])
      if (!includeData) return view(item)
      const ofItem = yield* filesOf([item])
      const { json, masked } = yield* masking.json(item.processId, item.payload)
      return { ...view(item), payload: json, masked, files: ofItem(item.id).map(fileView) }
    }),
    /** A page of the items of one process. */
    list: (
      request: HttpServerRequest,
      query: ItemQuery,
      workspace: WorkspaceId,
      filter: ItemFilter,
      processName: string
    ) =>
      query.includeData === true
        ? pageOfTexts(
            request,
            query,
            (from) => items.listWhole(workspace, filter, from),
            texts(processName),
            sizeOf(query)
          )
        : page(request, query, (from) => items.list(workspace, filter, from), heads(processName), sizeOf(query))
  }
})
