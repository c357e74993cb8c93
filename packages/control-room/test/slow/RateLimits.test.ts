/** Many calls at once of the client to a room with its default rate limit, on the real clock. */
import { assert, it } from "@effect/vitest"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Processes from "@signalbox/api/Processes"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as HttpClient from "effect/http/HttpClient"
import { defaultRateLimit } from "../../src/internal/edge/RateLimits.ts"
import { layerIn, Service, temporaryFolder } from "../support/Service.ts"

const calls = 2000

const limited = Layer.unwrap(Effect.map(temporaryFolder, (folder) => layerIn(folder, { rateLimit: defaultRateLimit })))

it.live(`${calls} calls at once at ${defaultRateLimit.perSecond} a second end without one RateLimited`, () =>
  Effect.gen(function* () {
    const { key, origin, workspaceId } = yield* Service
    const statuses: Array<number> = []
    const counted = Layer.effect(
      HttpClient.HttpClient,
      Effect.map(
        HttpClient.HttpClient,
        HttpClient.tap(({ status }) => Effect.sync(() => statuses.push(status)))
      )
    )
    const client = ControlRoom.layerHttpClient({ baseUrl: origin, workspaceId, apiKey: Redacted.make(key) })
    const all = Effect.forEach(Array.from({ length: calls }), () => Processes.list({ limit: 1 }), {
      concurrency: "unbounded",
      discard: true
    })
    yield* Effect.provide(all, Layer.provide(client, counted))
    const refused = statuses.filter((status) => status === 429).length
    assert.lengthOf(statuses, calls + refused)
    // Requests that overtake each other on several connections are sent again; a stampede would be refused several times each.
    assert.isBelow(refused, calls / 2)
  }).pipe(Effect.provide(limited), Effect.scoped)
)
