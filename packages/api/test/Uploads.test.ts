/** What ends an upload from within: functions of the caller, sources that fail, and an abort. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createServer } from "node:http"
import { WorkItemId, WorkspaceId } from "../src/contract/Ids.ts"
import { ControlRoom } from "../src/ControlRoom.ts"
import { connect } from "../src/Promise.ts"
import { UploadSourceError } from "../src/Upload.ts"
import * as WorkItems from "../src/WorkItems.ts"

const MB = 1_000_000

interface FormServer {
  readonly origin: string
  /** How many forms were begun, and how many of their bytes came. */
  readonly forms: () => number
  readonly bytes: () => number
}

/** A service that takes a form for each file. */
const make: Effect.Effect<FormServer, never, Scope.Scope> = Effect.gen(function* () {
  let forms = 0
  let bytes = 0
  let origin = ""
  const server = createServer((request, response) => {
    if (request.url !== "/form") {
      request.resume().once("end", () => {
        const file = { id: "f1", name: "f", upload: { url: `${origin}/form`, form_data: {} } }
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(file))
      })
      return
    }
    forms++
    request.on("data", (chunk: Uint8Array) => (bytes += chunk.length))
    request.once("end", () => response.writeHead(204).end())
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      })
  )
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  return { origin, forms: () => forms, bytes: () => bytes }
})

const item = WorkItemId.make("i1")
const bytesOf = (size: number) => ({ name: "f", bytes: new Uint8Array(size) })

const clients = {
  fetch: ControlRoom.layer,
  undici: (options: Parameters<typeof ControlRoom.layer>[0]) =>
    Layer.provide(ControlRoom.layerHttpClient(options), NodeHttpClient.layerUndici)
}

for (const [name, layer] of Object.entries(clients)) {
  const over = ({ origin }: FormServer) =>
    layer({ baseUrl: origin, apiKey: Redacted.make("key"), workspaceId: WorkspaceId.make("w") })

  describe(`an upload over ${name}`, () => {
    for (const [how, onProgress] of [
      [
        "throws",
        () => {
          throw new RangeError("full")
        }
      ],
      ["dies", () => Effect.die(new RangeError("full"))]
    ] as ReadonlyArray<readonly [string, (sent: number) => Effect.Effect<void>]>) {
      it.live(`ends with what onProgress ${how}, and sends nothing again`, () =>
        Effect.gen(function* () {
          const server = yield* make
          const exit = yield* Effect.exit(
            Effect.provide(WorkItems.attachFile(item, bytesOf(8 * MB), { onProgress }), over(server))
          )
          const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
          assert.instanceOf(error, RangeError)
          assert.isAtMost(server.forms(), 1)
        }).pipe(Effect.scoped)
      )
    }

    it.live("ends with the failure of its source, which is no broken connection", () =>
      Effect.gen(function* () {
        const server = yield* make
        const failed = new UploadSourceError({ name: "f", message: "the disk is gone" })
        const stream = Stream.concat(Stream.succeed(new Uint8Array(MB)), Stream.fail(failed))
        const source = { name: "f", size: 2 * MB, stream }
        const error = yield* Effect.flip(Effect.provide(WorkItems.attachFile(item, source), over(server)))
        assert.strictEqual(error, failed)
        assert.isAtMost(server.forms(), 1)
      }).pipe(Effect.scoped)
    )
  })
}

/** A client with promises of a server. */
const room = ({ origin }: FormServer) => connect({ baseUrl: origin, apiKey: "key", workspaceId: "w" })

const promised = (body: (server: FormServer) => Promise<void>) =>
  Effect.flatMap(make, (server) => Effect.promise(() => body(server))).pipe(Effect.scoped)

const sources: Readonly<Record<string, (size: number) => File | ReturnType<typeof bytesOf>>> = {
  bytes: bytesOf,
  "a File": (size) => new File([new Uint8Array(size)], "f")
}

for (const [name, source] of Object.entries(sources)) {
  describe(`${name}, with promises`, () => {
    it.live("progress is called while they are sent", () =>
      promised(async (server) => {
        const sent: Array<number> = []
        await room(server).workItems.attachFile("i1", source(8 * MB), { onProgress: (bytes) => void sent.push(bytes) })
        assert.isAbove(sent.length, 8)
        assert.strictEqual(sent.at(-1), 8 * MB)
        assert.deepStrictEqual(
          sent,
          sent.toSorted((a, b) => a - b)
        )
      })
    )

    it.live("an abort takes effect some megabytes later at most", () =>
      promised(async (server) => {
        const controller = new AbortController()
        const reason = new Error("no more")
        const onProgress = (bytes: number) => {
          if (bytes >= 5 * MB) controller.abort(reason)
        }
        const upload = room(server)
          .withSignal(controller.signal)
          .workItems.attachFile("i1", source(50 * MB), { onProgress })
        assert.strictEqual(await upload.catch((error: unknown) => error), reason)
        assert.isBelow(server.bytes(), 15 * MB)
      })
    )

    it.live("it rejects with what the function rejects with", () =>
      promised(async (server) => {
        const onProgress = () => Promise.reject(new RangeError("full"))
        const upload = room(server).workItems.attachFile("i1", source(8 * MB), { onProgress })
        assert.instanceOf(await upload.catch((error: unknown) => error), RangeError)
        assert.isAtMost(server.forms(), 1)
      })
    )
  })
}
