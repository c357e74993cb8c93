import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import type { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { Journal } from "../src/internal/journal/Journal.ts"
import * as Sqlite from "../src/internal/journal/Sqlite.ts"
import { Store } from "./support/Engines.ts"
import { pendingCommands } from "./support/PendingCommandsSuite.ts"
import { until } from "./support/Polling.ts"
import { alone, engineOver, journalOf } from "./support/Processes.ts"
import { stateOf } from "./support/Running.ts"

pendingCommands({ name: "on SQLite", store: Store.sqlite })

it.live(
  "a suspend that is accepted while the begin of a step is written lets it not begin; resumed, it begins once",
  () =>
    Effect.gen(function* () {
      const rows = yield* journalOf(Sqlite.layerMemory)
      const did: Array<string> = []
      const does = (name: string) =>
        Flow.step(name, {
          input: Schema.Void,
          success: Schema.Void,
          error: Schema.Never,
          run: () => Effect.sync(() => void did.push(name))
        })(undefined)
      const flow = Flow.make("payments", {
        version: 1,
        input: Schema.String,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: (key) => key,
        run: Effect.fnUntraced(function* () {
          yield* does("pay")
          yield* does("send")
        })
      })
      /** What happens between the decision of the owner to begin `send` and its write. */
      let before: Effect.Effect<void> = Effect.void
      const journal = Journal.of({
        ...rows,
        write: (fence, write) =>
          Effect.suspend(() => {
            const isBegin = write.entries.some(({ path, state }) => path === "send" && state === "running")
            const first = isBegin ? before : Effect.void
            if (isBegin) before = Effect.void
            return Effect.andThen(first, rows.write(fence, write))
          })
      })
      const engine = engineOver(journal, alone)
      yield* Effect.gen(function* () {
        const services = yield* Effect.context<FlowEngine>()
        before = Effect.flatMap(rows.findKey("payments", "one"), (found) =>
          FlowExecutions.suspend(found?.id ?? "")
        ).pipe(Effect.orDie, Effect.provideContext(services))
        const id = yield* Flow.submit(flow, "one")
        yield* until(Effect.map(stateOf(id), (state) => state === "suspended"))
        assert.deepStrictEqual(did, ["pay"])
        const { commands, steps } = yield* FlowExecutions.inspect(id)
        assert.deepStrictEqual(
          steps.map(({ path }) => path),
          ["pay"]
        )
        assert.deepStrictEqual(
          commands.map(({ outcome }) => outcome),
          ["applied"]
        )
        yield* FlowExecutions.resume(id)
        yield* until(Effect.map(stateOf(id), (state) => state === "completed"))
        assert.deepStrictEqual(did, ["pay", "send"])
      }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), engine)))
    }).pipe(Effect.scoped)
)
