/**
 * Calls of endpoints below `/workspaces/{workspace_id}`: the workspace and the transport come from `ControlRoom`.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Page } from "../../contract/Common.ts"
import type { ProcessId } from "../../contract/Ids.ts"
import { ControlRoom } from "../../ControlRoom.ts"
import { type ControlRoomError, type FailureOf, InvalidRequest } from "../../ControlRoomError.ts"
import type { Top } from "../endpoints/Endpoint.ts"
import { type Input, make, type Refusal, type Success } from "./EndpointCall.ts"
import { operationOf } from "./Operation.ts"

type WithoutWorkspace<I> = I extends { readonly params: infer P }
  ? Omit<I, "params"> &
      (keyof Omit<P, "workspace_id"> extends never ? unknown : { readonly params: Omit<P, "workspace_id"> })
  : I

interface AnyInput {
  readonly params?: object
  readonly query?: { readonly cursor?: unknown }
}

/**
 * Returns a function that calls the endpoint in the workspace of the current `ControlRoom`. The `cursor` of a list may be the whole
 * address in `next` of a page.
 */
export const inWorkspace = <E extends Top>(endpoint: E, options: { readonly exactNumbers?: boolean } = {}) => {
  const call = make(endpoint, { keyed: true, ...options })
  return (input: WithoutWorkspace<Input<E>>): Effect.Effect<Success<E>, FailureOf<Refusal<E>>, ControlRoom> =>
    Effect.flatMap(ControlRoom, (room) => {
      // Every input has its path parameters there, if it has any, and its query.
      const given = input as AnyInput
      const asked = given.query?.cursor
      const cursor = asked === undefined ? undefined : bareCursor(asked)
      if (cursor === null) return noCursor(endpoint)
      const query = cursor === undefined ? given.query : { ...given.query, cursor }
      // `WithoutWorkspace` removes only the workspace, and this line adds it.
      return call(room.transport, {
        ...given,
        query,
        params: { ...given.params, workspace_id: room.workspaceId }
      } as unknown as Input<E>)
    })
}

const noCursor = <E extends Top>(endpoint: E): Effect.Effect<never, FailureOf<Refusal<E>>> => {
  const { identifier, method, path } = endpoint
  return Effect.flatMap(operationOf(identifier), (operation) => {
    const error = new InvalidRequest({
      code: "INVALID_REQUEST",
      message:
        "cursor: neither `next` of a page nor its cursor; give `next` as the page has it, nothing for the first page, " +
        "and do not ask again when it is null: that was the last page",
      request: { operation, method, path, attempts: 0, requestId: null }
    })
    // Every list declares `InvalidRequest`.
    return Effect.fail(error as FailureOf<Refusal<E>>)
  })
}

const isAddress = /^https?:\/\/|[?&]cursor=/i

/** The cursor of an address, or a text that may itself be one; null: neither. */
const bareCursor = (given: unknown): string | null => {
  if (typeof given !== "string") return null
  return isAddress.test(given) ? (cursorOf(given) ?? null) : /^\S+$/.test(given) ? given : null
}

const cursorOf = (address: string): string | undefined => {
  const query = address.indexOf("?")
  return (query < 0 ? "" : (new URLSearchParams(address.slice(query + 1)).get("cursor") ?? "")) || undefined
}

/**
 * Names what a call returns and fails with besides `ControlRoomError`: signatures are then made of these names, and not of
 * the schemas of the endpoint.
 */
export const returning =
  <A, E = never>() =>
  <Given>(
    call: (input: Given) => Effect.Effect<A, E | ControlRoomError, ControlRoom>
  ): ((input: Given) => Effect.Effect<A, E | ControlRoomError, ControlRoom>) =>
    call

/** The cursor of the next page. Only the cursor of `next` is used, so that the key is never sent to another address. */
export const nextCursor = (page: Page<unknown>): string | undefined =>
  page.next === null ? undefined : cursorOf(page.next)

/** Emits all items of a list, one page at a time, as the consumer pulls them. */
export const pages = <A, E, R>(
  fetch: (cursor: string | undefined) => Effect.Effect<Page<A>, E, R>
): Stream.Stream<A, E, R> =>
  Stream.paginate<string | undefined, A, E, R>(undefined, (cursor) =>
    Effect.map(fetch(cursor), (page) => [page.data, Option.fromUndefinedOr(nextCursor(page))] as const)
  )

/** A process, by its id or by an object that has it, such as the process itself. */
export type ProcessRef = ProcessId | { readonly id: ProcessId }

/** The process as the service expects it. What programs without types give instead stays, and is refused by the schema. */
export const processOf = (process: ProcessRef): { readonly id: ProcessId } => {
  if (typeof process === "string") return { id: process }
  return Predicate.isObject(process) ? { id: process.id } : process
}

/** A definition with its process as the service expects it. */
export const withProcess = <D extends { readonly process: ProcessRef }>(definition: D) => ({
  ...definition,
  process: processOf(definition.process)
})
