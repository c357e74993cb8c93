/** A process that starts where another one was killed takes its executions over, and waits for no lease. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Effects from "../support/drills/Effects.ts"
import * as Processes from "../support/drills/Processes.ts"
import { postgres } from "../support/drills/Stores.ts"

/** Longer than any test may take. */
const leaseMillis = 3_600_000

const epochIn = Schema.decodeUnknownSync(Schema.Struct({ state: Schema.String, epoch: Schema.Finite }))

describe("on Linux", { skip: process.platform !== "linux" }, () => {
  it.live("a process that starts after a kill continues at once, and its living siblings keep their claims", () =>
    Effect.gen(function* () {
      const effects = yield* Effects.start
      let arrive = () => {}
      const bothBegan = new Promise<void>((resolve) => {
        arrive = () => {
          if (new Set(effects.arrived.map(({ n }) => n)).size === 2) resolve()
        }
      })
      effects.meanwhile = () => arrive()
      // The first step of each runs in its process until that is gone.
      effects.fault = ({ name }, before) => (name === "a" && before === 0 ? "hung" : "none")
      const plan = Processes.planOf({
        store: yield* postgres,
        effects: effects.url,
        mortal: true,
        leaseMillis,
        timeoutMillis: leaseMillis
      })
      const killed = yield* Processes.start(plan)
      yield* killed.ask({ do: "submit", n: 1, kind: "plain" })
      const living = yield* Processes.start(plan)
      yield* living.ask({ do: "submit", n: 2, kind: "plain" })
      yield* Effect.promise(() => bothBegan)

      yield* killed.kill
      const next = yield* Processes.start(plan)
      // The execution would end after the lease, and its steps time out no sooner.
      yield* next.ask({ do: "execute", n: 1, kind: "plain" })
      assert.deepInclude(epochIn(yield* next.ask({ do: "history", n: 1 })), { state: "completed" })
      assert.deepInclude(epochIn(yield* next.ask({ do: "history", n: 2 })), { epoch: 1 })
      const keys = effects.arrived.filter(({ n, name }) => n === 1 && name === "a").map(({ key }) => key)
      assert.deepStrictEqual(keys, [keys[0], keys[0]])
      assert.lengthOf(
        effects.arrived.filter(({ n, name }) => n === 2 && name === "a"),
        1
      )
    }).pipe(Effect.scoped)
  )
})
