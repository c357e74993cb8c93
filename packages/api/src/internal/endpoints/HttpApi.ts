/** Endpoints as those of HttpApi, of which servers and documents are made. Clients do not import this. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type * as Schema from "effect/Schema"
import { extension, summary } from "../../contract/Documentation.ts"
import type { Endpoint, Parts, SchemaOf, Top } from "./Endpoint.ts"

/** The codec of parameters, which are texts. */
type TextCodec<F> = F extends Schema.Struct.Fields ? Schema.toCodecStringTree<Schema.Struct<F>> : never

/** The codec of bodies. */
type JsonCodec<S> = [S] extends [never] ? never : [S] extends [Schema.Constraint] ? Schema.toCodecJson<S> : never

type Part<P extends Parts, K extends keyof Parts> = K extends keyof P ? Exclude<P[K], undefined> : never

/** The endpoint of HttpApi that has these schemas: modules of the contract say so, since their declarations would repeat every schema. */
export type EndpointOf<E extends Top> =
  E extends Endpoint<infer Identifier, infer Method, infer Path, infer P>
    ? HttpApiEndpoint.HttpApiEndpoint<
        Identifier,
        Method,
        Path,
        TextCodec<Part<P, "params">>,
        TextCodec<Part<P, "query">>,
        JsonCodec<SchemaOf<Part<P, "payload">>>,
        TextCodec<Part<P, "headers">>,
        JsonCodec<SchemaOf<Part<P, "success">>>,
        JsonCodec<SchemaOf<Part<P, "error">>>
      >
    : never

/** The same behind a middleware of its own. */
export type EndpointBehind<M extends HttpApiMiddleware.AnyId, E extends Top> = HttpApiEndpoint.AddMiddleware<
  EndpointOf<E>,
  M
>

/** Makes the endpoint of what is declared of it, with its summary in one line. */
export const endpoint = <E extends Top>(declared: E, text: string): EndpointOf<E> => {
  const { extension: isExtension, ...parts } = declared.parts()
  const made = HttpApiEndpoint.make(declared.method)(declared.identifier, declared.path, parts).annotateMerge(
    isExtension === true ? extension(text) : summary(text)
  )
  // `EndpointOf` is what `make` returns for these types.
  return made as unknown as EndpointOf<E>
}

/** Endpoints behind a middleware, said by groups for the same reason. */
export type Group<
  Identifier extends string,
  E extends HttpApiEndpoint.Constraint,
  M extends HttpApiMiddleware.AnyId
> = HttpApiGroup.HttpApiGroup<Identifier, HttpApiEndpoint.AddMiddleware<E, M>>
