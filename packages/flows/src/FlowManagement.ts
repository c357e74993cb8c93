/**
 * The management of durable flows over HTTP, for a program that has a server: what `signalbox flows` talks to.
 */
import * as Mac from "effect/crypto/Mac"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { unhandled } from "effect/Types"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { HttpApiSchemaError } from "effect/http-api/HttpApiError"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import {
  ConflictResponse,
  type ErrorBody,
  type ErrorCode,
  InvalidRequestResponse,
  NotFoundResponse,
  UnauthenticatedResponse
} from "@signalbox/api/contract/Responses"
import { FlowEngine } from "./FlowEngine.ts"
import * as FlowExecutions from "./FlowExecutions.ts"
import { Api, Authorization, Edge } from "./internal/management/Contract.ts"

export interface Options {
  /** Who shows it as a bearer token may manage the flows: at least 16 characters, from a secure random source. */
  readonly token: Redacted.Redacted
}

/** The options are of no use; the message says why. */
export class InvalidManagement extends Schema.TaggedError<InvalidManagement>()("InvalidManagement", {
  message: Schema.String
}) {}

const shortestToken = 16

const body = (code: ErrorCode, message: string): ErrorBody => ({ error: { code, message }, message })
const missing = ({ message }: { readonly message: string }) => new NotFoundResponse(body("NOT_FOUND", message))
const conflicting = ({ message }: { readonly message: string }) => new ConflictResponse(body("CONFLICT", message))

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The field that does not fit, and why; never what was given. */
const refusal = ({ cause }: HttpApiSchemaError) => {
  const [first] = format(cause.issue).issues
  const path = (first?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  const message = first?.message ?? "the input is not valid"
  return new InvalidRequestResponse(body("INVALID_REQUEST", path === "" ? message : `${path}: ${message}`))
}

type Answer<E> = Effect.Effect<HttpServerResponse.HttpServerResponse, unhandled | E, HttpRouter.Provided>

const layerEdge = Layer.succeed(Edge, (httpEffect): Answer<InvalidRequestResponse> =>
  httpEffect.pipe(
    Effect.catch((error): Answer<InvalidRequestResponse> => {
      if (!HttpApiSchemaError.is(error)) return Effect.fail(error)
      const ours = error.kind === "Body" || error.kind === "ResponseHeaders"
      return ours ? Effect.die(error) : Effect.fail(refusal(error))
    }),
    Effect.catchDefect((defect) =>
      Effect.as(
        Effect.logError("a request to manage flows failed", defect),
        HttpServerResponse.jsonUnsafe(body("UNEXPECTED_ERROR", "something went wrong: see the log of the program"), {
          status: 500
        })
      )
    )
  )
)

/** Two texts of any length, in a time that tells nothing of where they differ. */
const same = Effect.fnUntraced(function* (one: string, other: string) {
  const digest = (text: string) => Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))
  return Mac.timingSafeEqual(new Uint8Array(yield* digest(one)), new Uint8Array(yield* digest(other)))
})

const layerAuthorization = (token: Redacted.Redacted) =>
  Layer.succeed(Authorization, {
    bearer: (httpEffect, { credential }) =>
      Effect.flatMap(
        same(Redacted.value(credential), Redacted.value(token)),
        (allowed): Answer<UnauthenticatedResponse> =>
          allowed
            ? httpEffect
            : Effect.fail(
                new UnauthenticatedResponse(
                  body("UNAUTHENTICATED", "Expected the token of this program: `Authorization: Bearer <token>`")
                )
              )
      )
  })

/**
 * The routes, for the `HttpRouter` of a program that has a `FlowEngine`: a list of executions, one with its steps and what
 * it waits for, and commands to cancel, resume, retry and signal it.
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
 *   Effect.map(Config.Redacted("SIGNALBOX_FLOWS_TOKEN"), (token) => FlowManagement.layerRoutes({ token }))
 * )
 * export const server = HttpRouter.serve(routes).pipe(
 *   Layer.provide(FlowEngine.layerSqlite({ file: "data/flows.db" })),
 *   Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 4800 }))
 * )
 * ```
 */
export const layerRoutes = ({ token }: Options) => {
  const checked = Layer.effectDiscard(
    Redacted.value(token).length >= shortestToken
      ? Effect.void
      : Effect.fail(new InvalidManagement({ message: `token: Expected at least ${shortestToken} characters` }))
  )
  const handlers = HttpApiBuilder.group(
    Api,
    "executions",
    Effect.fnUntraced(function* (handlers) {
      const engine = yield* FlowEngine
      const on = <A, E>(effect: Effect.Effect<A, E, FlowEngine>) => Effect.provideService(effect, FlowEngine, engine)
      const refusals = {
        ExecutionNotFound: (error: { readonly message: string }) => Effect.fail(missing(error)),
        StepNotFound: (error: { readonly message: string }) => Effect.fail(missing(error)),
        ExecutionConflict: (error: { readonly message: string }) => Effect.fail(conflicting(error)),
        FlowNotRegistered: (error: { readonly message: string }) => Effect.fail(conflicting(error))
      }
      const { ExecutionConflict, ExecutionNotFound, FlowNotRegistered, StepNotFound } = refusals
      return handlers
        .handle("list", ({ query }) => on(FlowExecutions.list(query)).pipe(Effect.catchTags({ ExecutionNotFound })))
        .handle("inspect", ({ params }) =>
          on(FlowExecutions.inspect(params.id)).pipe(Effect.catchTags({ ExecutionNotFound }))
        )
        .handle("cancel", ({ params: { id } }) =>
          on(FlowExecutions.cancel(id)).pipe(Effect.as({ id }), Effect.catchTags({ ExecutionNotFound }))
        )
        .handle("resume", ({ params }) =>
          on(FlowExecutions.resume(params.id)).pipe(
            Effect.map((id) => ({ id })),
            Effect.catchTags({ ExecutionNotFound, ExecutionConflict, FlowNotRegistered })
          )
        )
        .handle("retry", ({ params, payload }) =>
          on(FlowExecutions.retry(params.id, payload)).pipe(
            Effect.map((id) => ({ id })),
            Effect.catchTags({ ExecutionNotFound, StepNotFound, ExecutionConflict, FlowNotRegistered })
          )
        )
        .handle("signal", ({ params: { id }, payload: { path, value } }) =>
          on(FlowExecutions.signal(id, path, value)).pipe(
            Effect.as({ id }),
            Effect.catchTags({ ExecutionNotFound, StepNotFound, ExecutionConflict })
          )
        )
    })
  )
  return HttpApiBuilder.layer(Api).pipe(
    Layer.provide(handlers),
    Layer.provide([layerAuthorization(token), layerEdge, checked])
  )
}
