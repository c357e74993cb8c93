/**
 * A control room for unit tests that is a few functions: each says what the service responds to an operation. The client is the real
 * one, with its checks, retries and errors. Whole rooms for tests are in `signalbox/Testing`.
 */
import { describe, parseOptions } from "@signalbox/transport/SchemaProblem"
import type * as Brand from "effect/Brand"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Api } from "./contract/Api.ts"

type GroupsOf<A> = A extends HttpApi.HttpApi<infer _Id, infer Groups> ? Groups : never
type Endpoint = HttpApiGroup.Endpoints<GroupsOf<typeof Api>>

/** A value as it is sent: ids and secrets are strings. */
type Sent<T> =
  T extends Redacted.Redacted<infer A>
    ? Sent<A>
    : T extends string & Brand.Brand<string>
      ? string
      : T extends ReadonlyArray<infer I>
        ? ReadonlyArray<Sent<I>>
        : T extends object
          ? { readonly [K in keyof T]: Sent<T[K]> }
          : T

type SentBy<S> = [S] extends [never] ? null : S extends Schema.Top ? Sent<S["Type"]> : null

/** A request, as the service gets it. */
export interface MockedCall<Payload = unknown> {
  /** Of the path, such as `work_item_id`. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** Null without one. */
  readonly payload: Payload
}

/** A response that is an error: made by `refuse`. */
export class Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>>) {
    this.status = status
    this.code = code
    this.message = message
    this.headers = headers
  }
}

/** Responds with an error, such as `refuse(404, "NOT_FOUND", "there is no such item")`. */
export const refuse = (
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {}
): Refusal => new Refusal(status, code, message, headers)

/** What the service responds, by the names of operations in the OpenAPI document: the JSON, or a refusal. */
export type Responses = {
  readonly [E in Endpoint as E["identifier"]]?: (
    call: MockedCall<SentBy<HttpApiEndpoint.Payload<E>>>
  ) => Answer<SentBy<HttpApiEndpoint.Success<E>>>
}

type Answer<A> = A | Refusal | PromiseLike<A | Refusal>

/** Options of `mock`. */
export interface MockOptions {
  /** What is behind addresses that responses name, such as those of files. Uploads to other addresses are taken. */
  readonly files?: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>> | undefined
}

/** A mocked control room. */
export interface Mocked {
  /** For `connect({ fetch })` and `ControlRoom.layer({ fetch })`. */
  readonly fetch: typeof globalThis.fetch
  /** What was called, in order. */
  readonly calls: ReadonlyArray<MockedCall & { readonly operation: string }>
}

interface Operation {
  readonly name: string
  readonly method: string
  readonly segments: ReadonlyArray<string>
  /** Says where JSON is no response of the operation. */
  readonly problemOf: (json: unknown) => string | null
}

const operationOf = (endpoint: HttpApiEndpoint.Top): Operation => {
  // Schemas of the contract need no services, which their type does not say.
  const success = Schema.Union([...endpoint.success]) as unknown as Schema.Codec<unknown>
  return {
    name: endpoint.identifier,
    method: endpoint.method,
    segments: endpoint.path.split("/"),
    problemOf: (json) => {
      const decoded = Schema.decodeUnknownResult(success, parseOptions)(json)
      return Result.isFailure(decoded) ? describe(decoded.failure) : null
    }
  }
}

const parameters = ({ segments }: Operation) => segments.filter((segment) => segment.startsWith(":")).length

/** Those with names in their paths come before those with parameters there. */
const allOperations = (): ReadonlyArray<Operation> =>
  Object.values(Api.groups)
    // Members of the contract are endpoints, whose precise types no list has.
    .flatMap((group) => Object.values(group.endpoints) as unknown as ReadonlyArray<HttpApiEndpoint.Top>)
    .map(operationOf)
    .toSorted((one, other) => parameters(one) - parameters(other))

/** The parameters of a path; undefined when it is another one. */
const paramsIn = ({ segments }: Operation, path: ReadonlyArray<string>) => {
  if (segments.length !== path.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, segment] of segments.entries()) {
    const given = path[index] ?? ""
    if (segment.startsWith(":")) params[segment.slice(1)] = decodeURIComponent(given)
    else if (segment !== given) return undefined
  }
  return params
}

const errorOf = ({ code, headers, message, status }: Refusal) =>
  Response.json({ error: { code, message }, message }, { status, headers })

/** Is not repeated by clients. */
const unfit = (code: string, message: string) => errorOf(refuse(501, code, message))

/**
 * Returns a function that sends requests, for a client: each operation is answered by the function of its name. An operation without
 * one, and a response that is not of the operation, are a 501 that says so.
 *
 * ```ts
 * import { mock } from "@signalbox/api/mock"
 * import { connect } from "@signalbox/api/promise"
 *
 * export const test = async () => {
 *   const room = mock({
 *     listWorkItems: () => ({ data: [], has_more: false, next: null })
 *   })
 *   const client = connect({
 *     baseUrl: "http://room.example",
 *     apiKey: "any",
 *     workspaceId: "any",
 *     fetch: room.fetch
 *   })
 *   const { data } = await client.workItems.list({ state: "failed" })
 *   return data.length === 0 && room.calls[0]?.query.state === "failed"
 * }
 * ```
 */
export const mock = (responses: Responses, { files = {} }: MockOptions = {}): Mocked => {
  const calls: Array<MockedCall & { readonly operation: string }> = []
  // Called with what its operation sends, which is more than the types of one name can say.
  const functions = new Map(Object.entries(responses)) as ReadonlyMap<string, (call: MockedCall) => Answer<unknown>>
  const operations = allOperations()
  const unknown = [...functions.keys()].find((name) => !operations.some((operation) => operation.name === name))
  if (unknown !== undefined) throw new TypeError(`mock: ${unknown} is no operation of the contract`)

  const elsewhere = (request: Request) => {
    const file = files[request.url]
    if (file !== undefined) return new Response(file)
    return new Response(null, { status: request.method === "GET" ? 404 : 204 })
  }
  return {
    calls,
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const url = new URL(request.url)
      const path = url.pathname.split("/")
      const found = operations.find(
        (operation) => operation.method === request.method && paramsIn(operation, path) !== undefined
      )
      if (found === undefined || request.url in files) return elsewhere(request)
      const text = await request.text()
      const payload: unknown = text === "" ? null : JSON.parse(text)
      const call = {
        operation: found.name,
        params: paramsIn(found, path) ?? {},
        query: Object.fromEntries(url.searchParams),
        payload
      }
      calls.push(call)
      const respond = functions.get(found.name)
      if (respond === undefined) {
        return unfit("NOT_MOCKED", `${found.name} is not mocked: give mock a function of this name`)
      }
      const answer = await respond(call)
      if (answer instanceof Refusal) return errorOf(answer)
      const problem = found.problemOf(answer)
      return problem === null
        ? Response.json(answer)
        : unfit("NOT_A_RESPONSE", `what the mock of ${found.name} returns is no response of it: ${problem}`)
    }
  }
}
