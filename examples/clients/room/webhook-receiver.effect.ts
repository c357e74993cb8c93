/** Receives the webhooks of a room, and trusts those that it has signed. */
import * as WebhookSignature from "@signalbox/api/WebhookSignature"
import { Effect, type Redacted } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

export const main = <E, R>(
  secret: Redacted.Redacted,
  onEvent: (event: WebhookSignature.WebhookEvent) => Effect.Effect<void, E, R>
) =>
  HttpRouter.add("POST", "/", (request) =>
    Effect.gen(function* () {
      const { headers } = request
      const body = new Uint8Array(yield* request.arrayBuffer)
      yield* onEvent(yield* WebhookSignature.receive({ headers, body, secret }))
      return HttpServerResponse.empty()
    }).pipe(
      Effect.catchTag("InvalidSignature", () =>
        Effect.succeed(HttpServerResponse.empty({ status: 401 }))
      )
    )
  )
