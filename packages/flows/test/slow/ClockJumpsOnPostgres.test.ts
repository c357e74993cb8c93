/** Processes on one Postgres, of which one has a clock that jumps by an hour and back. */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Effects from "../support/drills/Effects.ts"
import { expected, kindOf } from "../support/drills/Family.ts"
import * as Processes from "../support/drills/Processes.ts"
import { postgres } from "../support/drills/Stores.ts"
import { settled, verdict } from "../support/drills/Verdict.ts"

const hour = 3_600_000
const each = sized(40, 400)
/** Each request takes a while, so that executions are under way when the clock jumps. */
/** Without sleeps, which a process with a clock that is ahead records for a time that is as far ahead. */
const awake = ["plain", "failed", "signal"] as const
const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 150))

it.live("a clock that jumps by an hour and back begins no step twice, and its process is replaced when it dies", () =>
  Effect.gen(function* () {
    const effects = yield* Effects.start
    effects.meanwhile = slow
    // What a busy machine answers late is not sent again: that would be a second begin.
    const plan = Processes.planOf({ store: yield* postgres, effects: effects.url, timeoutMillis: 60_000 })
    const [one, other] = yield* Effect.all([Processes.start(plan), Processes.start(plan)], { concurrency: 2 })
    let total = 0
    const jumps = [hour, 0, -hour, 0]
    const kindAt = (n: number) =>
      n < 2 * each * jumps.length ? kindOf(n) : (awake[n % awake.length] ?? assert.fail("no kind"))
    const submit = (process: Processes.Process, count: number) =>
      Effect.suspend(() => {
        const first = total
        total += count
        return Effect.forEach(
          Array.from({ length: count }, (_, index) => first + index),
          (n) =>
            Effect.andThen(
              process.ask({ do: "submit", n, kind: kindAt(n) }),
              kindAt(n) === "signal"
                ? Effect.asVoid(process.ask({ do: "signal", n, value: `value ${n}` }))
                : Effect.void
            ),
          { concurrency: "unbounded", discard: true }
        )
      })
    for (const millis of jumps) {
      yield* submit(one, each)
      yield* other.ask({ do: "jump", millis })
      yield* submit(other, each)
      // Longer than a lease.
      yield* Effect.sleep("7 seconds")
    }
    yield* settled({ anyone: () => one, total })
    // A step runs again only after a retry, of which these have none.
    const begun = new Map<string, number>()
    for (const { key } of effects.arrived) begun.set(key, (begun.get(key) ?? 0) + 1)
    assert.deepStrictEqual(
      [...begun].filter(([, times]) => times > 1),
      [],
      `${one.output()}\n${other.output()}`
    )
    yield* other.ask({ do: "jump", millis: hour })
    yield* submit(other, each)
    yield* other.kill
    const killed = Date.now()
    yield* verdict({
      name: "a clock that jumps",
      effects,
      anyone: () => one,
      total,
      expectedOf: (n) => expected[kindAt(n)]
    })
    yield* Effect.logInfo(
      `executions of a process whose clock was ahead were done ${Date.now() - killed} ms after its end`
    )
  }).pipe(Effect.scoped)
)
