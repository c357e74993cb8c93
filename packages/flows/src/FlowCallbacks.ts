/**
 * Callbacks of a control room when a run has ended, instead of polling: for programs that it can reach.
 */
import * as NodeHttpServer from "@signalbox/platform/NodeHttpServer"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as WebhookSignature from "@signalbox/api/WebhookSignature"
import type { FlowEngine } from "./FlowEngine.ts"
import { FlowCallbacks } from "./internal/body/Callbacks.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"

import type { IncomingMessage, ServerResponse } from "node:http"

export { FlowCallbacks } from "./internal/body/Callbacks.ts"

/** The options are invalid; the message names the field and the remedy. */
export class InvalidCallbacks extends TaggedError<InvalidCallbacks>()("InvalidCallbacks", {
  message: Schema.String
}) {}

const shortestSecret = 16

const checked = ({ secret, url }: FlowCallbacks) => {
  const protocol = URL.parse(url)?.protocol
  if (protocol !== "http:" && protocol !== "https:") {
    return Effect.fail(
      new InvalidCallbacks({ message: "url: Expected an address that begins with https:// or http://" })
    )
  }
  if (Redacted.value(secret).length < shortestSecret) {
    return Effect.fail(new InvalidCallbacks({ message: `secret: Expected at least ${shortestSecret} characters` }))
  }
  return Effect.succeed({ secret, url })
}

/** Configures callbacks. Provide it around `Flow.layer`. Fails with `InvalidCallbacks`. */
export const layer = (options: FlowCallbacks): Layer.Layer<never, InvalidCallbacks> =>
  Layer.effect(FlowCallbacks, checked(options))

/** Like `layer`, from `SIGNALBOX_CALLBACK_URL` and `SIGNALBOX_CALLBACK_SECRET`; without the first, there are no callbacks. */
export const layerConfig: Layer.Layer<never, InvalidCallbacks | Config.ConfigError> = Layer.effect(
  FlowCallbacks,
  Effect.gen(function* () {
    const url = yield* Config.withDefault(Config.String("SIGNALBOX_CALLBACK_URL"), "")
    if (url === "") return null
    return yield* checked({ url, secret: yield* Config.Redacted("SIGNALBOX_CALLBACK_SECRET") })
  })
)

const largestBody = 65_536

const answer = (status: number, message: string) => Response.json({ message }, { status })

/**
 * Handles a callback of a control room, and wakes the executions that wait for that run. Mount it in your HTTP server at the path of
 * `url`: it takes a standard `Request` with the unparsed body, and returns a `Response`: 200 also when no execution waits, and 401
 * when the body is not signed with the secret.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowCallbacks from "@signalbox/flows/FlowCallbacks"
 *
 * export const onPost = (request: Request) =>
 *   Effect.map(FlowCallbacks.receive(request), (response) => response.status)
 * ```
 */
export const receive = Effect.fn("FlowCallbacks.receive")(function* (
  request: Request
): Effect.fn.Return<Response, never, FlowEngine> {
  const callbacks = yield* FlowCallbacks
  if (callbacks === null) return answer(404, "no callbacks are configured here: provide FlowCallbacks.layer")
  if (request.method !== "POST") return answer(405, "Expected POST")
  const announced = Number(request.headers.get("content-length") ?? 0)
  if (announced > largestBody) return answer(413, `Expected at most ${largestBody} bytes`)
  // The requests of Hono on Node have no `bytes` that works.
  const read = yield* Effect.result(Effect.tryPromise(async () => new Uint8Array(await request.arrayBuffer())))
  if (read._tag === "Failure") return answer(400, "the body could not be read")
  const body = read.success
  if (body.length > largestBody) return answer(413, `Expected at most ${largestBody} bytes`)
  const received = yield* Effect.result(
    WebhookSignature.receive({ headers: request.headers, body, secret: callbacks.secret })
  )
  if (received._tag === "Failure") {
    return answer(received.failure._tag === "InvalidSignature" ? 401 : 400, received.failure.message)
  }
  const { action, payload } = received.success
  if (action === "completed" || action === "unresolved") {
    const { watchers } = yield* engineOf
    yield* watchers.done(payload.workspaceId, payload.processRunId)
  }
  return answer(200, "received")
})

/**
 * Returns `receive` as a handler for `node:http` and frameworks based on it (Express, Fastify), which must leave the body unparsed.
 * Requests are interrupted when the scope ends.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowCallbacks from "@signalbox/flows/FlowCallbacks"
 * import { createServer } from "node:http"
 *
 * export const server = Effect.map(FlowCallbacks.toNodeHandler, (onCallback) =>
 *   createServer((request, response) =>
 *     request.url === "/callbacks"
 *       ? onCallback(request, response)
 *       : response.end("hello")
 *   )
 * )
 * ```
 */
export const toNodeHandler: Effect.Effect<
  (request: IncomingMessage, response: ServerResponse) => void,
  never,
  FlowEngine | Scope.Scope
> = Effect.flatMap(Scope.Scope, (scope) =>
  NodeHttpServer.makeHandler(
    Effect.flatMap(HttpServerRequest.HttpServerRequest, HttpServerRequest.toWeb).pipe(
      Effect.flatMap(receive),
      Effect.map(HttpServerResponse.fromWeb)
    ),
    { scope }
  )
)

/**
 * Returns `receive` as a function of web requests, for servers that use those (Hono, Next).
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowCallbacks from "@signalbox/flows/FlowCallbacks"
 *
 * export const status = Effect.flatMap(FlowCallbacks.toWebHandler, (onCallback) =>
 *   Effect.promise(async () => {
 *     const request = new Request("http://127.0.0.1:4800/callbacks")
 *     return (await onCallback(request)).status
 *   })
 * )
 * ```
 */
export const toWebHandler: Effect.Effect<(request: Request) => Promise<Response>, never, FlowEngine> = Effect.map(
  Effect.context<FlowEngine>(),
  (context) => (request) => Effect.runPromiseWith(context)(receive(request))
)
