/** A machine that sleeps: the wall clock goes on, the timers of the runtime do not. */
import { assert, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { temporaryFile } from "./support/Engines.ts"
import { breathe } from "./support/Polling.ts"

const nap = Flow.sleep("nap", "40 minutes")

const busy = Flow.step("busy", {
  input: Schema.Void,
  success: Schema.Void,
  error: Schema.Never,
  run: () => Effect.never
})

/** A flow that sleeps, by itself or while a step keeps it in memory. */
const napping = Flow.make("napping", {
  version: 1,
  input: Schema.Literals(["alone", "beside a step"]),
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: (key) => key,
  run: (how) => (how === "alone" ? nap : Effect.asVoid(Flow.race("first", { nap, busy: busy(undefined) })))
})

/** A clock whose wall time jumps, and whose sleeps are those of `timers`. */
const makeSlept = (timers: Clock.Clock) => {
  let slept = 0
  const millis = () => timers.currentTimeMillisUnsafe() + slept
  const nanos = () => timers.currentTimeNanosUnsafe() + BigInt(slept) * 1_000_000n
  const clock: Clock.Clock = {
    ...timers,
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => timers.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: timers.monotonicTimeNanos,
    sleep: (duration) => timers.sleep(duration)
  }
  const sleep = (millis: number) => {
    slept += millis
  }
  return { clock, sleep }
}

for (const how of ["alone", "beside a step"] as const) {
  it.effect(`a sleep ${how} ends within a minute after a machine has slept past it`, () =>
    Effect.gen(function* () {
      const { clock, sleep } = makeSlept(yield* Clock.Clock)
      // Sleeps of the program are those of the clock of the test, which only this moves.
      const adjust = yield* TestClock.testClockWith((test) => Effect.succeed(test.adjust))
      // In steps, because what happens at each writes to a file.
      const step = Effect.andThen(breathe, Effect.andThen(adjust("5 seconds"), breathe))
      const until = <E, R>(holds: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
        Effect.flatMap(holds, (does) => (does ? Effect.void : Effect.andThen(step, until(holds))))
      const layer = Layer.provideMerge(Flow.layer(napping), FlowEngine.layerSqlite({ file: yield* temporaryFile }))
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(napping, how)
        const execution = FlowExecutions.get(id)
        // One that only sleeps leaves memory.
        const rests = Effect.map(
          execution,
          ({ owner, state }) => how !== "alone" || (state === "waiting" && owner === null)
        )
        yield* Effect.andThen(Effect.repeat(step, { times: 6 }), until(rests))
        assert.strictEqual((yield* execution).owner === null, how === "alone")
        sleep(60 * 60_000)
        const woken = clock.currentTimeMillisUnsafe()
        yield* until(Effect.map(execution, ({ state }) => state === "completed"))
        const { endedAt } = yield* execution
        // Far less than what was left of the nap, however slowly it is written.
        assert.isBelow((endedAt ?? Infinity) - woken, 15 * 60_000)
      }).pipe(Effect.provide(layer), Effect.provideService(Clock.Clock, clock))
    }).pipe(Effect.scoped)
  )
}
