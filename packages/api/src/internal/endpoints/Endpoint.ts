/**
 * What is declared of an endpoint: its method, its path and its schemas. Clients make calls of it; `contract` makes endpoints of HttpApi
 * of it, whose modules load those of an HTTP server.
 */
import * as Schema from "effect/Schema"

type Fields = Schema.Struct.Fields
type OneOrMore = Schema.Top | ReadonlyArray<Schema.Top>

/** The schemas of requests and responses. */
export interface Parts {
  readonly params?: Fields | undefined
  readonly query?: Fields | undefined
  readonly headers?: Fields | undefined
  readonly payload?: OneOrMore | undefined
  readonly success: OneOrMore
  readonly error?: OneOrMore | undefined
  /** The hosted service does not have the operation. */
  readonly extension?: true | undefined
}

type Method = "GET" | "POST" | "PUT" | "DELETE"

/** An endpoint; its schemas are made when they are first asked for, since a program uses few of the endpoints. */
export interface Endpoint<
  out Identifier extends string,
  out M extends Method,
  out Path extends `/${string}`,
  out P extends Parts
> {
  readonly identifier: Identifier
  readonly method: M
  readonly path: Path
  readonly parts: () => P
}

/** Any endpoint. */
export type Top = Endpoint<string, Method, `/${string}`, Parts>

const declaring =
  <M extends Method>(method: M) =>
  <const Identifier extends string, const Path extends `/${string}`, const P extends Parts>(
    identifier: Identifier,
    path: Path,
    parts: () => P
  ): Endpoint<Identifier, M, Path, P> => {
    let made: P | undefined
    return { identifier, method, path, parts: () => (made ??= parts()) }
  }

export const get = /* @__PURE__ */ declaring("GET")
export const post = /* @__PURE__ */ declaring("POST")
export const put = /* @__PURE__ */ declaring("PUT")
const remove = /* @__PURE__ */ declaring("DELETE")
export { remove as delete }

/** The schemas of a part that may have several. */
export type SchemaOf<S> = S extends ReadonlyArray<Schema.Top> ? S[number] : S extends Schema.Top ? S : never

/** The type of a part of an endpoint; never when it has none. */
export type PartOf<E extends Top, K extends keyof Parts> =
  ReturnType<E["parts"]> extends infer P ? (K extends keyof P ? Exclude<P[K], undefined> : never) : never

/** The schemas of a part that may have several. */
export const schemasOf = (part: OneOrMore | undefined): ReadonlyArray<Schema.Top> =>
  part === undefined ? [] : "ast" in part ? [part] : part

/** What a class of `Struct` is: `Schema.Opaque` of the struct, whose own type says all fields twice. */
export interface Struct<Self, Fields extends Schema.Struct.Fields>
  extends Schema.Opaque<Self, Schema.Struct<Fields>, {}>, Pick<Schema.Struct<Fields>, "fields" | "mapFields"> {}

/**
 * The struct with these fields, to be extended by the class that names it, with its identifier in the OpenAPI document if it has one. In the
 * place of a constant, because the type of what has the struct would repeat all its fields in declarations. What is decoded are plain objects,
 * of the type of the class.
 */
export const Struct =
  <Self>(identifier?: string) =>
  <const Fields extends Schema.Struct.Fields>(fields: Fields): Struct<Self, Fields> => {
    const struct = Schema.Struct(fields)
    return Schema.Opaque<Self>()(identifier === undefined ? struct : struct.annotate({ identifier }))
  }
