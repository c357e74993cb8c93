/**
 * A whole control room below a path of an existing server, for programs without Effect: the service, its first
 * workspace and key, and local workers, in one call.
 */
import * as NodeHttpServer from "@signalbox/platform/NodeHttpServer"
import * as NodeServices from "@signalbox/platform/NodeServices"
import * as Service from "@signalbox/control-room/Mounted"
import type { StorageOptions } from "@signalbox/control-room/Options"
import * as Server from "@signalbox/control-room/Server"
import type { Settings } from "@signalbox/worker/Environments"
import type * as Robot from "@signalbox/worker/Robot"
import type * as Task from "@signalbox/worker/Task"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpPlatform from "effect/http/HttpPlatform"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type Credentials, ensureCredentials } from "./internal/connection/Credentials.ts"
import * as InProcess from "./internal/connection/InProcess.ts"
import { workersFolder } from "./internal/connection/WorkersFolder.ts"

/** A task that needs no service but `Robot`, which the worker provides. */
export type PlainTask = Task.Task<Task.PayloadSchema, Task.PayloadSchema, Robot.Robot>

export interface Options extends Omit<Service.Options, "console">, StorageOptions {
  /** Whether the console is served at `console/` below the path of `publicUrl`; default false. */
  readonly console?: boolean
  /** The name of the workspace that the first start creates; default `default`. */
  readonly workspace?: string
  /** The tasks of the local workers, which also run task packages; those reach the service at `publicUrl`. */
  readonly tasks?: ReadonlyArray<PlainTask>
  /** Local workers, one step run at a time each; default 1, 0 for none. */
  readonly workers?: number
  /** How the local workers build the environments of task packages; default: by the first tool on `PATH` that can. */
  readonly environments?: Settings
}

/** A control room that runs until it is disposed of. */
export interface Running<Handler> extends Service.Running<Handler> {
  /**
   * The first workspace, a key with every permission but the one that reads values of secrets, and the address of the
   * service: what `connect` of `@signalbox/api/promise` takes. They are the same at each start, and in `credentials.json`
   * (0600) of the data folder. The key belongs on servers, never in a browser.
   */
  readonly credentials: Credentials
}

const consoleFiles = Effect.flatMap(
  Effect.promise(() => import("@signalbox/console/Files")),
  ({ read }) => Effect.provide(read, NodeServices.layer)
)

const build = Effect.fnUntraced(function* (options: Options) {
  const { console = false, ...given } = options
  const { data, publicUrl, environments = {}, tasks = [], workers = 1 } = given
  const files = console ? yield* consoleFiles : undefined
  const served = files === undefined ? given : { ...given, console: files }
  const service = yield* Layer.build(
    Service.Mounted.layer(served).pipe(
      Layer.provideMerge(Server.layerStorage(options)),
      Layer.provideMerge(HttpPlatform.layer),
      Layer.provideMerge(NodeServices.layer)
    )
  )
  const { httpEffect } = Context.get(service, Service.Mounted)
  const address = publicUrl.replace(/\/+$/, "")
  const credentials = yield* Effect.provideContext(ensureCredentials(data, address, options.workspace), service)
  if (workers > 0) {
    const connected = yield* Effect.promise(() => import("./internal/connection/Connected.ts"))
    // Closed after the workers, which report until their end. They need no server: it may start to listen later than
    // they do.
    const requests = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const inProcess = InProcess.make(new URL(address).origin, httpEffect, (effect) => effect)
    const httpClient = yield* Effect.provideService(inProcess, Scope.Scope, requests)
    const folder = workersFolder(options)
    yield* Layer.build(
      connected.layerOver({ credentials, origin: address, tasks, workers, environments, folder })
    ).pipe(Effect.provideService(HttpClient.HttpClient, httpClient))
  }
  return { credentials, httpEffect }
})

type HttpApp = Service.Mounted["Service"]["httpEffect"]

const running = <Handler>(
  options: Options,
  toHandler: (app: HttpApp, scope: Scope.Scope) => Effect.Effect<Handler>
): Promise<Running<Handler>> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const close = Scope.close(scope, Exit.void)
      const started = Effect.gen(function* () {
        const { credentials, httpEffect } = yield* build(options)
        return { credentials, handler: yield* toHandler(httpEffect, scope) }
      })
      const made = yield* Effect.onError(Effect.provideService(started, Scope.Scope, scope), () => close)
      const dispose = () => Effect.runPromise(close)
      return { ...made, dispose, [Symbol.asyncDispose]: dispose }
    })
  )

/**
 * Starts a control room and resolves to a handler for `node:http` and frameworks based on it (Express, Fastify,
 * Connect), with the credentials to connect to it. Rejects when it cannot start, such as on a data folder that another
 * process uses.
 *
 * ```ts
 * import { connect } from "@signalbox/api/promise"
 * import * as Mounted from "signalbox/Mounted"
 * import { createServer } from "node:http"
 *
 * const automation = await Mounted.toNodeHandler({
 *   data: ".signalbox",
 *   publicUrl: "http://127.0.0.1:3000/automation"
 * })
 * createServer((request, response) =>
 *   request.url?.startsWith("/automation/") === true
 *     ? automation.handler(request, response)
 *     : response.end("hello")
 * ).listen(3000)
 *
 * const { api_key, base_url, workspace_id } = automation.credentials
 * export const room = connect({
 *   baseUrl: base_url,
 *   apiKey: api_key,
 *   workspaceId: workspace_id
 * })
 * ```
 */
export const toNodeHandler = (
  options: Options
): Promise<Running<(request: IncomingMessage, response: ServerResponse) => void>> =>
  running(options, (app, scope) => NodeHttpServer.makeHandler(app, { scope }))

/**
 * Like `toNodeHandler`, for servers that use web requests (Hono, Next). Those carry no client address: without
 * `clientAddress`, requests without a valid key have no budget.
 *
 * ```ts
 * import * as Task from "@signalbox/worker/Task"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Mounted from "signalbox/Mounted"
 *
 * const greet = Task.make("greet", {
 *   input: Schema.Struct({ name: Schema.String }),
 *   output: Schema.Struct({ greeting: Schema.String }),
 *   run: (item) => Effect.succeed({ greeting: `Hello, ${item.payload.name}` })
 * })
 *
 * await using automation = await Mounted.toWebHandler({
 *   data: ".signalbox",
 *   publicUrl: "http://127.0.0.1:3000/automation",
 *   workspace: "greetings",
 *   tasks: [greet],
 *   workers: 2,
 *   // Set by the proxy in front of this server, whatever its clients send.
 *   clientAddress: (request) => request.headers.get("x-real-ip")
 * })
 * const response = await automation.handler(
 *   new Request("http://127.0.0.1:3000/automation/healthz")
 * )
 * ```
 */
export const toWebHandler = (options: Options & Service.WebOptions): Promise<Running<Service.WebHandler>> =>
  running(options, (app) => Effect.sync(() => Service.makeWebHandler(app, options)))
