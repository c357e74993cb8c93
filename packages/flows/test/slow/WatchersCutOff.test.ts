/** A watcher over HTTP whose connections are destroyed again and again. */
import { assert, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import * as Flow from "../../src/Flow.ts"
import { FlowManagementClient } from "../../src/FlowManagementClient.ts"
import { until } from "../support/Polling.ts"
import { address, layer, token } from "../support/Served.ts"

const lines = Flow.feed("lines", Schema.Finite, { count: 10_000 })
const progress = Flow.state("progress", Schema.Finite)
const most = 1_500

const counting = Flow.make("counting", {
  version: 1,
  input: Schema.Void,
  success: Schema.Void,
  error: Schema.Never,
  idempotencyKey: () => "one",
  states: [lines, progress],
  run: Effect.fnUntraced(function* () {
    for (let n = 1; n <= most; n++) {
      yield* progress.set(n)
      yield* lines.append(n)
      yield* Flow.sleep("pause", "10 millis")
    }
  })
})

/** Passes connections on, and destroys them all on demand. */
const relay = (to: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        const { hostname, port } = new URL(to)
        const upstream = connect(Number(port), hostname)
        for (const [one, other] of [
          [socket, upstream],
          [upstream, socket]
        ] as const) {
          sockets.add(one)
          one.on("error", () => {})
          one.on("close", () => {
            sockets.delete(one)
            other.destroy()
          })
          one.pipe(other)
        }
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      // A server that listens on a port has an address.
      const { port } = server.address() as AddressInfo
      const cut = () => {
        const count = sockets.size
        for (const socket of sockets) socket.destroy()
        return count
      }
      return { url: `http://127.0.0.1:${port}`, cut, close: () => server.close() }
    }),
    ({ close, cut }) =>
      Effect.sync(() => {
        close()
        cut()
      })
  )

it.live("a watcher that is cut off a hundred times misses nothing and gets nothing twice", () =>
  Effect.gen(function* () {
    const { cut, url } = yield* relay(yield* address)
    const client = FlowManagementClient.layer({ url, token: Redacted.make(token) })
    const id = yield* Flow.submit(counting, undefined)
    const items: Array<unknown> = []
    const states: Array<number> = []
    const watched = Effect.flatMap(FlowManagementClient, (flows) =>
      Stream.runForEach(flows.watch(id), ({ kind, value }) =>
        Effect.sync(() => (kind === "feed" ? items.push(value) : states.push(Number(value))))
      )
    )
    let cuts = 0
    const cutting = Effect.gen(function* () {
      while (cuts < 100) {
        const before = items.length
        yield* until(Effect.sync(() => items.length > before))
        yield* Effect.sleep(cuts % 20)
        if (cut() > 0) cuts++
      }
    })
    yield* Effect.all([watched, cutting], { concurrency: 2 }).pipe(
      Effect.provide(Layer.provide(client, NodeHttpClient.layerUndici))
    )
    assert.strictEqual(cuts, 100)
    assert.deepStrictEqual(
      items,
      Array.from({ length: most }, (_, n) => n + 1)
    )
    assert.deepStrictEqual(
      states,
      states.toSorted((one, other) => one - other)
    )
    assert.strictEqual(states.at(-1), most)
  }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(counting), Layer.fresh(layer))), Effect.scoped)
)
