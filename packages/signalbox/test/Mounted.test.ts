/** The service below a path of another server: every address that it returns leads back to it. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Assets from "@signalbox/api/Assets"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Workers from "@signalbox/api/Workers"
import * as WorkItems from "@signalbox/api/WorkItems"
import { Permission } from "@signalbox/api/contract/Authorization"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import { Administration } from "@signalbox/control-room/Administration"
import * as Mounted from "@signalbox/control-room/Mounted"
import * as Server from "@signalbox/control-room/Server"
import * as Task from "@signalbox/worker/Task"
import * as Worker from "@signalbox/worker/Worker"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { readdirSync } from "node:fs"
import { createServer, type RequestListener, type Server as NodeServer } from "node:http"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { ReadableStream as NodeReadableStream } from "node:stream/web"

/** Too large for one request: an asset of this size is uploaded to a separate address. */
const size = 5_000_000

const copy = Task.make("copy", {
  input: Schema.Struct({ day: Schema.String }),
  output: Schema.Struct({ bytes: Schema.Int }),
  run: Effect.fnUntraced(function* (item) {
    const bytes = Buffer.concat(yield* Stream.runCollect(item.readFile("in.bin")))
    return Task.output({ bytes: bytes.length }, { files: [{ name: "out.bin", bytes }] })
  })
})

const silent = Logger.layer([])

/** A data folder with a workspace and a key, created before the server. */
const prepared = Effect.gen(function* () {
  const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const made = Effect.gen(function* () {
    const { createKey, firstWorkspace } = yield* Administration
    const workspace = yield* firstWorkspace("mounted")
    const key = yield* createKey(workspace.id, "test", Permission.literals)
    return { data, workspaceId: workspace.id, key: Redacted.value(key) }
  })
  return yield* Effect.provide(made, Server.layerStorage({ data }))
}).pipe(Effect.provide(NodeServices.layer))

interface Place {
  /** With the prefix. */
  readonly address: string
  readonly data: string
  readonly workspaceId: WorkspaceId
  readonly key: string
}

const decodePage = Schema.decodeUnknownSync(
  Schema.Struct({ next: Schema.String, data: Schema.Array(Schema.Struct({ id: Schema.String })) })
)
const decodeDocument = Schema.decodeUnknownSync(
  Schema.Struct({ servers: Schema.Array(Schema.Struct({ url: Schema.String })) })
)

/** From an item with a file to its outputs, all through the prefix. */
const lifecycle = Effect.fnUntraced(function* ({ address, data, key, workspaceId }: Place) {
  const { link_token } = yield* Workers.createLinkToken()
  yield* Layer.build(
    Worker.layer({ origin: address, linkToken: Redacted.make(link_token), name: "w", tasks: [copy], drain: 0 })
  )
  const process = yield* Processes.put({ name: "copying", steps: [{ name: "copy", task: { name: "copy" } }] })
  const item = yield* WorkItems.create({ process: process.id, payload: { day: "today" } })
  const bytes = new Uint8Array(size).map((_, index) => index % 251)
  yield* WorkItems.attachFile(item.id, { name: "in.bin", bytes })
  const run = yield* ProcessRuns.start(process.id, { workItems: [item.id] })
  if (!run.started) return assert.fail("not started")
  const ended = yield* ProcessRuns.awaitEnd(run.id, { timeout: "20 seconds", pollInterval: "50 millis" })
  assert.strictEqual(ended.state, "completed")
  const [output] = yield* Stream.runCollect(Outputs.stream(run.id))
  assert.deepStrictEqual(output?.payload, { bytes: size })
  const [file] = output?.files ?? []
  if (file === undefined) return assert.fail("no file")
  assert.isTrue(file.download.url.startsWith(`${address}/transfer/`))
  const downloaded = Buffer.concat(yield* Stream.runCollect(Files.download(file)))
  assert.isTrue(downloaded.equals(bytes))

  yield* Assets.put("prices", { name: "prices", bytes })
  const asset = Buffer.concat(yield* Stream.runCollect(Assets.download("name:prices")))
  assert.isTrue(asset.equals(bytes))

  yield* WorkItems.create({ process: process.id })
  yield* WorkItems.create({ process: process.id })
  yield* Effect.promise(async () => {
    const range = await fetch(file.download.url, { headers: { range: "bytes=10-13" } })
    assert.strictEqual(range.status, 206)
    assert.deepStrictEqual([...(await range.bytes())], [10, 11, 12, 13])
    assert.strictEqual(range.headers.get("content-range"), `bytes 10-13/${size}`)
    const head = await fetch(file.download.url, { method: "HEAD" })
    assert.deepStrictEqual([head.status, head.headers.get("content-length")], [200, String(size)])

    const headers = { authorization: `RC-WSKEY ${key}` }
    const items = `${address}/api/v1/workspaces/${workspaceId}/work-items`
    const page = decodePage(await (await fetch(`${items}?limit=1`, { headers })).json())
    assert.isTrue(page.next.startsWith(`${items}?`))
    const next = decodePage(await (await fetch(page.next, { headers })).json())
    assert.notStrictEqual(next.data[0]?.id, page.data[0]?.id)

    const document = decodeDocument(await (await fetch(`${address}/api/v1/openapi.json`)).json())
    assert.deepStrictEqual(document.servers, [{ url: address }])
    const docs = await fetch(`${address}/docs`)
    assert.include(await docs.text(), address)
    const missing = await fetch(`${address}/nothing/here`)
    assert.strictEqual(missing.status, 404)
    assert.isNotNull(missing.headers.get("x-request-id"))
  })

  // Received bytes are on the disk before the rest has arrived, and deleted when the sender aborts.
  const staged = Effect.sync(() => readdirSync(join(data, "files", "staging")).length)
  const until = (count: number) =>
    Effect.repeat(staged, { until: (found) => found === count, schedule: Schedule.spaced("10 millis") })
  const stream = Stream.concat(Stream.succeed(bytes.subarray(0, 100_000)), Stream.never)
  const half = yield* Effect.forkChild(Assets.put("half", { name: "half", size, stream }))
  yield* until(1)
  yield* Fiber.interrupt(half)
  yield* until(0)
})

const connected = (place: Place) =>
  ControlRoom.layerHttpClient({
    baseUrl: place.address,
    workspaceId: place.workspaceId,
    apiKey: Redacted.make(place.key)
  }).pipe(Layer.provideMerge(NodeHttpClient.layerUndici))

/** A server of `node:http` without knowledge of the service. */
const listening = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<NodeServer>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

const originOf = (server: NodeServer) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : assert.fail("no port")
}

/** Passes requests of `node:http` to a handler of web requests, as adapters do. */
const adapted =
  (handler: (request: Request) => Promise<Response>): RequestListener =>
  (incoming, outgoing) => {
    const aborted = new AbortController()
    outgoing.on("close", () => aborted.abort())
    const bodyless = incoming.method === "GET" || incoming.method === "HEAD"
    const request = new Request(new URL(incoming.url ?? "/", `http://${incoming.headers.host}`), {
      method: incoming.method ?? "GET",
      headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
      signal: aborted.signal,
      ...(bodyless ? {} : { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" })
    })
    void handler(request).then((response) => {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      if (response.body === null) return outgoing.end()
      return pipeline(Readable.fromWeb(response.body as NodeReadableStream), outgoing).catch(() => outgoing.destroy())
    })
  }

describe("the service below a path", () => {
  const kinds = [
    {
      name: "of node:http, by web requests",
      start: async (options: Parameters<typeof Mounted.toWebHandler>[0]) => {
        const { dispose, handler } = await Mounted.toWebHandler(options)
        return { dispose, handler: adapted(handler) }
      }
    },
    { name: "of node:http, by its own requests", start: Mounted.toNodeHandler }
  ]
  it.live.each(kinds)("$name", ({ start }) =>
    Effect.gen(function* () {
      const { data, key, workspaceId } = yield* prepared
      let handle: RequestListener = (_, response) => response.end()
      const server = yield* listening((request, response) => {
        if (request.url?.startsWith("/automation/") === true) return handle(request, response)
        return response.end("something else")
      })
      const address = `${originOf(server)}/automation`
      const { dispose, handler } = yield* Effect.promise(() => start({ data, publicUrl: address }))
      handle = handler
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const place = { address, data, key, workspaceId }
      yield* Effect.scoped(lifecycle(place)).pipe(Effect.provide(connected(place)))
      const other = yield* Effect.promise(async () => (await fetch(originOf(server))).text())
      assert.strictEqual(other, "something else")
      // A second one on the same folder cannot start, and reports that.
      const second = yield* Effect.exit(Effect.tryPromise(() => start({ data, publicUrl: address })))
      assert.match(String(second), /SqliteOpenError|another process uses/)
    }).pipe(Effect.scoped, Effect.provide(silent))
  )

  it.live("of an Effect server, beside its own routes", () =>
    Effect.gen(function* () {
      const { data, key, workspaceId } = yield* prepared
      const free = yield* Effect.scoped(
        Effect.map(
          listening(() => {}),
          originOf
        )
      )
      const address = `${free}/automation`
      const routes = Layer.mergeAll(
        HttpRouter.add("GET", "/hello", HttpServerResponse.text("hello")),
        Mounted.layerRoutes({ publicUrl: address })
      )
      const served = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(Server.layerStorage({ data })),
        Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: Number(new URL(free).port) }))
      )
      yield* Layer.build(served)
      const place = { address, data, key, workspaceId }
      yield* Effect.scoped(lifecycle(place)).pipe(Effect.provide(connected(place)))
      const hello = yield* Effect.promise(() => fetch(`${free}/hello`))
      assert.strictEqual(yield* Effect.promise(() => hello.text()), "hello")
      // The service does not handle paths of others.
      assert.isNull(hello.headers.get("x-request-id"))
    }).pipe(Effect.scoped, Effect.provide([silent, NodeServices.layer]))
  )
})

describe("the address of a web request", () => {
  const started = Effect.fnUntraced(function* (clientAddress: (request: Request) => string | null | undefined) {
    const { data } = yield* prepared
    const publicUrl = "http://127.0.0.1:1/automation"
    const { handler } = yield* Effect.acquireRelease(
      Effect.promise(() => Mounted.toWebHandler({ data, publicUrl, clientAddress })),
      ({ dispose }) => Effect.promise(dispose)
    )
    /** A request without a key. */
    return (headers: HeadersInit = {}) =>
      Effect.tryPromise({
        try: () => handler(new Request(`${publicUrl}/api/v1/workspaces/w/processes`, { headers })),
        catch: String
      })
  })

  it.live("decides whose budget a request without a key takes from", () =>
    Effect.gen(function* () {
      const ask = yield* started((request) => request.headers.get("x-real-ip"))
      const statuses = (headers: HeadersInit, count: number) =>
        Effect.all(
          Array.from({ length: count }, () => Effect.map(ask(headers), ({ status }) => status)),
          { concurrency: 100 }
        )
      const seen: Array<number> = []
      while (!seen.includes(429) && seen.length < 20_000) {
        seen.push(...(yield* statuses({ "x-real-ip": "192.0.2.1" }, 100)))
      }
      assert.deepStrictEqual(new Set(seen), new Set([401, 429]))
      assert.deepStrictEqual(yield* statuses({ "x-real-ip": "192.0.2.2" }, 1), [401])
      assert.deepStrictEqual(new Set(yield* statuses({}, seen.length)), new Set([401]))
    }).pipe(Effect.scoped, Effect.provide(silent))
  )

  it.live("must be an IP address", () =>
    Effect.gen(function* () {
      const ask = yield* started((request) => request.headers.get("x-real-ip"))
      for (const address of ["192.0.2.1", "2001:db8::1", "fe80::1%eth0"]) {
        assert.strictEqual((yield* ask({ "x-real-ip": address })).status, 401)
      }
      for (const address of ["192.0.2.1:4711", "192.0.2.1, 192.0.2.2", "somebody"]) {
        const error = yield* Effect.flip(ask({ "x-real-ip": address }))
        assert.strictEqual(
          error,
          `TypeError: clientAddress: "${address}" is not an IP address; return one without a port, or null where it is unknown`
        )
      }
    }).pipe(Effect.scoped, Effect.provide(silent))
  )
})

describe("routes of your own on the service's router", () => {
  it.live("are served beside it", () =>
    Effect.gen(function* () {
      const { data } = yield* prepared
      const own = Layer.provide(HttpRouter.add("GET", "/hello", HttpServerResponse.text("hello")), HttpRouter.layer)
      const served = Server.layer().pipe(
        Layer.provide(own),
        Layer.provide(Server.layerStorage({ data })),
        Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
      )
      const { address } = Context.get(yield* Layer.build(served), HttpServer.HttpServer)
      const origin = HttpServer.formatAddress(address)
      const text = (path: string) => Effect.promise(async () => (await fetch(origin + path)).text())
      assert.strictEqual(yield* text("/hello"), "hello")
      assert.strictEqual(yield* text("/healthz"), `{"status":"ok"}`)
    }).pipe(Effect.scoped, Effect.provide([silent, NodeServices.layer]))
  )
})
