/**
 * Virtual time beside a real server on a socket in this process: the clock moves on only while no request is on its way.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as TestClock from "effect/testing/TestClock"
import type { IncomingMessage } from "node:http"

const header = "x-in-flight"

/** The requests of some clients that are not answered yet. */
export interface InFlight {
  /** A client whose requests are watched. */
  readonly watched: <E, R>(client: Layer.Layer<HttpClient.HttpClient, E, R>) => Layer.Layer<HttpClient.HttpClient, E, R>
  /** The server will never answer this one: it is not waited for. */
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

/** Real time for sockets to do their work. */
const breathe = TestClock.withLive(Effect.sleep("2 millis"))

/** Runs a call to its end under virtual time: while nothing is `busy`, the clock is moved on in steps of milliseconds. */
export const settle = Effect.fnUntraced(function* <A, E, R>(
  busy: () => boolean,
  call: Effect.Effect<A, E, R>,
  step = 50
) {
  const fiber = yield* Effect.forkChild(Effect.exit(call), { startImmediately: true })
  for (let idle = 0; fiber.pollUnsafe() === undefined;) {
    yield* breathe
    // Some times in a row, so that the rest of an answer is not overtaken by the clock.
    idle = busy() ? 0 : idle + 1
    if (idle >= 3) yield* TestClock.adjust(step)
  }
  return yield* Effect.flatten(Fiber.join(fiber))
})
