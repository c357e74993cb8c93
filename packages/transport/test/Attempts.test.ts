/**
 * Attempts, under virtual time over a client whose responses are scripted.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { actedOn, deliver, type DeliverOptions, type Link } from "../src/Attempts.ts"
import * as Gate from "../src/Gate.ts"
import { IdleLimit } from "../src/IdleLimit.ts"
import type { Policy } from "../src/Policy.ts"

const policy: Policy = {
  attempts: 3,
  baseMillis: 100,
  capMillis: 150,
  maxRetryAfterMillis: 10_000,
  attemptTimeoutMillis: 1000,
  totalTimeoutMillis: null,
  idleTimeoutMillis: 500
}

type Script = Response | "never" | { readonly code: string }

/**
 * A service with a script of responses, whose last one repeats; `sent`: when each request arrived and under which idle
 * limit.
 */
const service = (...script: ReadonlyArray<Script>) => {
  const sent: Array<{ readonly at: number; readonly idle: number | null }> = []
  const client = HttpClient.make((request) =>
    Effect.gen(function* () {
      const step = script[Math.min(sent.length, script.length - 1)] ?? "never"
      sent.push({ at: yield* Clock.currentTimeMillis, idle: yield* IdleLimit })
      if (step === "never") return yield* Effect.never
      if (step instanceof Response) return HttpClientResponse.fromWeb(request, step.clone())
      return yield* new HttpClientError.HttpClientError({
        reason: new HttpClientError.TransportError({ request, cause: Object.assign(new Error("no"), step) })
      })
    })
  )
  const link: Link = { client, gate: Gate.make(), acted: actedOn, pausing: new Set([429]) }
  return { link, sent }
}

const answer = (status: number, headers: Readonly<Record<string, string>> = {}) =>
  new Response("text", { status, headers })

const request = HttpClientRequest.get("http://service.test/")

const options = {
  repeatable: () => true,
  timed: true,
  read: (response: HttpClientResponse.HttpClientResponse) => response.text
} satisfies DeliverOptions<string>

/** Runs under virtual time, to the millisecond. */
const settled = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(effect)
  yield* TestClock.adjust("5 minutes")
  return yield* Fiber.join(fiber)
})

const send = (link: Link, more: Partial<DeliverOptions<string>> = {}, by: Partial<Policy> = {}) =>
  settled(deliver(link, { ...policy, ...by }, request, { ...options, ...more }))

describe("a request", () => {
  const again: ReadonlyArray<readonly [string, Script, boolean, boolean]> = [
    // What happened, and whether a repeatable and another request are retried.
    ["408", answer(408), true, false],
    ["425", answer(425), true, true],
    ["429", answer(429), true, true],
    ["500", answer(500), true, false],
    ["503", answer(503), true, false],
    ["522", answer(522), true, false],
    ["404", answer(404), false, false],
    ["501", answer(501), false, false],
    ["505", answer(505), false, false],
    ["no connection", { code: "ECONNREFUSED" }, true, true],
    ["a proxy that does not connect", { code: "PROXY_ANSWERED_502" }, true, true],
    ["a broken connection", { code: "ECONNRESET" }, true, false],
    ["no answer in time", "never", true, false],
    ["a certificate that is not trusted", { code: "SELF_SIGNED_CERT_IN_CHAIN" }, false, false]
  ]
  for (const [what, script, repeatable, other] of again) {
    it.effect(
      `after ${what} is sent ${repeatable ? "again" : "once"}; ${other ? "again" : "once"} if not repeatable`,
      () =>
        Effect.gen(function* () {
          for (const [isRepeatable, times] of [
            [true, repeatable ? 3 : 1],
            [false, other ? 3 : 1]
          ] as const) {
            const { link, sent } = service(script)
            const result = yield* Effect.result(send(link, { repeatable: () => isRepeatable }))
            assert.lengthOf(sent, times)
            const attempts = result._tag === "Success" ? result.success.attempts : result.failure.attempts
            assert.strictEqual(attempts, times)
          }
        })
    )
  }

  it.effect("is asked whether it may be repeated after the response was seen", () =>
    Effect.gen(function* () {
      const { link, sent } = service(answer(503, { "keeps-keys": "yes" }), answer(200))
      let keeps = false
      const onResponse: DeliverOptions<string>["onResponse"] = (_, headers) => (keeps = headers["keeps-keys"] === "yes")
      const got = yield* send(link, { repeatable: () => keeps, onResponse })
      assert.strictEqual(got._tag, "Good")
      assert.lengthOf(sent, 2)
    })
  )
})

describe("pauses", () => {
  it.effect("are random below a limit that doubles up to the cap", () =>
    Effect.gen(function* () {
      const { link, sent } = service(answer(500))
      yield* send(link, {}, { attempts: 6 })
      const pauses = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0))
      pauses.forEach((pause, index) => assert.isAtMost(pause, (index === 0 ? 100 : 150) + 1))
      assert.isAbove(Math.max(...pauses), 0)
    })
  )

  it.effect("are those that the service names", () =>
    Effect.gen(function* () {
      const { link, sent } = service(answer(503, { "retry-after": "7" }), answer(200))
      yield* send(link)
      assert.deepStrictEqual(
        sent.map(({ at }) => at),
        [0, 7000]
      )
    })
  )

  it.effect("that are too long are not made, and the response says how long", () =>
    Effect.gen(function* () {
      const { link, sent } = service(answer(429, { "retry-after": "11" }), answer(200))
      const got = yield* send(link)
      assert.strictEqual(got._tag === "Bad" ? got.retryAfterMillis : null, 11_000)
      assert.lengthOf(sent, 1)
      // Nor do they delay others.
      yield* send(link)
      assert.strictEqual(sent[1]?.at, 300_000)
    })
  )

  for (const [status, pauses] of [
    [429, true],
    [503, false]
  ] as const) {
    it.effect(`after a ${status} hold back ${pauses ? "all calls" : "that call alone"}`, () =>
      Effect.gen(function* () {
        const { link, sent } = service(answer(status, { "retry-after": "7" }), answer(200))
        const one = deliver(link, policy, request, options)
        yield* settled(Effect.all([one, Effect.delay(one, "1 second")], { concurrency: 2 }))
        assert.deepStrictEqual(
          sent.map(({ at }) => at),
          pauses ? [0, 7000, 7000] : [0, 1000, 7000]
        )
      })
    )
  }
})

describe("limits of time", () => {
  it.effect("of an attempt begin when it is admitted", () =>
    Effect.gen(function* () {
      const { link, sent } = service(answer(200))
      yield* link.gate.pause(5000)
      const got = yield* send(link)
      assert.strictEqual(got._tag, "Good")
      assert.strictEqual(sent[0]?.at, 5000)
    })
  )

  it.effect("of a call end it between its attempts, and say how often it was sent", () =>
    Effect.gen(function* () {
      const { link } = service(answer(503, { "retry-after": "2" }))
      const { attempts, reason } = yield* Effect.flip(send(link, {}, { totalTimeoutMillis: 3000 }))
      assert.strictEqual(reason._tag, "Timeout")
      assert.strictEqual(reason._tag === "Timeout" ? reason.afterMillis : 0, 3000)
      assert.strictEqual(attempts, 2)
    })
  )

  it.effect("are the idle limit for transfers, and the attempt's for other calls", () =>
    Effect.gen(function* () {
      const { link, sent } = service(answer(200))
      yield* send(link)
      yield* send(link, { timed: false })
      yield* send(link, { timed: false }, { idleTimeoutMillis: null })
      assert.deepStrictEqual(
        sent.map(({ idle }) => idle),
        [null, 500, null]
      )
    })
  )

  it.effect("that passed without a byte are a Timeout, which may have acted", () =>
    Effect.gen(function* () {
      const { link, sent } = service({ code: "UND_ERR_BODY_TIMEOUT" })
      const { reason } = yield* Effect.flip(send(link, { timed: false }))
      assert.deepStrictEqual(reason, {
        _tag: "Timeout",
        acted: "maybe",
        afterMillis: 500,
        message: "no byte in either direction within 500 ms"
      })
      assert.lengthOf(sent, 3)
    })
  )
})

it.effect("a text that breaks off in an error response does not hide its status", () =>
  Effect.gen(function* () {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("broke off")) })
    const client = HttpClient.make((request) =>
      Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body, { status: 403 })))
    )
    const got = yield* send({ ...service("never").link, client })
    assert.strictEqual(got.status, 403)
    assert.strictEqual(got._tag === "Bad" ? got.text : null, "")
  })
)
