/** Retries of steps: their options, and what `Retry.http` reads from errors. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as TestClock from "effect/testing/TestClock"
import { createServer, type ServerResponse } from "node:http"
import * as Flow from "../src/Flow.ts"
import { defineFlow, defineStep, type FlowError } from "../src/Promises.ts"
import * as Retry from "../src/Retry.ts"
import { flowOf, Refused } from "./support/Flows.ts"

const millisOf = (pause: Duration.Duration | null) => (pause === null ? null : Duration.toMillis(pause))

/** A service that answers each request in another way, and the last way for ever. */
const served = (...answers: ReadonlyArray<(response: ServerResponse) => void>) =>
  Effect.gen(function* () {
    const requests: Array<string | undefined> = []
    const server = yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const made = createServer((request, response) => {
          requests.push(request.headers["idempotency-key"]?.toString())
          request.resume()
          answers[Math.min(requests.length, answers.length) - 1]?.(response)
        })
        made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) => Effect.sync(() => made.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => made.close())))
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return { requests, url: `http://127.0.0.1:${port}` }
  })

const status =
  (code: number, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse) =>
    response.writeHead(code, headers).end("{}")

/** Runs a step whose attempts all fail, and returns when each began. */
const attemptsOf = (retry: Retry.RetryOptions<Refused>, whys: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const began: Array<number> = []
    const start = yield* Clock.currentTimeMillis
    const step = Flow.step("failing", {
      input: Schema.Void,
      success: Schema.Void,
      error: Refused,
      retry,
      run: () =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          began.push(now - start)
          return Effect.fail(new Refused({ why: whys[began.length - 1] ?? "busy" }))
        })
    })
    const flow = flowOf(Schema.Void, () => step(undefined))
    const fiber = yield* Effect.forkChild(Effect.exit(Flow.run(flow, undefined)))
    yield* TestClock.adjust("2 days")
    const exit = yield* Fiber.join(fiber)
    return { exit, began }
  })

const seconds = (...values: ReadonlyArray<number>) => values.map((value) => value * 1_000)

describe("the retry of a step", () => {
  it.effect("pauses as its function of the error and the attempt says", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const { began } = yield* attemptsOf({
        attempts: 4,
        delay: (error, attempt) => {
          seen.push(`${error.why} ${attempt}`)
          return `${attempt * 10} seconds`
        }
      })
      assert.deepStrictEqual(began, seconds(0, 10, 30, 60))
      assert.deepStrictEqual(seen, ["busy 1", "busy 2", "busy 3"])
    })
  )

  it.effect("ends when the function returns null, or `while` refuses", () =>
    Effect.gen(function* () {
      const whys = ["busy", "busy", "gone"]
      const delay = ({ why }: Refused) => (why === "gone" ? null : "1 second")
      const { began, exit } = yield* attemptsOf({ attempts: 9, delay }, whys)
      assert.deepStrictEqual(began, seconds(0, 1, 2))
      assert.deepStrictEqual(exit, Exit.fail(new Refused({ why: "gone" })))
      const refused = yield* attemptsOf({ attempts: 9, delay: () => 0, while: ({ why }) => why === "busy" }, whys)
      assert.strictEqual(refused.began.length, 3)
    })
  )

  it.effect("never pauses for longer than `max`", () =>
    Effect.gen(function* () {
      const growing = yield* attemptsOf({ attempts: 5, delay: "10 seconds", max: "30 seconds" })
      assert.deepStrictEqual(growing.began, seconds(0, 10, 30, 60, 90))
      const asked = yield* attemptsOf({ attempts: 2, delay: () => "1 day", max: "30 seconds" })
      assert.deepStrictEqual(asked.began, seconds(0, 30))
    })
  )

  it.effect("adds a random part of each pause, up to `jitter`", () =>
    Effect.gen(function* () {
      const { began } = yield* Effect.provideService(
        attemptsOf({ attempts: 3, delay: "10 seconds", max: "15 seconds", jitter: 0.5 }),
        Random.Random,
        { nextDoubleUnsafe: () => 0.4, nextIntUnsafe: () => 0 }
      )
      assert.deepStrictEqual(began, seconds(0, 12, 30))
    })
  )

  it.effect("begins no attempt later than `within` after the first one", () =>
    Effect.gen(function* () {
      const { began } = yield* attemptsOf({ attempts: 99, delay: "10 seconds", backoff: 1, within: "35 seconds" })
      assert.deepStrictEqual(began, seconds(0, 10, 20, 30))
    })
  )

  it("refuses options that cannot be", () => {
    const made = (retry: Retry.RetryOptions<Refused>) => () =>
      Flow.step("wrong", { input: Schema.Void, success: Schema.Void, error: Refused, retry, run: () => Effect.void })
    assert.throws(
      made({ attempts: 2, jitter: 2 }),
      "the step wrong: retry.jitter: expected a number from 0 to 1, not 2"
    )
    assert.throws(made({ attempts: 2, max: 0 }), /^the step wrong: retry\.max: expected a length of time above 0/)
    assert.throws(
      made({ attempts: 2, within: -1 }),
      /^the step wrong: retry\.within: expected a length of time above 0/
    )
    assert.throws(
      made({ attempts: 2, delay: () => 1_000, backoff: 2 }),
      /^the step wrong: retry\.backoff: expected none, because `delay` is a function/
    )
  })

  it.effect("dies when its function returns no length of time", () =>
    Effect.gen(function* () {
      const { exit } = yield* attemptsOf({ attempts: 2, delay: () => -5 })
      assert.match(
        `${Exit.isFailure(exit) ? exit.cause : ""}`,
        /the step failing: retry\.delay: expected a length of time/
      )
    })
  )
})

describe("Retry.http", () => {
  const pauses: ReadonlyArray<readonly [what: string, error: unknown, millis: number | null]> = [
    ["a status that passes", { status: 503 }, 1_000],
    ["429", { status: 429 }, 1_000],
    ["408", { statusCode: 408 }, 1_000],
    ["425", { status: 425 }, 1_000],
    ["500", { status: 500 }, 1_000],
    ["501, which does not pass", { status: 501 }, null],
    ["a client's mistake", { status: 404 }, null],
    ["a success that was thrown", { status: 200 }, null],
    ["Retry-After in seconds", { status: 503, headers: { "Retry-After": "7" } }, 7_000],
    ["Retry-After of a Response", new Response(null, { status: 429, headers: { "retry-after": "2.5" } }), 2_500],
    ["Retry-After-Ms", { status: 429, headers: new Map([["retry-after-ms", "20"]]) }, 20],
    ["Retry-After that has passed", { status: 503, headers: { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" } }, 0],
    ["Retry-After that cannot be read", { status: 503, headers: { "retry-after": "soon" } }, 1_000],
    ["Retry-After of a refusal", { status: 403, headers: { "retry-after": "7" } }, null],
    ["a class with retryAfterMillis", { status: 503, retryAfterMillis: 30 }, 30],
    ["a class with retryAfterMillis: null", { status: 503, retryAfterMillis: null }, 1_000],
    ["the response of an error", { status: 503, response: { status: 503, headers: { "retry-after": "3" } } }, 3_000],
    ["the cause of an error", new Error("x", { cause: { status: 429 } }), 1_000],
    ["a connection that was refused", new Error("x", { cause: { code: "ECONNREFUSED" } }), 1_000],
    ["an untrusted certificate", new Error("x", { cause: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" } }), null],
    ["the timeout of a step", new Flow.StepTimeout({ step: "a", afterMillis: 5 }), 1_000],
    ["AbortSignal.timeout", new DOMException("late", "TimeoutError"), 1_000],
    ["another error", new Error("status 503"), null],
    ["no error", undefined, null]
  ]
  it.each(pauses)("returns the pause after %s", (_what, error, millis) => {
    assert.strictEqual(millisOf(Retry.http(error, 1)), millis)
  })

  it("doubles the pause to at most 5 minutes, and ends where causes are a circle", () => {
    const error = Object.assign(new Error("x"), { status: 503 })
    error.cause = error
    const found = [1, 2, 3, 9, 10, 5_000].map((attempt) => millisOf(Retry.http(error, attempt)))
    assert.deepStrictEqual(found, [1_000, 2_000, 4_000, 256_000, 300_000, 300_000])
  })

  it.live("reads the errors of HttpClient", () =>
    Effect.gen(function* () {
      const { url } = yield* served(status(503, { "retry-after": "4" }), status(404))
      const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
      const failed = Effect.flip(client.execute(HttpClientRequest.get(url)))
      assert.strictEqual(millisOf(Retry.http(yield* failed, 1)), 4_000)
      assert.isNull(Retry.http(yield* failed, 1))
      const closed = yield* Effect.scoped(served(status(200)))
      const refused = yield* Effect.flip(client.execute(HttpClientRequest.get(closed.url)))
      assert.strictEqual(millisOf(Retry.http(refused, 1)), 1_000)
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )
})

describe("a step of promises", () => {
  const flowOver = (url: string, seen: Array<FlowError> = []) => {
    const charge = defineStep({
      name: "charge",
      input: Schema.String,
      output: Schema.String,
      retry: {
        attempts: 9,
        delay: (error, attempt) => {
          seen.push(error)
          return Retry.http(error, attempt)
        }
      },
      run: async (_input, { idempotencyKey, signal }) => {
        const response = await fetch(url, { method: "POST", headers: { "idempotency-key": idempotencyKey }, signal })
        if (!response.ok) throw response
        return response.text()
      }
    })
    return defineFlow({
      name: "charges",
      input: Schema.String,
      output: Schema.String,
      key: (input) => input,
      run: (ctx, input) => ctx.step(charge, input)
    })
  }

  it.live("waits as the service asks, under one idempotency key", () =>
    Effect.gen(function* () {
      const busy = status(429, { "retry-after-ms": "1" })
      const { requests, url } = yield* served(busy, status(503, { "retry-after": "0" }), (response) =>
        response.end("ok")
      )
      assert.strictEqual(yield* Flow.run(flowOver(url), "one"), "ok")
      assert.strictEqual(requests.length, 3)
      assert.strictEqual(new Set(requests).size, 1)
    })
  )

  it.live("is not retried after a refusal, of which the failure has the status, and the decision the response", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* served(status(402))
      const seen: Array<FlowError> = []
      const error = yield* Effect.flip(Flow.run(flowOver(url, seen), "one"))
      assert.strictEqual(error.message, "the service responded with 402 Payment Required")
      assert.deepInclude(error, { type: "Response", data: { status: 402 } })
      assert.instanceOf(seen[0]?.cause, Response)
      assert.isUndefined(error.cause)
      assert.strictEqual(requests.length, 1)
    })
  )
})
