/** Pages of lists, each of which gets the one after it. */
import { type Place, placeOf } from "@signalbox/transport/Promised"
import * as Predicate from "effect/Predicate"
import type { Page } from "../../contract/Common.ts"
import type { CallOptions } from "./CallOptions.ts"

/** One page of a list. */
export interface ListPage<A> extends Page<A> {
  /**
   * Resolves to the page after this one, of the same filter and size, with the options of the call that has read this page unless
   * others are given; null after the last page. It is no enumerable member: JSON and comparisons of pages do not have it.
   */
  readonly nextPage: (options?: CallOptions) => Promise<ListPage<A> | null>
}

const isPage = (value: unknown): value is Page<unknown> =>
  Predicate.isObject(value) && "data" in value && "has_more" in value && "next" in value

/** Whether a function returns pages, which are read on with a cursor in the last of its own arguments. */
export const returnsPages = (member: string): boolean => /^list([A-Z]|$)/.test(member)

/** Calls a list for the page at a cursor. */
export type ReadPage = (cursor: string, options: CallOptions | undefined, place: Place) => unknown

/** The result of a list, with `nextPage`. */
export const withNextPage = (result: unknown, read: ReadPage): unknown => {
  if (!isPage(result)) return result
  const { next } = result
  const nextPage = (options?: CallOptions) =>
    next === null ? Promise.resolve(null) : read(next, options, placeOf(nextPage))
  return Object.defineProperty(result, "nextPage", { value: nextPage, configurable: true })
}

/** The arguments of a list for the page at a cursor. */
export const argumentsAt = (given: ReadonlyArray<unknown>, arity: number, cursor: string): ReadonlyArray<unknown> => {
  const options = given[arity - 1]
  const parents = Array.from({ length: arity - 1 }, (_, index) => given[index])
  return [...parents, { ...(Predicate.isObject(options) ? options : {}), cursor }]
}
