/** What the OpenAPI document says of each operation besides its schemas. Clients do not import these tables. */
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import type * as Schema from "effect/Schema"

/** The text and the examples of one operation. */
export interface OperationText {
  /** Its effects and limits, and what happens when it is repeated. */
  readonly description: string
  /** The parameters of the example, where they are not those of `parameterTexts`. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Bodies are JSON; absent: it takes none. */
  readonly request?: unknown
  /** Absent: the body is no JSON and no text. */
  readonly response?: unknown
  /** When each error is returned, and what to do. */
  readonly errors: Readonly<Record<number, string>>
}

type StatusOf<Error> = Error extends { readonly status: infer Status extends number } ? Status : never

/** What an endpoint declares itself; 400, 401, 403 and 409 of its middleware have general texts. */
type ErrorTexts<Endpoint> = {
  readonly [Status in StatusOf<HttpApiEndpoint.Error<Endpoint>["Type"]>]: string
}

/** The JSON of a schema; endpoints wrap theirs in a codec whose JSON has no type. */
type JsonOf<S> =
  S extends HttpApiSchema.WithHeaders<infer Body, infer _>
    ? JsonOf<Body>
    : S extends Schema.toCodecJson<infer Inner>
      ? Inner["Encoded"]
      : S extends Schema.Constraint
        ? S["Encoded"]
        : never

type RequestOf<Endpoint> = [HttpApiEndpoint.Payload<Endpoint>] extends [never]
  ? { readonly request?: never }
  : { readonly request: JsonOf<HttpApiEndpoint.Payload<Endpoint>> }

type ResponseOf<Endpoint> = HttpApiEndpoint.Success<Endpoint>["Type"] extends Uint8Array
  ? { readonly response?: never }
  : { readonly response: JsonOf<HttpApiEndpoint.Success<Endpoint>> }

type TextOf<Endpoint> = Pick<OperationText, "description" | "parameters"> &
  RequestOf<Endpoint> &
  ResponseOf<Endpoint> & { readonly errors: ErrorTexts<Endpoint> }

/** The texts of all operations of a group, by their identifiers. */
export type Documented<Group> = {
  readonly [Endpoint in HttpApiGroup.Endpoints<Group> as HttpApiEndpoint.Identifier<Endpoint>]: TextOf<Endpoint>
}
