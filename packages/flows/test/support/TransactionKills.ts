/** A program that is killed at random moments around transactions leaves neither half of a pair. */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { SqlClient } from "effect/sql/SqlClient"
import { FlowEngine, type FlowEngineError } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as Killing from "./Killing.ts"

interface Place {
  readonly args: ReadonlyArray<string>
  /** An engine that runs nothing, and a client that finds the tables of the program. */
  readonly layer: Layer.Layer<FlowEngine | SqlClient, FlowEngineError | unknown>
}

const orders = sized(60, 1_000)
const kills = sized(6, 100)

/** Runs the program until it ends or has killed itself; returns what it wrote. */
const run = (args: ReadonlyArray<string>, life: number) =>
  Effect.scoped(
    Effect.flatMap(Killing.start([...args, String(life)], "transactions/program.ts"), ({ output }) => output)
  )

export const transactionKills = (name: string, place: Effect.Effect<Place, unknown, Scope.Scope>) => {
  it.live(`${name}: ${kills} kills around ${orders} orders leave neither half of a pair`, () =>
    Effect.gen(function* () {
      const { args, layer } = yield* place
      const given = [...args, String(orders)]
      for (let n = 0; n < kills; n++) assert.strictEqual(yield* run(given, yield* Random.nextIntBetween(2, 40)), "")
      // The last one ends by itself.
      assert.strictEqual(yield* run(given, 0), "")
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient
        const idsIn = (table: string) =>
          Effect.map(sql<{ readonly id: string }>`SELECT id FROM ${sql.literal(table)}`, (rows) =>
            rows.map(({ id }) => id).toSorted()
          )
        const all = Array.from({ length: orders }, (_, n) => `order ${n}`).toSorted()
        assert.deepStrictEqual(yield* idsIn("orders"), all)
        assert.deepStrictEqual(yield* idsIn("ledger"), all)
        const executions = yield* Stream.runCollect(FlowExecutions.stream())
        assert.deepStrictEqual(executions.map(({ key }) => key).toSorted(), all)
        assert.deepStrictEqual([...new Set(executions.map(({ state }) => state))], ["completed"])
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )
}
