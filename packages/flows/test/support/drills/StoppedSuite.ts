/**
 * Owners that stall for longer than their lease and then continue, and owners whose connections the server ends: the
 * others continue within ten seconds, and only recorded results are used.
 */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Effects from "./Effects.ts"
import { expected, kindOf } from "./Family.ts"
import type { Plan } from "./Orders.ts"
import * as Processes from "./Processes.ts"
import { postgres, postgresDatabase } from "./Stores.ts"
import { drawn, settled, verdict } from "./Verdict.ts"

const rounds = sized(1, 10)
const stoppedMillis = sized(12_000, 30_000)
const executions = 40

const threeProcesses = Effect.fnUntraced(function* (store: Plan["store"], cluster: boolean) {
  const effects = yield* Effects.start
  const plan = Processes.planOf({ store, effects: effects.url, cluster })
  const fleet = yield* Effect.all([Processes.start(plan), Processes.start(plan), Processes.start(plan)], {
    concurrency: 3
  })
  return { effects, fleet }
})

/** Each request takes a while, so that the stopped process has many requests in flight. */
const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 100))

export const stoppedSuite = (name: string, cluster: boolean) =>
  it.live(
    `${name}: an owner that stands still for ${stoppedMillis / 1000} s, ${rounds} times: the others go on, and it does no harm`,
    () =>
      Effect.gen(function* () {
        const { effects, fleet } = yield* threeProcesses(yield* postgres, cluster)
        effects.meanwhile = slow
        let total = 0
        const longest: Array<number> = []
        for (let round = 0; round < rounds; round++) {
          const stopped = fleet[round % 3] ?? assert.fail()
          const others = fleet.filter((one) => one !== stopped)
          const first = total
          total += executions
          const numbers = Array.from({ length: executions }, (_, index) => first + index)
          yield* Effect.forEach(
            numbers,
            (n) =>
              Effect.andThen(
                stopped.ask({ do: "submit", n, kind: kindOf(n) }),
                kindOf(n) === "signal"
                  ? Effect.asVoid(stopped.ask({ do: "signal", n, value: `value ${n}` }))
                  : Effect.void
              ),
            { concurrency: "unbounded" }
          )
          yield* stopped.signal("SIGSTOP")
          const since = Date.now()
          const anyone = () => others[total % 2] ?? assert.fail()
          // It stands still until the others are done, so they do not wait for it.
          yield* settled({ anyone, total })
          longest.push(Date.now() - since)
          yield* Effect.sleep(Math.max(0, stoppedMillis - (Date.now() - since)))
          yield* stopped.signal("SIGCONT")
          // Its requests in flight have ended too.
          yield* Effect.sleep("1 second")
        }
        const anyone = () => fleet[0]
        yield* verdict({ name: `${name}, stopped`, effects, anyone, total, expectedOf: (n) => expected[kindOf(n)] })
        assert.deepStrictEqual(yield* drawn(effects, anyone, total), [])
        yield* Effect.logInfo("stopped owners: the others were done after", longest)
      }).pipe(Effect.scoped)
  )

export const terminatedSuite = (name: string, cluster: boolean) =>
  it.live(`${name}: connections that the server ends, all and of one process, cost nothing`, () =>
    Effect.gen(function* () {
      const { store, terminate } = yield* postgresDatabase
      const { effects, fleet } = yield* threeProcesses(store, cluster)
      effects.meanwhile = slow
      let total = 0
      let ended = 0
      for (let round = 0; round < sized(4, 40); round++) {
        const first = total
        total += executions
        const numbers = Array.from({ length: executions }, (_, index) => first + index)
        yield* Effect.forEach(
          numbers,
          (n) =>
            Effect.andThen(
              (fleet[n % 3] ?? fleet[0]).ask({ do: "submit", n, kind: kindOf(n) }),
              kindOf(n) === "signal"
                ? Effect.asVoid(fleet[0].ask({ do: "signal", n, value: `value ${n}` }))
                : Effect.void
            ),
          { concurrency: "unbounded" }
        )
        for (let time = 0; time < 5; time++) {
          yield* Effect.sleep("60 millis")
          ended += yield* terminate((index) => round % 2 === 0 || index % 3 === 0)
        }
      }
      const anyone = () => fleet[1]
      yield* verdict({ name: `${name}, terminated`, effects, anyone, total, expectedOf: (n) => expected[kindOf(n)] })
      assert.deepStrictEqual(yield* drawn(effects, anyone, total), [])
      for (const process of fleet) assert.isFalse(process.isGone())
      yield* Effect.logInfo(`connections that were ended: ${ended}`)
    }).pipe(Effect.scoped)
  )
