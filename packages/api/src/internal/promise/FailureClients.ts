/** Failed work items, and operations on many, as functions with promises. */
import type { Accepted } from "../../contract/Common.ts"
import type { BulkFilter, BulkOperation, BulkOperationName } from "../../contract/BulkOperations.ts"
import * as BulkOperations from "../../BulkOperations.ts"
import * as Failures from "../../Failures.ts"
import type { Plain } from "./Adapt.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { AwaitOptions, ListOptions, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"

/** Which groups of failed items. */
export interface FailureFilter extends Omit<Plain<Failures.Filter>, "process"> {
  readonly process?: string | undefined
}

/** Which groups of failed items, and which page of them. */
export interface FailurePage extends FailureFilter, ListOptions {}

/** Failures: failed work items in groups of those that failed alike. */
export interface FailuresClient {
  /**
   * Returns one page; the group that failed last comes first.
   * @example const { data } = await room.failures.list({ process, state: "open" })
   */
  readonly list: (filter?: FailurePage, options?: CallOptions) => ApiPromise<ListPage<Failures.Failure>>
  /**
   * All groups that match, a page at a time.
   * @example
   * for await (const { id } of room.failures.stream({ process })) console.log(id)
   */
  readonly stream: (filter?: FailureFilter, options?: CallOptions) => AsyncIterable<Failures.Failure>
  /** Returns a group, also one without failed items. */
  readonly get: (failure: string, options?: CallOptions) => ApiPromise<Failures.Failure>
  /**
   * Sets the note or the assignee of a group; null removes it.
   * @example await room.failures.update(failure, { assignee: "mia", note: "ERP was down" })
   */
  readonly update: (
    failure: string,
    change: { readonly note?: string | null | undefined; readonly assignee?: string | null | undefined },
    options?: CallOptions
  ) => ApiPromise<Failures.Failure>
  /**
   * Mutes a group: it raises no alerts until this time, or until it is opened.
   * @example await room.failures.mute(failure, { until: new Date("2026-12-24") })
   */
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

export const failures = /* @__PURE__ */ members<FailuresClient>(Failures, {
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
  /**
   * Creates a job on what matches now; what changes before its turn is left as it is.
   * @example const job = await room.bulkOperations.create("retry", { state: "failed" })
   */
  readonly create: (
    operation: BulkOperationName,
    filter: BulkSelection,
    options?: CallOptions
  ) => ApiPromise<BulkOperation>
  /**
   * Returns how many match now.
   * @example const many = await room.bulkOperations.count("delete", { state: "done" })
   */
  readonly count: (operation: BulkOperationName, filter: BulkSelection, options?: CallOptions) => ApiPromise<number>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.bulkOperations.list({ limit: 50 })
   */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<BulkOperation>>
  /**
   * All jobs of the last 30 days, newest first.
   * @example for await (const { id } of room.bulkOperations.stream()) console.log(id)
   */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<BulkOperation>
  /** Returns a job with its progress. */
  readonly get: (operation: string, options?: CallOptions) => ApiPromise<BulkOperation>
  /** Cancels a job. What it has done stays; `accepted` is false when it had already ended. */
  readonly cancel: (operation: string, options?: CallOptions) => ApiPromise<Accepted>
  /**
   * Waits until a job has ended.
   * @example await room.bulkOperations.awaitEnd(operation, { timeout: "10 minutes" })
   */
  readonly awaitEnd: (
    operation: string,
    wait?: AwaitOptions<BulkOperation>,
    options?: CallOptions
  ) => ApiPromise<BulkOperation>
}

export const bulkOperations = /* @__PURE__ */ members<BulkOperationsClient>(BulkOperations, {
  create: 2,
  count: 2,
  list: 1,
  stream: 1,
  get: 1,
  cancel: 1,
  awaitEnd: 2
})
