/** Work items and what becomes of them, as functions with promises. */
import type { Accepted } from "../../contract/Common.ts"
import type { BulkFilter, BulkOperation, BulkOperationName } from "../../contract/BulkOperations.ts"
import type { WorkItemId } from "../../contract/Ids.ts"
import type { BatchResult, ThroughputHour, WorkItem, WorkItemListed } from "../../contract/WorkItems.ts"
import * as BulkOperations from "../../BulkOperations.ts"
import * as Failures from "../../Failures.ts"
import * as Files from "../../Files.ts"
import * as Outputs from "../../Outputs.ts"
import * as WorkItems from "../../WorkItems.ts"
import type { Jsonable, Typed, WithSchema } from "../../Payload.ts"
import type { AnySchema } from "../../StandardSchema.ts"
import type { BlobSource, Plain } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { AwaitOptions, ListOptions, Size } from "./Common.ts"
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
  /** Returns one work item with its payload and files; with a `schema`, the payload has its type. */
  readonly get: {
    <S extends AnySchema>(item: string, read: WithSchema<S>, options?: CallOptions): ApiPromise<Typed<WorkItem, S>>
    (item: string, read?: WithoutSchema, options?: CallOptions): ApiPromise<WorkItem>
  }
  /** Like `get`; numbers that JavaScript would round are objects that `JSON.stringify` writes as they were. */
  readonly getExact: (item: string, options?: CallOptions) => ApiPromise<WorkItem>
  /** Returns one page, newest first; with a `schema`, payloads have its type. */
  readonly list: {
    <S extends AnySchema>(
      filter: WorkItemPage & WithSchema<S>,
      options?: CallOptions
    ): ApiPromise<ListPage<Typed<WorkItemListed, S>>>
    (filter?: WorkItemPage, options?: CallOptions): ApiPromise<ListPage<WorkItemListed>>
  }
  /** All work items that match, newest first, a page at a time; with a `schema`, payloads have its type. */
  readonly stream: {
    <S extends AnySchema>(
      filter: WorkItemFilter & WithSchema<S>,
      options?: CallOptions
    ): AsyncIterable<Typed<WorkItemListed, S>>
    (filter?: WorkItemFilter, options?: CallOptions): AsyncIterable<WorkItemListed>
  }
  /** Creates a work item in the queue of a process; rejects with `Conflict` when an open item has its `reference`. */
  readonly create: (input: NewWorkItem, options?: CallOptions) => ApiPromise<WorkItem>
  /** Creates a work item of each payload, 1,000 in one request, and returns their ids in that order. */
  readonly createMany: (input: NewWorkItems, options?: CallOptions) => ApiPromise<ReadonlyArray<WorkItemId>>
  /** Uploads a file to a work item; a file of the same name is replaced. */
  readonly attachFile: (
    item: string,
    source: UploadSource,
    progress?: ProgressOptions,
    options?: CallOptions
  ) => ApiPromise<void>
  /** Replaces the payload of an item; with `previous`, rejects with `Conflict` when it has another one by then. */
  readonly updatePayload: (
    item: string,
    payload: Jsonable,
    change?: PayloadChange,
    options?: CallOptions
  ) => ApiPromise<Pick<WorkItem, "payload">>
  /** Queues failed items again. All or none; at most 10,000. */
  readonly retry: (items: ReadonlyArray<string>, options?: CallOptions) => ApiPromise<BatchResult>
  /** Marks failed items as done. All or none; at most 10,000. */
  readonly markAsDone: (items: ReadonlyArray<string>, options?: CallOptions) => ApiPromise<BatchResult>
  /** Deletes items that are `new`, `failed` or `done`. Irreversible. All or none; at most 10,000. */
  readonly remove: (items: ReadonlyArray<string>, options?: CallOptions) => ApiPromise<BatchResult>
  /** How many work items were created in each of the last hours, oldest first, by what has become of them. */
  readonly throughput: (
    last?: { readonly hours?: number | undefined },
    options?: CallOptions
  ) => ApiPromise<ReadonlyArray<ThroughputHour>>
}

export const workItems = members<WorkItemsClient>(WorkItems, {
  get: 2,
  getExact: 1,
  list: 1,
  stream: 1,
  create: 1,
  createMany: 1,
  attachFile: 3,
  updatePayload: 3,
  retry: 1,
  markAsDone: 1,
  remove: 1,
  throughput: 1
})

/** Outputs of process runs: what the last step created. */
export interface OutputsClient {
  /** Returns one page, oldest first; with a `schema`, payloads have its type. */
  readonly list: {
    <S extends AnySchema>(
      run: string,
      page: ListOptions & WithSchema<S>,
      options?: CallOptions
    ): ApiPromise<ListPage<Typed<Outputs.Output, S>>>
    (run: string, page?: ListOptions, options?: CallOptions): ApiPromise<ListPage<Outputs.Output>>
  }
  /** All outputs of a run, oldest first, a page at a time; with a `schema`, payloads have its type. */
  readonly stream: {
    <S extends AnySchema>(
      run: string,
      page: Size & WithSchema<S>,
      options?: CallOptions
    ): AsyncIterable<Typed<Outputs.Output, S>>
    (run: string, page?: Size, options?: CallOptions): AsyncIterable<Outputs.Output>
  }
}

export const outputs = members<OutputsClient>(Outputs, { list: 2, stream: 2 })

/** Downloads of files of work items and outputs. */
export interface FilesClient {
  /** The bytes of a file as they arrive. Its address is valid for one hour; get the item again after that. */
  readonly download: (file: Pick<Files.File, "download">, options?: CallOptions) => AsyncIterable<Uint8Array>
}

export const files = members<FilesClient>(Files, { download: 1 })

/** Which groups of failed items. */
export interface FailureFilter extends Omit<Plain<Failures.Filter>, "process"> {
  readonly process?: string | undefined
}

/** Which groups of failed items, and which page of them. */
export interface FailurePage extends FailureFilter, ListOptions {}

/** Failures: failed work items in groups of those that failed alike. */
export interface FailuresClient {
  /** Returns one page; the group that failed last comes first. */
  readonly list: (filter?: FailurePage, options?: CallOptions) => ApiPromise<ListPage<Failures.Failure>>
  /** All groups that match, a page at a time. */
  readonly stream: (filter?: FailureFilter, options?: CallOptions) => AsyncIterable<Failures.Failure>
  /** Returns a group, also one without failed items. */
  readonly get: (failure: string, options?: CallOptions) => ApiPromise<Failures.Failure>
  /** Sets the note or the assignee of a group; null removes it. */
  readonly update: (
    failure: string,
    change: { readonly note?: string | null | undefined; readonly assignee?: string | null | undefined },
    options?: CallOptions
  ) => ApiPromise<Failures.Failure>
  /** Mutes a group: it raises no alerts until this time, or until it is opened. */
  readonly mute: (
    failure: string,
    time?: { readonly until?: Date | undefined },
    options?: CallOptions
  ) => ApiPromise<Failures.Failure>
  /** Resolves a group; rejects with `Conflict` while it has failed items. */
  readonly resolve: (failure: string, options?: CallOptions) => ApiPromise<Failures.Failure>
  /** Opens a group that is muted or resolved. */
  readonly reopen: (failure: string, options?: CallOptions) => ApiPromise<Failures.Failure>
}

export const failures = members<FailuresClient>(Failures, {
  list: 1,
  stream: 1,
  get: 1,
  update: 2,
  mute: 2,
  resolve: 1,
  reopen: 1
})

/** What a bulk operation is made on. */
export interface BulkSelection extends Omit<Plain<BulkFilter>, "process_id"> {
  readonly process_id?: string
}

/** Bulk operations: one operation on all work items, or runs, that match a filter, as a job of the service. */
export interface BulkOperationsClient {
  /** Creates a job on what matches now; what changes before its turn is left as it is. */
  readonly create: (
    operation: BulkOperationName,
    filter: BulkSelection,
    options?: CallOptions
  ) => ApiPromise<BulkOperation>
  /** Returns how many match now. */
  readonly count: (operation: BulkOperationName, filter: BulkSelection, options?: CallOptions) => ApiPromise<number>
  /** Returns one page, newest first. */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<BulkOperation>>
  /** All jobs of the last 30 days, newest first. */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<BulkOperation>
  /** Returns a job with its progress. */
  readonly get: (operation: string, options?: CallOptions) => ApiPromise<BulkOperation>
  /** Cancels a job. What it has done stays; `accepted` is false when it had already ended. */
  readonly cancel: (operation: string, options?: CallOptions) => ApiPromise<Accepted>
  /** Waits until a job has ended. */
  readonly awaitEnd: (
    operation: string,
    wait?: AwaitOptions<BulkOperation>,
    options?: CallOptions
  ) => ApiPromise<BulkOperation>
}

export const bulkOperations = members<BulkOperationsClient>(BulkOperations, {
  create: 2,
  count: 2,
  list: 1,
  stream: 1,
  get: 1,
  cancel: 1,
  awaitEnd: 2
})
