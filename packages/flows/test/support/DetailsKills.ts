/** A program that is killed in the middle of a step continues it from the details that the step has recorded. */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { dirname, join } from "node:path"
import { FlowEngine, type FlowEngineError } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as FlowStates from "../../src/FlowStates.ts"
import { temporaryFile } from "./Engines.ts"
import * as Killing from "./Killing.ts"
import { until } from "./Polling.ts"

interface Place {
  readonly args: ReadonlyArray<string>
  readonly layer: Layer.Layer<FlowEngine, FlowEngineError>
}

const kills = sized(3, 30)
/** How many rows a process works through before it is killed: it takes longer than the pause between two writes. */
const rowsOfLife = 60
const total = (kills + 1) * rowsOfLife

export const detailsKills = (name: string, place: Effect.Effect<Place, unknown, Scope.Scope>) => {
  it.live(`${name}: a step that is killed ${kills} times continues from its details, and misses no row`, () =>
    Effect.gen(function* () {
      const { args, layer } = yield* place
      const notes = join(dirname(yield* temporaryFile), "notes")
      const start = Killing.start([...args, notes, String(total)], "details/program.ts")
      const numbers = (word: string) =>
        Killing.begun(notes).flatMap((line) => (line.startsWith(`${word} `) ? [Number(line.split(" ")[1])] : []))
      for (let killed = 0; killed < kills; killed++) {
        const before = numbers("row").length
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { kill } = yield* start
            yield* until(Effect.sync(() => numbers("row").length >= before + rowsOfLife))
            yield* kill
          })
        )
      }
      assert.strictEqual(yield* Effect.scoped(Effect.flatMap(start, ({ output }) => output)), "")

      const all = Array.from({ length: total }, (_, n) => n + 1)
      assert.deepStrictEqual([...new Set(numbers("row"))], all)
      const starts = numbers("from")
      assert.deepStrictEqual(
        starts,
        [...new Set(starts)].toSorted((one, other) => one - other)
      )
      assert.strictEqual(starts.length, kills + 1)
      yield* Effect.gen(function* () {
        const id = (yield* FlowExecutions.list()).executions[0]?.id ?? assert.fail("it is gone")
        const items = yield* FlowStates.feed(id, "rows", { after: 0, limit: 1_000 })
        assert.deepStrictEqual([...new Set(items.map(({ value }) => value))], all)
        assert.deepStrictEqual(
          items.map(({ cursor }) => cursor),
          items.map((_, n) => n + 1)
        )
        assert.deepStrictEqual(
          (yield* FlowExecutions.steps(id)).map(({ details, state }) => [state, details]),
          [["succeeded", undefined]]
        )
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )
}
