import type * as Effect from "effect/Effect"
import type { Page } from "./contract/Common.ts"
import type { ControlRoom } from "./ControlRoom.ts"
import type { ControlRoomError } from "./ControlRoomError.ts"

/**
 * Which page of a list.
 *
 * ```ts
 * import * as Processes from "@signalbox/api/Processes"
 * import * as Effect from "effect/Effect"
 *
 * export const secondPage = Effect.gen(function* () {
 *   const { next } = yield* Processes.list({ limit: 20 })
 *   if (next === null) return []
 *   const page = yield* Processes.list({ limit: 20, cursor: next })
 *   return page.data
 * })
 * ```
 */
export interface ListOptions {
  /** Items per page, 1 to 500. */
  readonly limit?: number | undefined
  /**
   * The start of the page: `next` of the previous one as it comes, or the cursor in it. Filters have to be those of the previous
   * page. Of an address only the cursor is used.
   */
  readonly cursor?: string | undefined
}

/** Which page of a list of what has a name. */
export interface NamedListOptions extends ListOptions {
  /** Only what has exactly this name. An extension: the hosted service ignores it, and lists everything. */
  readonly name?: string | undefined
}

/** Returns a page of what matches a filter. */
export interface List<Filter, Item, E> {
  (filter?: Filter): Effect.Effect<Page<Item>, E | ControlRoomError, ControlRoom>
  /** @deprecated Give the cursor in the filter: `list({ ...filter, cursor })`. */
  (filter?: Filter, cursor?: string): Effect.Effect<Page<Item>, E | ControlRoomError, ControlRoom>
}

/** Returns a page of what belongs to a parent. */
export interface ListOf<Parent, Item, E> {
  (parent: Parent, options?: ListOptions): Effect.Effect<Page<Item>, E | ControlRoomError, ControlRoom>
  /** @deprecated Give the cursor in the options: `list(parent, { ...options, cursor })`. */
  (parent: Parent, options?: ListOptions, cursor?: string): Effect.Effect<Page<Item>, E | ControlRoomError, ControlRoom>
}
