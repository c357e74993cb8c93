import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { FlowEngine } from "../src/FlowEngine.ts"
import { embedded, life, Orders, payload, poll } from "./support/EmbeddedSuite.ts"
import { breathe, isComplete, isSuspended, nap, until } from "./support/EngineConformance.ts"
import { temporaryFile } from "./support/Engines.ts"

embedded(
  "the embedded engine on a SQLite file",
  Effect.map(temporaryFile, (file) => FlowEngine.layerSqlite({ file }))
)

it.effect("what sleeps is rows: a start runs none of it, and all of it when it is due", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const engine = FlowEngine.layerSqlite({ file: yield* temporaryFile })
      const keys = Array.from({ length: 300 }, (_, index) => `${index}`)
      let bodies = 0
      const orders = Orders.toLayer(() =>
        Effect.suspend(() => {
          bodies++
          return Effect.as(nap("nap", "1 hour"), bodies)
        })
      )
      const ids = yield* life(
        engine,
        orders,
        Effect.gen(function* () {
          const ids = yield* Effect.forEach(keys, (key) => Orders.execute(payload(key), { discard: true }), {
            concurrency: 16
          })
          for (const id of ids) yield* until(Effect.map(poll(id), isSuspended))
          return ids
        })
      )
      assert.strictEqual(bodies, keys.length)
      yield* life(
        engine,
        orders,
        Effect.gen(function* () {
          for (const _ of keys.slice(0, 20)) yield* breathe
          assert.strictEqual(bodies, keys.length)
          yield* TestClock.adjust("1 hour")
          for (const id of ids) yield* until(Effect.map(poll(id), isComplete))
          assert.strictEqual(bodies, 2 * keys.length)
        })
      )
    })
  )
)
