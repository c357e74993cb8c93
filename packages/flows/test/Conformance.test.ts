import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import { FlowSignals, makeMailbox } from "../src/FlowSignals.ts"
import { conformance } from "./support/Conformance.ts"
import { durable, type Runner } from "./support/conformance/Bench.ts"
import { temporaryFile } from "./support/Engines.ts"

/** The source of decisions in a plain run. */
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
  answering: ({ path, value }, effect) =>
    Effect.andThen(
      Effect.map(Answers, ({ all }) => void all.set(path, value)),
      effect
    ),
  halts: false
}

conformance("plain", plain, Answers.layer)
conformance("in memory", durable, FlowEngine.layerMemory)
conformance("on SQLite", durable, Layer.unwrap(Effect.map(temporaryFile, (file) => FlowEngine.layerSqlite({ file }))))
