/** The HTTP client of programs on Node: over undici, through the proxies of the environment, with idle limits. */
import * as NodeHttpClient from "@signalbox/platform/NodeHttpClient"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import { IdleLimit } from "./IdleLimit.ts"
import * as Dispatcher from "./internal/undici/Dispatcher.ts"
import * as Proxies from "./internal/undici/Proxies.ts"

type Response = ReturnType<HttpClient.HttpClient["execute"]>

/** Passes the idle limit to the dispatcher. */
const withIdleLimit = HttpClient.transform((response: Response) =>
  Effect.flatMap(IdleLimit, (idleMillis) =>
    idleMillis === null
      ? response
      : Effect.updateService(response, NodeHttpClient.UndiciOptions, (options) => {
          const limited: Dispatcher.Limited = { ...options, idleMillis }
          return limited
        })
  )
)

/** A proxy that refuses to connect gets an error code here: undici has its status in the message only. */
const withProxyCodes = HttpClient.transform((response: Response, request) =>
  Effect.mapError(response, (error) => {
    const cause = "cause" in error.reason ? error.reason.cause : undefined
    const status = cause instanceof Error ? Proxies.refusal.exec(cause.message)?.[1] : undefined
    if (status === undefined) return error
    const coded = Object.assign(new Error(`the proxy responded with ${status}`, { cause }), {
      code: `PROXY_ANSWERED_${status}`
    })
    return new HttpClientError.HttpClientError({
      reason: new HttpClientError.TransportError({ request, cause: coded })
    })
  })
)

const layerDispatcher = Layer.effect(NodeHttpClient.Dispatcher, Effect.flatMap(Proxies.config, Dispatcher.make))

/**
 * An `HttpClient` over undici that
 *
 * - sends through the proxies of `HTTPS_PROXY` and `HTTP_PROXY`, except to the hosts in `NO_PROXY` and to this computer
 *   itself (`localhost`, `127.0.0.0/8`, `::1`); lower-case variables take precedence. A proxy for HTTP only is used for
 *   HTTPS too;
 * - applies `IdleLimit`: a request fails when no byte is transferred in either direction for that time.
 *
 * Fails with a `ConfigError` that names the variable when it is not the address of a proxy.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as HttpClient from "effect/http/HttpClient"
 * import { IdleLimit } from "@signalbox/transport/IdleLimit"
 * import * as NodeTransport from "@signalbox/transport/node"
 *
 * export const page = HttpClient.get("https://example.com").pipe(
 *   Effect.flatMap((response) => response.text),
 *   Effect.provideService(IdleLimit, 60_000),
 *   Effect.provide(NodeTransport.layer)
 * )
 * ```
 */
export const layer: Layer.Layer<HttpClient.HttpClient, Config.ConfigError> = HttpClient.layerMergedContext(
  Effect.map(NodeHttpClient.makeUndici, (client) => withProxyCodes(withIdleLimit(client)))
).pipe(Layer.provide(layerDispatcher))
