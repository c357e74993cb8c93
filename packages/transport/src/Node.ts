/** The HTTP client of programs on Node: over undici, through the proxies of the environment, with idle limits. */
import * as NodeHttpClient from "@signalbox/platform/NodeHttpClient"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import { IdleLimit } from "./IdleLimit.ts"
import * as Dispatcher from "./internal/undici/Dispatcher.ts"
import * as Proxies from "./internal/undici/Proxies.ts"
import { check, listOf, type Rules, text } from "./OptionError.ts"
import type * as Undici from "undici"

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

/** How requests leave this computer. */
export interface Options {
  /** The address of the proxy for all hosts but this computer, in place of those of the environment; empty: none. */
  readonly proxy?: string | undefined
  /** Certificates in PEM that are trusted besides those of Node, such as that of a company. */
  readonly ca?: string | ReadonlyArray<string> | undefined
  /** The program's own dispatcher of undici, which it closes itself: proxies and `ca` are its matter. */
  readonly dispatcher?: Undici.Dispatcher | undefined
}

const rules: Rules<Options> = {
  proxy: Proxies.rule,
  ca: (value) => (typeof value === "string" ? text(value) : listOf(text)(value)),
  dispatcher: (value) =>
    Predicate.hasProperty(value, "compose") && Predicate.hasProperty(value, "dispatch")
      ? null
      : "expected a dispatcher of undici"
}

const layerDispatcher = ({ ca, dispatcher, proxy }: Options) =>
  Layer.effect(
    NodeHttpClient.Dispatcher,
    dispatcher === undefined
      ? Effect.flatMap(proxy === undefined ? Proxies.config : Effect.succeed(Proxies.all(proxy)), (proxies) =>
          Dispatcher.make(proxies, typeof ca === "string" ? [ca] : ca)
        )
      : Effect.succeed(Dispatcher.limited(dispatcher))
  )

/**
 * Like `layer` below, with a proxy, certificates or a dispatcher of the program's own. Throws an `OptionError` for one that cannot be.
 *
 * ```ts
 * import * as NodeTransport from "@signalbox/transport/node"
 *
 * export const throughProxy = NodeTransport.layerWith({
 *   proxy: "http://proxy.example.com:3128"
 * })
 * ```
 */
export const layerWith = (options: Options): Layer.Layer<HttpClient.HttpClient, Config.ConfigError> => {
  check("layer", options, rules)
  return HttpClient.layerMergedContext(
    Effect.map(NodeHttpClient.makeUndici, (client) => withProxyCodes(withIdleLimit(client)))
  ).pipe(Layer.provide(layerDispatcher(options)))
}

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
export const layer: Layer.Layer<HttpClient.HttpClient, Config.ConfigError> = layerWith({})
