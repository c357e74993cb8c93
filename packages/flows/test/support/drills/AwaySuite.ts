/**
 * A Postgres that is stopped for a while, under three processes: all executions continue automatically, and none fails.
 */
import { assert, it } from "@effect/vitest"
import { startServer } from "@signalbox/testkit/Postgres"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Effects from "./Effects.ts"
import { expected, kindOf } from "./Family.ts"
import * as Processes from "./Processes.ts"
import { drawn, verdict } from "./Verdict.ts"

const restarts = sized(3, 30)
const executionsBetween = 40

export const awaySuite = (name: string, cluster: boolean) =>
  it.live(
    `${name}: a Postgres that is stopped ${restarts} times and away for up to ${sized(3, 20)} s fails nothing`,
    () =>
      Effect.gen(function* () {
        const server = yield* Effect.acquireRelease(
          Effect.promise(() => startServer()),
          ({ remove }) => Effect.promise(remove)
        )
        const effects = yield* Effects.start
        const plan = Processes.planOf({ store: { url: server.url, schema: "drill" }, effects: effects.url, cluster })
        const fleet = yield* Effect.all([Processes.start(plan), Processes.start(plan), Processes.start(plan)])
        let total = 0
        for (let restart = 0; restart < restarts; restart++) {
          const first = total
          total += executionsBetween
          const submitting = yield* Effect.forkChild(
            Effect.forEach(
              Array.from({ length: executionsBetween }, (_, index) => first + index),
              (n) =>
                Effect.gen(function* () {
                  const process = fleet[n % 3] ?? fleet[0]
                  yield* process.ask({ do: "submit", n, kind: kindOf(n) })
                  if (kindOf(n) === "signal") yield* process.ask({ do: "signal", n, value: `value ${n}` })
                }).pipe(Effect.delay(`${(n % 8) * 50} millis`)),
              { concurrency: "unbounded", discard: true }
            )
          )
          yield* Effect.sleep(`${100 + 40 * (restart % 7)} millis`)
          yield* Effect.promise(server.stop)
          // Once longer than the lease of a process, in the long form.
          yield* Effect.sleep(restart % 3 === 0 ? `${sized(3, 20)} seconds` : "300 millis")
          yield* Effect.promise(server.start)
          yield* Fiber.join(submitting)
        }
        const anyone = () => fleet[1]
        yield* verdict({
          name: `${name}, Postgres away`,
          effects,
          anyone,
          total,
          expectedOf: (n) => expected[kindOf(n)]
        })
        assert.deepStrictEqual(yield* drawn(effects, anyone, total), [])
        for (const process of fleet) assert.isFalse(process.isGone())
      }).pipe(Effect.scoped)
  )
