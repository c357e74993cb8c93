/** The lease that the thread of a process renews, and the steps that lose it. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Keeper } from "../../src/internal/model/Execution.ts"
import { Journal } from "../../src/internal/journal/Journal.ts"
import * as LeaseRenewer from "../../src/internal/journal/LeaseRenewer.ts"
import { endedMillis } from "../../src/internal/journal/sql/Renewal.ts"
import * as Postgres from "../../src/internal/journal/Postgres.ts"
import { postgresOptions, postgresUrl } from "../support/Engines.ts"
import { entry, orders, owned, write } from "../support/journal/Bench.ts"
import { suiteSchema } from "../support/SuiteSchema.ts"

const lease = 60_000

/** A process `me` that runs a step in each of two executions, and its thread. */
const bench = Effect.gen(function* () {
  const schema = yield* suiteSchema()
  const journal = Context.get(
    yield* Effect.orDie(Layer.build(Layer.fresh(Postgres.layer(postgresOptions(schema))))),
    Journal
  )
  yield* journal.renew({ id: "me", host: "here", flows: [orders], leaseMillis: lease })
  for (const key of ["a", "b"]) {
    const fence = yield* owned(journal, key)
    yield* journal.write(fence, write({ entries: [entry("pay", { state: "running", ended: null, endedAt: null })] }))
  }
  const thread = LeaseRenewer.make({ url: postgresUrl, schema, timeoutMillis: 10_000 })
  yield* Effect.addFinalizer(() => thread.close)
  /** Its lease ends at the present moment by the clock of the server, which others know to the millisecond only. */
  const reaped: Effect.Effect<number> = Effect.flatMap(journal.reap(), (count) =>
    count > 0 ? Effect.succeed(count) : reaped
  )
  const losses = Effect.forEach(["a", "b"], (key) =>
    Effect.map(journal.history(`id-${key}`), (history) => history?.entries[0]?.stalled ?? null)
  )
  return { journal, thread, losses, reaped }
})

const pay = (key: string): Keeper => ({ _tag: "Step", step: { execution: `id-${key}`, path: "pay" } })

describe("a process whose event loop stands still", () => {
  it.live("is seen by the others, and keeps its claims while its thread renews the lease", () =>
    Effect.gen(function* () {
      const { journal, thread } = yield* bench
      yield* thread.renew("me", lease, { millis: 9_000, keeper: pay("a") })
      const [process] = yield* journal.processes
      assert.deepStrictEqual(process?.standing, { millis: 9_000, keeper: pay("a") })
      assert.strictEqual(yield* journal.reap(), 0)
      yield* thread.renew("me", lease, null)
      assert.isUndefined((yield* journal.processes)[0]?.standing)
    }).pipe(Effect.scoped)
  )

  it.live("loses them when its thread ends the lease, which counts for the step that keeps it", () =>
    Effect.gen(function* () {
      const { journal, losses, thread } = yield* bench
      yield* thread.renew("me", endedMillis, { millis: 120_000, keeper: pay("a") })
      assert.strictEqual(yield* journal.reap(), 2)
      const once = { times: 1, host: "here", millis: 120_000 }
      assert.deepStrictEqual(yield* losses, [once, null])
      // Nothing is counted twice.
      yield* journal.reap()
      // A lease that has expired is not renewed.
      yield* thread.renew("me", lease, { millis: 121_000, keeper: pay("a") })
      assert.deepStrictEqual(yield* journal.processes, [])
      assert.deepStrictEqual(yield* losses, [once, null])

      yield* journal.renew({ id: "you", host: "there", flows: [orders], leaseMillis: lease })
      assert.lengthOf(yield* journal.claim("you", [orders], yield* journal.now, 10), 2)
      yield* thread.renew("you", endedMillis, { millis: 130_000, keeper: pay("a") })
      // It notices that itself before another one does.
      assert.isFalse(yield* journal.renew({ id: "you", host: "there", flows: [orders], leaseMillis: lease }))
      assert.deepStrictEqual(yield* losses, [{ times: 2, host: "there", millis: 130_000 }, null])
    }).pipe(Effect.scoped)
  )

  it.live(
    "counts for all running steps when it is not known which one keeps it, and for none when it is other code",
    () =>
      Effect.gen(function* () {
        const { journal, losses, thread } = yield* bench
        yield* thread.renew("me", endedMillis, { millis: 120_000, keeper: { _tag: "Other" } })
        yield* journal.reap()
        assert.deepStrictEqual(yield* losses, [null, null])
        yield* journal.renew({ id: "you", host: "there", flows: [orders], leaseMillis: lease })
        assert.lengthOf(yield* journal.claim("you", [orders], yield* journal.now, 10), 2)
        yield* thread.renew("you", endedMillis, { millis: 130_000, keeper: { _tag: "Unknown" } })
        yield* journal.reap()
        const once = { times: 1, host: "there", millis: 130_000 }
        assert.deepStrictEqual(yield* losses, [once, once])
      }).pipe(Effect.scoped)
  )
})
