/** What the log says of a database that does not respond. */
import { assert, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import * as Outage from "../src/internal/journal/Outage.ts"

/** A database that can be switched off, with what is logged meanwhile. */
const database = Effect.gen(function* () {
  const outage = Outage.make(yield* Clock.Clock)
  const lines: Array<string> = []
  let isAway = false
  const failed = outage.failed("the disk is full")
  const call = (name: string) => {
    const attempt = Effect.suspend(() => (isAway ? Effect.fail("full") : Effect.succeed(name)))
    const retries = attempt.pipe(
      Effect.tapError(() => failed),
      Effect.retry(Schedule.spaced("100 millis")),
      Effect.delay("100 millis")
    )
    return attempt.pipe(
      Effect.catch(() => outage.retrying(Effect.andThen(failed, retries))),
      Effect.tap(() => outage.over),
      Effect.provide(Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))]))
    )
  }
  return {
    lines,
    call,
    away: Effect.sync(() => {
      isAway = true
    }),
    back: Effect.sync(() => {
      isAway = false
    })
  }
})

it.effect("it is said when it begins, once a minute, and when it is over, for all calls together", () =>
  Effect.gen(function* () {
    const { away, back, call, lines } = yield* database
    yield* call("before")
    yield* away
    const calls = yield* Effect.forEach(["a", "b", "c"], (name) => Effect.forkChild(call(name)))
    yield* TestClock.adjust("50 seconds")
    assert.deepStrictEqual(lines, ["the database of the flows does not respond, retrying: the disk is full"])
    yield* TestClock.adjust("100 seconds")
    const since = new Date(0).toISOString()
    const lasting = `the database of the flows does not respond since ${since}, retrying: the disk is full`
    assert.deepStrictEqual(lines.splice(1), [lasting, lasting])
    yield* back
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* Effect.forEach(calls, Fiber.join), ["a", "b", "c"])
    assert.deepStrictEqual(lines.splice(1), ["the database of the flows responds again, after 151 s"])
  })
)

it.effect("it is not over while a call still waits, and is said again when it begins again", () =>
  Effect.gen(function* () {
    const { away, back, call, lines } = yield* database
    yield* away
    const waiting = yield* Effect.forkChild(call("write"))
    yield* TestClock.adjust("1 second")
    yield* back
    // Such as a read, which needs no space.
    yield* call("read")
    assert.strictEqual(lines.length, 1)
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(waiting)
    assert.match(lines[1] ?? "", /responds again, after 2 s/)
    yield* away
    const interrupted = yield* Effect.forkChild(call("again"))
    yield* TestClock.adjust("1 second")
    yield* Fiber.interrupt(interrupted)
    assert.match(lines[2] ?? "", /does not respond, retrying/)
    yield* back
    yield* call("after")
    assert.match(lines[3] ?? "", /responds again/)
    assert.strictEqual(lines.length, 4)
  })
)
