/**
 * The management of durable flows over HTTP, for programs that have a server. `signalbox flows` is a client of it.
 */
import * as NodeHttpServer from "@signalbox/platform/NodeHttpServer"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Scope from "effect/Scope"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { HttpServerError } from "effect/http/HttpServerError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { defined } from "@signalbox/transport/Defined"
import { FlowEngine } from "./FlowEngine.ts"
import type { InvalidInput } from "./FlowErrors.ts"
import * as FlowExecutions from "./FlowExecutions.ts"
import * as FlowSchedules from "./FlowSchedules.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"
import * as Actor from "./internal/management/Actor.ts"
import { conflicting, invalid, missing, type Said } from "./internal/management/Errors.ts"
import {
  ExecutionsApi,
  type Inspection as InspectionSchema,
  type Page as PageSchema,
  refusedCommands,
  type Versions as VersionsSchema
} from "./internal/management/Contract.ts"
import * as Edges from "./internal/management/Edges.ts"
import * as Grants from "./internal/management/Grants.ts"
import * as Schedules from "./internal/management/Schedules.ts"
import * as States from "./internal/management/States.ts"
import { states } from "./internal/management/StatesHandlers.ts"
import * as Starting from "./internal/management/Starting.ts"
import * as Tokens from "./internal/management/Tokens.ts"
import type { IncomingMessage, ServerResponse } from "node:http"

/** A page of executions as JSON: times in ISO 8601, names with underscores. */
export type PageJson = typeof PageSchema.Encoded
/** The versions of flows as JSON. */
export type VersionsJson = typeof VersionsSchema.Encoded
/** The inspection of an execution as JSON. */
export type InspectionJson = typeof InspectionSchema.Encoded

/** The states of an execution, and the names of its feeds, as JSON. */
export type StatesJson = typeof States.States.Encoded
/** A value of a state or an item of a feed as JSON. */
export type ItemJson = typeof States.Item.Encoded
/** What has become of a request as JSON. */
export type AnsweredJson = typeof States.Answered.Encoded

export type { Verb } from "./internal/management/Grants.ts"
export type { TokenOptions, Tokens as Options } from "./internal/management/Tokens.ts"

/** The options are invalid; the message names the field and the remedy. */
export class InvalidManagement extends TaggedError<InvalidManagement>()("InvalidManagement", {
  message: Schema.String
}) {}

/** The routes, but for who may use them. */
const handlers = () => {
  const executions = HttpApiBuilder.group(
    ExecutionsApi,
    "executions",
    Effect.fnUntraced(function* (handlers) {
      const engine = yield* FlowEngine
      const on = <A, E>(effect: Effect.Effect<A, E, FlowEngine>) => Effect.provideService(effect, FlowEngine, engine)
      const ExecutionNotFound = (error: Said) => Effect.fail(missing(error))
      const StepNotFound = ExecutionNotFound
      const ExecutionConflict = (error: Said) => Effect.fail(conflicting(error))
      const SignalConflict = ExecutionConflict
      const InvalidSignal = (error: Said) => Effect.fail(invalid(error))
      /** The options of a command, with who has sent the request. */
      const signed = <O extends FlowExecutions.CommandIdentity>(options: O) =>
        Actor.named("by", options.by).pipe(
          Effect.mapBoth({
            onFailure: invalid,
            onSuccess: (by) => ({ ...options, ...defined({ by }) })
          })
        )
      return handlers
        .handle("list", ({ query }) =>
          Effect.andThen(Grants.reaches(query.flow), on(FlowExecutions.list(query))).pipe(
            Effect.catchTags({ ExecutionNotFound })
          )
        )
        .handle("versions", ({ query: { flow } }) =>
          Effect.andThen(
            Grants.reaches(flow),
            Effect.map(on(FlowExecutions.versions(flow)), (versions) => ({ versions }))
          )
        )
        .handle("commands", ({ payload }) => {
          const { all: _all, command, filter, ...options } = payload
          const message = refusedCommands(payload)
          return Effect.gen(function* () {
            if (command === "terminate") yield* Grants.mayDo(yield* Grants.CurrentGrant, "terminate")
            yield* Grants.reaches(filter.flow)
            if (message !== null) return yield* invalid({ message })
            const given = yield* signed(options)
            return yield* Starting.checked(
              on(FlowExecutions.each(filter, command, { ...given, at: Starting.dateOf(given.at) }))
            )
          })
        })
        .handle("start", ({ payload }) =>
          Effect.andThen(Grants.reaches(payload.flow), on(Starting.start(payload))).pipe(
            Effect.catchTags({
              InvalidInput: ({ expected, path }: InvalidInput) =>
                Effect.fail(invalid({ message: `${path === "" ? "input" : `input.${path}`}: ${expected}` })),
              FlowExpired: ExecutionConflict,
              FlowDraining: ExecutionConflict,
              ExecutionNotFound,
              ExecutionConflict,
              SignalConflict,
              InvalidSignal
            })
          )
        )
        .handle("result", ({ params: { id }, query: { wait = 0 } }) =>
          on(Starting.result(id, wait)).pipe(Effect.catchTags({ ExecutionNotFound }))
        )
        .handle("inspect", ({ params: { id } }) =>
          on(FlowExecutions.inspect(id)).pipe(Effect.catchTags({ ExecutionNotFound }))
        )
        .handle("history", ({ params: { id } }) =>
          on(FlowExecutions.history(id)).pipe(Effect.catchTags({ ExecutionNotFound }))
        )
        .handle("signal", ({ params: { id }, payload: { signal, value, ...options } }) =>
          Actor.valueOf(value).pipe(
            Effect.mapError(invalid),
            Effect.flatMap((value) => on(FlowExecutions.signal(id, signal, value, options))),
            Effect.as({ id }),
            Effect.catchTags({ ExecutionNotFound, ExecutionConflict, SignalConflict, InvalidSignal })
          )
        )
        .handle("cancel", ({ params: { id }, payload = {} }) =>
          Effect.flatMap(signed(payload), (options) => on(FlowExecutions.cancel(id, options))).pipe(
            Effect.as({ id }),
            Effect.catchTags({ ExecutionNotFound })
          )
        )
        .handle("terminate", ({ params: { id }, payload = {} }) =>
          Effect.flatMap(signed(payload), (options) => on(FlowExecutions.terminate(id, options))).pipe(
            Effect.as({ id }),
            Effect.catchTags({ ExecutionNotFound })
          )
        )
        .handle("suspend", ({ params: { id }, payload = {} }) =>
          Effect.flatMap(signed(payload), (options) => on(FlowExecutions.suspend(id, options))).pipe(
            Effect.as({ id }),
            Effect.catchTags({ ExecutionNotFound, ExecutionConflict })
          )
        )
        .handle("resume", ({ params: { id }, payload }) =>
          Effect.flatMap(signed(payload), (options) => on(FlowExecutions.resume(id, options))).pipe(
            Effect.as({ id }),
            Effect.catchTags({ ExecutionNotFound, StepNotFound, ExecutionConflict })
          )
        )
        .handle("reschedule", ({ params: { id }, payload }) =>
          Effect.flatMap(signed(payload), (options) => on(Starting.reschedule(id, options))).pipe(
            Effect.as({ id }),
            Effect.catchTags({ ExecutionNotFound, ExecutionConflict })
          )
        )
        .handle("fork", ({ params: { id }, payload }) =>
          on(FlowExecutions.fork(id, payload)).pipe(
            Effect.map((id) => ({ id })),
            Effect.catchTags({ ExecutionNotFound, StepNotFound, ExecutionConflict })
          )
        )
        .handle("retry", ({ params: { id }, payload }) =>
          Effect.flatMap(signed(payload), (options) => on(FlowExecutions.retry(id, options))).pipe(
            Effect.as({ id }),
            Effect.catchTags({ ExecutionNotFound, StepNotFound, ExecutionConflict })
          )
        )
    })
  )
  const schedules = HttpApiBuilder.group(
    Schedules.Api,
    "schedules",
    Effect.fnUntraced(function* (handlers) {
      const engine = yield* FlowEngine
      const on = <A>(
        effect: Effect.Effect<A, FlowSchedules.ScheduleNotFound | FlowSchedules.InvalidBackfill, FlowEngine>
      ) =>
        Effect.mapError(Effect.provideService(effect, FlowEngine, engine), (error) =>
          error._tag === "ScheduleNotFound" ? missing(error) : invalid(error)
        )
      return handlers
        .handle("list", () =>
          Effect.zipWith(
            Effect.provideService(FlowSchedules.list, FlowEngine, engine),
            Grants.CurrentGrant,
            (schedules, { flows }) => ({
              schedules: schedules.filter(({ flow }) => flows === undefined || flows.includes(flow))
            })
          )
        )
        .handle("get", ({ params: { name } }) => on(FlowSchedules.get(name)))
        .handle("pause", ({ params: { name }, payload: { by, note } }) =>
          Actor.named("by", by).pipe(
            Effect.mapError(invalid),
            Effect.flatMap((by) => on(FlowSchedules.pause(name, note, by === undefined ? {} : { by }))),
            Effect.as({ name })
          )
        )
        .handle("resume", ({ params: { name } }) => Effect.as(on(FlowSchedules.resume(name)), { name }))
        .handle("runNow", ({ params: { name } }) => on(FlowSchedules.runNow(name)))
        .handle("backfill", ({ params: { name }, payload: { from, to } }) =>
          Effect.map(on(FlowSchedules.backfill(name, from, to)), (asked) => ({ asked }))
        )
        .handle("remove", ({ params: { name } }) => Effect.as(on(FlowSchedules.remove(name)), { name }))
    })
  )
  return Layer.mergeAll(
    Layer.provide(HttpApiBuilder.layer(ExecutionsApi), executions),
    Layer.provide(HttpApiBuilder.layer(States.Api), states()),
    Layer.provide(HttpApiBuilder.layer(Schedules.Api), schedules)
  ).pipe(Layer.provide(Edges.layer))
}

/**
 * Mounts the routes in the `HttpRouter` of a program that has a `FlowEngine`: below `/flow-executions` the list of executions, the
 * inspection and history of one, its forks, what it says of itself, signals, requests, and the commands `cancel`, `terminate`,
 * `suspend`, `resume`, `retry` and `reschedule` for one or by a filter; at `/flow-versions` the versions of flows; below `/flow-schedules` the functions of
 * `FlowSchedules`. Fails with `InvalidManagement` when the token is too short.
 *
 * ```ts
 * import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
 * import * as Config from "effect/Config"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as HttpRouter from "effect/http/HttpRouter"
 * import { FlowEngine } from "@signalbox/flows/FlowEngine"
 * import * as FlowManagement from "@signalbox/flows/FlowManagement"
 * import { createServer } from "node:http"
 *
 * const routes = Layer.unwrap(
 *   Effect.map(Config.Redacted("SIGNALBOX_FLOWS_TOKEN"), (token) =>
 *     FlowManagement.layerRoutes({ token })
 *   )
 * )
 * export const server = HttpRouter.serve(routes, { disableLogger: true }).pipe(
 *   Layer.provide(FlowEngine.layerSqlite({ file: "data/flows.db" })),
 *   Layer.provide(
 *     NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 4800 })
 *   )
 * )
 * ```
 */
export const layerRoutes = (options: Tokens.Tokens) => {
  const checked = Layer.effectDiscard(
    Effect.flatMap(engineOf, ({ engine }) =>
      Effect.forEach(
        Tokens.refusals(options, engine.encrypts),
        (message) => Effect.fail(new InvalidManagement({ message })),
        { discard: true }
      )
    )
  )
  return handlers().pipe(Layer.provide([Tokens.layer(options), checked]))
}

/** What `toNodeHandler` and `toWebHandler` take. */
export interface HandlerOptions extends Tokens.Tokens {
  /**
   * The path that the routes are mounted at, such as `/flows`; it is removed unless the framework has done so. Default: none, so that
   * they are at `/flow-executions`, `/flow-versions` and `/flow-schedules`.
   */
  readonly prefix?: string | undefined
}

/** The request as the routes have it. */
const withoutPrefix = (prefix: string) => (request: HttpServerRequest.HttpServerRequest) =>
  request.url.startsWith(`${prefix}/`) ? request.modify({ url: request.url.slice(prefix.length) }) : request

const routed = ({ prefix = "", ...options }: HandlerOptions) =>
  // Nothing here serves files. A separate router, even where the program has one.
  HttpRouter.toHttpEffect(Layer.provide(layerRoutes(options), HttpServer.layerServices)).pipe(
    Effect.provideServiceEffect(Layer.CurrentMemoMap, Layer.makeMemoMap),
    Effect.map(Effect.updateService(HttpServerRequest.HttpServerRequest, withoutPrefix(prefix.replace(/\/+$/, ""))))
  )

/**
 * Returns the routes of `layerRoutes` as a handler for `node:http` and frameworks based on it (Express, Fastify), on the port of a
 * program that has a server. It must get the bodies unparsed. Requests are interrupted when the scope ends. Fails with
 * `InvalidManagement` when the token is too short.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 * import * as FlowManagement from "@signalbox/flows/FlowManagement"
 * import { createServer } from "node:http"
 *
 * export const server = Effect.map(
 *   FlowManagement.toNodeHandler({
 *     token: Redacted.make("at least 16 characters"),
 *     prefix: "/flows"
 *   }),
 *   (manage) =>
 *     createServer((request, response) =>
 *       request.url?.startsWith("/flows/") === true
 *         ? manage(request, response)
 *         : response.end("hello")
 *     )
 * )
 * ```
 */
export const toNodeHandler = Effect.fn("FlowManagement.toNodeHandler")(function* (
  options: HandlerOptions
): Effect.fn.Return<
  (request: IncomingMessage, response: ServerResponse) => void,
  InvalidManagement,
  FlowEngine | Scope.Scope
> {
  const app = yield* routed(options)
  return yield* NodeHttpServer.makeHandler(app, { scope: yield* Scope.Scope })
})

/**
 * Like `toNodeHandler`, for servers that use web requests (Hono, Next). The routes are served until the scope ends.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 * import * as FlowManagement from "@signalbox/flows/FlowManagement"
 *
 * export const listed = Effect.gen(function* () {
 *   const token = "at least 16 characters"
 *   const manage = yield* FlowManagement.toWebHandler({
 *     token: Redacted.make(token)
 *   })
 *   const request = new Request("http://127.0.0.1:4800/flow-executions", {
 *     headers: { authorization: `Bearer ${token}` }
 *   })
 *   return yield* Effect.promise(() => manage(request))
 * })
 * ```
 */
export const toWebHandler = Effect.fn("FlowManagement.toWebHandler")(function* (
  options: HandlerOptions
): Effect.fn.Return<(request: Request) => Promise<Response>, InvalidManagement, FlowEngine | Scope.Scope> {
  const handler = HttpEffect.toWebHandler(yield* routed(options))
  return (request) => handler(request)
})

/** The routes for a server that has authorized the request, as the option `flows` of a control room takes them. */
export interface Mounted {
  /** Handles a request whose path is one of the routes, without a prefix. */
  readonly httpEffect: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    HttpServerError,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
  /**
   * Ids of executions that change from now on; null: any may have. Of executions that other programs run, only their start, their end
   * and what is sent to them.
   */
  readonly changes: Stream.Stream<string | null>
}

/** Changes that were not read yet; the oldest of more are dropped, since readers load everything from time to time. */
const mostUnread = 1024

/**
 * Returns the routes without a token of their own, for a control room that serves them below its own address: to its keys, and
 * in its console. The room authorizes each request, so do not serve them by themselves. They are served until the scope ends.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { FlowEngine } from "@signalbox/flows/FlowEngine"
 * import * as FlowManagement from "@signalbox/flows/FlowManagement"
 *
 * // For `Embedded.layer` of `signalbox`, below which the same engine is provided.
 * export const options = Effect.map(FlowManagement.mounted, (flows) => ({
 *   data: ".signalbox",
 *   flows
 * }))
 * export const engine = FlowEngine.layerSqlite({ file: "data/flows.db" })
 * ```
 */
export const mounted: Effect.Effect<Mounted, never, FlowEngine | Scope.Scope> = Effect.suspend(() =>
  // Nothing here serves files.
  HttpRouter.toHttpEffect(Layer.provide(handlers(), [Tokens.layerAuthorized, HttpServer.layerServices]))
).pipe(
  // A separate router, even where the program has one.
  Effect.provideServiceEffect(Layer.CurrentMemoMap, Layer.makeMemoMap),
  Effect.zipWith(engineOf, (httpEffect, { engine }) => ({
    httpEffect,
    changes: Stream.callback<string | null>((unread) => engine.watch((id) => void Queue.offerUnsafe(unread, id)), {
      bufferSize: mostUnread,
      strategy: "sliding"
    })
  }))
)
