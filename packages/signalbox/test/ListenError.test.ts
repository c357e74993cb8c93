/** A control room that cannot listen on its address says why and what to do. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { GraphSandbox } from "@signalbox/graph-sandbox/GraphSandbox"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { ServeError } from "effect/http/HttpServerError"
import { createServer } from "node:net"
import { lineOf } from "../src/internal/output/Problem.ts"
import * as Embedded from "../src/Embedded.ts"
import { ListenError } from "../src/ListenError.ts"

/** A port on which something else listens. */
const busyPort = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const refusal = Effect.fnUntraced(function* (where: { readonly host?: string; readonly port: number }) {
  const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  return yield* Effect.flip(Layer.build(Embedded.layerService({ data, ...where })))
})

describe("a control room that cannot listen", () => {
  it.live("on a port that is in use says so, and how to choose another", () =>
    Effect.gen(function* () {
      const { port } = yield* busyPort
      const error = yield* refusal({ port })
      if (error._tag !== "ListenError") return assert.fail(error._tag)
      assert.deepStrictEqual([error.code, error.host, error.port], ["EADDRINUSE", "127.0.0.1", port])
      const remedy = "stop the program that listens there, or choose another with"
      assert.strictEqual(error.message, `port ${port} on 127.0.0.1 is in use: ${remedy} port (0 picks a free one)`)
      assert.strictEqual(lineOf(error), error.message.replace("with port", "with --port"))
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Logger.layer([])]))
  )

  it.live("on the address of another machine, or on a name that does not resolve, names the host", () =>
    Effect.gen(function* () {
      // Addresses of documentation, which no machine has.
      const foreign = yield* refusal({ host: "192.0.2.1", port: 0 })
      assert.match(foreign.message, /^192\.0\.2\.1 is not an address of this machine: give one with host/)
      const unknown = yield* refusal({ host: "nohost.invalid", port: 0 })
      assert.match(unknown.message, /^the host name nohost\.invalid does not resolve: give an address of this machine/)
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Logger.layer([])]))
  )

  it("for lack of permission, or for any other reason, names the port", () => {
    const of = (code: string) => {
      const cause = Object.assign(new Error("listen"), { code })
      return ListenError.of(new ServeError({ cause }), { host: "::", port: 80 }).message
    }
    assert.match(of("EACCES"), /^no permission to listen on port 80 of ::: choose one from 1024 up with port/)
    assert.strictEqual(of("EINVAL"), "cannot listen on port 80 of :: (EINVAL): check host and port")
  })

  it.live("is reported in the same way by the graph sandbox", () =>
    Effect.gen(function* () {
      const { port } = yield* busyPort
      const error = yield* Effect.flip(Layer.build(GraphSandbox.layer({ port })))
      const problem = `cannot listen on port ${port} of 127.0.0.1: the port is in use`
      assert.strictEqual(
        error.message,
        `${problem}: stop the program that listens there, or choose another (0 picks a free one)`
      )
    }).pipe(Effect.scoped)
  )
})
