/**
 * A local office-suite graph API with its identity provider, over real HTTP: for tests, examples and offline work.
 */
import * as NodeHttpServer from "@signalbox/platform/NodeHttpServer"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { createServer as createHttpServer } from "node:http"
import { createServer as createHttpsServer } from "node:https"
import type { Faults, Seen } from "./Faults.ts"
import { none } from "./Faults.ts"
import * as ControlServer from "./internal/servers/ControlServer.ts"
import * as Edge from "./internal/servers/Edge.ts"
import * as FilesServer from "./internal/servers/FilesServer.ts"
import * as GraphServer from "./internal/servers/GraphServer.ts"
import { type LifecycleEvent, Notifier } from "./internal/servers/Notifier.ts"
import * as LoginServer from "./internal/servers/LoginServer.ts"
import { supportedScopes } from "./internal/model/SupportedScopes.ts"
import * as Tls from "./internal/servers/Tls.ts"
import { Tokens } from "./internal/login/Tokens.ts"
import { Traffic } from "./internal/servers/Traffic.ts"
import { Transfers } from "./internal/world/Transfers.ts"
import { World } from "./internal/world/World.ts"
import type { Mail, Seed } from "./Seed.ts"

/** How a sandbox is started. Every part has a default. */
export interface Options {
  /** What it starts with; by default one person, one app, a team's site and the root site. */
  readonly seed?: Seed | undefined
  /** The port of the graph and the identity provider; 0 (the default) takes a free one. */
  readonly port?: number
  /** The port that contents come from and go to; 0 (the default) takes a free one. */
  readonly filesPort?: number
  /** The address to listen on; `127.0.0.1` by default. */
  readonly host?: string
  /** HTTPS, with a certificate that is made at the start. */
  readonly tls?: boolean
  /** What goes wrong from the start on. */
  readonly faults?: Faults
  /** The sign-in name of who is signed in at once where an app asks, without a page. */
  readonly signInAs?: string | undefined
  /** Seconds; 3600 by default. */
  readonly accessTokenSeconds?: number
  /** Seconds without use; 90 days by default. */
  readonly refreshTokenSeconds?: number
  /** Seconds that an upload session lives on after each fragment; an hour by default. */
  readonly uploadSessionSeconds?: number
  /** Seconds without use after which the session of a workbook ends; 5 minutes by default, 7 where it is not persistent. */
  readonly workbookSessionSeconds?: number
  /** Seconds that a link to contents holds; an hour by default. */
  readonly downloadSeconds?: number
  /** Seconds until a search of messages finds a new one; 0 by default. In the service it may be minutes. */
  readonly mailSearchSeconds?: number
  /** Seconds that a subscription lives at most, once made or renewed; by default as long as its resource allows. */
  readonly subscriptionSeconds?: number
  /** What becomes of a request for contents that carries an access token: it is refused, as by default, or served. */
  readonly tokenOnFiles?: "refuse" | "ignore"
  /**
   * Rewrites Office files that are uploaded to document libraries of sites, as SharePoint does: size and hash then differ
   * from those of what was sent. Off by default.
   */
  readonly rewriteOffice?: boolean
  /**
   * Refuses what the scopes of a token, or the roles of an app's, do not permit. By default a token gives access to
   * everything.
   */
  readonly enforceScopes?: boolean
}

export type { LifecycleEvent } from "./internal/servers/Notifier.ts"

/** The sandbox cannot be started, or was asked for what is not there. `message` says what and why. */
export class SandboxError extends Schema.TaggedError<SandboxError>()("SandboxError", { message: Schema.String }) {}

/** A sandbox that runs. */
export interface Sandbox {
  /** Where the graph and the identity provider are, as `https://localhost:4711`. */
  readonly origin: string
  /** The graph's base address: `origin` and `/v1.0`. */
  readonly graphUrl: string
  /** What an identity library takes as its authority: `origin` and `/common`. */
  readonly authority: string
  /** The host of contents, which is another one so that a client shows whether it sends its token there. */
  readonly filesOrigin: string
  /** The certificate that a client has to trust, as PEM; `null` over plain HTTP. */
  readonly ca: string | null
  readonly tenant: string
  /** The first app of the seed. */
  readonly app: { readonly clientId: string; readonly secret: string | null; readonly redirectUri: string }
  /** An access token for a person, by sign-in name; without one, for the first person of the seed. It has all scopes, or these. */
  readonly accessToken: (user?: string, scopes?: ReadonlyArray<string>) => Effect.Effect<string, SandboxError>
  /** An access token for the app itself. */
  readonly appToken: Effect.Effect<string>
  /** From now on these rules are in force, and no others. */
  readonly setFaults: (faults: Faults) => Effect.Effect<void, SandboxError>
  readonly clearFaults: Effect.Effect<void>
  /** The requests so far, in the order of their responses. */
  readonly requests: Effect.Effect<ReadonlyArray<Seen>>
  readonly forgetRequests: Effect.Effect<void>
  /** Every access token given so far is refused as expired. */
  readonly expireAccessTokens: Effect.Effect<void>
  /** Every refresh token given so far is refused as expired. */
  readonly expireRefreshTokens: Effect.Effect<void>
  /** Puts a mail into the mailbox of a person, by sign-in name or address; returns its `internetMessageId`. */
  readonly deliver: (user: string, mail: Mail) => Effect.Effect<string, SandboxError>
  /** Sends a lifecycle notification of a subscription, or of all; and does to it what the notification says. */
  readonly sendLifecycle: (event: LifecycleEvent, subscription?: string) => Effect.Effect<void, SandboxError>
  /** Signs a person in on a device that waits with this code; `null` declines. */
  readonly answerDevice: (userCode: string, user: string | null) => Effect.Effect<void, SandboxError>
}

const day = 24 * 3600

const hostOf = (url: string) =>
  /^\/(?:v1\.0|beta)(?:\/|\?|$)/i.test(url)
    ? ("graph" as const)
    : url.startsWith("/sandbox/")
      ? null
      : ("login" as const)

const notThere = HttpServerResponse.text("There is nothing here.\n", { status: 404 })

const unresolved = "the host name does not resolve: give an address of this machine, such as 127.0.0.1"

/** Why an address cannot be listened on, and what to do, by the code of the system. */
const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use: stop the program that listens there, or choose another (0 picks a free one)",
  EADDRNOTAVAIL: "this is not an address of this machine: give one that is, such as 127.0.0.1",
  EACCES: "no permission: choose a port from 1024 up, or give this process the permission",
  ENOTFOUND: unresolved,
  EAI_AGAIN: unresolved
}

const cannotListen = (host: string, port: number, cause: unknown): string => {
  const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : ""
  return `cannot listen on port ${port} of ${host}: ${listenProblems[code] ?? String(cause)}`
}

/** Listens; the routes come later, as they need to know the port. */
const listen = Effect.fnUntraced(function* (options: Options, port: number, certificate: Tls.Certificate | null) {
  // A large file may take as long as it takes.
  const settings = { requestTimeout: 0 }
  const create = () =>
    certificate === null
      ? createHttpServer(settings)
      : createHttpsServer({ ...settings, key: certificate.key, cert: certificate.cert })
  const host = options.host ?? "127.0.0.1"
  const server = yield* Effect.mapError(
    NodeHttpServer.make(create, { port, host, gracefulShutdownTimeout: "1 second" }),
    ({ cause }) => new SandboxError({ message: cannotListen(host, port, cause) })
  )
  const { address } = server
  const bound = "port" in address ? address.port : port
  return { server, port: bound }
})

const make = Effect.fnUntraced(function* (options: Options) {
  const certificate = options.tls === true ? yield* Tls.make(yield* Clock.currentTimeMillis) : null
  const scheme = certificate === null ? "http" : "https"
  const main = yield* listen(options, options.port ?? 0, certificate)
  const files = yield* listen(options, options.filesPort ?? 0, certificate)
  const origin = `${scheme}://localhost:${main.port}`
  // The same machine under another name: what holds for one host must not hold for the other.
  const filesOrigin = `${scheme}://127.0.0.1:${files.port}`

  const world = yield* Effect.mapError(
    Layer.build(World.layer(options.seed ?? {})),
    (error) => new SandboxError({ message: error.message })
  )
  const { apps, tenant, userBy, users } = Context.get(world, World)
  const services = Context.merge(
    world,
    yield* Layer.build(
      Layer.mergeAll(
        Layer.provideMerge(
          Notifier.layer({ tenant, subscriptionSeconds: options.subscriptionSeconds ?? Number.POSITIVE_INFINITY }),
          Traffic.layer
        ),
        Transfers.layer(filesOrigin, {
          uploadSessionSeconds: options.uploadSessionSeconds ?? 3600,
          workbookSessionSeconds: {
            persistent: options.workbookSessionSeconds ?? 300,
            other: options.workbookSessionSeconds ?? 420
          },
          downloadSeconds: options.downloadSeconds ?? 3600,
          mailSearchSeconds: options.mailSearchSeconds ?? 0,
          refuseTokens: options.tokenOnFiles !== "ignore",
          rewriteOffice: options.rewriteOffice === true
        }),
        Tokens.layer(origin, tenant, {
          accessTokenSeconds: options.accessTokenSeconds ?? 3600,
          refreshTokenSeconds: options.refreshTokenSeconds ?? 90 * day,
          enforceScopes: options.enforceScopes === true
        })
      )
    )
  )
  yield* Effect.provideContext(ControlServer.setFaults(options.faults ?? none), services)
  const [app] = [...apps.values()]
  if (app === undefined) return yield* new SandboxError({ message: "apps: at least one app must be registered" })
  if (options.signInAs !== undefined && userBy(options.signInAs) === undefined) {
    return yield* new SandboxError({ message: `signInAs: no user is '${options.signInAs}'` })
  }

  const graph = GraphServer.handler(origin)
  const routes = Layer.mergeAll(
    LoginServer.routes({ origin, automatic: options.signInAs ?? null }),
    ControlServer.routes,
    HttpRouter.add("*", "/*", notThere)
  )
  const config = { maxParamLength: 100_000 }
  yield* HttpRouter.toHttpEffect(routes).pipe(
    Effect.provideService(HttpRouter.RouterConfig, config),
    // The graph reads addresses in its own way, and needs them as they were sent.
    Effect.map((app) =>
      Effect.gen(function* () {
        const { url } = yield* HttpServerRequest.HttpServerRequest
        return hostOf(url) === "graph" ? yield* graph : yield* app
      })
    ),
    Effect.flatMap((app) => main.server.serve(Edge.edge(hostOf)(app))),
    Effect.provideContext(services)
  )
  yield* HttpRouter.toHttpEffect(FilesServer.routes).pipe(
    Effect.provideService(HttpRouter.RouterConfig, config),
    Effect.flatMap((app) => files.server.serve(Edge.edge(() => "files" as const)(app))),
    Effect.provideContext(services)
  )

  const traffic = Context.get(services, Traffic)
  const tokens = Context.get(services, Tokens)
  const [first] = [...users.values()]
  return {
    origin,
    graphUrl: `${origin}/v1.0`,
    authority: `${origin}/common`,
    filesOrigin,
    ca: certificate?.cert ?? null,
    tenant,
    app: { clientId: app.clientId, secret: app.secret, redirectUri: app.redirectUris[0] ?? "" },
    accessToken: Effect.fn("GraphSandbox.accessToken")(function* (
      name?: string,
      scopes: ReadonlyArray<string> = supportedScopes
    ) {
      const user = name === undefined ? first : userBy(name)
      if (user === undefined) return yield* new SandboxError({ message: `no user is '${name ?? ""}'` })
      return tokens.mint({ kind: "user", user, app, scopes }, yield* Clock.currentTimeMillis)
    }),
    appToken: Effect.map(Clock.currentTimeMillis, (now) => tokens.mint({ kind: "app", app, scopes: app.roles }, now)),
    setFaults: Effect.fn("GraphSandbox.setFaults")(function* (faults: Faults) {
      const checked = yield* Effect.mapError(
        Schema.decodeEffect(ControlServer.CheckedFaults)(faults),
        (error) => new SandboxError({ message: `faults: ${error.message}` })
      )
      yield* Effect.provideContext(ControlServer.setFaults(checked), services)
    }),
    clearFaults: Effect.provideContext(ControlServer.setFaults(none), services),
    requests: traffic.seen,
    forgetRequests: traffic.forget,
    expireAccessTokens: tokens.expireAccess,
    expireRefreshTokens: tokens.expireRefresh,
    deliver: (user: string, mail: Mail) =>
      Effect.mapError(
        Effect.provideContext(ControlServer.deliver(user, mail), services),
        (message) => new SandboxError({ message })
      ),
    sendLifecycle: Effect.fn("GraphSandbox.sendLifecycle")(function* (event: LifecycleEvent, subscription?: string) {
      const known = yield* Context.get(services, Notifier).lifecycle(event, subscription)
      if (!known) return yield* new SandboxError({ message: "there is no such subscription" })
    }),
    answerDevice: Effect.fn("GraphSandbox.answerDevice")(function* (userCode: string, user: string | null) {
      const known = yield* LoginServer.answerDevice(userCode, user).pipe(Effect.provideContext(services))
      if (!known)
        return yield* new SandboxError({ message: "no device is waiting with this code, or no user has this name" })
    })
  } satisfies Sandbox
})

/**
 * The sandbox as a service.
 *
 * @example
 * ```ts
 * import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const sandbox = yield* GraphSandbox
 *   const token = yield* sandbox.accessToken("ann@contoso.test")
 *   const response = yield* Effect.promise(() =>
 *     fetch(`${sandbox.graphUrl}/me`, {
 *       headers: { authorization: `Bearer ${token}` }
 *     })
 *   )
 *   return response.status
 * }).pipe(Effect.provide(GraphSandbox.layer({ signInAs: "ann@contoso.test" })))
 * ```
 */
export class GraphSandbox extends Context.Service<GraphSandbox, Sandbox>()("@signalbox/graph-sandbox/GraphSandbox") {
  /** Starts a sandbox that runs as long as the layer does; all it was given is then gone. */
  static readonly layer = (options: Options = {}): Layer.Layer<GraphSandbox, SandboxError> =>
    Layer.effect(GraphSandbox)(make(options)).pipe(Layer.provide(NodeHttpServer.layerHttpServices))
}
