/**
 * Processes that are killed at random moments and at each boundary: nothing is lost, nothing doubled, and what is to be
 * undone is undone.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Effects from "./Effects.ts"
import { expected, kindOf, kinds } from "./Family.ts"
import type { Plan } from "./Orders.ts"
import * as Processes from "./Processes.ts"
import { verdict } from "./Verdict.ts"

interface Options {
  readonly name: string
  readonly store: Effect.Effect<Plan["store"], never, Scope.Scope>
  readonly processes: number
  readonly cluster?: boolean
  readonly kills: number
  readonly limited?: boolean
}

const boundaries = ["before a write", "after a write", "event", "arrived", "executed", "time"] as const

export const killsSuite = ({ cluster = false, kills, limited = false, name, processes, store }: Options) =>
  it.live(`${name}: ${kills} kills lose nothing and double nothing`, () =>
    Effect.gen(function* () {
      const effects = yield* Effects.start
      const plan = Processes.planOf({ store: yield* store, effects: effects.url, mortal: true, limited, cluster })
      const counts: Record<string, number> = {}
      let next = 0
      let killed = 0
      /** Kills the process of this index at the next request. */
      let toKill: { readonly phase: "arrived" | "executed"; readonly process: () => Processes.Process } | null = null
      effects.meanwhile = (_post, phase) => {
        if (toKill?.phase !== phase) return
        const { process } = toKill
        toKill = null
        return Effect.runPromise(Effect.asVoid(process().kill))
      }
      const fleet: Array<Processes.Process> = []
      let turn = 0
      const anyone = () => fleet[turn++ % fleet.length] ?? assert.fail("there is no process")

      const submit = Effect.gen(function* () {
        const n = next++
        yield* Processes.askAny({ do: "submit", n, kind: kindOf(n) }, anyone)
        if (kindOf(n) === "signal") yield* Processes.askAny({ do: "signal", n, value: `value ${n}` }, anyone)
      })

      for (let index = 0; index < processes; index++) fleet.push(yield* Processes.start(plan))
      while (killed < kills) {
        const at = boundaries[killed % boundaries.length] ?? "time"
        const slot = killed % processes
        const count = 1 + ((killed * 7) % 23)
        if (at === "event" || at === "before a write" || at === "after a write") {
          yield* fleet[slot]?.ask({ do: "die", at, count }) ?? Effect.void
        } else if (at === "time") {
          yield* Effect.forkChild(
            Effect.delay(fleet[slot]?.kill ?? Effect.void, `${10 + ((killed * 37) % 200)} millis`)
          )
        } else {
          toKill = { phase: at, process: () => fleet[slot] ?? assert.fail("there is no process") }
        }
        // Of each kind one, unless many wait.
        const submitting = yield* Effect.forkChild(
          Effect.forEach(kinds, () => submit, { concurrency: "unbounded", discard: true })
        )
        const victim = fleet[slot] ?? assert.fail("there is no process")
        const ended = yield* Effect.timeoutOption(victim.ended, "4 seconds")
        toKill = null
        if (ended._tag === "None") yield* victim.kill
        const how = ended._tag === "None" ? "time" : at
        counts[how] = (counts[how] ?? 0) + 1
        killed++
        fleet[slot] = yield* Processes.start(plan)
        yield* Fiber.join(submitting)
      }
      yield* verdict({ name, effects, anyone, total: next, expectedOf: (n) => expected[kindOf(n)] })
      yield* Effect.logInfo(`${name}: kills`, counts)
    }).pipe(Effect.scoped)
  )
