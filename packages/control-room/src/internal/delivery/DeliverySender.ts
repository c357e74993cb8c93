/**
 * Sends one attempt of a delivery: a POST on a separate connection, without redirects. The status decides as soon as it is
 * there; the body of the response is not used.
 */
import { refusalOf } from "@signalbox/transport/RefusedTargets"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import type { LookupFunction } from "node:net"
import { addAbortSignal } from "node:stream"
import { urlToHttpOptions } from "node:url"

/** The total time limit of an attempt. */
export const attemptTime = "15 seconds"

/** How much of the body of a response is read, and discarded, before the connection is closed: bytes and milliseconds. */
const responseLimit = 64 * 1024
const responseTime = 1000

/** No response was received. */
export class NoResponse extends Data.TaggedError("NoResponse")<{ readonly message: string }> {}

/** What an endpoint responded. */
export interface DeliveryResponse {
  readonly status: number
  /** The header `Retry-After`, as it was sent. */
  readonly retryAfter: string | null
}

/** The message for a failed connection: never the address, which may contain a key. */
const said = (error: NodeJS.ErrnoException): string =>
  refusalOf(error) ?? `no connection: ${error.code ?? "the endpoint does not speak HTTP"}`

/** One attempt as an HTTP request: the address, the signed headers and the payload. */
export interface DeliveryRequest {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly lookup: LookupFunction
}

/** Sends one attempt and returns the response. */
export const send = (options: DeliveryRequest): Effect.Effect<DeliveryResponse, NoResponse> =>
  Effect.callback<DeliveryResponse, NoResponse>((resume) => {
    const url = new URL(options.endpoint)
    const { hostname, ...target } = urlToHttpOptions(url)
    const makeRequest = url.protocol === "https:" ? httpsRequest : httpRequest
    const fail = (error: NodeJS.ErrnoException) => resume(Effect.fail(new NoResponse({ message: said(error) })))
    const answered = (response: IncomingMessage) => {
      // So that the endpoint can end its response.
      let size = 0
      addAbortSignal(AbortSignal.timeout(responseTime), response)
      const close = () => request.destroy()
      response.on("data", (chunk: Buffer) => {
        size += chunk.length
        if (size > responseLimit) close()
      })
      response.on("end", close)
      response.on("error", close)
      resume(Effect.succeed({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] ?? null }))
    }
    const request: ClientRequest = makeRequest({
      ...target,
      hostname: String(hostname).replace(/\.+$/, ""),
      method: "POST",
      headers: { ...options.headers, "content-length": options.body.length },
      lookup: options.lookup,
      agent: false
    })
    request.on("response", answered)
    request.on("error", fail)
    request.end(options.body)
    return Effect.sync(() => request.destroy())
  }).pipe(
    Effect.timeoutOrElse({
      duration: attemptTime,
      orElse: () => Effect.fail(new NoResponse({ message: `no response within ${attemptTime}` }))
    })
  )

/** Sends the attempts of deliveries; replaced where no request may leave the process. */
export const DeliverySender = Context.Reference<
  (request: DeliveryRequest) => Effect.Effect<DeliveryResponse, NoResponse>
>("@signalbox/control-room/delivery/DeliverySender", { defaultValue: () => send })
