/**
 * Sends one attempt of a delivery: a POST on a separate connection, without redirects; only the status is returned.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import type { LookupFunction } from "node:net"
import { urlToHttpOptions } from "node:url"
import { refusalOf } from "./TargetGuard.ts"

/** The total time limit of an attempt. */
export const attemptTime = "15 seconds"

/** Bytes of a response that are read, and discarded, before the connection is closed. */
const responseLimit = 64 * 1024

/** No response was received. */
export class NoResponse extends Data.TaggedError("NoResponse")<{ readonly message: string }> {}

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

/** Sends one attempt and returns the status of the response. */
export const send = (options: DeliveryRequest): Effect.Effect<number, NoResponse> =>
  Effect.callback<number, NoResponse>((resume) => {
    const url = new URL(options.endpoint)
    const { hostname, ...target } = urlToHttpOptions(url)
    const makeRequest = url.protocol === "https:" ? httpsRequest : httpRequest
    const fail = (error: NodeJS.ErrnoException) => resume(Effect.fail(new NoResponse({ message: said(error) })))
    const answered = (response: IncomingMessage) => {
      let size = 0
      const done = () => {
        request.destroy()
        resume(Effect.succeed(response.statusCode ?? 0))
      }
      response.on("data", (chunk: Buffer) => {
        size += chunk.length
        if (size > responseLimit) done()
      })
      response.on("end", done)
      response.on("error", done)
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
export const DeliverySender = Context.Reference<(request: DeliveryRequest) => Effect.Effect<number, NoResponse>>(
  "@signalbox/control-room/delivery/DeliverySender",
  { defaultValue: () => send }
)
