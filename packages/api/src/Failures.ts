/**
 * Failures: failed work items in groups of those that failed alike. An extension of the hosted service's interface.
 */
import * as Effect from "effect/Effect"
import type { Page } from "./contract/Common.ts"
import * as contract from "./contract/Failures.ts"
import type { FailureId, ProcessId, StepId } from "./contract/Ids.ts"
import type { ExceptionType } from "./contract/WorkItems.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"

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

/** Returns one page; the group that failed last comes first. */
export const list = Effect.fn("Failures.list")((filter: Filter = {}, cursor?: string) =>
  call.list({
    query: {
      process_id: filter.process,
      step_id: filter.step,
      type: filter.type,
      code: filter.code,
      state: filter.state,
      limit: filter.limit,
      cursor
    }
  })
)

/** Emits all groups that match, a page at a time. */
export const stream = (filter: Filter = {}) => pages((cursor) => list(filter, cursor))

/** Returns a group, also one without failed items. */
export const get = Effect.fn("Failures.get")((failure: FailureId) => call.get({ params: { failure_id: failure } }))

/** Sets the note or the assignee of a group; null removes it. */
export const update = Effect.fn("Failures.update")(
  (failure: FailureId, change: { readonly note?: string | null; readonly assignee?: string | null }) =>
    call.update({ params: { failure_id: failure }, payload: change })
)

/** Mutes a group: it raises no alerts until this time, or until it is opened. It stays in lists. */
export const mute = Effect.fn("Failures.mute")((failure: FailureId, options: { readonly until?: Date } = {}) =>
  call.update({
    params: { failure_id: failure },
    payload: { state: "muted", muted_until: options.until?.toISOString() ?? null }
  })
)

/** Resolves a group. Fails with `Conflict` while it has failed items; opens again when an item fails like it. */
export const resolve = Effect.fn("Failures.resolve")((failure: FailureId) =>
  call.update({ params: { failure_id: failure }, payload: { state: "resolved" } })
)

/** Opens a group that is muted or resolved. */
export const reopen = Effect.fn("Failures.reopen")((failure: FailureId) =>
  call.update({ params: { failure_id: failure }, payload: { state: "open" } })
)
