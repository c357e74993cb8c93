/**
 * Creates a function that calls one endpoint of the contract: the request from its schemas, the response and the error
 * channel from what it declares. Encoders and decoders are created once per endpoint, at its first call.
 */
import * as ExactJson from "@signalbox/transport/ExactJson"
import { describe, parseOptions } from "@signalbox/transport/SchemaProblem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as UrlParams from "effect/http/UrlParams"
import {
  type CallError,
  ControlRoomError,
  type FailureOf,
  InvalidRequest,
  Malformed,
  NotFound,
  type RequestInfo,
  Unexpected,
  unexpected
} from "../../ControlRoomError.ts"
import { type PartOf, type SchemaOf, schemasOf, type Top } from "../endpoints/Endpoint.ts"
import { operationOf } from "./Operation.ts"
import * as RoundedNumbers from "./RoundedNumbers.ts"
import { headersOf, send, type Transport } from "./Transport.ts"

type Given<K extends string, T> = [T] extends [never] ? unknown : { readonly [P in K]: T }

type FieldsType<F> = F extends Schema.Struct.Fields ? Schema.Struct<F>["Type"] : never

/** The input of a call: the parameters of the path, the query and the payload that the endpoint declares. */
export type Input<E extends Top> = Given<"params", FieldsType<PartOf<E, "params">>> &
  Given<"query", FieldsType<PartOf<E, "query">>> &
  Given<"payload", SchemaOf<PartOf<E, "payload">>["Type"]>

export type Success<E extends Top> = SchemaOf<PartOf<E, "success">>["Type"]

/** The responses that the endpoint declares besides its success. */
export type Refusal<E extends Top> = SchemaOf<PartOf<E, "error">>["Type"]

interface AnyInput {
  readonly params?: unknown
  readonly query?: unknown
  readonly payload?: unknown
}

const tagOfStatus: Record<number, Exclude<CallError, ControlRoomError>["_tag"]> = {
  400: "InvalidRequest",
  404: "NotFound",
  409: "Conflict",
  413: "InvalidRequest"
}

const statusAnnotation = SchemaAST.resolveAt<number>("httpApiStatus")

/** Text that, as a segment of a path, would change the path. */
const notIds: ReadonlySet<string> = new Set(["", ".", ".."])

/** Parameters that are not there, or cannot be in an address, stand there by their names. */
const pathWith = (segments: ReadonlyArray<string>, values: Readonly<Record<string, unknown>>): string =>
  segments
    .map((segment) => {
      const value = segment.startsWith(":") ? values[segment.slice(1)] : undefined
      const isKnown =
        typeof value === "number" || (typeof value === "string" && !notIds.has(value) && value.isWellFormed())
      return isKnown ? encodeURIComponent(value) : segment
    })
    .join("/")

/** The response to a DELETE, for this id. */
const deleted = (id: string) => ({ id, name: id, deleted: true })

const compile = (endpoint: Top) => {
  const { error, extension, params, payload, query, success } = endpoint.parts()
  const encodeWith = (schema: Schema.Top) =>
    // Schemas of the contract need no services, which `Schema.Top` does not say.
    Schema.encodeUnknownEffect(schema as Schema.Codec<unknown>, parseOptions)
  const textsOf = (fields: Schema.Struct.Fields | undefined) =>
    fields === undefined ? undefined : encodeWith(Schema.toCodecStringTree(Schema.Struct(fields)))
  const jsonOf = (schemas: ReadonlyArray<Schema.Top>) =>
    Schema.Union(schemas.map((schema) => Schema.toCodecJson(schema)))
  const segments = endpoint.path.split("/")
  const tags = new Set<string>()
  for (const schema of schemasOf(error)) {
    const tag = tagOfStatus[statusAnnotation(schema.ast) ?? 500]
    if (tag !== undefined) tags.add(tag)
  }
  // As in `encodeWith`.
  const answer = jsonOf(schemasOf(success)) as unknown as Schema.Codec<unknown>
  return {
    segments,
    lastParameter: segments.findLast((segment) => segment.startsWith(":"))?.slice(1) ?? "",
    params: textsOf(params),
    query: textsOf(query),
    payload: payload === undefined ? undefined : encodeWith(jsonOf(schemasOf(payload))),
    decode: Schema.decodeUnknownEffect(answer, parseOptions),
    /** The response contains nothing but the deletion. */
    answersDeleted: endpoint.method === "DELETE" && Result.isSuccess(Schema.decodeResult(answer)(deleted("-"))),
    tags,
    isExtension: extension === true,
    repeatable: endpoint.method !== "POST"
  }
}

/** A service without an operation responds as if a resource were missing: the message mentions that. */
const withHint = (error: CallError, operation: string): CallError => {
  const hint = `${operation} is an extension of Signalbox, which the hosted service does not have`
  if (error._tag === "NotFound") return new NotFound({ ...error, message: `${error.message} (${hint})` })
  if (error._tag !== "ControlRoomError" || error.reason._tag !== "Unexpected") return error
  if (error.reason.status !== 405 && error.reason.status !== 501) return error
  const reason = new Unexpected({ ...error.reason, message: `${error.reason.message} (${hint})` })
  return new ControlRoomError({ reason, request: error.request })
}

export interface Options {
  /** Whether it may be sent again although the service may have acted; default: all but POST. */
  readonly repeatable?: boolean
  /** Whether its POST carries an idempotency key. */
  readonly keyed?: boolean
  /** Whether numbers that JavaScript would round keep their text (`ExactJson`); default: they are rounded. */
  readonly exactNumbers?: boolean
}

const rounding = (text: string) => ({ json: JSON.parse(text), rounded: [] })
const exact = (text: string) => ({ json: ExactJson.parse(text), rounded: [] })

/** What a call returned, with the paths of the numbers in it that were rounded. */
export interface Exact<A> {
  readonly value: A
  readonly rounded: ReadonlyArray<RoundedNumbers.RoundedPath>
}

/**
 * `make(endpoint)` is `(transport, input) => Effect`. The typed contract meets the untyped interpreter only here: the
 * casts of this file state that a decoded value has the type of its schema.
 */
export const make = <E extends Top>(endpoint: E, options?: Options) => {
  const execute = calling(endpoint, options?.exactNumbers === true ? exact : rounding, options)
  return (transport: Transport, input: Input<E>) => Effect.map(execute(transport, input), ({ value }) => value)
}

/** Like `make`, with the paths of the numbers in the response that JavaScript had to round. */
export const makeExact = <E extends Top>(endpoint: E, options?: Options) =>
  calling(endpoint, RoundedNumbers.parse, options)

const calling = <E extends Top>(endpoint: E, parse: typeof RoundedNumbers.parse, options?: Options) => {
  let compiled: ReturnType<typeof compile> | undefined
  const execute = Effect.fnUntraced(function* (transport: Transport, input: AnyInput) {
    const call = (compiled ??= compile(endpoint))
    const operation = yield* operationOf(endpoint.identifier)
    /** An error that the operation does not declare is an unexpected one. */
    const narrow = (error: CallError): CallError => {
      const mayLack = call.isExtension && !transport.connection.isSignalbox()
      const hinted = mayLack ? withHint(error, operation) : error
      return declaredOnly(hinted)
    }
    const declaredOnly = (error: CallError): CallError =>
      error._tag === "ControlRoomError" || call.tags.has(error._tag) ? error : unexpected(error)
    /** Of what is refused before it is sent. */
    const unsent = (path: string): RequestInfo => ({
      operation,
      method: endpoint.method,
      path,
      attempts: 0,
      requestId: null
    })
    const invalid = (part: string, values: unknown) => (error: Schema.SchemaError) =>
      narrow(
        new InvalidRequest({
          code: "INVALID_REQUEST",
          message: `${part} of ${operation} is invalid: ${describe(error)}`,
          request: unsent(pathOf(values))
        })
      )
    const pathOf = (values: unknown) => pathWith(call.segments, Predicate.isObject(values) ? values : {})
    const params =
      call.params === undefined
        ? {}
        : yield* Effect.mapError(call.params(input.params), invalid("the path", input.params))
    // Path parameters of the contract are strings when encoded.
    const values = params as Readonly<Record<string, string>>
    // An id that is empty or dots would change the path, and text with a lone surrogate cannot be encoded.
    const unfit = Object.keys(values).find((name) => {
      const value = values[name] ?? ""
      return notIds.has(value) || !value.isWellFormed()
    })
    if (unfit !== undefined) {
      const message = `${unfit}: no resource has an id that is empty, dots or broken Unicode`
      return yield* narrow(new NotFound({ code: "NOT_FOUND", message, request: unsent(pathOf(values)) }))
    }
    const path = pathOf(values)
    const query =
      call.query === undefined ? {} : yield* Effect.mapError(call.query(input.query), invalid("the query", values))
    const body =
      call.payload === undefined || input.payload === undefined
        ? HttpBody.empty
        : HttpBody.jsonUnsafe(yield* Effect.mapError(call.payload(input.payload), invalid("the payload", values)))
    const unset = HttpClientRequest.makeWith(
      endpoint.method,
      transport.baseUrl + path,
      // So are query parameters.
      UrlParams.fromInput(query as Record<string, string>),
      Option.none(),
      yield* headersOf(transport),
      HttpBody.empty
    )
    const request = HttpClientRequest.setBody(unset, body)
    const answer = yield* send(transport.connection, request, {
      operation,
      path,
      repeatable: options?.repeatable ?? call.repeatable,
      keyed: options?.keyed === true && endpoint.method === "POST",
      timed: true,
      read: (response) => response.text
    }).pipe(
      Effect.mapError(narrow),
      Effect.catch((error) => {
        // A repeated DELETE that finds nothing: the response to the first one was lost, and contained this.
        const gone = call.answersDeleted && error._tag === "NotFound" && error.request.attempts > 1
        const last = values[call.lastParameter]
        if (!gone || last === undefined) return Effect.fail(error)
        return Effect.succeed({ value: JSON.stringify(deleted(last)), info: error.request })
      })
    )
    const malformed = (message: string) =>
      new ControlRoomError({ reason: new Malformed({ message }), request: answer.info })
    const { json, rounded } = yield* Effect.try({
      try: () => parse(answer.value),
      catch: () => malformed("the response is not JSON")
    })
    const value = yield* Effect.mapError(call.decode(json), (error) =>
      malformed(`the response does not have the shape that ${operation} expects (${describe(error)})`)
    )
    return { value, rounded }
  })
  // Input and output are encoded and decoded by the schemas that these types are derived from.
  return execute as (transport: Transport, input: Input<E>) => Effect.Effect<Exact<Success<E>>, FailureOf<Refusal<E>>>
}
