/** Work items and what becomes of them, as functions with promises. */
import type { WorkItemId } from "../../contract/Ids.ts"
import type { BatchResult, ThroughputHour, WorkItem, WorkItemListed } from "../../contract/WorkItems.ts"
import * as Files from "../../Files.ts"
import * as Outputs from "../../Outputs.ts"
import * as WorkItems from "../../WorkItems.ts"
import type { Jsonable, Typed, WithSchema } from "../../Payload.ts"
import type { AnySchema } from "../../StandardSchema.ts"
import type * as Schema from "effect/Schema"
import type { BlobSource, Plain } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { ListOptions, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"

/** A path (on Node), bytes with a name, a `File`, or a `Blob` with a name. */
export type UploadSource = Parameters<typeof WorkItems.attachFile>[1] | BlobSource

/** How much has been sent so far, in bytes. */
export interface ProgressOptions {
  readonly onProgress?: ((sentBytes: number) => void | PromiseLike<void>) | undefined
}

/** Which work items. */
export interface WorkItemFilter extends Omit<Plain<WorkItems.Filter>, "process"> {
  readonly process?: string | undefined
}

/** Which work items, and which page of them. */
export interface WorkItemPage extends WorkItemFilter, ListOptions {}

/** A new work item. */
export interface NewWorkItem extends Omit<WorkItems.NewWorkItem, "process"> {
  /** Its id, or what has one. */
  readonly process: string | { readonly id: string }
}

/** New work items of one process. */
export interface NewWorkItems extends Omit<WorkItems.NewWorkItems, "process"> {
  /** Its id, or what has one. */
  readonly process: string | { readonly id: string }
}

/** How an item is read: without a `schema`, its payload is any JSON. Options of the call are the argument after this one. */
export interface WithoutSchema {
  readonly schema?: undefined
}

/** The payload that is replaced, so that no change of somebody else is lost. */
export interface PayloadChange {
  readonly previous?: Jsonable | undefined
}

/** Work items: units of input and output data of processes, JSON and files. */
export interface WorkItemsClient {
  /**
   * Returns one work item with its payload and files; with a `schema`, the payload has its type.
   * @example const { payload } = await room.workItems.get(item, { schema })
   */
  readonly get: {
    <S extends AnySchema>(item: string, read: WithSchema<S>, options?: CallOptions): ApiPromise<Typed<WorkItem, S>>
    (item: string, read?: WithoutSchema, options?: CallOptions): ApiPromise<WorkItem>
  }
  /** Like `get`; numbers that JavaScript would round are objects that `JSON.stringify` writes as they were. */
  readonly getExact: (item: string, options?: CallOptions) => ApiPromise<WorkItem>
  /**
   * Returns one page, newest first; with a `schema`, payloads have its type.
   * @example const { data, next } = await room.workItems.list({ process, state: "failed" })
   */
  readonly list: {
    <S extends AnySchema>(
      filter: WorkItemPage & WithSchema<S>,
      options?: CallOptions
    ): ApiPromise<ListPage<Typed<WorkItemListed, S>>>
    (filter?: WorkItemPage, options?: CallOptions): ApiPromise<ListPage<WorkItemListed>>
  }
  /**
   * All work items that match, newest first, a page at a time; with a `schema`, payloads have its type.
   * @example
   * for await (const { id } of room.workItems.stream({ state: "failed" }))
   *   console.log(id)
   */
  readonly stream: {
    <S extends AnySchema>(
      filter: WorkItemFilter & WithSchema<S>,
      options?: CallOptions
    ): AsyncIterable<Typed<WorkItemListed, S>>
    (filter?: WorkItemFilter, options?: CallOptions): AsyncIterable<WorkItemListed>
  }
  /**
   * Creates a work item in the queue of a process; rejects with `Conflict` when an open item has its `reference`.
   * @example const item = await room.workItems.create({ process, payload: { order: 4711 } })
   */
  readonly create: (input: NewWorkItem, options?: CallOptions) => ApiPromise<WorkItem>
  /**
   * Creates a work item of each payload, 1,000 in one request, and returns their ids in that order.
   * @example const ids = await room.workItems.createMany({ process, payloads: [1, 2, 3] })
   */
  readonly createMany: (input: NewWorkItems, options?: CallOptions) => ApiPromise<ReadonlyArray<WorkItemId>>
  /**
   * Uploads a file to a work item; a file of the same name is replaced.
   * @example await room.workItems.attachFile(item, new File(["a,b"], "orders.csv"))
   */
  readonly attachFile: (
    item: string,
    source: UploadSource,
    progress?: ProgressOptions,
    options?: CallOptions
  ) => ApiPromise<void>
  /**
   * Replaces the payload of an item; with `previous`, rejects with `Conflict` when it has another one by then.
   * @example
   * const { payload } = await room.workItems.getExact(item)
   * await room.workItems.updatePayload(item, [payload], { previous: payload })
   */
  readonly updatePayload: (
    item: string,
    payload: Jsonable,
    change?: PayloadChange,
    options?: CallOptions
  ) => ApiPromise<Pick<WorkItem, "payload" | "masked">>
  /**
   * Secret fields of the payload that `masked` of the item names, by their pointers; it leaves an entry in the audit.
   * @example const { "/iban": iban } = await room.workItems.reveal(item, ["/iban"])
   */
  readonly reveal: (
    item: string,
    pointers: ReadonlyArray<string>,
    options?: CallOptions
  ) => ApiPromise<Readonly<Record<string, Schema.Json>>>
  /**
   * Queues failed items again. All or none; at most 10,000.
   * @example await room.workItems.retry([item])
   */
  readonly retry: (items: ReadonlyArray<string>, options?: CallOptions) => ApiPromise<BatchResult>
  /**
   * Marks failed items as done. All or none; at most 10,000.
   * @example await room.workItems.markAsDone([item])
   */
  readonly markAsDone: (items: ReadonlyArray<string>, options?: CallOptions) => ApiPromise<BatchResult>
  /**
   * Deletes items that are `new`, `failed` or `done`. Irreversible. All or none; at most 10,000.
   * @example await room.workItems.remove([item])
   */
  readonly remove: (items: ReadonlyArray<string>, options?: CallOptions) => ApiPromise<BatchResult>
  /**
   * How many work items were created in each of the last hours, oldest first, by what has become of them.
   * @example const hours = await room.workItems.throughput({ hours: 168 })
   */
  readonly throughput: (
    last?: { readonly hours?: number | undefined },
    options?: CallOptions
  ) => ApiPromise<ReadonlyArray<ThroughputHour>>
}

export const workItems = /* @__PURE__ */ members<WorkItemsClient>(WorkItems, {
  get: 2,
  getExact: 1,
  list: 1,
  stream: 1,
  create: 1,
  createMany: 1,
  attachFile: 3,
  updatePayload: 3,
  reveal: 2,
  retry: 1,
  markAsDone: 1,
  remove: 1,
  throughput: 1
})

/** Outputs of process runs: what the last step created. */
export interface OutputsClient {
  /**
   * Returns one page, oldest first; with a `schema`, payloads have its type.
   * @example const { data } = await room.outputs.list(run, { limit: 50 })
   */
  readonly list: {
    <S extends AnySchema>(
      run: string,
      page: ListOptions & WithSchema<S>,
      options?: CallOptions
    ): ApiPromise<ListPage<Typed<Outputs.Output, S>>>
    (run: string, page?: ListOptions, options?: CallOptions): ApiPromise<ListPage<Outputs.Output>>
  }
  /**
   * All outputs of a run, oldest first, a page at a time; with a `schema`, payloads have its type.
   * @example
   * for await (const { payload } of room.outputs.stream(run, { schema }))
   *   console.log(payload)
   */
  readonly stream: {
    <S extends AnySchema>(
      run: string,
      page: Size & WithSchema<S>,
      options?: CallOptions
    ): AsyncIterable<Typed<Outputs.Output, S>>
    (run: string, page?: Size, options?: CallOptions): AsyncIterable<Outputs.Output>
  }
}

export const outputs = /* @__PURE__ */ members<OutputsClient>(Outputs, { list: 2, stream: 2 })

/** Downloads of files of work items and outputs. */
export interface FilesClient {
  /**
   * The bytes of a file as they arrive. Its address is valid for one hour; get the item again after that.
   * @example
   * const { files } = await room.workItems.get(item)
   * for (const file of files)
   *   for await (const bytes of room.files.download(file)) console.log(bytes.length)
   */
  readonly download: (file: Pick<Files.File, "download">, options?: CallOptions) => AsyncIterable<Uint8Array>
}

export const files = /* @__PURE__ */ members<FilesClient>(Files, { download: 1 })
