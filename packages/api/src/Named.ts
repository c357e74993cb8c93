/**
 * What people give by its name or by its id, looked up among what a list returns.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ControlRoom } from "./ControlRoom.ts"
import type { CallError } from "./ControlRoomError.ts"

/** A kind of resource that has names. */
export interface Kind<A> {
  /** All of them; with a `name` at least those that have it. */
  readonly list: (only: { readonly name?: string | undefined }) => Stream.Stream<A, CallError, ControlRoom>
  readonly idOf: (one: A) => string
  readonly nameOf: (one: A) => string
}

/** What was found, and among what. */
export interface Found<A> {
  /** None, one, or several that have the same name. */
  readonly found: ReadonlyArray<A>
  /** What was looked through: all of them when nothing was found. */
  readonly among: ReadonlyArray<A>
}

const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const longestName = 255

/** Returns the one of `among` with this id, or else those with this name. */
export const matching = <A>({ idOf, nameOf }: Kind<A>, among: ReadonlyArray<A>, given: string): Found<A> => {
  const byId = among.find((one) => idOf(one) === given)
  return { among, found: byId === undefined ? among.filter((one) => nameOf(one) === given) : [byId] }
}

/**
 * Finds what has this id, or else this name. For a name it asks for those that have it, and lists all when there are none.
 *
 * ```ts
 * import * as Named from "@signalbox/api/Named"
 * import * as Processes from "@signalbox/api/Processes"
 * import * as Effect from "effect/Effect"
 *
 * const processes: Named.Kind<Processes.ProcessSummary> = {
 *   list: (only) => Processes.stream(only),
 *   idOf: ({ id }) => id,
 *   nameOf: ({ name }) => name
 * }
 * export const known = Effect.map(
 *   Named.find(processes, "orders"),
 *   ({ found }) => found.length > 0
 * )
 * ```
 */
export const find = Effect.fn("Named.find")(function* <A>(kind: Kind<A>, given: string) {
  const listed = (only: { readonly name?: string | undefined }) => Stream.runCollect(kind.list(only))
  // An id, which is found among all if it is a name all the same, or what no name can be.
  const named =
    isId.test(given) || given === "" || given.length > longestName
      ? []
      : (yield* listed({ name: given })).filter((one) => kind.nameOf(one) === given)
  return matching(kind, named.length > 0 ? named : yield* listed({}), given)
})
