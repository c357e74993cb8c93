import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import type { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as Sqlite from "../src/internal/journal/Sqlite.ts"
import { Journal } from "../src/internal/journal/Journal.ts"
import { alone, engineOver } from "./support/Processes.ts"

const common = {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  idempotencyKey: (text: string) => text
} as const
const go = Flow.signal("go", Schema.String)
const child = Flow.make("child", { ...common, error: Schema.Never, signals: [go], run: () => go.receive() })
const parent = Flow.make("parent", {
  ...common,
  error: Flow.errorsOf(child, Flow.FlowCancelled),
  run: (text) => Effect.flatMap(Flow.start(child, text), ({ result }) => result)
})
const flows = Layer.merge(Flow.layer(parent), Flow.layer(child))

describe("a parent of another process", () => {
  it.effect("is woken by the next process when its child ended and the process died before it notified", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const run = <A, E>(program: Effect.Effect<A, E, FlowEngine>) =>
        Effect.provide(program, Layer.fresh(Layer.provideMerge(flows, engineOver(journal, alone))))
      const id = yield* run(
        Effect.gen(function* () {
          const id = yield* Flow.submit(parent, "x")
          yield* TestClock.adjust("1 minute")
          return id
        })
      )
      // What the process that died had recorded.
      const started = yield* journal.list({ flow: "child", limit: 1 })
      yield* journal.change(started[0]?.id ?? "", () =>
        Effect.succeed({
          execution: { state: "completed", result: "done", endedAt: 60_000, wakeAt: null },
          aside: [],
          asideUndos: [],
          undos: [],
          taken: []
        })
      )
      const state = yield* run(
        Effect.gen(function* () {
          yield* TestClock.adjust("1 minute")
          return yield* FlowExecutions.get(id)
        })
      )
      assert.deepInclude(state, { state: "completed", result: "done" })
    }).pipe(Effect.provide(Layer.fresh(Sqlite.layerMemory)))
  )

  it.effect("that continues elsewhere joins the child that it had started", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const run = <A, E>(program: Effect.Effect<A, E, FlowEngine>) =>
        Effect.provide(program, Layer.fresh(Layer.provideMerge(flows, engineOver(journal, alone))))
      yield* run(Effect.andThen(Flow.submit(parent, "y"), TestClock.adjust("1 minute")))
      const result = yield* run(
        Effect.gen(function* () {
          const [one, ...others] = yield* journal.list({ flow: "child", limit: 10 })
          assert.lengthOf(others, 0)
          yield* FlowExecutions.signal(one?.id ?? "", "go", "later")
          return yield* Flow.execute(parent, "y")
        })
      )
      assert.strictEqual(result, "later")
    }).pipe(Effect.provide(Layer.fresh(Sqlite.layerMemory)))
  )
})
