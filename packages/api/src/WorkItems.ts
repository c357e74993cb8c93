/**
 * Work items: units of input and output data of processes, JSON and files.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { ProcessId, ProcessRunId, StepId, WorkItemId } from "./contract/Ids.ts"
import type { Page } from "./contract/Common.ts"
import type { UploadForm } from "./contract/Files.ts"
import type { DueState, WhenReferenceExists } from "./contract/Order.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./contract/WorkItems.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import { open, sendForm, type UploadSource } from "./Upload.ts"

export type { WorkItem, WorkItemListed, WorkItemState } from "./contract/WorkItems.ts"

const call = {
  get: returning<contract.WorkItem, NotFound>()(inWorkspace(contract.get)),
  getExact: returning<contract.WorkItem, NotFound>()(inWorkspace(contract.get, { exactNumbers: true })),
  list: returning<Page<contract.WorkItemListed>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.WorkItem, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.create)),
  createMany: returning<
    { readonly work_items: ReadonlyArray<{ readonly id: WorkItemId }> },
    Conflict | InvalidRequest | NotFound
  >()(inWorkspace(contract.createMany)),
  createFile: returning<{ readonly upload: UploadForm }, Conflict | InvalidRequest | NotFound>()(
    inWorkspace(contract.createFile)
  ),
  updatePayload: returning<Pick<contract.WorkItem, "payload">, Conflict | InvalidRequest | NotFound>()(
    inWorkspace(contract.updatePayload)
  ),
  batch: returning<contract.BatchResult, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.batch)),
  throughput: returning<{ readonly data: ReadonlyArray<contract.ThroughputHour> }, InvalidRequest>()(
    inWorkspace(contract.throughput)
  )
}

export interface Filter {
  readonly process?: ProcessId | undefined
  readonly processRun?: ProcessRunId | undefined
  readonly state?: contract.WorkItemState | undefined
  /** Items that are in this step or ended in it; with `process` or `processRun`. An extension. */
  readonly step?: StepId | undefined
  /** Items that were created with this reference. An extension, like `tag` and `dueState`. */
  readonly reference?: string | undefined
  readonly tag?: string | undefined
  /** Only open items that have a time: `late`, `at_risk` or `on_time`. */
  readonly dueState?: DueState | undefined
  /** Whether payload and files are included. */
  readonly includeData?: boolean | undefined
  /** Items per page, 1 to 500. */
  readonly limit?: number | undefined
}

const query = (filter: Filter, cursor: string | undefined) => ({
  process_id: filter.process,
  process_run_id: filter.processRun,
  state: filter.state,
  step_id: filter.step,
  reference: filter.reference,
  tag: filter.tag,
  due_state: filter.dueState,
  include_data: filter.includeData,
  limit: filter.limit,
  cursor
})

/** Returns one work item with its payload and files. */
export const get = Effect.fn("WorkItems.get")((item: WorkItemId) => call.get({ params: { work_item_id: item } }))

/**
 * Like `get`. Numbers of the payload that JavaScript would round, such as ids of 20 digits, are objects that `JSON.stringify` writes
 * as they were, so that the payload can be written back.
 */
export const getExact = Effect.fn("WorkItems.getExact")((item: WorkItemId) =>
  call.getExact({ params: { work_item_id: item } })
)

/** Returns one page, newest first. */
export const list = Effect.fn("WorkItems.list")((filter: Filter = {}, cursor?: string) =>
  call.list({ query: query(filter, cursor) })
)

/** Emits all work items that match, newest first, a page at a time. */
export const stream = (filter: Filter = {}) => pages((cursor) => list(filter, cursor))

/** How urgent new items are, and how they are found. Extensions of the hosted service's interface. */
export interface Order {
  /** −100 to 100, default 0; each point counts like ten minutes of waiting. */
  readonly priority?: number | undefined
  /** ISO 8601, with a zone: when the items shall be done. */
  readonly dueAt?: string | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  /** When an open item of the process has the reference: fail with `Conflict` (`refuse`, default), or return it (`join`). */
  readonly whenReferenceExists?: WhenReferenceExists | undefined
}

const orderOf = ({ dueAt, priority, tags, whenReferenceExists }: Order) =>
  defined({ priority, due_at: dueAt, tags, when_reference_exists: whenReferenceExists })

/**
 * Creates a work item in the queue of a process. Fails with `Conflict` when an open item of the process has its
 * `reference`: one that is neither done nor deleted.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const urgent = (process: ProcessId) =>
 *   WorkItems.create({
 *     process,
 *     payload: { order: 4711 },
 *     priority: 50,
 *     reference: "order-4711",
 *     whenReferenceExists: "join"
 *   })
 * ```
 */
export const create = Effect.fn("WorkItems.create")(
  (
    input: {
      readonly process: ProcessId
      readonly payload?: contract.WorkItem["payload"] | undefined
      readonly reference?: string | undefined
    } & Order
  ) =>
    call.create({
      payload: {
        process: { id: input.process },
        payload: input.payload ?? null,
        ...orderOf(input),
        ...defined({ reference: input.reference })
      }
    })
)

/** Of one request, in characters of JSON: the service takes 8 MB. */
const maxCharacters = 2_000_000

/** Payloads in parts for a request each. */
const partsOf = (payloads: ReadonlyArray<Schema.Json>): ReadonlyArray<ReadonlyArray<Schema.Json>> => {
  const parts: Array<Array<Schema.Json>> = []
  let characters = Infinity
  for (const payload of payloads) {
    const length = JSON.stringify(payload).length
    const part = parts.at(-1)
    if (part === undefined || part.length === contract.maxCreated || characters + length > maxCharacters) {
      parts.push([payload])
      characters = length
    } else {
      part.push(payload)
      characters += length
    }
  }
  return parts
}

/**
 * Makes a work item of each payload in the queue of a process, with one request for each 1,000, and returns their ids in that
 * order. A request makes all of its items or none; when one fails, those of the requests before it are there. An extension of
 * the hosted service's interface.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const queue = (process: ProcessId) =>
 *   WorkItems.createMany({
 *     process,
 *     payloads: Array.from({ length: 5_000 }, (_, n) => ({ n }))
 *   })
 * ```
 */
export const createMany = Effect.fn("WorkItems.createMany")(function* (
  input: {
    readonly process: ProcessId
    readonly payloads: ReadonlyArray<Schema.Json>
    /** One for each payload, null for none. */
    readonly references?: ReadonlyArray<string | null> | undefined
  } & Order
) {
  const { payloads, process, references } = input
  const ids: Array<WorkItemId> = []
  for (const part of partsOf(payloads)) {
    const end = ids.length + part.length
    // Those that are too many are in the last part, which is then refused.
    const ofPart = references?.slice(ids.length, end === payloads.length ? undefined : end)
    const { work_items } = yield* call.createMany({
      payload: {
        process: { id: process },
        payloads: part,
        ...orderOf(input),
        ...defined({ references: ofPart })
      }
    })
    ids.push(...work_items.map(({ id }) => id))
  }
  return ids
})

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
export const attachFile = Effect.fn("WorkItems.attachFile")(function* (
  item: WorkItemId,
  source: UploadSource,
  options: { readonly onProgress?: (sentBytes: number) => Effect.Effect<void> } = {}
) {
  const room = yield* ControlRoom
  const file = yield* open(room.uploads, source)
  const { upload } = yield* call.createFile({
    params: { work_item_id: item },
    payload: { file_name: file.name, file_size: file.size }
  })
  yield* sendForm(room.transport.connection, upload, file, options.onProgress)
})

/**
 * Replaces the payload of an item that is `new`, `failed`, or `pending` without a step run. With `previous` it fails with `Conflict`
 * when the item has another payload by then, so that no change of somebody else is lost; an extension of the hosted service's
 * interface. On the command line: `signalbox items edit`; in tasks `setPayload` does it to their own item.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import type { WorkItemId } from "@signalbox/api/contract/Ids"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 *
 * export const wrap = Effect.fn(function* (item: WorkItemId) {
 *   const { payload } = yield* WorkItems.getExact(item)
 *   yield* WorkItems.updatePayload(item, [payload], { previous: payload })
 * })
 * ```
 */
export const updatePayload = Effect.fn("WorkItems.updatePayload")(
  (
    item: WorkItemId,
    payload: contract.WorkItem["payload"],
    options: {
      /** The payload that is replaced, of `getExact` if it may have numbers that JavaScript would round. */
      readonly previous?: contract.WorkItem["payload"] | undefined
    } = {}
  ) =>
    call.updatePayload({
      params: { work_item_id: item },
      payload: { payload, ...defined({ previous_payload: options.previous }) }
    })
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

/**
 * Returns how many work items were created in each of the last hours (1 to 168, default 24), oldest first, by what has
 * become of them.
 */
export const throughput = Effect.fn("WorkItems.throughput")(({ hours }: { readonly hours?: number } = {}) =>
  Effect.map(call.throughput({ query: hours === undefined ? {} : { hours } }), ({ data }) => data)
)
