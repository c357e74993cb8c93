/**
 * Virtual time beside a real server on a socket in this process: the clock advances only while no request is in flight.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as TestClock from "effect/testing/TestClock"
import type { IncomingMessage } from "node:http"

const header = "x-in-flight"

/** The requests of some clients that have no response yet. */
export interface InFlight {
  /** A client whose requests are counted. */
  readonly watched: <E, R>(client: Layer.Layer<HttpClient.HttpClient, E, R>) => Layer.Layer<HttpClient.HttpClient, E, R>
  /** The server will never respond to this request: it is not waited for. */
  readonly hangs: (request: IncomingMessage) => void
  readonly some: () => boolean
}

export const inFlight = (): InFlight => {
  const ids = new Set<string>()
  let last = 0
  const watch = (client: HttpClient.HttpClient) =>
    HttpClient.make((request) =>
      Effect.suspend(() => {
        const id = String(++last)
        ids.add(id)
        return Effect.ensuring(
          client.execute(HttpClientRequest.setHeader(request, header, id)),
          Effect.sync(() => ids.delete(id))
        )
      })
    )
  return {
    watched: (client) =>
      Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, watch)), client),
    hangs: ({ headers }) => ids.delete(String(headers[header])),
    some: () => ids.size > 0
  }
}

/** Real time in which sockets can transfer. */
const breathe = TestClock.withLive(Effect.sleep("2 millis"))

/**
 * Runs an effect to its end under virtual time: while `busy` returns false, the clock advances in steps of
 * milliseconds.
 */
export const settle = Effect.fnUntraced(function* <A, E, R>(
  busy: () => boolean,
  call: Effect.Effect<A, E, R>,
  step = 50
) {
  const fiber = yield* Effect.forkChild(Effect.exit(call), { startImmediately: true })
  for (let idle = 0; fiber.pollUnsafe() === undefined;) {
    yield* breathe
    // Several times in a row, so that the clock does not advance before the rest of a response.
    idle = busy() ? 0 : idle + 1
    if (idle >= 3) yield* TestClock.adjust(step)
  }
  return yield* Effect.flatten(Fiber.join(fiber))
})
