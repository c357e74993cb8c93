/**
 * Requests generated from the contract's own schemas, for every endpoint: each response is one that the contract
 * declares for that endpoint, with its shape.
 *
 * `SIGNALBOX_FUZZ_RUNS` requests go to each endpoint (default 4, on Postgres 2, in the long form 300), generated from
 * `SIGNALBOX_FUZZ_SEED`. A failure shows the request, and the token that generates it again with
 * `SIGNALBOX_FUZZ_REPLAY`.
 */
import { assert, describe, layer as withLayer } from "@effect/vitest"
import { ProcessId } from "@signalbox/api/contract/Ids"
import { ErrorBody } from "@signalbox/api/contract/Responses"
import * as Arbitrary from "effect/Arbitrary"
import { sized } from "@signalbox/testkit/Soak"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as SqlClient from "effect/sql/SqlClient"
import { type Endpoint, endpoints } from "./support/Endpoints.ts"
import { type FuzzRequest, requestOf, samplesOf } from "./support/Fuzz.ts"
import { type Answer, send } from "./support/Http.ts"
import { assertCounted, rowsOf } from "./support/RunRows.ts"
import { quiet, seed, type Seed } from "./support/Seed.ts"
import { onPostgres, Service } from "./support/Service.ts"

const settings = Config.all({
  runs: Config.withDefault(Config.Int("SIGNALBOX_FUZZ_RUNS"), sized(onPostgres ? 2 : 4, 300)),
  seed: Config.withDefault(Config.String("SIGNALBOX_FUZZ_SEED"), "signalbox"),
  replay: Config.option(Config.String("SIGNALBOX_FUZZ_REPLAY"))
})

/** The codes of each status. */
const codes: Readonly<Record<number, ReadonlyArray<string>>> = {
  400: ["INVALID_REQUEST"],
  401: ["UNAUTHENTICATED"],
  403: ["FORBIDDEN"],
  404: ["NOT_FOUND"],
  405: ["METHOD_NOT_ALLOWED"],
  409: ["CONFLICT", "LEASE_LOST", "IDEMPOTENCY_KEY_REUSED"],
  413: ["PAYLOAD_TOO_LARGE"],
  415: ["UNSUPPORTED_MEDIA_TYPE"],
  431: ["INVALID_REQUEST"]
}

const strict = { onExcessProperty: "error" } as const

/** Statuses of the edge that no endpoint declares. */
const ofTheEdge = (status: number, { error }: ErrorBody): boolean =>
  status === 405 ||
  status === 413 ||
  status === 415 ||
  status === 431 ||
  (status === 404 && error.message.startsWith("nothing exists at ")) ||
  error.code === "IDEMPOTENCY_KEY_REUSED"

/** What is wrong with a response, null when nothing is. */
const faultOf = (endpoint: Endpoint, answer: Answer): string | null => {
  const { headers, status, text } = answer
  if (headers["x-request-id"] === undefined) return "no x-request-id"
  if (status >= 500) return "a 5xx"
  if (status < 400) {
    const declared = endpoint.successes.get(status)
    if (declared === undefined) return "a status that the contract does not declare"
    const schemas = declared.map((schema) => (HttpApiSchema.isWithHeaders(schema) ? schema.schema : schema))
    if (endpoint.identifier === "downloadTaskPackage") {
      return headers["content-type"] === "application/zip" && text.startsWith("PK") ? null : "no zip"
    }
    if (endpoint.identifier === "watchChanges") {
      return headers["content-type"] === "text/event-stream" && text.includes("reset") ? null : "no stream"
    }
    if (endpoint.identifier === "exportAudit") {
      return headers["content-type"] === "application/x-ndjson" ? null : "no lines of JSON"
    }
    if (headers["content-type"]?.startsWith("text/plain") === true) return text === "" ? "no text" : null
    if (headers["content-type"]?.startsWith("application/json") !== true) return "no content type"
    const schema = Schema.Union(schemas as unknown as ReadonlyArray<Schema.Codec<unknown>>)
    const decoded = Schema.decodeUnknownResult(schema, strict)(JSON.parse(text))
    return Result.isFailure(decoded) ? `a body that is not the declared one: ${decoded.failure}` : null
  }
  if (headers["content-type"]?.startsWith("application/json") !== true) return "no envelope"
  const decoded = Schema.decodeResult(Schema.fromJsonString(ErrorBody), strict)(text)
  if (Result.isFailure(decoded)) return "no envelope"
  const body = decoded.success
  if (codes[status]?.includes(body.error.code) !== true) return "a code that does not fit the status"
  if (body.message === "" || body.message !== body.error.message) return "no message"
  if (!endpoint.errors.has(status) && !ofTheEdge(status, body)) return "a status that the contract does not declare"
  return null
}

const shown = ({ body, headers, method, path }: FuzzRequest): string =>
  [
    `${method} ${path.slice(0, 500)}`,
    ...Object.entries(headers).flatMap(([name, value]) => (name === "authorization" ? [] : [`${name}: ${value}`])),
    ...(body === undefined ? [] : ["", typeof body === "string" ? body.slice(0, 1000) : `bytes ${[...body].join(" ")}`])
  ].join("\n")

/** Requests change and delete resources: after this many of them, all are created again. */
const requestsOfSeed = 60

const current = Ref.makeUnsafe<{ readonly seed: Seed; readonly used: number } | null>(null)

const seeded = Effect.gen(function* () {
  const known = yield* Ref.get(current)
  const fresh = known === null || known.used >= requestsOfSeed ? { seed: yield* seed, used: 0 } : known
  yield* Ref.set(current, { ...fresh, used: fresh.used + 1 })
  return fresh.seed
})

// The last test looks at what the others have left behind.
describe("in this order", { shuffle: false }, () => {
  withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("whatever is asked of", (it) => {
    for (const endpoint of endpoints) {
      it.effect(
        endpoint.identifier,
        () =>
          Effect.gen(function* () {
            const { origin } = yield* Service
            const options = yield* settings
            const result = yield* Arbitrary.checkEffect(
              samplesOf(endpoint),
              Effect.fnUntraced(function* (sample) {
                const request = requestOf(endpoint, sample, yield* seeded)
                const answer = yield* send(origin, request.method, request.path, request)
                const fault = faultOf(endpoint, answer)
                if (fault === null) return true
                return yield* Effect.fail(
                  `${fault}\n\n${shown(request)}\n\n${answer.status} ${answer.text.slice(0, 1000)}`
                )
              }),
              {
                runs: options.runs,
                seed: `${options.seed} ${endpoint.identifier}`,
                // Repeating a request that changed something has another effect, so few shrinking steps are worth it.
                maxShrinks: 20,
                replay: Option.getOrUndefined(options.replay)
              }
            )
            // Restores for the next endpoint what was deleted.
            if (endpoint.method === "DELETE") yield* Ref.set(current, null)
            const failure = Arbitrary.formatCheckFailure(result)
            if (failure !== undefined) assert.fail(`${failure}\nSeed: ${options.seed}`)
          }),
        { timeout: 600_000 }
      )
    }

    it.effect("the service: its runs are as sound as before", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const processes = yield* sql<{ readonly id: string }>`SELECT id FROM process`
        assert.isAbove(processes.length, 10)
        for (const { id } of processes) assertCounted(yield* rowsOf(ProcessId.make(id)))
      })
    )
  })
})
