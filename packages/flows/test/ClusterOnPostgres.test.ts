import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer, type Server } from "node:net"
import { FlowEngine } from "../src/FlowEngine.ts"
import { soak } from "@signalbox/testkit/Soak"
import { conformance } from "./support/EngineConformance.ts"
import { until } from "./support/Polling.ts"
import { cluster, freePort, postgresOptions, temporaryFile, temporarySchema } from "./support/Engines.ts"
import * as Killing from "./support/Killing.ts"

// A runner that is stopped gives a step that is under way some seconds to end, so one stop is enough.
if (soak) {
  conformance({ name: "the cluster engine", place: cluster, virtual: false, prompt: false, stops: ["right"] })
}

it.live("executions of a runner that was killed go on in another, from what is recorded", () =>
  Effect.gen(function* () {
    const schema = yield* temporarySchema
    const file = yield* temporaryFile
    const [notes, gate] = [`${file}.notes`, `${file}.gate`]
    const count = 8
    const runner = Effect.flatMap(freePort, (port) =>
      Killing.start(["cluster", schema, notes, gate, `${count}`, `${port}`])
    )
    const all = (name: string) => Effect.sync(() => Killing.begun(notes).filter((note) => note.startsWith(name)))
    const first = yield* runner
    const second = yield* runner
    yield* until(Effect.map(all("second"), (notes) => new Set(notes).size === count))
    yield* first.kill
    yield* Killing.open(gate)
    assert.include(yield* second.output, `complete ${count}`)
    assert.strictEqual((yield* all("first")).length, count)
  }).pipe(Effect.scoped)
)

it.live("a runner whose port is taken is told so", () =>
  Effect.gen(function* () {
    const options = { ...postgresOptions(yield* temporarySchema), host: "127.0.0.1", port: yield* freePort }
    yield* Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const server = createServer().listen(options.port, options.host, () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.close())
    )
    const error = yield* Effect.flip(Effect.scoped(Layer.build(FlowEngine.layerCluster(options))))
    assert.include(error.message, `cannot listen on 127.0.0.1:${options.port}`)
  }).pipe(Effect.scoped)
)
