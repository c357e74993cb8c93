/** The service without its own server: below a path of an existing server of any framework, or in the process alone. */
import { check, matching } from "@signalbox/transport/OptionError"
import * as NodeHttpServer from "@signalbox/platform/NodeHttpServer"
import * as NodeServices from "@signalbox/platform/NodeServices"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpPlatform from "effect/http/HttpPlatform"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import { AlertSender } from "./internal/delivery/AlertSender.ts"
import { Deliverer } from "./internal/delivery/Deliverer.ts"
import { TargetGuard } from "./internal/delivery/TargetGuard.ts"
import * as Edge from "./internal/edge/Edge.ts"
import { Hosts } from "./internal/edge/Hosts.ts"
import { pathOf } from "./internal/edge/Incoming.ts"
import { ClientUrl, PublicUrl } from "./internal/settings/PublicUrl.ts"
import * as WebHandler from "./internal/edge/WebHandler.ts"
import { Storage } from "./internal/service/StorageLayers.ts"
import * as Service from "./internal/service/Service.ts"
import { BulkOperations } from "./internal/runs/BulkOperations.ts"
import { Scheduler } from "./internal/runs/Scheduler.ts"
import { TriggerStarts } from "./internal/runs/TriggerStarts.ts"
import { Alerter } from "./internal/runs/Alerter.ts"
import { Runs } from "./internal/runs/Runs.ts"
import { checkService } from "./internal/service/OptionRules.ts"
import { Dues } from "./internal/store/room/Dues.ts"
import type { ServiceOptions, StorageOptions } from "./Options.ts"
import * as Server from "./Server.ts"

export {
  type DeliveryRequest,
  type DeliveryResponse,
  DeliverySender,
  NoResponse
} from "./internal/delivery/DeliverySender.ts"
export { type Mail, MailSender, type RefusedReceiver } from "./internal/delivery/MailSender.ts"
export { make as makeWebHandler, type Options as WebOptions, type WebHandler } from "./internal/edge/WebHandler.ts"

export interface Options extends Omit<ServiceOptions, "publicUrl" | "internalUrl" | "allowedHosts"> {
  /**
   * The address under which clients reach the service, with the path that it is mounted at, such as
   * `https://example.com/automation`. All addresses that the service returns begin with it.
   */
  readonly publicUrl: string
  /**
   * The prefix of request paths, removed before routing unless the server around the service, or a proxy, has done so
   * already; default: the path of `publicUrl`.
   */
  readonly prefix?: string
  /** Whether webhooks, callbacks and git repositories may lead to loopback, private and link-local addresses; default false. */
  readonly allowPrivateTargets?: boolean
}

const path = matching(/^\/[^\s?#]*$/, "expected a path that begins with /, such as /automation")

/** Whether a path is the prefix or below it. */
const isBelow = (url: string, prefix: string) => {
  const path = pathOf(url)
  return path === prefix || path.startsWith(`${prefix}/`)
}

/** The request as the service would receive it on its own server. */
const withoutPrefix = (request: HttpServerRequest.HttpServerRequest, prefix: string) => {
  if (prefix === "" || !isBelow(request.url, prefix)) return request
  const rest = request.url.slice(prefix.length)
  return request.modify({ url: rest.startsWith("/") ? rest : `/${rest}` })
}

const prefixOf = (options: Options) => (options.prefix ?? new URL(options.publicUrl).pathname).replace(/\/+$/, "")

const build = Effect.fnUntraced(function* (options: Options) {
  checkService("Mounted", options)
  if (options.prefix !== undefined && options.prefix !== "") check("Mounted", options, { prefix: path })
  const stored = Layer.succeedContext(yield* Storage)
  const targets = TargetGuard.layerOf(options.allowPrivateTargets ?? false)
  const publicUrl = PublicUrl.layerOf(options.publicUrl)
  const settings = yield* Layer.build(Service.settings)
  const engine = yield* Layer.build(
    Layer.provide(Service.running(options), Layer.mergeAll(stored, targets, publicUrl))
  ).pipe(Effect.provideContext(settings))
  const routed = yield* HttpRouter.toHttpEffect(
    Service.application(options).pipe(
      Layer.provide(ClientUrl.layer()),
      Layer.provide(publicUrl),
      Layer.provide(Hosts.layerAny),
      Layer.provide(targets),
      Layer.provide(Layer.succeedContext(engine)),
      Layer.provide(stored)
    )
  ).pipe(
    Effect.provideService(HttpRouter.RouterConfig, Edge.routerConfig),
    // A separate router, even when the program around it has one.
    Effect.provideServiceEffect(Layer.CurrentMemoMap, Layer.makeMemoMap),
    Effect.provideContext(settings)
  )
  const platform = yield* HttpPlatform.HttpPlatform
  const prefix = prefixOf(options)
  const runs = Context.get(engine, Runs)
  const bulkOperations = Context.get(engine, BulkOperations)
  const scheduler = Context.get(engine, Scheduler)
  const triggers = Context.get(engine, TriggerStarts)
  const alerter = Context.get(engine, Alerter)
  const alertSender = Context.get(engine, AlertSender)
  const deliverer = Context.get(engine, Deliverer)
  const dues = Context.get(yield* Layer.build(Layer.provide(Dues.layer, stored)), Dues)
  return Mounted.of({
    httpEffect: Effect.updateService(routed, HttpServerRequest.HttpServerRequest, (request) =>
      withoutPrefix(request, prefix)
    ).pipe(
      // `Edge` has made a response of each.
      Effect.catchTag("Refusal", Effect.die),
      Effect.provideContext(Context.add(settings, HttpPlatform.HttpPlatform, platform))
    ),
    tick: Effect.andThen(
      runs.tick,
      Effect.all([scheduler.tick, triggers.tick, bulkOperations.tick, deliverer.tick, alerter.tick, alertSender.tick], {
        discard: true
      })
    ),
    nextDue: dues.next
  })
})

export class Mounted extends Context.Service<
  Mounted,
  {
    /** Handles the request of the context. */
    readonly httpEffect: Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      HttpServerError.HttpServerError,
      HttpServerRequest.HttpServerRequest | Scope.Scope
    >
    /** Polls once for timers that are due. The service polls by itself every second; this does not wait for it. */
    readonly tick: Effect.Effect<void>
    /**
     * The next moment, in milliseconds since 1970, at which `tick` will find a timer that is due; null when none runs. Without
     * `workers` it is taken for granted that workers are heard of.
     */
    readonly nextDue: (options: { readonly workers: boolean }) => Effect.Effect<number | null>
  }
>()("@signalbox/control-room/Mounted") {
  /** The service on the storage of the context. */
  static readonly layer = (options: Options) => Layer.effect(Mounted, build(options))
}

/**
 * The service below a path of an Effect server: added to the router of the context, beside your own routes, which it
 * leaves unchanged.
 *
 * ```ts
 * import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
 * import * as Mounted from "@signalbox/control-room/Mounted"
 * import * as Server from "@signalbox/control-room/Server"
 * import * as Layer from "effect/Layer"
 * import * as HttpRouter from "effect/http/HttpRouter"
 * import * as HttpServerResponse from "effect/http/HttpServerResponse"
 * import { createServer } from "node:http"
 *
 * const routes = Layer.mergeAll(
 *   HttpRouter.add("GET", "/", HttpServerResponse.text("hello")),
 *   Mounted.layerRoutes({ publicUrl: "http://127.0.0.1:3000/automation" })
 * )
 * export const server = HttpRouter.serve(routes, { disableLogger: true }).pipe(
 *   Layer.provide(Server.layerStorage({ data: ".signalbox" })),
 *   Layer.provide(NodeHttpServer.layer(createServer, { port: 3000 }))
 * )
 * ```
 */
export const layerRoutes = (options: Options) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { httpEffect } = yield* build(options)
      const prefix = prefixOf(options)
      yield* router.add("*", prefix === "" ? "/*" : `/${prefix.slice(1)}/*`, httpEffect)
    })
  )

/** A service that runs until it is disposed of. */
export interface Running<Handler> extends AsyncDisposable {
  readonly handler: Handler
  /** Stops the service: requests that wait for work get their response, and the storage is closed. */
  readonly dispose: () => Promise<void>
}

type HttpApp = Mounted["Service"]["httpEffect"]

const running = <Handler>(
  options: Options & StorageOptions,
  toHandler: (app: HttpApp, scope: Scope.Scope) => Effect.Effect<Handler>
): Promise<Running<Handler>> => {
  const layer = Mounted.layer(options).pipe(
    Layer.provide(Server.layerStorage(options)),
    Layer.provide(HttpPlatform.layer),
    Layer.provide(NodeServices.layer)
  )
  return Effect.runPromise(
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const close = Scope.close(scope, Exit.void)
      const started = Effect.flatMap(Layer.buildWithScope(layer, scope), (context) =>
        toHandler(Context.get(context, Mounted).httpEffect, scope)
      )
      const handler = yield* Effect.onError(started, () => close)
      const dispose = () => Effect.runPromise(close)
      return { handler, dispose, [Symbol.asyncDispose]: dispose }
    })
  )
}

/**
 * Starts the service and returns a handler of web requests, for servers that use those (Hono, Next, Bun, Deno). Rejects
 * when the service cannot start, such as on a data folder that another process uses. Bodies are streamed both ways; a
 * request whose signal aborts is interrupted. A web request has no address, so the budget of requests without a valid
 * key holds only with `clientAddress`. `signalbox/Mounted` has the same with a first key and local workers.
 *
 * ```ts
 * import * as Mounted from "@signalbox/control-room/Mounted"
 *
 * await using automation = await Mounted.toWebHandler({
 *   data: ".signalbox",
 *   publicUrl: "http://127.0.0.1:3000/automation",
 *   // Set by the proxy in front of this server, whatever its clients send.
 *   clientAddress: (request) => request.headers.get("x-real-ip")
 * })
 * const response = await automation.handler(
 *   new Request("http://127.0.0.1:3000/automation/healthz")
 * )
 * ```
 */
export const toWebHandler = (
  options: Options & StorageOptions & WebHandler.Options
): Promise<Running<WebHandler.WebHandler>> =>
  running(options, (app) => Effect.sync(() => WebHandler.make(app, options)))

/**
 * Like `toWebHandler`, for `node:http` and frameworks based on it (Express, Fastify, Connect).
 *
 * ```ts
 * import * as Mounted from "@signalbox/control-room/Mounted"
 * import { createServer } from "node:http"
 *
 * await using automation = await Mounted.toNodeHandler({
 *   data: ".signalbox",
 *   publicUrl: "http://127.0.0.1:3000/automation"
 * })
 * createServer((request, response) =>
 *   request.url?.startsWith("/automation/") === true
 *     ? automation.handler(request, response)
 *     : response.end("hello")
 * ).listen(3000)
 * ```
 */
export const toNodeHandler = (
  options: Options & StorageOptions
): Promise<Running<(request: IncomingMessage, response: ServerResponse) => void>> =>
  running(options, (app, scope) => NodeHttpServer.makeHandler(app, { scope }))
