/**
 * Serves the contract: each endpoint is one route, which checks the key, decodes what the endpoint declares, calls the
 * handler and encodes its result. It does what `HttpApiBuilder` does for the endpoints of this contract (JSON in and
 * out, one success status) at a fraction of the cost per request; decoders are created at the first call.
 */
import { Api } from "@signalbox/api/contract/Api"
import type { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import { ExtensionKeys, isExtension, MembersOfBody } from "@signalbox/api/contract/Documentation"
import { SentAsStored } from "@signalbox/api/contract/Responses"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as Scope from "effect/Scope"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createHash } from "node:crypto"
import { Auditing, type Handler } from "./Auditing.ts"
import * as ChangeHints from "./ChangeHints.ts"
import { ResponseMemory } from "./ResponseMemory.ts"
import { Authorization } from "./Authorization.ts"
import { failed, type Failure, invalidRequest, refuse } from "./Failures.ts"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as LargeJson from "./LargeJson.ts"
import * as Slices from "../background/Slices.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { Changes } from "../store/room/Changes.ts"
import { complete, ResponseHeaders } from "./ResponseHeaders.ts"
import * as StaticPages from "./StaticPages.ts"
import { kindOf, largeBody, textOfBody } from "./Incoming.ts"
import { trusting } from "./TrustedJson.ts"
import { refusal } from "./Validation.ts"

type Groups = typeof Api.groups
type EndpointsOf<G extends keyof Groups> = HttpApiGroup.Endpoints<Groups[G]>

/** One handler for each endpoint of a group, typed by the contract. */
export type HandlersOf<G extends keyof Groups> = {
  readonly [E in EndpointsOf<G> as E["identifier"]]: HttpApiEndpoint.Handler<
    E,
    HttpApiEndpoint.MiddlewareError<E>,
    CurrentPrincipal | HttpRouter.Provided
  >
}

type Decode = (input: unknown) => Result.Result<unknown, Schema.SchemaError>

const decoder = (schema: Schema.Top, options?: SchemaAST.ParseOptions): Decode =>
  // Schemas of the contract need no services, which `Schema.Top` does not say.
  Schema.decodeUnknownResult(schema as Schema.Codec<unknown>, options)

const decoderIfAny = (schema: Schema.Top | undefined) => (schema === undefined ? undefined : decoder(schema))

const exact = { onExcessProperty: "error" } as const

/** Whether JSON has one of these keys, however deep. */
const hasKey = (value: unknown, keys: ReadonlyArray<string>): boolean =>
  typeof value === "object" &&
  value !== null &&
  // Not the entries of lists, which may be very long.
  (Array.isArray(value)
    ? value.some((item) => hasKey(item, keys))
    : Object.entries(value).some(([key, member]) => keys.includes(key) || hasKey(member, keys)))

/** Decodes bodies; an unknown key is refused where no client of the hosted service can have sent it. */
const bodyOf = (endpoint: HttpApiEndpoint.Top, schema: Schema.Top) => {
  const keys = isExtension(endpoint) ? [] : Context.get(endpoint.annotations, ExtensionKeys)
  const of = (schema: Schema.Top) => {
    const decoders = { strict: decoder(schema, exact), lenient: decoder(schema) }
    return (json: unknown, hasKey: boolean) =>
      (isExtension(endpoint) || hasKey ? decoders.strict : decoders.lenient)(json)
  }
  const decode = of(schema)
  const decodeTrusted = of(Schema.make(trusting(schema.ast)))
  return {
    keys,
    decode: (json: unknown) => decode(json, keys.length > 0 && hasKey(json, keys)),
    decodeRead: ({ hasKey, isFinite, json }: LargeJson.Read) => (isFinite ? decodeTrusted : decode)(json, hasKey)
  }
}

type Body = ReturnType<typeof bodyOf>

const compile = (endpoint: HttpApiEndpoint.Top) => {
  const { query } = endpoint
  const payload = endpoint.payload.get("application/json")
  const [success = Schema.Void] = endpoint.success
  return {
    params: decoderIfAny(endpoint.params),
    headers: decoderIfAny(endpoint.headers),
    parameters: namesOf(query),
    query: decoderIfAny(query === undefined ? undefined : Schema.toCodecArrayFromSingle(query)),
    payload: payload === undefined ? undefined : bodyOf(endpoint, Schema.Union(payload.schemas)),
    stranger: strangerOf(endpoint),
    // The value of an absent payload, which JSON cannot express.
    absent:
      payload?.schemas.some((schema) => SchemaAST.isNull(SchemaAST.toEncoded(schema.ast))) === true ? null : undefined,
    encode: Context.get(endpoint.annotations, SentAsStored)
      ? undefined
      : // As in `decoder`.
        Schema.encodeUnknownEffect(success as Schema.Codec<unknown>)
  }
}

/** The refusal of a body that has no member which the endpoint knows, where an empty body means something. */
const strangerOf = (endpoint: HttpApiEndpoint.Top) => {
  const members = Context.get(endpoint.annotations, MembersOfBody)
  return (body: unknown): Failure | null => {
    if (members === null || !Predicate.isObject(body)) return null
    const names = Object.keys(body)
    const [first] = names
    return first === undefined || names.some((name) => members.known.includes(name))
      ? null
      : invalidRequest(`${first.slice(0, 100)}: unknown key; ${members.remedy(first)}`)
  }
}

type Compiled = ReturnType<typeof compile>

type Parameters = HttpServerRequest.ParsedSearchParams["Service"]

/** Parameters without those that are there again with the same value, as programs send them that add theirs to `next`. */
const withoutRepetitions = (query: Parameters): Parameters =>
  Object.values(query).every((value) => typeof value === "string")
    ? query
    : Object.fromEntries(
        Object.entries(query).map(([name, value]) => {
          const [one, ...others] = typeof value === "string" ? [value] : new Set(value)
          return [name, one !== undefined && others.length === 0 ? one : value]
        })
      )

/** The names of the parameters that an endpoint takes; none of them is a list. */
const namesOf = (query: Schema.Top | undefined): ReadonlyArray<string> => {
  const ast = query === undefined ? undefined : SchemaAST.toEncoded(query.ast)
  return ast !== undefined && SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []
}

/** The refusal of a parameter that is there with two values. */
const contradiction = (names: ReadonlyArray<string>, query: Parameters): Failure | null => {
  for (const name of names) {
    const value = query[name]
    if (value === undefined || typeof value === "string") continue
    const shown = [...new Set(value)].slice(0, 2).map((one) => JSON.stringify(one.slice(0, 100)))
    return invalidRequest(`${name}: given more than once, as ${shown.join(" and ")}; give it once`)
  }
  return null
}

interface Input {
  readonly request: HttpServerRequest.HttpServerRequest
  params?: unknown
  headers?: unknown
  query?: unknown
  payload?: unknown
}

/**
 * The input that the endpoint declares, decoded from the parts of the request in order; the first invalid one is
 * reported.
 */
const inputOf = (compiled: Compiled, context: Context.Context<HttpRouter.Provided>): Result.Result<Input, Failure> => {
  const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
  const input: Input = { request }
  if (compiled.params !== undefined) {
    const decoded = compiled.params(Context.getUnsafe(context, HttpRouter.RouteContext).params)
    if (Result.isFailure(decoded)) return Result.fail(refusal(decoded.failure))
    input.params = decoded.success
  }
  if (compiled.headers !== undefined) {
    const decoded = compiled.headers(request.headers)
    if (Result.isFailure(decoded)) return Result.fail(refusal(decoded.failure))
    input.headers = decoded.success
  }
  if (compiled.query !== undefined) {
    const query = withoutRepetitions(Context.getUnsafe(context, HttpServerRequest.ParsedSearchParams))
    const twice = contradiction(compiled.parameters, query)
    if (twice !== null) return Result.fail(twice)
    const decoded = compiled.query(query)
    if (Result.isFailure(decoded)) return Result.fail(refusal(decoded.failure))
    input.query = decoded.success
  }
  return Result.succeed(input)
}

const notJson = () => invalidRequest("Expected a valid JSON body")

/** The decoded body of a request. */
const payloadOf = (
  request: HttpServerRequest.HttpServerRequest,
  { decode, decodeRead, keys }: Body,
  { absent, stranger }: Pick<Compiled, "absent" | "stranger">
): Effect.Effect<unknown, Failure> => {
  const type = request.headers["content-type"]
  if (kindOf(type) !== "json") {
    return Effect.fail(
      refuse(415, "UNSUPPORTED_MEDIA_TYPE", `content-type: ${type} is not accepted here; send application/json`)
    )
  }
  return Effect.flatMap(textOfBody(request), (text) => {
    const decoded = <A>(value: unknown, decode: () => Result.Result<A, Schema.SchemaError>) => {
      const refused = stranger(value)
      return Effect.fromResult(refused === null ? Result.mapError(decode(), refusal) : Result.fail(refused))
    }
    if (text.length < largeBody) {
      const json: Result.Result<unknown, Failure> =
        text === "" ? Result.succeed(absent) : Result.try({ try: () => ExactJson.parse(text), catch: notJson })
      return Effect.flatMap(Effect.fromResult(json), (value) => decoded(value, () => decode(value)))
    }
    return Slices.run(() => LargeJson.read(text, keys)).pipe(
      Effect.flatMap((read) => (read === null ? Effect.fail(notJson()) : decoded(read.json, () => decodeRead(read)))),
      Effect.tap(Effect.yieldNow)
    )
  })
}

const routeOf = (
  { guard }: Authorization["Service"],
  { sending }: ResponseMemory["Service"],
  { tell }: Changes["Service"],
  endpoint: HttpApiEndpoint.Top,
  group: HttpApiGroup.Top,
  hintsOf: ReturnType<typeof ChangeHints.of>,
  handler: Handler
) => {
  let made: Compiled | undefined
  const compiled = () => (made ??= compile(endpoint))

  const answer = Effect.withFiber<
    HttpServerResponse.HttpServerResponse,
    Failure,
    CurrentPrincipal | HttpRouter.Provided
  >((fiber) => {
    const decoders = compiled()
    const { encode, payload } = decoders
    // The router and the guard have provided to the fiber what a handler may require.
    const context = fiber.context as Context.Context<HttpRouter.Provided>
    const decoded = inputOf(decoders, context)
    if (Result.isFailure(decoded)) return Effect.fail(decoded.failure)
    const input = decoded.success
    const answered =
      payload === undefined
        ? handler(input)
        : Effect.flatMap(payloadOf(input.request, payload, decoders), (value) => {
            input.payload = value
            return handler(input)
          })
    const headers = Context.getUnsafe(context, ResponseHeaders)
    const write = (value: unknown) => {
      if (HttpServerResponse.isHttpServerResponse(value)) return value
      return complete(HttpServerResponse.jsonUnsafe(value), headers)
    }
    return encode === undefined
      ? Effect.map(answered, write)
      : Effect.flatMap(answered, (value) =>
          HttpServerResponse.isHttpServerResponse(value)
            ? Effect.succeed(value)
            : // A result that does not encode is a bug of the service: a 500.
              Effect.map(Effect.orDie(encode(value)), write)
        )
  })

  // Outside the guard, so that a transaction that the guard opens around the handler is rolled back.
  const handled = Effect.catch(guard(endpoint, group, answer), (failure) => Effect.succeed(failed(failure)))
  const told =
    hintsOf === null
      ? handled
      : Effect.tap(handled, ({ status }) =>
          status >= 300
            ? Effect.void
            : Effect.flatMap(HttpRouter.RouteContext, ({ params }) =>
                tell(params["workspace_id"] ?? "", () => hintsOf(params))
              )
        )
  const sent = Effect.flatMap(told, (response) =>
    Effect.catch(sending(response, endpoint.method === "GET"), (refusal) => Effect.succeed(failed(refusal)))
  )
  // Paths of the contract begin with a slash.
  return HttpRouter.route(endpoint.method, endpoint.path as HttpRouter.PathInput, sent)
}

/** The routes of a group of the contract. */
export const group = <const G extends keyof Groups, E, R>(
  name: G,
  build: (handlers: { readonly handleAll: (all: HandlersOf<G>) => HandlersOf<G> }) => Effect.Effect<HandlersOf<G>, E, R>
): Layer.Layer<
  never,
  E,
  Exclude<R, Scope.Scope> | ResponseMemory | Changes | Authorization | Auditing | HttpRouter.HttpRouter
> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const authorization = yield* Authorization
      const memory = yield* ResponseMemory
      const changes = yield* Changes
      const { audited } = yield* Auditing
      const router = yield* HttpRouter.HttpRouter
      const handlers: Readonly<Record<string, unknown>> = yield* build({ handleAll: (all) => all })
      // The groups are a union without a common supertype that TypeScript finds.
      const group: HttpApiGroup.Top = Api.groups[name] as unknown as HttpApiGroup.Top
      const endpoints: ReadonlyArray<HttpApiEndpoint.Top> = Object.values(group.endpoints)
      yield* router.addAll(
        endpoints.map((endpoint) =>
          routeOf(
            authorization,
            memory,
            changes,
            endpoint,
            group,
            ChangeHints.of(endpoint, name),
            audited(endpoint, handlers)
          )
        )
      )
    })
  )

/** The contract with the address under which clients reach it. */
const servedAt = (url: string) => Api.annotate(OpenApi.Servers, [{ url }])

/** The OpenAPI document of the contract. */
export const layerDocument = (path: HttpRouter.PathInput) =>
  Layer.unwrap(
    Effect.map(PublicUrl, (url) =>
      StaticPages.layer(
        path,
        Effect.sync(() => ({
          body: JSON.stringify(OpenApi.fromApi(servedAt(url))),
          contentType: "application/json"
        }))
      )
    )
  )

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

/** Content security policy of the page: it may run its own scripts and call this service, and must not be framed. */
const policyOf = (page: string, url: string) => {
  const scripts = Array.from(page.matchAll(/<script>(.*?)<\/script>/gs), ([, script = ""]) => hashOf(script))
  return [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src data:",
    `connect-src 'self' ${new URL(url).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

/** The HTML documentation. It has megabytes, since it loads nothing else, so it is built only when it is requested. */
export const layerPage = (path: `/${string}`) =>
  Layer.unwrap(
    Effect.map(PublicUrl, (url) =>
      StaticPages.layer(
        path,
        Effect.gen(function* () {
          const HttpApiScalar = yield* Effect.promise(() => import("effect/http-api/HttpApiScalar"))
          const router = yield* HttpRouter.make
          const scalar = { withDefaultFonts: false, telemetry: false }
          const page = Layer.provide(
            HttpApiScalar.layer(servedAt(url), { path, scalar }),
            Layer.succeed(HttpRouter.HttpRouter, router)
          )
          const request = HttpServerRequest.fromWeb(new Request(`http://localhost${path}`))
          const response = yield* Effect.scoped(
            Effect.andThen(Layer.build(page), Effect.orDie(router.asHttpEffect()))
          ).pipe(Effect.provideService(HttpServerRequest.HttpServerRequest, request))
          const text = yield* Effect.promise(() => HttpServerResponse.toWeb(response).text())
          return {
            body: text,
            contentType: "text/html; charset=utf-8",
            headers: { "content-security-policy": policyOf(text, url), "referrer-policy": "no-referrer" }
          }
        })
      )
    )
  )
