import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { FlowEngine } from "../src/FlowEngine.ts"
import { embedded, life, Orders, payload, poll } from "./support/EmbeddedSuite.ts"
import { nap } from "./support/EngineConformance.ts"
import { breathe, isComplete, isSuspended, until } from "./support/Polling.ts"
import { temporaryFile } from "./support/Engines.ts"
import * as Killing from "./support/Killing.ts"

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

it.live("what was under way in a process that was killed goes on in the next, from what is recorded", () =>
  Effect.gen(function* () {
    const file = yield* temporaryFile
    const [notes, gate] = [`${file}.notes`, `${file}.gate`]
    const args = ["sqlite", file, notes, gate, "1"]
    const first = yield* Killing.start(args)
    yield* until(Effect.sync(() => Killing.begun(notes).includes("second 0")))
    yield* first.kill
    yield* Killing.open(gate)
    const second = yield* Killing.start(args)
    assert.include(yield* second.output, "complete 1")
    assert.deepStrictEqual(Killing.begun(notes), ["first 0", "second 0", "second 0"])
  }).pipe(Effect.scoped)
)

it.effect("a file that cannot be opened is named, with the reason", () =>
  Effect.gen(function* () {
    const file = "/dev/null/flows.db"
    const error = yield* Effect.flip(Effect.scoped(Layer.build(FlowEngine.layerSqlite({ file }))))
    assert.strictEqual(error._tag, "FlowEngineError")
    assert.include(error.message, `cannot make the folder of ${file}`)
  })
)
