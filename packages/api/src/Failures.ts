/**
 * Failures: failed work items in groups of those that failed alike. An extension of the hosted service's interface.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import type { Page } from "./contract/Common.ts"
import * as contract from "./internal/endpoints/Failures.ts"
import type { FailureId, ProcessId, StepId } from "./contract/Ids.ts"
import type { ExceptionType } from "./contract/WorkItems.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import { names, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { List, ListOptions } from "./ListOptions.ts"

export type { Failure, FailureState } from "./contract/Failures.ts"

const call = {
  list: returning<Page<contract.Failure>, InvalidRequest>()(inWorkspace(contract.list)),
  get: returning<contract.Failure, NotFound>()(inWorkspace(contract.get)),
  update: returning<contract.Failure, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.update))
}

export interface Filter {
  readonly process?: ProcessId | undefined
  readonly step?: StepId | undefined
  readonly type?: ExceptionType | undefined
  readonly code?: string | undefined
  /** Default: groups with failed items, whatever their state. */
  readonly state?: contract.FailureState | undefined
  /** Groups per page, 1 to 500. */
  readonly limit?: number | undefined
}

/** Which groups, and which page of them. */
export interface PageFilter extends Filter, ListOptions {}

const filterNames = { process: 1, step: 1, type: 1, code: 1, state: 1, limit: 1 } as const
const streamed = names<Filter>("filter", filterNames)
const listed = names<PageFilter>("filter", { ...filterNames, cursor: 1 })

/**
 * Returns one page; the group that failed last comes first.
 *
 * ```ts
 * import * as Failures from "@signalbox/api/Failures"
 *
 * export const nextPage = (next: string) =>
 *   Failures.list({ state: "open", cursor: next })
 * ```
 */
export const list: List<PageFilter, contract.Failure, InvalidRequest> = Effect.fn("Failures.list")(
  (filter: PageFilter = {}, cursor?: string) =>
    call.list({
      query: {
        process_id: filter.process,
        step_id: filter.step,
        type: filter.type,
        code: filter.code,
        state: filter.state,
        limit: filter.limit,
        cursor: cursor ?? filter.cursor
      }
    }),
  refusing("failures.list", { 0: listed })
)

/**
 * Emits all groups that match, a page at a time.
 *
 * ```ts
 * import * as Failures from "@signalbox/api/Failures"
 * import * as Stream from "effect/Stream"
 *
 * export const open = Stream.runCollect(Failures.stream({ state: "open" }))
 * ```
 */
export const stream = (filter: Filter = {}) =>
  pages((cursor) => list({ ...filter, cursor })).pipe(refusingStream("failures.stream", streamed, filter))

/** Returns a group, also one without failed items. */
export const get = Effect.fn("Failures.get")((failure: FailureId) => call.get({ params: { failure_id: failure } }))

/** What changes of a group; null removes it. */
export interface Change {
  readonly note?: string | null | undefined
  readonly assignee?: string | null | undefined
}

/**
 * Sets the note or the assignee of a group; null removes it.
 *
 * ```ts
 * import type { FailureId } from "@signalbox/api/contract/Ids"
 * import * as Failures from "@signalbox/api/Failures"
 *
 * export const assign = (failure: FailureId) =>
 *   Failures.update(failure, { assignee: "ada", note: "asked the bank" })
 * ```
 */
export const update = Effect.fn("Failures.update")(
  (failure: FailureId, { assignee, note }: Change) =>
    call.update({ params: { failure_id: failure }, payload: defined({ assignee, note }) }),
  refusing("failures.update", { 1: names<Change>("member", { note: 1, assignee: 1 }) })
)

/** Until when a group is muted. */
export interface MuteOptions {
  /** Default: until it is opened. */
  readonly until?: Date | undefined
}

/**
 * Mutes a group: it raises no alerts until this time, or until it is opened. It stays in lists.
 *
 * ```ts
 * import type { FailureId } from "@signalbox/api/contract/Ids"
 * import * as Failures from "@signalbox/api/Failures"
 *
 * export const untilMonday = (failure: FailureId) =>
 *   Failures.mute(failure, { until: new Date("2026-11-30T08:00:00Z") })
 * ```
 */
export const mute = Effect.fn("Failures.mute")(
  (failure: FailureId, options: MuteOptions = {}) =>
    call.update({
      params: { failure_id: failure },
      payload: { state: "muted", muted_until: options.until?.toISOString() ?? null }
    }),
  refusing("failures.mute", { 1: names<MuteOptions>("option", { until: 1 }) })
)

/** Resolves a group. Fails with `Conflict` while it has failed items; opens again when an item fails like it. */
export const resolve = Effect.fn("Failures.resolve")((failure: FailureId) =>
  call.update({ params: { failure_id: failure }, payload: { state: "resolved" } })
)

/** Opens a group that is muted or resolved. */
export const reopen = Effect.fn("Failures.reopen")((failure: FailureId) =>
  call.update({ params: { failure_id: failure }, payload: { state: "open" } })
)
