/** A body that hangs outside of a step in one process, and commands from another one. */
import { assert, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import type { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { Store } from "../support/Engines.ts"
import { until } from "../support/Polling.ts"

const commands = {
  terminate: FlowExecutions.terminate,
  cancel: FlowExecutions.cancel
} satisfies Record<string, (id: string) => Effect.Effect<void, unknown, FlowEngine>>

for (const [name, command] of Object.entries(commands)) {
  it.live(`a body that hangs is stopped by a ${name} from another process`, () =>
    Effect.gen(function* () {
      const { process } = yield* Store
      const stopped = yield* Deferred.make<void>()
      const flow = Flow.make("hanging", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        run: () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
      })
      const owner = yield* Layer.build(Layer.fresh(Layer.provideMerge(Flow.layer(flow), process())))
      const other = yield* Layer.build(process())
      const id = yield* Effect.provide(Flow.submit(flow, undefined), owner)
      // A body that has not settled may come to rest by itself.
      yield* Effect.sleep("1500 millis")
      yield* Effect.provide(command(id), other)
      yield* Deferred.await(stopped)
      yield* until(Effect.map(Effect.provide(FlowExecutions.get(id), other), ({ state }) => state === "cancelled"))
      assert.isNull((yield* Effect.provide(FlowExecutions.get(id), other)).owner)
    }).pipe(Effect.scoped, Effect.provide(Store.postgres))
  )
}
