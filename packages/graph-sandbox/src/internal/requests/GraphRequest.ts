/**
 * A request as the handlers see it, whether it came by itself or in a batch, and what they answer.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import type { Lag } from "../../Faults.ts"
import type { Segment } from "./Address.ts"
import * as Failure from "../model/Failure.ts"
import type { Identity, Item, Principal } from "../model/Model.ts"
import type { Transfers } from "../world/Transfers.ts"
import type { Change } from "../world/Tree.ts"
import type { World } from "../world/World.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export const isMethod = (method: string): method is Method => ["GET", "POST", "PUT", "PATCH", "DELETE"].includes(method)

/** A request as it came. */
export interface IncomingRequest {
  readonly method: Method
  /** Behind the version, as it was sent. */
  readonly path: string
  /** As it was sent, without the question mark. */
  readonly query: string
  /** The query's options by name in lower case, with or without the dollar sign. */
  readonly options: ReadonlyMap<string, string>
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The body as JSON; an empty one is `{}`. */
  readonly json: Effect.Effect<Readonly<Record<string, unknown>>, Failure.Failure>
  readonly body: Stream.Stream<Uint8Array, unknown>
  /** Origin and version: what links to this API begin with. */
  readonly base: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly principal: Principal
  /** How lists, searches and changes lag. */
  readonly lag: Lag | undefined
}

/** A request on its way through the graph. */
export interface GraphRequest extends IncomingRequest {
  /** Routes the request again, from another address of the same thing: a file of a library is an item of a list. */
  readonly at: (segments: ReadonlyArray<Segment>) => Answer
}

/** What a request comes to. */
export type Answer = Effect.Effect<Reply, Failure.Failure, World | Transfers>

export interface Reply {
  readonly status: number
  readonly body?: unknown
  /** Bytes instead of a body. */
  readonly contents?:
    | { readonly stream: Stream.Stream<Uint8Array, unknown>; readonly length: number; readonly type: string }
    | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Answers for what an address leads to. */
export type Handler<A> = (address: A, request: GraphRequest) => Answer

/** What one can do at an address. */
export type Methods<A> = { readonly [M in Method]?: Handler<A> }

export const ok = (body: unknown, headers?: Readonly<Record<string, string>>): Reply => ({
  status: 200,
  body,
  headers
})

export const created = (body: unknown, location?: string): Reply => ({
  status: 201,
  body,
  headers: location === undefined ? undefined : { location }
})

export const noContent: Reply = { status: 204 }

/** The handler of the request's method, or 405. */
export const dispatch = <A>(methods: Methods<A>, address: A, request: GraphRequest) => {
  const handler = methods[request.method]
  return handler === undefined ? Effect.fail(Failure.methodNotAllowed()) : handler(address, request)
}

/** Relations of a thing by their name in lower case. */
export type Relations<A> = Readonly<Record<string, Methods<A>>>

/** The handlers of a relation; a request for one that does not exist gets an error that names it. */
export const relation = <A>(relations: Relations<A>, name: string, address: A, request: GraphRequest) => {
  const methods = Object.hasOwn(relations, name.toLowerCase()) ? relations[name.toLowerCase()] : undefined
  return methods === undefined ? Effect.fail(Failure.unknownSegment(name)) : dispatch(methods, address, request)
}

/** Text of a body; `undefined` where it is left out. */
export const textOf = (body: Readonly<Record<string, unknown>>, name: string) => {
  const value = body[name]
  return value === undefined || value === null
    ? Effect.undefined
    : typeof value === "string"
      ? Effect.succeed(value)
      : Effect.fail(Failure.invalidRequest(`'${name}' must be text.`, "invalidParameterFormat"))
}

/** A name of a body, which must be there. */
export const nameOf = Effect.fnUntraced(function* (given: Readonly<Record<string, unknown>>, what: string) {
  const name = yield* textOf(given, what)
  if (name === undefined || name.trim() === "") return yield* Failure.invalidRequest(`'${what}' must be given.`)
  return name
})

/** An object of a body; an empty one where it is left out. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  Predicate.isObject(value) ? Object.fromEntries(Object.entries(value)) : {}

/** The times that a body gives a file; others stay as they are. */
export const timesOf = (value: unknown): Item["fileSystem"] =>
  Record.filter(Struct.pick(objectOf(value), ["createdDateTime", "lastModifiedDateTime"]), Predicate.isString)

/** Who acts, as items remember it. */
export const identity = (principal: Principal): Identity =>
  principal.kind === "app"
    ? { id: principal.app.clientId, displayName: principal.app.name }
    : {
        id: principal.user.id,
        displayName: principal.user.displayName,
        email: principal.user.userPrincipalName
      }

export const change = (request: GraphRequest): Change => ({ by: identity(request.principal), at: request.now })

/** A time as the wire shows it: whole seconds. */
export const time = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z")

/** A set of things, each named by `context`. */
export const context = (request: GraphRequest, of: string): string => `${request.base}/$metadata#${of}`

const systemOptions = /^\$?(count|deltatoken|expand|filter|orderby|search|select|skip|skiptoken|skip_token|token|top)$/i

/** Reads a query; a system option counts with and without its dollar sign. */
export const parseOptions = (query: string): ReadonlyMap<string, string> =>
  new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [
      systemOptions.test(name) ? name.replace("$", "").toLowerCase() : name,
      value
    ])
  )

/** The words of a `Prefer` header, in lower case. */
export const prefers = (request: GraphRequest, word: string): boolean =>
  (request.headers["prefer"] ?? "").toLowerCase().includes(word.toLowerCase())

/** The ETag conditions of a request that changes something. */
export const checkMatch = (request: GraphRequest, tags: ReadonlyArray<string> | null) => {
  const bare = (tag: string) => tag.trim().replace(/^W\//, "")
  const given = (header: string) => request.headers[header]?.split(/,(?=\s*(?:W\/)?")/).map(bare)
  const match = given("if-match")
  const noneMatch = given("if-none-match")
  const has = (wanted: ReadonlyArray<string>) =>
    tags !== null && wanted.some((tag) => tag === "*" || tags.includes(tag))
  return (match !== undefined && !has(match)) || (noneMatch !== undefined && has(noneMatch))
    ? Effect.fail(Failure.resourceModified())
    : Effect.void
}

export const isMissing = (value: unknown): value is undefined | null => value === undefined || value === null
