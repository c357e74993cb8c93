/** A watcher of a program that ends and begins again. */
import { assert, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpRouter from "effect/http/HttpRouter"
import { freePort } from "@signalbox/testkit/FreePort"
import { createServer } from "node:http"
import * as Flow from "../../src/Flow.ts"
import { FlowClient } from "../../src/FlowClient.ts"
import { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowManagement from "../../src/FlowManagement.ts"
import { temporaryFile } from "../support/Engines.ts"
import { until } from "../support/Polling.ts"
import { token } from "../support/Served.ts"

const lines = Flow.feed("lines", Schema.String)
const add = Flow.request("add", { input: Schema.Finite, success: Schema.Finite })

const definition = Flow.define("account", {
  version: 1,
  input: Schema.String,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: (owner) => owner,
  signals: [add],
  states: [lines]
})
const account = Flow.implement(
  definition,
  Effect.fnUntraced(function* () {
    for (;;) {
      const { answer, input } = yield* add.receive()
      yield* lines.append(`added ${input}`)
      yield* answer(input)
    }
  })
)

it.live("a watcher follows an execution while the program restarts", () =>
  Effect.gen(function* () {
    const file = yield* temporaryFile
    const port = yield* Effect.promise(freePort)
    const program = HttpRouter.serve(FlowManagement.layerRoutes({ token: Redacted.make(token) }), {
      disableLogger: true,
      disableListenLog: true
    }).pipe(
      Layer.provide(
        NodeHttpServer.layer(createServer, { host: "127.0.0.1", port, gracefulShutdownTimeout: "100 millis" })
      ),
      Layer.provideMerge(Flow.layer(account)),
      Layer.provideMerge(FlowEngine.layerSqlite({ file }))
    )
    const client = FlowClient.layer({ url: `http://127.0.0.1:${port}`, token: Redacted.make(token) })
    yield* Effect.gen(function* () {
      const flows = yield* FlowClient
      const got: Array<unknown> = []
      let following: Fiber.Fiber<void, unknown> | undefined
      for (const n of [1, 2]) {
        yield* Effect.gen(function* () {
          yield* flows.submit(definition, "ann")
          const handle = yield* flows.handle(definition, "ann")
          following ??= yield* Effect.forkChild(
            Stream.runForEach(handle.watch(), ({ kind, value }) =>
              Effect.sync(() => (kind === "feed" ? got.push(value) : undefined))
            )
          )
          yield* handle.request(add, n)
          yield* until(Effect.sync(() => got.length === n))
        }).pipe(Effect.provide(Layer.fresh(program)))
      }
      assert.deepStrictEqual(got, ["added 1", "added 2"])
      assert.isUndefined(following?.pollUnsafe())
    }).pipe(Effect.provide(Layer.provide(client, NodeHttpClient.layerUndici)))
  }).pipe(Effect.scoped)
)
