/**
 * An `HttpClient` that passes requests to a service in the same process: no socket, no promise, nothing that a test
 * clock could overtake.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import type { Mounted } from "@signalbox/control-room/Mounted"
import type { VirtualTime } from "../testing/VirtualTime.ts"

const unreachable = (request: HttpClientRequest.HttpClientRequest, description: string) =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, description }) })

/** Requests to other origins fail. Handlers run in the context of the caller, until the scope closes. */
export const make = Effect.fnUntraced(function* (
  origin: string,
  app: Mounted["Service"]["httpEffect"],
  watch: VirtualTime["watch"]
) {
  const context = Context.omit(Scope.Scope)(yield* Effect.context<Scope.Scope>())
  const scope = yield* Effect.scope
  const answers = new WeakMap<HttpServerRequest.HttpServerRequest, HttpServerResponse.HttpServerResponse>()
  const handled = HttpEffect.toHandled(app, (request, response) =>
    Effect.sync(() => {
      answers.set(request, HttpEffect.scopeTransferToStream(response))
    })
  )
  return HttpClient.make((request, url) => {
    if (url.origin !== origin)
      return Effect.fail(
        unreachable(request, `${url.origin} cannot be reached: this client reaches only ${origin}, in this process`)
      )
    const received = HttpServerRequest.fromClientRequest(request)
    const handling = watch(Effect.provideService(handled, HttpServerRequest.HttpServerRequest, received))
    return Effect.gen(function* () {
      // A separate fiber, as a server has for each request.
      const fiber = yield* Effect.forkIn(Effect.provideContext(handling, context), scope)
      yield* Effect.onInterrupt(Fiber.await(fiber), () => Fiber.interrupt(fiber))
      const answer = answers.get(received)
      if (answer === undefined) return yield* unreachable(request, "the service has stopped")
      return HttpServerResponse.toClientResponse(answer, { request })
    })
  })
})
