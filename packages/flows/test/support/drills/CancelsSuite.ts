/**
 * Executions that are cancelled at every boundary, while they are undone, and twice; with processes that are killed
 * meanwhile. What was done is undone, unless the execution had completed.
 */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Effects from "./Effects.ts"
import { boundaries, cancelled, cancelledAt, expected, kindOf, kinds } from "./Family.ts"
import * as Local from "./Local.ts"
import type { Order, Plan } from "./Orders.ts"
import * as Processes from "./Processes.ts"
import { verdict } from "./Verdict.ts"

const total = boundaries * kinds.length * sized(1, 4)

export const expectedOf = (n: number, state: string) => (state === "cancelled" ? cancelled : expected[kindOf(n)])

/** How many ended in which state. */
const count = (states: ReadonlyMap<number, { readonly state: string }>) => {
  const counts: Record<string, number> = {}
  for (const { state } of states.values()) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** Those that are cancelled at one of the first `events` and did not end so. */
const notCancelled = (states: ReadonlyMap<number, { readonly state: string }>, events: number) =>
  [...states].filter(([n, { state }]) => cancelledAt(n) <= events && state !== "cancelled")

const submit = (n: number, ask: (order: Order) => Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    yield* ask({ do: "submit", n, kind: kindOf(n) })
    // It may have ended by then.
    if (kindOf(n) === "signal") yield* Effect.exit(ask({ do: "signal", n, value: `value ${n}` }))
  })

export const cancelsInMemory = () =>
  it.live("in memory: cancelled at every boundary, what was done is undone", () =>
    Effect.gen(function* () {
      const effects = yield* Effects.start
      const store = { file: ":memory:" }
      const process = yield* Local.start(Processes.planOf({ store, effects: effects.url, cancels: true }))
      const numbers = Array.from({ length: total }, (_, n) => n)
      yield* Effect.forEach(numbers, (n) => submit(n, process.ask), { concurrency: 64, discard: true })
      const states = yield* verdict({ name: "cancelled in memory", effects, anyone: () => process, total, expectedOf })
      // In each of the family a step begins after the fourth event that is not its last one.
      assert.deepStrictEqual(notCancelled(states, 4), [])
      yield* Effect.logInfo("cancelled in memory", count(states))
    }).pipe(Effect.scoped)
  )

interface Options {
  readonly name: string
  readonly store: Effect.Effect<Plan["store"], never, Scope.Scope>
  readonly processes: number
  readonly cluster?: boolean
}

export const cancelsSuite = ({ cluster = false, name, processes, store }: Options) =>
  it.live(`${name}: cancelled at every boundary while processes are killed, what was done is undone`, () =>
    Effect.gen(function* () {
      const effects = yield* Effects.start
      const plan = Processes.planOf({ store: yield* store, effects: effects.url, cancels: true, mortal: true, cluster })
      const fleet: Array<Processes.Process> = []
      for (let slot = 0; slot < processes; slot++) fleet.push(yield* Processes.start(plan))
      let turn = 0
      const anyone = () => fleet[turn++ % fleet.length] ?? assert.fail()
      const askAny = (order: Order) => Processes.askAny(order, anyone)
      const signalled = (n: number) =>
        Effect.gen(function* () {
          yield* askAny({ do: "submit", n, kind: kindOf(n) })
          if (kindOf(n) !== "signal") return
          for (;;) {
            const exit = yield* Effect.exit(anyone().ask({ do: "signal", n, value: `value ${n}` }))
            // Refused: it has ended.
            if (Exit.isSuccess(exit) || JSON.stringify(exit.cause).includes("Refusal")) return
            yield* Effect.sleep("50 millis")
          }
        })
      let kills = 0
      const batch = kinds.length * 3
      for (let first = 0; first < total; first += batch) {
        const slot = kills % processes
        const victim = fleet[slot] ?? assert.fail()
        const at = (["before a write", "after a write", "event"] as const)[kills % 3] ?? "event"
        yield* victim.ask({ do: "die", at, count: 20 + ((kills * 13) % 90) })
        const numbers = Array.from({ length: Math.min(batch, total - first) }, (_, index) => first + index)
        const submitting = Effect.forEach(numbers, signalled, { concurrency: 16, discard: true })
        yield* Effect.all(
          [
            submitting,
            Effect.gen(function* () {
              yield* Effect.timeoutOption(victim.ended, "3 seconds")
              yield* victim.kill
              fleet[slot] = yield* Processes.start(plan)
              kills++
            })
          ],
          { concurrency: 2 }
        )
        // At least one kind of death each time: also twice cancelled by hand, once more after all.
        yield* Effect.forEach(numbers.slice(0, 4), (n) => Effect.exit(anyone().ask({ do: "cancel", n })))
      }
      const states = yield* verdict({ name: `${name}, cancelled`, effects, anyone, total, expectedOf })
      // The next process restarts the count of its events, so only those of the first one are always cancelled.
      assert.deepStrictEqual(notCancelled(states, 1), [])
      yield* Effect.logInfo(`${name}, cancelled`, { ...count(states), kills })
    }).pipe(Effect.scoped)
  )
