/** What is retried, how often and when: the rows of docs/errors-and-retries.md. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { ProcessRunId } from "../src/contract/Ids.ts"
import { ControlRoom } from "../src/ControlRoom.ts"
import {
  type CallError,
  Conflict,
  ControlRoomError,
  InvalidRequest,
  type Transient,
  transient
} from "../src/ControlRoomError.ts"
import { withIdempotencyScope } from "../src/Idempotency.ts"
import { defaultPolicy, RetryPolicy, sendOnce } from "../src/Policy.ts"
import * as ProcessRuns from "../src/ProcessRuns.ts"
import { answer, type Fault, type FaultServer, make, settle } from "./support/FaultServer.ts"
import {
  workItem,
  runningRun,
  good,
  goodWithKeys,
  deleted,
  connect,
  outcome,
  withServer,
  get,
  post,
  remove
} from "./support/Retries.ts"

/** Whether a GET, a POST without and a POST with supported keys are retried, and how they fail in the end. */
const table: ReadonlyArray<{
  readonly what: string
  readonly fault: Fault
  readonly get: boolean
  readonly post: boolean
  readonly keyed: boolean
  readonly fails: string
}> = [
  ...[408, 500, 520].map((status) => ({
    what: String(status),
    fault: answer(status),
    get: true,
    post: false,
    keyed: true,
    fails: "Unexpected"
  })),
  { what: "425", fault: answer(425), get: true, post: true, keyed: true, fails: "Unexpected" },
  { what: "429", fault: answer(429), get: true, post: true, keyed: true, fails: "RateLimited" },
  ...[502, 503, 504, 507].map((status) => ({
    what: String(status),
    fault: answer(status),
    get: true,
    post: false,
    keyed: true,
    fails: "Unavailable"
  })),
  {
    what: "an HTML error page",
    fault: answer(502, "<html>Bad gateway</html>", { "content-type": "text/html" }),
    get: true,
    post: false,
    keyed: true,
    fails: "Unavailable"
  },
  { what: "a reset", fault: { _tag: "Reset" }, get: true, post: false, keyed: true, fails: "Unreachable" },
  {
    what: "half an answer",
    fault: { _tag: "Half", body: '{"id":' },
    get: true,
    post: false,
    keyed: true,
    fails: "Unreachable"
  },
  { what: "no answer", fault: { _tag: "Hang" }, get: true, post: false, keyed: true, fails: "Timeout" },
  {
    what: "a slow body",
    fault: { _tag: "Stall", body: '{"id":' },
    get: true,
    post: false,
    keyed: true,
    fails: "Timeout"
  },
  { what: "malformed JSON", fault: answer(200, "{"), get: false, post: false, keyed: false, fails: "Malformed" },
  { what: "another shape", fault: answer(200, { id: 5 }), get: false, post: false, keyed: false, fails: "Malformed" },
  {
    what: "an HTML page with 200",
    fault: answer(200, "<html></html>", { "content-type": "text/html" }),
    get: false,
    post: false,
    keyed: false,
    fails: "Malformed"
  },
  { what: "401", fault: answer(401), get: false, post: false, keyed: false, fails: "Unauthorized" },
  { what: "403", fault: answer(403), get: false, post: false, keyed: false, fails: "Forbidden" },
  ...[501, 505].map((status) => ({
    what: String(status),
    fault: answer(status),
    get: false,
    post: false,
    keyed: false,
    fails: "Unexpected"
  }))
]

const step = (fault: Fault) => (fault._tag === "Hang" || fault._tag === "Stall" ? 1000 : 100)

describe("a GET", () => {
  for (const row of table) {
    it.effect(`${row.what}: ${row.get ? "is sent again, four times in all" : "is not sent again"}`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          const failed = yield* outcome(server, [row.fault], get, step(row.fault))
          assert.strictEqual(failed.sent, row.get ? 4 : 1)
          assert.strictEqual(failed.reason, row.fails)
          if (!row.get) return
          const recovered = yield* outcome(server, [row.fault, row.fault, good], get, step(row.fault))
          assert.strictEqual(recovered.tag, "success")
          assert.strictEqual(recovered.sent, 3)
        })
      )
    )
  }

  it.effect("404 and 409 where the operation does not declare them: a ControlRoomError", () =>
    withServer((server) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* outcome(server, [answer(404)], get)).tag, "NotFound")
        const conflict = yield* outcome(server, [answer(409)], get)
        assert.strictEqual(conflict.reason, "Unexpected")
        assert.strictEqual(conflict.sent, 1)
      })
    )
  )

  it.effect("nothing listens: is sent again, and then fails as Unreachable with sent: no", () =>
    Effect.gen(function* () {
      const server = yield* Effect.scoped(make)
      const error = yield* settle(server, Effect.flip(get), 100).pipe(Effect.provide(connect(server)))
      assert.strictEqual(error._tag, "ControlRoomError")
      if (error._tag !== "ControlRoomError" || error.reason._tag !== "Unreachable") return assert.fail(error.message)
      assert.strictEqual(error.reason.sent, "no")
      assert.strictEqual(error.request.attempts, 4)
    })
  )
})

describe("a POST to a service that is not known to support idempotency keys", () => {
  for (const row of table) {
    it.effect(`${row.what}: ${row.post ? "is sent again" : "is sent once"}`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          const failed = yield* outcome(server, [row.fault], post, step(row.fault))
          assert.strictEqual(failed.sent, row.post ? 4 : 1)
          assert.strictEqual(failed.reason, row.fails)
        })
      )
    )
  }
})

describe("a POST to a service that supports idempotency keys", () => {
  for (const row of table) {
    it.effect(`${row.what}: ${row.keyed ? "is sent again with the same key" : "is sent once"}`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          // Any response of the service may say so.
          yield* outcome(server, [goodWithKeys], get)
          const { keys, sent } = yield* outcome(server, [row.fault], post, step(row.fault))
          assert.strictEqual(sent, row.keyed ? 4 : 1)
          assert.isString(keys[0])
          assert.strictEqual(new Set(keys).size, 1)
        })
      )
    )
  }

  it.effect("a response that says so counts for the very call that got it", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const refusal = answer(503, undefined, { "idempotency-key-ttl": "86400" })
        assert.strictEqual((yield* outcome(server, [refusal, good], post)).tag, "success")
      })
    )
  )

  it.effect("each call has a separate key; in a scope the order determines the keys", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([goodWithKeys])
        yield* settle(server, Effect.andThen(post, post))
        const [a, b] = server.received().map((request) => request.headers["idempotency-key"])
        assert.notStrictEqual(a, b)
        server.script([goodWithKeys])
        yield* settle(server, withIdempotencyScope("nightly/3", Effect.andThen(post, post)))
        const keys = server.received().map((request) => request.headers["idempotency-key"])
        assert.deepStrictEqual(keys, ["nightly/3/1", "nightly/3/2"])
      })
    )
  )
})

/** What the caller learns from a call that is sent once. */
const classified = Effect.fnUntraced(function* <A>(
  server: FaultServer,
  fault: Fault,
  call: Effect.Effect<A, CallError, ControlRoom>
) {
  server.script([fault])
  return transient(yield* settle(server, Effect.flip(sendOnce(call)), step(fault)))
})

describe("an error is transient", () => {
  for (const row of table) {
    it.effect(`by the table of retries: ${row.what}: ${row.get ? "yes" : "no"}`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          const acted = row.post ? "no" : "maybe"
          const expected: Transient | null = row.get ? { retryAfterMillis: null, acted } : null
          for (const call of [get, post]) assert.deepStrictEqual(yield* classified(server, row.fault, call), expected)
        })
      )
    )
  }

  it.effect("when nothing listens, and nothing was sent", () =>
    Effect.gen(function* () {
      const server = yield* Effect.scoped(make)
      const retry = yield* Effect.provide(classified(server, good, get), connect(server))
      assert.deepStrictEqual(retry, { retryAfterMillis: null, acted: "no" })
    })
  )

  it.effect("for as long as the service asks to wait, however long that is", () =>
    withServer((server) =>
      Effect.gen(function* () {
        for (const status of [408, 425, 429, 500, 503, 507]) {
          for (const [given, millis] of [
            ["3", 3000],
            ["86400", 86_400_000],
            ["1e308", null]
          ] as const) {
            const retry = yield* classified(server, answer(status, undefined, { "retry-after": given }), get)
            assert.strictEqual(retry?.retryAfterMillis, millis, `${status} ${given}`)
            // The pause of the connection's calls is over by then.
            yield* TestClock.adjust(3000)
          }
        }
      })
    )
  )

  it.effect("when the call took longer than it may with all its attempts", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const limited = Effect.updateService(get, RetryPolicy, (policy) => ({ ...policy, totalTimeoutMillis: 1000 }))
        const retry = yield* classified(server, { _tag: "Hang" }, limited)
        assert.deepStrictEqual(retry, { retryAfterMillis: null, acted: "maybe" })
      })
    )
  )

  it.effect("not when the awaited outcome did not come: each request had a response", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(200, runningRun)])
        const waiting = ProcessRuns.awaitEnd(ProcessRunId.make("run"), { timeout: "10 seconds" })
        const error = yield* settle(server, Effect.flip(waiting), 500)
        if (error._tag !== "ControlRoomError" || error.reason._tag !== "Timeout") return assert.fail(error.message)
        assert.strictEqual(error.reason.waitedFor, "outcome")
        assert.isNull(transient(error))
      })
    )
  )

  it("not when it is about the request itself", () => {
    const told = { code: "C", message: "m", request: { method: "POST", path: "/", attempts: 1, requestId: null } }
    for (const error of [new Conflict(told), new InvalidRequest(told)]) assert.isNull(transient(error))
  })

  it("as far as it says, when it was stored before errors said this", () => {
    const stored = (reason: object) =>
      Schema.decodeUnknownSync(Schema.toCodecJson(ControlRoomError))({
        _tag: "ControlRoomError",
        reason: { message: "m", ...reason },
        request: { method: "GET", path: "/", attempts: 1, requestId: null }
      })
    const unavailable = transient(stored({ _tag: "Unavailable", status: 503 }))
    assert.deepStrictEqual(unavailable, { retryAfterMillis: null, acted: "maybe" })
    assert.isNull(transient(stored({ _tag: "Timeout", afterMillis: 1 })))
  })
})

describe("the option idempotency", () => {
  it.effect("honoured: a POST is sent again from the start", () =>
    withServer(
      (server) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* outcome(server, [{ _tag: "Reset" }, good], post)).sent, 2)
        }),
      { idempotency: "honoured" }
    )
  )

  it.effect("ignored: no key is sent, and no POST is repeated, whatever the service says", () =>
    withServer(
      (server) =>
        Effect.gen(function* () {
          yield* outcome(server, [goodWithKeys], get)
          const { keys, sent } = yield* outcome(server, [answer(503), good], post)
          assert.strictEqual(sent, 1)
          assert.deepStrictEqual(keys, [undefined])
        }),
      { idempotency: "ignored" }
    )
  )
})

describe("a DELETE", () => {
  it.effect("that finds nothing the second time has succeeded", () =>
    withServer((server) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* outcome(server, [{ _tag: "Reset" }, answer(404)], remove)).tag, "success")
        assert.strictEqual((yield* outcome(server, [answer(404)], remove)).tag, "NotFound")
        assert.strictEqual((yield* outcome(server, [deleted], remove)).tag, "success")
      })
    )
  )
})

describe("the pauses", () => {
  it.effect("are random below 500 ms, 1 s, 2 s", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const { pauses } = yield* outcome(server, [answer(503)], get, 10)
        assert.strictEqual(pauses.length, 3)
        const ceilings = [500, 1000, 2000]
        pauses.forEach((pause, index) => assert.isAtMost(pause, (ceilings[index] ?? 0) + 20))
        assert.isAbove(Math.max(...pauses), 0)
      })
    )
  )

  const forms: ReadonlyArray<readonly [string, (now: number) => Readonly<Record<string, string>>, number]> = [
    ["whole seconds", () => ({ "retry-after": "3" }), 3000],
    ["fractions", () => ({ "retry-after": "0.15" }), 150],
    ["a date", (now) => ({ "retry-after": new Date(now + 4000).toUTCString() }), 4000],
    ["milliseconds", () => ({ "retry-after-ms": "250" }), 250],
    ["zero", () => ({ "retry-after": "0" }), 0]
  ]
  for (const [form, headers, millis] of forms) {
    it.effect(`follow Retry-After as ${form}`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          for (const status of [429, 503]) {
            // A date has whole seconds.
            yield* TestClock.setTime(status * 10_000)
            const refusal = answer(status, undefined, headers(status * 10_000))
            const { pauses, tag } = yield* outcome(server, [refusal, good], get, 50)
            assert.strictEqual(tag, "success")
            assert.isAtLeast(pauses[0] ?? -1, millis - 50)
            assert.isAtMost(pauses[0] ?? Infinity, millis + 100)
          }
        })
      )
    )
  }

  it.effect("are not made for a Retry-After of more than 60 s, which is reported instead", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(429, undefined, { "retry-after": "3600" })])
        const error = yield* settle(server, Effect.flip(get))
        if (error._tag !== "ControlRoomError" || error.reason._tag !== "RateLimited") return assert.fail(error.message)
        assert.strictEqual(error.reason.retryAfterMillis, 3_600_000)
        assert.strictEqual(server.received().length, 1)
      })
    )
  )

  it.effect("that are unreadable or negative are ignored", () =>
    withServer((server) =>
      Effect.gen(function* () {
        for (const value of ["soon", "-5"]) {
          const { pauses } = yield* outcome(server, [answer(503, undefined, { "retry-after": value }), good], get, 10)
          assert.isAtMost(pauses[0] ?? Infinity, 520)
        }
      })
    )
  )
})

describe("the rate limit", () => {
  it.effect("is waited for before the 429 when the service announces it", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const headers = { "ratelimit-limit": "3", "ratelimit-remaining": "2", "ratelimit-reset": "10" }
        server.script([answer(200, workItem, headers)])
        yield* settle(server, get)
        server.script([good])
        yield* settle(server, Effect.all([get, get, get], { concurrency: 3 }), 500)
        const [a, b, c] = server.received().map((request) => request.at)
        assert.strictEqual(a, b)
        assert.isAtLeast(c ?? 0, (a ?? 0) + 9000)
      })
    )
  )

  it.effect("of one call holds all others of the connection back", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(429, undefined, { "retry-after": "5" }), good])
        const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        yield* settle(server, Effect.all([get, Effect.delay(get, "1 second")], { concurrency: 2 }), 100)
        const times = server.received().map((request) => request.at - started)
        assert.strictEqual(times.length, 3)
        assert.isAtLeast(times[1] ?? 0, 4900)
        assert.isAtLeast(times[2] ?? 0, 4900)
      })
    )
  )
})

describe("the policy", () => {
  it.effect("can be changed for a part of a program: attempts and times", () =>
    withServer((server) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* outcome(server, [answer(503)], sendOnce(get))).sent, 1)
        const brief = Effect.provideService(get, RetryPolicy, {
          ...defaultPolicy,
          attemptTimeoutMillis: 500,
          attempts: 2
        })
        const { pauses, reason } = yield* outcome(server, [{ _tag: "Hang" }], brief, 100)
        assert.strictEqual(reason, "Timeout")
        assert.isAtMost(pauses[0] ?? Infinity, 1200)
      })
    )
  )

  it.effect("can limit a call with all its attempts", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const limited = Effect.provideService(get, RetryPolicy, { ...defaultPolicy, totalTimeoutMillis: 40_000 })
        const before = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const { reason, sent } = yield* outcome(server, [{ _tag: "Hang" }], limited, 1000)
        const after = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        assert.strictEqual(reason, "Timeout")
        assert.strictEqual(sent, 2)
        assert.isAtMost(after - before, 42_000)
      })
    )
  )
})

describe("interruption", () => {
  it.live("closes the socket", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([{ _tag: "Hang" }])
        const fiber = yield* Effect.forkChild(get)
        while (server.received().length === 0) yield* Effect.sleep("5 millis")
        const closed = server.nextClosed()
        yield* Fiber.interrupt(fiber)
        yield* Effect.promise(() => closed).pipe(Effect.timeout("2 seconds"))
      })
    )
  )
})
