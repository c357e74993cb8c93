/** Limits that several processes on one Postgres share. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Flow from "../../src/Flow.ts"
import { FlowEngine } from "../../src/FlowEngine.ts"
import { postgresOptions, temporarySchema } from "../support/Engines.ts"

const many = Array.from({ length: 40 }, (_, n) => n)

it.live(
  "three processes, one of which ends, exceed no limit and leave nothing in a queue",
  () => {
    const running = new Map<number, number>()
    let most = 0
    let mostOfKey = 0
    const hold = Flow.step("hold", {
      input: Schema.Finite,
      success: Schema.Void,
      error: Schema.Never,
      run: (n) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            running.set(n, n % 4)
            most = Math.max(most, running.size)
            mostOfKey = Math.max(mostOfKey, [...running.values()].filter((key) => key === n % 4).length)
          }),
          () => Effect.sleep("20 millis"),
          () => Effect.sync(() => running.delete(n))
        )
    })
    const flow = Flow.make("shared", {
      version: 1,
      input: Schema.Finite,
      success: Schema.Finite,
      error: Schema.Never,
      idempotencyKey: String,
      limit: [{ key: (n) => `${n % 4}`, concurrency: 2 }, { concurrency: 5 }],
      run: (n) => Effect.as(hold(n), n)
    })
    return Effect.gen(function* () {
      const schema = yield* temporarySchema
      const process = Layer.provideMerge(Flow.layer(flow), FlowEngine.layerPostgres(postgresOptions(schema)))
      const start = Effect.gen(function* () {
        const scope = yield* Scope.make()
        yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
        return { scope, context: yield* Layer.buildWithScope(Layer.fresh(process), scope) }
      })
      const [one, two, three] = yield* Effect.all([start, start, start], { concurrency: "unbounded" })
      const contexts = [one.context, two.context]
      yield* Effect.forEach(many, (n) => Effect.provide(Flow.submit(flow, n), contexts[n % 2] ?? one.context), {
        concurrency: 8,
        discard: true
      })
      yield* Effect.sleep("50 millis")
      yield* Scope.close(three.scope, Exit.void)
      const results = yield* Effect.provide(
        Effect.forEach(many, (n) => Flow.execute(flow, n), { concurrency: "unbounded" }),
        two.context
      )
      assert.deepStrictEqual(results, many)
      assert.isAtMost(most, 5)
      assert.isAtMost(mostOfKey, 2)
    }).pipe(Effect.scoped)
  },
  60_000
)
