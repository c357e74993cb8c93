/** Work items as they are read, with the type of a schema or without. */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Page } from "../../contract/Common.ts"
import type { ProcessId, ProcessRunId, StepId, WorkItemId } from "../../contract/Ids.ts"
import type { DueState } from "../../contract/Order.ts"
import * as contract from "../endpoints/WorkItems.ts"
import type { ControlRoom } from "../../ControlRoom.ts"
import type { ControlRoomError, InvalidRequest, NotFound } from "../../ControlRoomError.ts"
import type { List, ListOptions } from "../../ListOptions.ts"
import type { Typed, UnexpectedData, WithSchema } from "../../Payload.ts"
import type { AnySchema } from "../../StandardSchema.ts"
import { names, refusing, refusingStream } from "../calls/Known.ts"
import { inWorkspace, pages, returning } from "../calls/Workspace.ts"
import { pageReader, reader } from "../payloads/Schemas.ts"

const call = {
  get: returning<contract.WorkItem, NotFound>()(inWorkspace(contract.get)),
  getExact: returning<contract.WorkItem, NotFound>()(inWorkspace(contract.get, { exactNumbers: true })),
  list: returning<Page<contract.WorkItemListed>, InvalidRequest>()(inWorkspace(contract.list))
}

/** Which work items. */
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
  /** Whether payload and files are included; with a `schema` they are. */
  readonly includeData?: boolean | undefined
  /** Items per page, 1 to 500. */
  readonly limit?: number | undefined
}

/** Which work items, and which page of them. */
export interface PageFilter extends Filter, ListOptions {}

const filter = {
  process: 1,
  processRun: 1,
  state: 1,
  step: 1,
  reference: 1,
  tag: 1,
  dueState: 1,
  includeData: 1,
  limit: 1
} as const
const streamed = names<Filter & WithSchema<AnySchema>>("filter", { ...filter, schema: 1 })
const listed = names<PageFilter & WithSchema<AnySchema>>("filter", { ...filter, cursor: 1, schema: 1 })
const withSchema = names<WithSchema<AnySchema>>("option", { schema: 1 })

const query = (filter: PageFilter, cursor: string | undefined) => ({
  process_id: filter.process,
  process_run_id: filter.processRun,
  state: filter.state,
  step_id: filter.step,
  reference: filter.reference,
  tag: filter.tag,
  due_state: filter.dueState,
  include_data: filter.includeData,
  limit: filter.limit,
  cursor: cursor ?? filter.cursor
})

/** How a work item is got, with the type of a schema or without. */
export interface Get {
  <S extends AnySchema>(
    item: WorkItemId,
    options: WithSchema<S>
  ): Effect.Effect<
    Typed<contract.WorkItem, S>,
    NotFound | InvalidRequest | UnexpectedData | ControlRoomError,
    ControlRoom
  >
  (item: WorkItemId): Effect.Effect<contract.WorkItem, NotFound | ControlRoomError, ControlRoom>
}

/**
 * Returns one work item with its payload and files. With a `schema` the payload has its type; fails with `UnexpectedData` when it does
 * not fit.
 *
 * ```ts
 * import type { WorkItemId } from "@signalbox/api/contract/Ids"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 *
 * const schema = Schema.Struct({ total: Schema.Finite })
 *
 * export const total = (item: WorkItemId) =>
 *   Effect.map(WorkItems.get(item, { schema }), ({ payload }) => payload.total)
 * ```
 */
export const get = Effect.fn("WorkItems.get")(
  (item: WorkItemId, options?: Partial<WithSchema<AnySchema>>) =>
    Effect.flatMap(call.get({ params: { work_item_id: item } }), reader(options?.schema)),
  refusing("workItems.get", { 1: withSchema })
  // Payloads have the type of the schema when there is one.
) as Get

/**
 * Like `get`. Numbers of the payload that JavaScript would round, such as ids of 20 digits, are objects that `JSON.stringify` writes
 * as they were, so that the payload can be written back.
 */
export const getExact = Effect.fn("WorkItems.getExact")((item: WorkItemId) =>
  call.getExact({ params: { work_item_id: item } })
)

/** How a page of work items is got, with the type of a schema or without. */
export interface ListWorkItems extends List<PageFilter, contract.WorkItemListed, InvalidRequest> {
  <S extends AnySchema>(
    filter: PageFilter & WithSchema<S>
  ): Effect.Effect<
    Page<Typed<contract.WorkItemListed, S>>,
    InvalidRequest | UnexpectedData | ControlRoomError,
    ControlRoom
  >
}

/**
 * Returns one page, newest first. With a `schema` payloads are included and have its type; fails with `UnexpectedData` at the first that
 * does not fit.
 *
 * ```ts
 * import * as WorkItems from "@signalbox/api/WorkItems"
 * import * as Effect from "effect/Effect"
 *
 * export const nextPage = Effect.gen(function* () {
 *   const { next } = yield* WorkItems.list({ state: "failed" })
 *   if (next === null) return []
 *   const page = yield* WorkItems.list({ state: "failed", cursor: next })
 *   return page.data
 * })
 * ```
 */
export const list = Effect.fn("WorkItems.list")(
  (filter: PageFilter & Partial<WithSchema<AnySchema>> = {}, cursor?: string) => {
    const { schema } = filter
    const asked = schema === undefined ? filter : { ...filter, includeData: true }
    return Effect.flatMap(call.list({ query: query(asked, cursor) }), pageReader(schema))
  },
  refusing("workItems.list", { 0: listed })
  // As in `get`.
) as ListWorkItems

/** How work items are streamed, with the type of a schema or without. */
export interface StreamWorkItems {
  <S extends AnySchema>(
    filter: Filter & WithSchema<S>
  ): Stream.Stream<Typed<contract.WorkItemListed, S>, InvalidRequest | UnexpectedData | ControlRoomError, ControlRoom>
  (filter?: Filter): Stream.Stream<contract.WorkItemListed, InvalidRequest | ControlRoomError, ControlRoom>
}

/**
 * Emits all work items that match, newest first, a page at a time. With a `schema` payloads are included and have its type; fails with
 * `UnexpectedData` at a page that has one which does not fit.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as WorkItems from "@signalbox/api/WorkItems"
 * import * as Schema from "effect/Schema"
 * import * as Stream from "effect/Stream"
 *
 * const schema = Schema.Struct({ total: Schema.Finite })
 *
 * export const totals = (process: ProcessId) =>
 *   WorkItems.stream({ process, state: "failed", schema }).pipe(
 *     Stream.map(({ payload }) => payload.total)
 *   )
 * ```
 */
export const stream = ((filter: Filter & Partial<WithSchema<AnySchema>> = {}) =>
  pages((cursor) => list({ ...filter, cursor })).pipe(
    refusingStream("workItems.stream", streamed, filter)
  )) as StreamWorkItems // As in `get`.
