/** Executions that a process leaves behind when it is killed, all of them, are taken up by the next one. */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Effects from "../support/drills/Effects.ts"
import { expected, kindOf } from "../support/drills/Family.ts"
import * as Processes from "../support/drills/Processes.ts"
import { postgres } from "../support/drills/Stores.ts"
import { statesOf, verdict } from "../support/drills/Verdict.ts"

const total = sized(400, 4_000)

it.live(`${total} executions of a process that is killed end in the next one`, () =>
  Effect.gen(function* () {
    const effects = yield* Effects.start
    const plan = Processes.planOf({ store: yield* postgres, effects: effects.url })
    const first = yield* Processes.start(plan)
    yield* Effect.forEach(
      Array.from({ length: total }, (_, n) => n),
      (n) =>
        Effect.andThen(
          first.ask({ do: "submit", n, kind: kindOf(n) }),
          kindOf(n) === "signal" ? Effect.asVoid(first.ask({ do: "signal", n, value: `value ${n}` })) : Effect.void
        ),
      { concurrency: "unbounded", discard: true }
    )
    yield* first.kill
    const next = yield* Processes.start(plan)
    const since = Date.now()
    const counts: Array<string> = []
    for (let open = total; open > 0;) {
      open = [...(yield* statesOf(() => next))].filter(
        ([, { state }]) => !["completed", "failed"].includes(state)
      ).length
      counts.push(`${Math.round((Date.now() - since) / 1_000)} s: ${open}`)
      assert.isBelow(Date.now() - since, 120_000, counts.join(", "))
      yield* Effect.sleep("2 seconds")
    }
    yield* verdict({ name: "orphans", effects, anyone: () => next, total, expectedOf: (n) => expected[kindOf(n)] })
    yield* Effect.logInfo("executions that are open after a kill", counts)
  }).pipe(Effect.scoped)
)
