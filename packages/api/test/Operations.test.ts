/**
 * Every operation of the contract through the client, against a server derived from the contract: requests decode to
 * the input, responses decode to what was sent, and faults are handled as the operation's method requires.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import * as Arbitrary from "effect/Arbitrary"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpClient from "effect/http/HttpClient"
import { Api } from "../src/contract/Api.ts"
import type { CallError } from "../src/ControlRoomError.ts"
import * as Connection from "../src/internal/calls/Connection.ts"
import { make as makeCall } from "../src/internal/calls/EndpointCall.ts"
import { transportTo } from "../src/internal/calls/Transport.ts"
import type { Top } from "../src/internal/endpoints/Endpoint.ts"
import { declared, isDeclared } from "./support/Declared.ts"
import { answer, type Fault, type FaultServer, make, settle } from "./support/FaultServer.ts"

/** Called by others than the client: by services that only have an address, by robots, as text, by older clients, as bytes, and as a stream. */
const notCalled = [
  "downloadTaskPackage",
  "exportAudit",
  "getVaultPublicKey",
  "startProcessRunFromIntegration",
  "watchChanges"
]

const all: Array<HttpApiEndpoint.Top> = []
HttpApi.reflect(Api, { onGroup: () => {}, onEndpoint: ({ endpoint }) => all.push(endpoint) })
const endpoints = all.filter(({ identifier }) => declared.has(identifier))

const declaredOf = ({ identifier }: HttpApiEndpoint.Top): Top => {
  const endpoint = declared.get(identifier)
  if (endpoint === undefined) throw new Error(`${identifier} is not declared`)
  return endpoint
}

/** Payloads with rules that generated values do not satisfy. */
const payloads: Readonly<Record<string, unknown>> = {
  createWebhook: {
    endpoint: "https://example.com/hook",
    enabled_events: ["process_run.completed"],
    process: { id: "p" }
  },
  createAlertChannel: {
    name: "team",
    settings: { type: "webhook", url: "https://example.com/hook" }
  },
  updateAlertChannel: {
    name: "team",
    settings: { type: "email", host: "smtp.example.com", port: 587, from: "r@example.com", to: ["o@example.com"] }
  }
}

/** Of a union of payloads or answers, JSON. */
const jsonPayload = (endpoint: HttpApiEndpoint.Top): Schema.Codec<unknown> | undefined => {
  const payload = endpoint.payload.get("application/json")
  // The members are codecs: an endpoint could not be served otherwise.
  return payload === undefined ? undefined : (Schema.Union(payload.schemas) as unknown as Schema.Codec<unknown>)
}

const answerOf = (endpoint: HttpApiEndpoint.Top) =>
  Schema.Union([...endpoint.success]) as unknown as Schema.Codec<unknown>

const sample = <T>(schema: Schema.Schema<T>, seed: string) =>
  Effect.map(Arbitrary.sampleEffect(Arbitrary.schema(schema), { seed, count: 1 }), (values) => values[0])

/** Parameters that are not any text. */
const known: Readonly<Record<string, string | number>> = { secret_name: "secret_1", version: 7 }

/** An id for each parameter, with characters that a path must escape. */
const idsOf = (path: string) =>
  Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, known[name] ?? `${name} 1/2?ü%`]))

/** Input and response of an operation, generated from its schemas; the same in every run. */
const examples = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top) {
  const part = (schema: Schema.Top | undefined, name: string) =>
    schema === undefined ? Effect.succeed(undefined) : sample(Schema.toType(schema), `${endpoint.identifier} ${name}`)
  const params = endpoint.params === undefined ? undefined : idsOf(endpoint.path)
  const query = yield* part(endpoint.query, "query")
  const payload = payloads[endpoint.identifier] ?? (yield* part(jsonPayload(endpoint), "payload"))
  const value = yield* part(answerOf(endpoint), "answer")
  const json = yield* Schema.encodeUnknownEffect(answerOf(endpoint))(value)
  return {
    input: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(payload === undefined ? {} : { payload })
    },
    json
  }
})

type Call = Effect.Effect<unknown, CallError>

const prepare = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top, server: FaultServer) {
  const client = Context.get(yield* Layer.build(server.http), HttpClient.HttpClient)
  const { input, json } = yield* examples(endpoint)
  const transport = transportTo(server.origin, Connection.make(client), "RC-WSKEY key")
  // The input was sampled from the schemas of this endpoint.
  const call = makeCall(declaredOf(endpoint), { keyed: true }) as unknown as (
    to: typeof transport,
    given: typeof input
  ) => Call
  return { call: call(transport, input), input, json }
})

/** The JSON of a value, without what JSON omits. */
const onWire = (schema: Schema.Codec<unknown>, value: unknown) =>
  Effect.map(Schema.encodeUnknownEffect(schema)(value), (json): unknown => JSON.parse(JSON.stringify(json ?? null)))

const run = (server: FaultServer, faults: ReadonlyArray<Fault>, call: Call) => {
  server.script(faults)
  return settle(server, Effect.result(call), 500)
}

const tagOf = (result: Result.Result<unknown, CallError>) =>
  Result.isSuccess(result)
    ? "success"
    : result.failure._tag === "ControlRoomError"
      ? result.failure.reason._tag
      : result.failure._tag

describe("every operation", () => {
  it("is here", () => {
    assert.isAtLeast(endpoints.length, 100)
    assert.strictEqual(endpoints.length, declared.size)
    const others = all.map(({ identifier }) => identifier).filter((identifier) => !declared.has(identifier))
    // No client calls the older interface.
    assert.deepStrictEqual(others.filter((identifier) => !identifier.startsWith("legacy")).sort(), notCalled)
  })

  it("is an endpoint of HttpApi in the modules of the contract", async () => {
    const folder = new URL("../src/contract/", import.meta.url)
    for (const file of readdirSync(folder)) {
      const module: object = await import(new URL(file, folder).href)
      assert.deepStrictEqual(Object.values(module).filter(isDeclared), [], file)
    }
  })

  for (const endpoint of endpoints) {
    const repeatable = endpoint.method !== "POST" && endpoint.method !== "PATCH"
    it.effect(`${endpoint.method} ${endpoint.path}`, () =>
      Effect.gen(function* () {
        const server = yield* make
        const { call, input, json } = yield* prepare(endpoint, server)
        const good = answer(200, JSON.stringify(json ?? null))

        // Requests and responses keep their meaning.
        const result = yield* run(server, [good], call)
        if (Result.isFailure(result)) return assert.fail(`${result.failure._tag}: ${result.failure.message}`)
        const [request] = server.received()
        assert.strictEqual(request?.method, endpoint.method)
        const path = request?.path.split("?")[0]?.split("/").map(decodeURIComponent)
        // The prefix of its group is part of the address that a program gives.
        const { path: own } = declaredOf(endpoint)
        assert.isTrue(endpoint.path.endsWith(own))
        const segments = own.split("/").map((segment) => {
          const ids: Readonly<Record<string, string | number>> = idsOf(endpoint.path)
          return segment.startsWith(":") ? String(ids[segment.slice(1)]) : segment
        })
        assert.deepStrictEqual(path, segments)
        assert.strictEqual(request?.headers.authorization, "RC-WSKEY key")
        assert.deepStrictEqual(
          yield* onWire(answerOf(endpoint), result.success),
          JSON.parse(JSON.stringify(json ?? null))
        )
        const payload = jsonPayload(endpoint)
        if (payload !== undefined && input.payload !== undefined) {
          const decoded = yield* Schema.decodeUnknownEffect(payload)(JSON.parse(request?.body ?? ""))
          assert.deepStrictEqual(yield* onWire(payload, decoded), yield* onWire(payload, input.payload))
        }

        // Faults: sent again when that is safe, else not.
        for (const fault of [
          answer(503),
          { _tag: "Reset" },
          { _tag: "Half", body: "{" }
        ] satisfies ReadonlyArray<Fault>) {
          const again = yield* run(server, [fault, good], call)
          assert.strictEqual(server.received().length, repeatable ? 2 : 1)
          assert.strictEqual(Result.isSuccess(again), repeatable)
        }
        assert.strictEqual(tagOf(yield* run(server, [answer(429), good], call)), "success")
        for (const malformed of ["{", "<html>", JSON.stringify(5)]) {
          // An operation without a fixed shape, such as one that returns any JSON, accepts all JSON.
          const shapeless = Result.isSuccess(Schema.decodeResult(answerOf(endpoint))(5)) && malformed === "5"
          assert.strictEqual(
            tagOf(yield* run(server, [answer(200, malformed)], call)),
            shapeless ? "success" : "Malformed"
          )
        }

        // The statuses that the operation declares have tags of their own; others do not.
        const declared = new Set([...endpoint.error].map((schema) => schema.ast.annotations?.["httpApiStatus"]))
        const tags = { 400: "InvalidRequest", 404: "NotFound", 409: "Conflict" } as const
        for (const status of [400, 404, 409] as const) {
          const tag = tagOf(yield* run(server, [answer(status)], call))
          const known = declared.has(status) || (status === 400 && declared.has(413))
          assert.strictEqual(tag, known ? tags[status] : "Unexpected", `${status}`)
        }
      }).pipe(Effect.scoped)
    )
  }
})

describe("an id that would change the path", () => {
  for (const id of ["", ".", "..", "\ud800"]) {
    it.effect(`${JSON.stringify(id)} is refused before anything is sent`, () =>
      Effect.gen(function* () {
        const server = yield* make
        const endpoint = endpoints.find(({ identifier }) => identifier === "getWorkItem")
        if (endpoint === undefined) return assert.fail("no such operation")
        const client = Context.get(yield* Layer.build(server.http), HttpClient.HttpClient)
        const transport = transportTo(server.origin, Connection.make(client), null)
        const call = makeCall(declaredOf(endpoint)) as unknown as (to: typeof transport, given: unknown) => Call
        const error = yield* Effect.flip(call(transport, { params: { workspace_id: "w", work_item_id: id } }))
        assert.strictEqual(error._tag, "NotFound")
        assert.include(error.message, "work_item_id")
        assert.strictEqual(server.received().length, 0)
      }).pipe(Effect.scoped)
    )
  }
})
