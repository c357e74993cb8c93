import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { begin, deployed, stands } from "../support/DeployedSuite.ts"
import { Store } from "../support/Engines.ts"

deployed({ name: "on Postgres", store: Store.postgres })

it.live("a process that drains a version leaves new executions to another one that has it", () =>
  Effect.gen(function* () {
    const ran: Array<string> = []
    const orders = (where: string) =>
      Flow.make("orders", {
        version: 1,
        input: Schema.String,
        success: Schema.String,
        error: Schema.Never,
        idempotencyKey: (key) => key,
        run: (key) => Effect.sync(() => (ran.push(where), key))
      })
    const old = orders("old")
    const draining = yield* begin(Flow.layer(old, { drain: true }))
    const other = yield* begin(Flow.layer(orders("other")))
    const ids = yield* draining.on(Effect.forEach(["one", "two"], (key) => Flow.submit(old, key)))
    yield* other.on(Effect.forEach(ids, (id) => stands(id, "completed"), { discard: true }))
    assert.deepStrictEqual(ran, ["other", "other"])
    const [version] = yield* other.on(FlowExecutions.versions())
    assert.deepStrictEqual(version?.processes.map(({ draining }) => draining).sort(), [false, true])
    yield* other.stop
    const refused = yield* Effect.flip(draining.on(Flow.submit(old, "three")))
    assert.strictEqual(refused._tag, "FlowDraining")
  }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Store.postgres)))
)
