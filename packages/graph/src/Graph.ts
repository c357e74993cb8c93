/**
 * The connection to the API. Every module of resources requires this service and nothing else.
 */
import { defined } from "@signalbox/transport/Defined"
import type { Listeners } from "@signalbox/transport/Events"
import { check, text } from "@signalbox/transport/OptionError"
import { userAgent } from "@signalbox/transport/UserAgent"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import { AccessTokens } from "./AccessTokens.ts"
import { Address, Cloud, locate, type Place, placeRules } from "./Cloud.ts"
import { linkOf } from "./internal/requests/Delivery.ts"
import type { Transport } from "./internal/requests/Transport.ts"
import { version } from "./internal/requests/Version.ts"

export interface Options extends Place {
  /**
   * How this program names itself to the service, best as `ISV|Company|App/1.0` or `NONISV|Company|App/1.0`: such traffic is
   * throttled last. It stands before this library's own name.
   */
  readonly userAgent?: string | undefined
  /** Functions that are called with each request, response, retry and pause. */
  readonly on?: Listeners | undefined
}

/**
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 * import { AccessTokens } from "@signalbox/graph/AccessTokens"
 * import { Graph } from "@signalbox/graph/Graph"
 * import * as Users from "@signalbox/graph/Users"
 *
 * export const name = (token: string) =>
 *   Effect.map(Users.me(), (user) => user.displayName).pipe(
 *     Effect.provide(
 *       Graph.layer().pipe(
 *         Layer.provide(AccessTokens.layerFixed(Redacted.make(token)))
 *       )
 *     )
 *   )
 * ```
 */
export class Graph extends Context.Service<
  Graph,
  {
    /** The address of the API, without the version. */
    readonly baseUrl: string
    /** Its origin. */
    readonly origin: string
    readonly transport: Transport
  }
>()("@signalbox/graph/Graph") {
  /** The service itself, over the HTTP client and the tokens at hand. */
  static readonly make = Effect.fnUntraced(function* (options: Options = {}) {
    check("Graph.layer", options, { userAgent: text, ...placeRules })
    const link = yield* linkOf("Graph.layer", options.on)
    const tokens = yield* AccessTokens
    const baseUrl = locate(options).graph
    const { origin } = new URL(baseUrl)
    const named = userAgent("signalbox-graph", version, options.userAgent)
    return Graph.of({ baseUrl, origin, transport: { link, origin, userAgent: named, tokens } })
  })

  /** Over the HTTP client that the program provides. */
  static readonly layerHttpClient = (
    options: Options = {}
  ): Layer.Layer<Graph, never, HttpClient.HttpClient | AccessTokens> => Layer.effect(Graph, Graph.make(options))

  /** Over `fetch`. On Node, `@signalbox/graph/node` is faster. */
  static readonly layer = (options: Options = {}): Layer.Layer<Graph, never, AccessTokens> =>
    Layer.provide(Graph.layerHttpClient(options), FetchHttpClient.layer)

  /**
   * The options from `SIGNALBOX_GRAPH_CLOUD` (`global`, `us`, `dod`, `china`), `SIGNALBOX_GRAPH_URL`,
   * `SIGNALBOX_GRAPH_LOGIN_URL` and `SIGNALBOX_GRAPH_USER_AGENT`, all optional.
   */
  static readonly config: Config.Config<Options> = Config.all({
    cloud: Config.option(Config.schema(Cloud, "SIGNALBOX_GRAPH_CLOUD")),
    graphUrl: Config.option(Config.schema(Address, "SIGNALBOX_GRAPH_URL")),
    loginUrl: Config.option(Config.schema(Address, "SIGNALBOX_GRAPH_LOGIN_URL")),
    userAgent: Config.option(Config.String("SIGNALBOX_GRAPH_USER_AGENT"))
  }).pipe(
    Config.map(({ cloud, graphUrl, loginUrl, userAgent }) =>
      defined({
        cloud: Option.getOrUndefined(cloud),
        graphUrl: Option.getOrUndefined(graphUrl),
        loginUrl: Option.getOrUndefined(loginUrl),
        userAgent: Option.getOrUndefined(userAgent)
      })
    )
  )

  /** `layer` with the options from the environment. */
  static readonly layerConfig: Layer.Layer<Graph, Config.ConfigError, AccessTokens> = Layer.unwrap(
    Effect.map(Graph.config, Graph.layer)
  )
}
