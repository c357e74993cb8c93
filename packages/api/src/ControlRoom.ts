/**
 * The connection to one workspace of a control room. Every resource module requires this service and nothing else.
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import { WorkspaceId } from "./contract/Ids.ts"
import { Uploads } from "./Upload.ts"
import { debugListeners } from "@signalbox/transport/DebugLines"
import { audience, checkListeners, type Listeners, silent } from "@signalbox/transport/Events"
import { address, callable, check, matching, type Rule, text } from "@signalbox/transport/OptionError"
import * as Connection from "./internal/calls/Connection.ts"
import * as FetchClient from "./internal/calls/FetchClient.ts"
import { type Transport, transportTo } from "./internal/calls/Transport.ts"

export interface Options {
  /**
   * The address of the service, such as `http://127.0.0.1:4700` or `https://acme.example.com/api/v1`: with or without
   * the version prefix.
   */
  readonly baseUrl: string
  /** A workspace key. It belongs on servers, never in a browser. */
  readonly apiKey: Redacted.Redacted
  readonly workspaceId: WorkspaceId
  /**
   * Whether the service supports idempotency keys, so that a POST may be sent again when it is unknown whether the
   * service acted. Default: learned from its responses; until then a POST is not repeated.
   */
  readonly idempotency?: "honoured" | "ignored"
  /** Headers of all calls, such as those that a gateway asks for. Signed addresses of files get none of them. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** What the program calls itself, such as `invoices/2.1`: it stands in `User-Agent` before this client. Not in browsers. */
  readonly userAgent?: string | undefined
  /** Functions that are called with each request, response, retry and pause. */
  readonly on?: Listeners | undefined
}

const BaseUrl = Schema.String.check(
  Schema.isPattern(/^https?:\/\/[^\s/]+\S*$/i, {
    message: "expected an absolute http or https address, such as http://127.0.0.1:4700"
  })
)

/** What a header can carry. A key from a file often ends with a line break. */
const keyPattern = /^[\x21-\x7e]+$/
const keyExpected = "expected a key, without spaces or line breaks around it"

const headerRule: Rule = (value) => {
  if (!Predicate.isObject(value)) return "expected an object of names and texts"
  const own = Object.keys(value).find((name) => Connection.ownHeaders.has(name.toLowerCase()))
  if (own !== undefined)
    return `${own} is set by the client; ${own.toLowerCase() === "user-agent" ? "use userAgent" : "leave it out"}`
  const isSendable = Object.entries(value).every(
    ([name, text]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof text === "string" && /^[\t\x20-\x7e]*$/.test(text)
  )
  return isSendable ? null : "expected names and texts that a header can carry"
}

/** Adds the version prefix to an address without one, and removes trailing slashes. */
const withVersion = (baseUrl: string): string => {
  const trimmed = baseUrl.replace(/\/+$/, "")
  return trimmed.endsWith("/v1") ? trimmed : `${trimmed}/api/v1`
}

/**
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { ControlRoom } from "@signalbox/api/ControlRoom"
 * import * as Workspaces from "@signalbox/api/Workspaces"
 *
 * export const name = Effect.map(
 *   Workspaces.get,
 *   (workspace) => workspace.name
 * ).pipe(Effect.provide(ControlRoom.layerConfig))
 * ```
 */
export class ControlRoom extends Context.Service<
  ControlRoom,
  {
    /** The address of the service with its version prefix. */
    readonly baseUrl: string
    readonly workspaceId: WorkspaceId
    readonly transport: Transport
    readonly uploads: Uploads
  }
>()("@signalbox/api/ControlRoom") {
  /** A connection over the HTTP client that the program provides. */
  static readonly layerHttpClient = (options: Options): Layer.Layer<ControlRoom, never, HttpClient.HttpClient> =>
    Layer.effect(
      ControlRoom,
      Effect.gen(function* () {
        check("ControlRoom.layer", options, {
          baseUrl: address,
          workspaceId: text,
          headers: headerRule,
          userAgent: matching(
            /^[\x21-\x7e][\x20-\x7e]*$/,
            "expected a text that a header can carry, such as invoices/2.1"
          )
        })
        checkListeners("ControlRoom.layer", options.on ?? silent)
        check(
          "ControlRoom.layer",
          { apiKey: Redacted.value(options.apiKey) },
          { apiKey: matching(keyPattern, keyExpected) }
        )
        const client = yield* HttpClient.HttpClient
        const uploads = yield* Uploads
        const { headers, idempotency, on, userAgent } = options
        const heard = audience(on, yield* debugListeners)
        const baseUrl = withVersion(options.baseUrl)
        return ControlRoom.of({
          baseUrl,
          workspaceId: options.workspaceId,
          transport: transportTo(
            baseUrl,
            Connection.make(client, { idempotency, headers, userAgent, audience: heard }),
            `RC-WSKEY ${Redacted.value(options.apiKey)}`
          ),
          uploads
        })
      })
    )

  /**
   * A connection over `fetch`, that of the runtime or one of the program's own. In browsers an upload becomes a blob before it is
   * sent. On Node, the layers of `@signalbox/api/node` are faster and can upload from paths.
   */
  static readonly layer = (
    options: Options & { readonly fetch?: typeof globalThis.fetch | undefined }
  ): Layer.Layer<ControlRoom> => {
    check("ControlRoom.layer", options, { fetch: callable })
    const { fetch } = options
    const own = fetch === undefined ? Layer.empty : Layer.succeed(FetchHttpClient.Fetch, fetch)
    return ControlRoom.layerHttpClient(options).pipe(Layer.provide(FetchClient.layer), Layer.provide(own))
  }

  /**
   * Returns how many seconds the service stores an idempotency key for which a request asks `ttlSeconds`, as learned
   * from its responses on this connection: never more than requested, and null until it has said that it supports keys.
   * Before the first response to a request that asks, only the default lifetime of the service is known (24 hours for
   * Signalbox), so call this again later.
   *
   * ```ts
   * import * as Effect from "effect/Effect"
   * import { ControlRoom } from "@signalbox/api/ControlRoom"
   *
   * const week = 7 * 86_400
   * export const lastsAWeek = Effect.map(
   *   ControlRoom.keyLifetime(week),
   *   (seconds) => seconds === week
   * )
   * ```
   */
  static readonly keyLifetime = (ttlSeconds: number): Effect.Effect<number | null, never, ControlRoom> =>
    Effect.map(ControlRoom, ({ transport }) => {
      const granted = transport.connection.keyLifetime()
      return granted === null ? null : Math.min(ttlSeconds, granted)
    })

  /**
   * The options from `SIGNALBOX_BASE_URL`, `SIGNALBOX_API_KEY` and `SIGNALBOX_WORKSPACE_ID`. Fails with a `ConfigError`
   * that names the variable when one is not set, is empty, or cannot be an address or a key.
   */
  static readonly config: Config.Config<Options> = Config.all({
    baseUrl: Config.schema(BaseUrl, "SIGNALBOX_BASE_URL"),
    apiKey: Config.schema(
      Schema.Redacted(Schema.NonEmptyString.check(Schema.isPattern(keyPattern, { message: keyExpected }))),
      "SIGNALBOX_API_KEY"
    ),
    workspaceId: Config.schema(WorkspaceId.check(Schema.isNonEmpty()), "SIGNALBOX_WORKSPACE_ID")
  })

  /** `layer` with the options from the environment. */
  static readonly layerConfig: Layer.Layer<ControlRoom, Config.ConfigError> = Layer.unwrap(
    Effect.map(ControlRoom.config, ControlRoom.layer)
  )
}
