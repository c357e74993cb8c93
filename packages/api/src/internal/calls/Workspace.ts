/**
 * Calls of endpoints below `/workspaces/{workspace_id}`: the workspace and the transport come from `ControlRoom`.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type { Page } from "../../contract/Common.ts"
import { ControlRoom } from "../../ControlRoom.ts"
import type { ControlRoomError, Failure } from "../../ControlRoomError.ts"
import { type Input, make, type Success } from "./EndpointCall.ts"

type WithoutWorkspace<I> = I extends { readonly params: infer P }
  ? Omit<I, "params"> &
      (keyof Omit<P, "workspace_id"> extends never ? unknown : { readonly params: Omit<P, "workspace_id"> })
  : I

/** Returns a function that calls the endpoint in the workspace of the current `ControlRoom`. */
export const inWorkspace = <E extends HttpApiEndpoint.ConstraintRequest>(
  endpoint: E,
  options: { readonly exactNumbers?: boolean } = {}
) => {
  const call = make(endpoint, { keyed: true, ...options })
  return (input: WithoutWorkspace<Input<E>>): Effect.Effect<Success<E>, Failure<E>, ControlRoom> =>
    Effect.flatMap(ControlRoom, (room) => {
      // Every input has its path parameters there, if it has any.
      const given = input as { readonly params?: object }
      // `WithoutWorkspace` removes only the workspace, and this line adds it.
      return call(room.transport, {
        ...given,
        params: { ...given.params, workspace_id: room.workspaceId }
      } as unknown as Input<E>)
    })
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
export const nextCursor = (page: Page<unknown>): string | undefined => {
  if (page.next === null) return undefined
  const query = page.next.indexOf("?")
  return (query < 0 ? undefined : new URLSearchParams(page.next.slice(query + 1)).get("cursor")) ?? undefined
}

/** Emits all items of a list, one page at a time, as the consumer pulls them. */
export const pages = <A, E, R>(
  fetch: (cursor: string | undefined) => Effect.Effect<Page<A>, E, R>
): Stream.Stream<A, E, R> =>
  Stream.paginate<string | undefined, A, E, R>(undefined, (cursor) =>
    Effect.map(fetch(cursor), (page) => [page.data, Option.fromUndefinedOr(nextCursor(page))] as const)
  )
