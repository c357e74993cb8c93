/**
 * Work items: units of input and output data of processes, JSON and files.
 */
import * as Effect from "effect/Effect"
import type { WorkItemId } from "./contract/Ids.ts"
import type { UploadForm } from "./contract/Files.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/WorkItems.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { names, refusing } from "./internal/calls/Known.ts"
import { inWorkspace, returning } from "./internal/calls/Workspace.ts"
import { type OnProgress, open, sendForm, type UploadSource } from "./Upload.ts"

export type { WorkItem, WorkItemListed, WorkItemState } from "./contract/WorkItems.ts"
export {
  create,
  createMany,
  type NewWorkItem,
  type NewWorkItems,
  type Order,
  PartlyCreated,
  type UpdateOptions,
  updatePayload
} from "./internal/items/Create.ts"
export {
  type Filter,
  type Get,
  get,
  getExact,
  list,
  type ListWorkItems,
  type PageFilter,
  stream,
  type StreamWorkItems
} from "./internal/items/Read.ts"

const call = {
  createFile: returning<{ readonly upload: UploadForm }, Conflict | InvalidRequest | NotFound>()(
    inWorkspace(contract.createFile)
  ),
  batch: returning<contract.BatchResult, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.batch)),
  reveal: returning<contract.Secrets, InvalidRequest | NotFound>()(inWorkspace(contract.reveal)),
  throughput: returning<{ readonly data: ReadonlyArray<contract.ThroughputHour> }, InvalidRequest>()(
    inWorkspace(contract.throughput)
  )
}

/** How a file is attached. */
export interface AttachOptions {
  readonly onProgress?: OnProgress | undefined
}

const attachOptions = names<AttachOptions>("option", { onProgress: 1 })

/**
 * Uploads a file to a work item; a file of the same name is replaced. Memory stays flat whatever the size.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import type { WorkItemId } from "@signalbox/api/contract/Ids"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const attach = (item: WorkItemId) =>
 *   WorkItems.attachFile(item, {
 *     name: "hello.txt",
 *     bytes: new TextEncoder().encode("hello")
 *   })
 * ```
 */
export const attachFile = Effect.fn("WorkItems.attachFile")(
  function* (item: WorkItemId, source: UploadSource, options: AttachOptions = {}) {
    const room = yield* ControlRoom
    const file = yield* open(room.uploads, source)
    const { upload } = yield* call.createFile({
      params: { work_item_id: item },
      payload: { file_name: file.name, file_size: file.size }
    })
    yield* sendForm(room.transport.connection, upload, file, options.onProgress)
  },
  refusing("workItems.attachFile", { 2: attachOptions })
)

/**
 * Returns secret fields of the payload that `masked` of the item names, by their pointers. It leaves an entry in the audit. A key
 * with `Processes.read_sensitive` has them in the item already.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import type { WorkItemId } from "@signalbox/api/contract/Ids"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const iban = (item: WorkItemId) =>
 *   Effect.map(WorkItems.reveal(item, ["/iban"]), (values) => values["/iban"])
 * ```
 */
export const reveal = Effect.fn("WorkItems.reveal")((item: WorkItemId, pointers: ReadonlyArray<string>) =>
  Effect.map(call.reveal({ params: { work_item_id: item }, payload: { pointers } }), ({ values }) => values)
)

const batch = (operation: contract.BatchOperation) => (items: ReadonlyArray<WorkItemId>) =>
  items.length === 0
    ? Effect.succeed<contract.BatchResult>({ accepted: true, outputs_passed_on: 0 })
    : call.batch({ payload: { batch_operation: operation, work_item_ids: items } })

/**
 * Queues failed items again; returns how many outputs of them were passed on before (`outputs_passed_on`), which the
 * retry may create again. All or none; at most 10,000 in one call; an empty list is allowed.
 */
export const retry = Effect.fn("WorkItems.retry")(batch("retry"))

/** Marks failed items as done. All or none; at most 10,000 in one call; an empty list is allowed. */
export const markAsDone = Effect.fn("WorkItems.markAsDone")(batch("mark_as_done"))

/**
 * Deletes items that are `new`, `failed` or `done`. Irreversible. All or none; at most 10,000 in one call; an empty
 * list is allowed.
 */
export const remove = Effect.fn("WorkItems.remove")(batch("delete"))

/** Which hours `throughput` returns. */
export interface ThroughputOptions {
  /** 1 to 168, default 24. */
  readonly hours?: number | undefined
}

/**
 * Returns how many work items were created in each of the last hours (1 to 168, default 24), oldest first, by what has
 * become of them.
 *
 * ```ts
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const lastWeek = WorkItems.throughput({ hours: 168 })
 * ```
 */
export const throughput = Effect.fn("WorkItems.throughput")(
  ({ hours }: ThroughputOptions = {}) => Effect.map(call.throughput({ query: { hours } }), ({ data }) => data),
  refusing("workItems.throughput", { 0: names<ThroughputOptions>("option", { hours: 1 }) })
)
