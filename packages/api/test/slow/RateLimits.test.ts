/** Many calls at once of the client, over a socket, to a service with a rate limit, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { answer, settle } from "../support/FaultServer.ts"
import { get, post, withServer, workItem } from "../support/Retries.ts"

const calls = 2000

/** A token bucket as the service has it, which counts what it refuses. */
const limited = (perSecond: number) => {
  let tokens = perSecond
  let filled = 0
  let refused = 0
  const respond = (at: number) => {
    tokens = Math.min(perSecond, tokens + (Math.max(0, at - filled) / 1000) * perSecond)
    filled = at
    const isAdmitted = tokens >= 1
    if (isAdmitted) tokens--
    else refused++
    const headers = { "ratelimit-remaining": String(Math.floor(tokens)), "ratelimit-reset": "1" }
    if (isAdmitted) return answer(200, workItem, headers)
    const wait = String(Math.ceil(((1 - tokens) / perSecond) * 1000))
    return answer(429, undefined, { ...headers, "retry-after": "1", "retry-after-ms": wait })
  }
  return { respond, refused: () => refused }
}

describe("2,000 calls at once at three a second", () => {
  for (const [what, call] of [
    ["reads", get],
    ["writes", post]
  ] as const) {
    it.effect(`${what} end without one RateLimited, and only the first ten may be sent again`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          const { refused, respond } = limited(3)
          server.respond(respond)
          const all = Effect.forEach(Array.from({ length: calls }), () => call, { concurrency: "unbounded" })
          yield* settle(server, all, 1000)
          assert.lengthOf(server.received(), calls + refused())
          assert.isAtMost(refused(), 10)
        })
      )
    )
  }
})
