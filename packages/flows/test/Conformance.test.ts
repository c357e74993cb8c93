import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import type { FlowEngine } from "../src/FlowEngine.ts"
import { FlowSignals, makeMailbox } from "../src/FlowSignals.ts"
import { theEngine } from "../src/internal/engine/Parts.ts"
import { conformance, type Runner } from "./support/Conformance.ts"
import * as MemoryEngine from "./support/MemoryEngine.ts"

/** Answers in a plain run. */
class Answers extends Context.Service<
  Answers,
  { readonly all: Map<string, Schema.Json>; readonly signals: FlowSignals }
>()("test/Answers") {
  static readonly layer = Layer.effect(
    Answers,
    Effect.map(makeMailbox, (mailbox) => {
      const all = new Map<string, Schema.Json>()
      const receive: FlowSignals["receive"] = (address) => {
        const value = all.get(address.path)
        return Effect.andThen(
          value === undefined ? Effect.void : mailbox.send(address, value),
          mailbox.receive(address)
        )
      }
      return { all, signals: { receive } }
    })
  )
}

const plain: Runner<Answers> = {
  run: (flow, input) =>
    Effect.flatMap(Answers, ({ signals }) => Effect.provideService(Flow.run(flow, input), FlowSignals, signals)),
  answering: (path, value, effect) =>
    Effect.andThen(
      Effect.map(Answers, ({ all }) => void all.set(path, value)),
      effect
    )
}

const durable: Runner<FlowEngine> = {
  run: (flow, input) => Effect.provide(Flow.execute(flow, input), Flow.layer(flow)),
  answering: (path, value, effect) =>
    Effect.gen(function* () {
      const { store } = yield* theEngine
      const awaited = Effect.gen(function* () {
        while (true) {
          const wait = (yield* store.waits("signal")).find((one) => one.path === path)
          if (wait !== undefined) return wait
          yield* Effect.sleep("1 second")
        }
      })
      const sent = Effect.flatMap(awaited, ({ execution }) => Flow.signal(execution, path, Schema.Json, value))
      yield* Effect.forkChild(sent)
      return yield* effect
    })
}

conformance("plain", plain, Answers.layer)
conformance("on the engine in memory of effect", durable, MemoryEngine.layer)
