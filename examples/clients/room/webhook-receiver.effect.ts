/** Receives the webhooks of a room, and trusts those that it has signed. */
import * as WebhookSignature from "@signalbox/api/WebhookSignature"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

export const main = <E, R>(
  secret: Redacted.Redacted,
  onEvent: (event: WebhookSignature.WebhookEvent) => Effect.Effect<void, E, R>
) =>
  HttpRouter.add(
    "POST",
    "/",
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const body = new Uint8Array(yield* request.arrayBuffer)
      const event = yield* WebhookSignature.receive({
        headers: request.headers,
        body,
        secret
      })
      yield* onEvent(event)
      return HttpServerResponse.empty()
    }).pipe(
      Effect.catchTag("InvalidSignature", () =>
        Effect.succeed(HttpServerResponse.empty({ status: 401 }))
      )
    )
  )
