/**
 * Events of calls, under virtual time over a client whose responses are scripted.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { actedOn, deliver, type Link } from "../src/Attempts.ts"
import { audience, ClientEvents, type Listeners } from "../src/Events.ts"
import * as Gate from "../src/Gate.ts"
import type { Policy } from "../src/Policy.ts"

const policy: Policy = {
  attempts: 3,
  baseMillis: 0,
  capMillis: 0,
  maxRetryAfterMillis: 60_000,
  attemptTimeoutMillis: 1000,
  totalTimeoutMillis: null,
  idleTimeoutMillis: null
}

type Script = Response | "never" | { readonly code: string }

/** A service with a script of responses, each after 20 ms, whose last one repeats. */
const service = (script: ReadonlyArray<Script>, listeners?: Listeners): Link => {
  let sent = 0
  const client = HttpClient.make((request) =>
    Effect.gen(function* () {
      const step = script[Math.min(sent++, script.length - 1)] ?? "never"
      if (step === "never") return yield* Effect.never
      yield* Effect.sleep(20)
      if (step instanceof Response) return HttpClientResponse.fromWeb(request, step.clone())
      return yield* new HttpClientError.HttpClientError({
        reason: new HttpClientError.TransportError({ request, cause: Object.assign(new Error("no"), step) })
      })
    })
  )
  return { client, gate: Gate.make(), acted: actedOn, pausing: new Set([429]), audience: audience(listeners) }
}

const answer = (status: number, headers: Readonly<Record<string, string>> = {}) =>
  new Response("text", { status, headers })

const request = HttpClientRequest.get("http://service.test/path?secret=1", { headers: { authorization: "secret" } })

const called = { operation: "Service.call", path: "/path" }

const call = (link: Link, by: Partial<Policy> = {}) =>
  deliver(link, { ...policy, ...by }, request, {
    called,
    repeatable: () => true,
    timed: true,
    read: (response) => response.text
  })

const settled = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(effect)
  yield* TestClock.adjust("5 minutes")
  return yield* Fiber.join(fiber)
})

/** Listeners that record what they are called with. */
const recorder = () => {
  const events: Array<readonly [string, object]> = []
  const on =
    (name: string) =>
    (event: object): void =>
      void events.push([name, event])
  return {
    events,
    names: () => events.map(([name]) => name),
    listeners: {
      onRequest: on("request"),
      onResponse: on("response"),
      onRetry: on("retry"),
      onPause: on("pause")
    } satisfies Listeners
  }
}

const first = { operation: "Service.call", method: "GET", path: "/path", attempt: 1 }
const second = { ...first, attempt: 2 }

describe("listeners", () => {
  it.effect("are told of each request, response, retry and pause of a call", () =>
    Effect.gen(function* () {
      const { events, listeners } = recorder()
      const refusal = answer(429, { "retry-after": "2", "x-request-id": "r1", "content-length": "4" })
      yield* settled(call(service([refusal, answer(200, { "request-id": "r2" })], listeners)))
      assert.deepStrictEqual(events, [
        ["request", first],
        ["response", { ...first, status: 429, requestId: "r1", problem: null, millis: 20, bytes: 4 }],
        ["retry", { ...second, status: 429, requestId: "r1", problem: null, pauseMillis: 2000 }],
        ["pause", { ...second, why: "rateLimit", millis: 2000 }],
        ["request", second],
        ["response", { ...second, status: 200, requestId: "r2", problem: null, millis: 20, bytes: null }]
      ])
    })
  )

  it.effect("are told why there was no response", () =>
    Effect.gen(function* () {
      const { events, listeners } = recorder()
      yield* settled(call(service([{ code: "ECONNRESET" }, "never", answer(200)], listeners), { baseMillis: 0 }))
      const nothing = { status: null, requestId: null }
      const broke = { ...nothing, problem: "the connection broke (ECONNRESET)" }
      const late = { ...nothing, problem: "no whole response within 1000 ms" }
      assert.deepStrictEqual(events.slice(1, 6), [
        ["response", { ...first, ...broke, millis: 20, bytes: null }],
        ["retry", { ...second, ...broke, pauseMillis: 0 }],
        ["request", second],
        ["response", { ...second, ...late, millis: 1000, bytes: null }],
        ["retry", { ...first, ...late, attempt: 3, pauseMillis: 0 }]
      ])
    })
  )

  it.effect("are told of a pause after a failure", () =>
    Effect.gen(function* () {
      const { events, listeners } = recorder()
      const down = answer(503, { "retry-after": "1" })
      yield* settled(call(service([down, answer(200)], listeners)))
      assert.deepStrictEqual(events[3], ["pause", { ...second, why: "failure", millis: 1000 }])
    })
  )

  it.effect("are told that the time of the call is over", () =>
    Effect.gen(function* () {
      const { events, listeners } = recorder()
      yield* settled(Effect.exit(call(service(["never"], listeners), { totalTimeoutMillis: 500 })))
      const problem = "no whole response with all attempts within 500 ms"
      assert.deepStrictEqual(events.slice(1), [
        ["response", { ...first, status: null, requestId: null, problem, millis: 500, bytes: null }]
      ])
    })
  )

  it.effect("are told of the pacing of the gate, those behind the first one too", () =>
    Effect.gen(function* () {
      const { events, listeners } = recorder()
      const used = { "ratelimit-remaining": "0", "ratelimit-reset": "10" }
      const link = service([answer(200, used), answer(200)], listeners)
      yield* Effect.forkChild(Effect.andThen(call(link), Effect.all([call(link), call(link)], { concurrency: 2 })))
      yield* TestClock.adjust(20)
      const pacing = { ...first, why: "pacing", millis: 10_000 }
      assert.deepStrictEqual(events.slice(2), [
        ["pause", pacing],
        ["pause", pacing]
      ])
    })
  )

  it.effect("are told of the pause that another call was asked for", () =>
    Effect.gen(function* () {
      const { events, listeners } = recorder()
      const link = service([answer(429, { "retry-after": "10" }), answer(200)], listeners)
      yield* Effect.forkChild(Effect.all([call(link), Effect.delay(call(link), 1020)], { concurrency: 2 }))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(events.slice(4), [["pause", { ...first, why: "rateLimit", millis: 9000 }]])
    })
  )

  it.effect("are told of one pause, although the gate has a rest of it", () =>
    Effect.gen(function* () {
      const { listeners, names } = recorder()
      const link = service([answer(429), answer(200)], listeners)
      yield* settled(Random.withSeed(call(link, { baseMillis: 100, capMillis: 100 }), "pauses"))
      assert.deepStrictEqual(names(), ["request", "response", "retry", "pause", "request", "response"])
    })
  )

  it.effect("of a part of a program are those of the reference", () =>
    Effect.gen(function* () {
      const { listeners, names } = recorder()
      const link = service([answer(200)])
      yield* settled(Effect.provideService(call(link), ClientEvents, listeners))
      yield* settled(call(link))
      assert.deepStrictEqual(names(), ["request", "response"])
    })
  )

  it.effect("that throw, or reject, change nothing; the first one is logged as a warning", () =>
    Effect.gen(function* () {
      const logged: Array<readonly [string, unknown]> = []
      const logger = Logger.make(({ logLevel, message }) => void logged.push([logLevel, message]))
      const bad: Listeners = {
        onRequest: () => {
          throw new Error("mine")
        },
        onResponse: () => Promise.reject(new Error("mine too"))
      }
      const link = service([answer(503), answer(200)], bad)
      const answers = yield* settled(Effect.all([call(link), call(link)]).pipe(Effect.provide(Logger.layer([logger]))))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200]
      )
      assert.lengthOf(logged, 1)
      assert.strictEqual(logged[0]?.[0], "Warn")
      assert.include(String(logged[0]?.[1]), "a listener to the events of a client failed")
    })
  )
})

describe("with Effect", () => {
  it.effect("events are lines of the log at debug level", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
      const refusal = answer(429, { "retry-after": "2", "x-request-id": "r1" })
      const link = service([refusal, answer(200)])
      const logging = (level: "Debug" | "Info") =>
        settled(call(link)).pipe(
          Effect.provide(Logger.layer([logger])),
          Effect.provideService(References.MinimumLogLevel, level)
        )
      yield* logging("Debug")
      yield* logging("Info")
      assert.deepStrictEqual(lines, [
        "Debug Service.call GET /path attempt 1",
        "Debug Service.call GET /path attempt 1: 429, request r1, 20 ms",
        "Debug Service.call GET /path retry as attempt 2 in 2000 ms: 429, request r1",
        "Debug Service.call GET /path pause of 2000 ms before attempt 2: the service asks for it",
        "Debug Service.call GET /path attempt 2",
        "Debug Service.call GET /path attempt 2: 200, 20 ms"
      ])
    })
  )

  it.effect("events are those of the current span", () =>
    Effect.gen(function* () {
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const at = yield* Clock.currentTimeMillis
      yield* settled(Effect.withTracer(Effect.withSpan(call(service([answer(200)])), "mine"), tracer))
      const events = spans.flatMap((span) => (span.name === "mine" ? span.events : []))
      assert.deepStrictEqual(events, [
        ["client.request", BigInt(at) * 1_000_000n, first],
        [
          "client.response",
          BigInt(at + 20) * 1_000_000n,
          { ...first, status: 200, requestId: null, problem: null, millis: 20, bytes: null }
        ]
      ])
    })
  )

  it.effect("without a span there are none", () =>
    Effect.gen(function* () {
      const tracer = Tracer.make({ span: (options) => new Tracer.NativeSpan(options) })
      const { status } = yield* settled(Effect.withTracer(call(service([answer(200)])), tracer))
      assert.strictEqual(status, 200)
    })
  )
})
