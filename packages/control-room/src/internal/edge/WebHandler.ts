/** The service as a function of web requests, which carry no client address. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { ipOf } from "./ClientAddress.ts"

export interface Options {
  /**
   * Returns the IP address of the client, null where it is unknown; called once per request, before anything else.
   * Requests without a valid key have a budget for each address, against guessing; those of unknown addresses have
   * none. Default: all are unknown.
   *
   * Take it from the server, or from a header that your proxy sets itself: clients that can set the header have as many
   * budgets as they like. The handler rejects with a `TypeError` when the result is not an IP address, such as one with
   * a port.
   */
  readonly clientAddress?: (request: Request) => string | null | undefined
}

/** Handles a web request. */
export type WebHandler = (request: Request) => Promise<Response>

const ClientAddress = Context.Reference<string | null>("@signalbox/control-room/edge/WebHandler/ClientAddress", {
  defaultValue: () => null
})

const checked = (address: string | null): string | null => {
  if (address === null || Option.isSome(ipOf(address))) return address
  throw new TypeError(
    `clientAddress: ${JSON.stringify(address)} is not an IP address; return one without a port, or null where it is unknown`
  )
}

/**
 * Creates a handler of web requests from the service in the context.
 *
 * ```ts
 * import * as Mounted from "@signalbox/control-room/Mounted"
 * import * as Effect from "effect/Effect"
 *
 * export const handler = Effect.map(Mounted.Mounted, ({ httpEffect }) =>
 *   Mounted.makeWebHandler(httpEffect, {
 *     clientAddress: (request) => request.headers.get("x-real-ip")
 *   })
 * )
 * ```
 */
export const make = <E>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, HttpServerRequest.HttpServerRequest | Scope.Scope>,
  { clientAddress }: Options
): WebHandler => {
  if (clientAddress === undefined) return HttpEffect.toWebHandler(app)
  const handler = HttpEffect.toWebHandler(
    Effect.flatMap(ClientAddress, (address) =>
      Effect.updateService(app, HttpServerRequest.HttpServerRequest, (request) =>
        request.modify({ remoteAddress: Option.fromNullOr(address) })
      )
    )
  )
  // Async, so that an invalid address rejects.
  return async (request) => handler(request, Context.make(ClientAddress, checked(clientAddress(request) ?? null)))
}
