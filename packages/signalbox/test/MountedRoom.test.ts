/**
 * A whole control room below a path of a server without knowledge of it: service, first key and workers in one call.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { connect } from "@signalbox/api/promise"
import * as Workspaces from "@signalbox/api/Workspaces"
import * as ServiceMounted from "@signalbox/control-room/Mounted"
import * as Server from "@signalbox/control-room/Server"
import { freePort } from "@signalbox/testkit/FreePort"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as HttpRouter from "effect/http/HttpRouter"
import { createServer, type RequestListener } from "node:http"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as Embedded from "../src/Embedded.ts"
import * as Mounted from "../src/Mounted.ts"
import { clientOf } from "./support/Cli.ts"
import * as Robots from "./support/Robots.ts"
import { tasks } from "./support/tasks.ts"

/** A server whose handler for `/automation/` is added later. */
const server = Effect.fnUntraced(function* () {
  let handle: RequestListener = (_, response) => response.end()
  const node = createServer((request, response) =>
    request.url?.startsWith("/automation/") === true ? handle(request, response) : response.end("something else")
  )
  const port = yield* Effect.promise(freePort)
  const listen = Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      node.listen(port, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        node.close(() => resume(Effect.void))
        node.closeAllConnections()
      })
  )
  const mount = (handler: RequestListener) => {
    handle = handler
  }
  return { publicUrl: `http://127.0.0.1:${port}/automation`, listen, mount }
})

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const mounted = (options: Mounted.Options) =>
  Effect.acquireRelease(
    Effect.promise(() => Mounted.toNodeHandler(options)),
    ({ dispose }) => Effect.promise(dispose)
  )

/** Runs the process `greeting` to its end with the client for programs without Effect; resolves to its output. */
const greeting = async ({ api_key, base_url, workspace_id }: Mounted.Running<unknown>["credentials"]) => {
  const room = connect({ baseUrl: base_url, apiKey: api_key, workspaceId: workspace_id })
  const { id } = await room.processes.put({ name: "greeting", steps: [{ name: "greet", task: { name: "greet" } }] })
  const run = await room.processRuns.start(id, { payloads: [{ name: "Ada" }] })
  if (!run.started) return assert.fail("not started")
  await room.processRuns.awaitEnd(run.id)
  const payloads: Array<unknown> = []
  for await (const { payload } of room.outputs.stream(run.id)) payloads.push(payload)
  const { name } = await room.workspaces.get()
  await room.close()
  return { name, payloads }
}

const environment = Layer.merge(NodeServices.layer, Logger.layer([]))

describe("a control room below a path", () => {
  it.live("has its console there, whose sessions are of that path", () =>
    Effect.gen(function* () {
      const { listen, mount, publicUrl } = yield* server()
      const room = yield* mounted({ data: yield* temporary, publicUrl, console: true, workers: 0 })
      mount(room.handler)
      yield* listen
      const page = yield* Effect.promise(() => fetch(`${publicUrl}/`))
      assert.strictEqual(page.url, `${publicUrl}/console/`)
      const names = [...(yield* Effect.promise(() => page.text())).matchAll(/(?:src|href)="((?!data:)[^"]+)"/g)]
      assert.isNotEmpty(names)
      for (const [, name = ""] of names) {
        const file = yield* Effect.promise(() => fetch(new URL(name, page.url)))
        assert.strictEqual(file.status, 200, name)
      }
      const opened = yield* Effect.promise(() =>
        fetch(`${publicUrl}/console/session`, {
          method: "POST",
          headers: { origin: new URL(publicUrl).origin, "x-signalbox-console": "1" },
          body: JSON.stringify({ key: room.credentials.api_key })
        })
      )
      assert.strictEqual(opened.status, 200)
      assert.match(opened.headers.get("set-cookie") ?? "", /^signalbox-[0-9a-f]{12}=\S+; Path=\/automation\/; HttpOnly/)
    }).pipe(Effect.provide(environment))
  )

  it.live("returns a key with which its workers' tasks can be run, and robots find it at its address", () =>
    Effect.gen(function* () {
      const { listen, mount, publicUrl } = yield* server()
      const data = yield* temporary
      // The workers work before the server listens.
      const { credentials, handler } = yield* mounted({ data, publicUrl, workspace: "greetings", tasks })
      mount(handler)
      yield* listen
      assert.strictEqual(credentials.base_url, publicUrl)
      const result = yield* Effect.promise(() => greeting(credentials))
      assert.deepStrictEqual(result, { name: "greetings", payloads: [{ greeting: "Hello, Ada" }] })
      const file = join(data, "credentials.json")
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), credentials)

      const robot = Effect.gen(function* () {
        const packageId = yield* Robots.upload("robot", yield* Robots.robot)
        return yield* Robots.runTask(packageId, "nothing")
      })
      const { run } = yield* Effect.provide(robot, clientOf(credentials))
      assert.strictEqual(run.state, "completed")
    }).pipe(Effect.scoped, Effect.provide(environment))
  )

  it.live("has the same workspace, key and workers at each start", () =>
    Effect.gen(function* () {
      const data = yield* temporary
      const options = { data, publicUrl: "http://127.0.0.1:1/automation/", tasks }
      const starts: Array<Awaited<ReturnType<typeof start>>> = []
      const start = async () => {
        await using room = await Mounted.toWebHandler(options)
        const { api_key, base_url, workspace_id } = room.credentials
        const request = () =>
          new Request(`${base_url}/api/v1/workspaces/${workspace_id}/workers?limit=5`, {
            headers: { authorization: `RC-WSKEY ${api_key}` }
          })
        let workers: ReadonlyArray<{ readonly id: string; readonly state: string }> = []
        while (!workers.some(({ state }) => state === "idle")) {
          await setTimeout(10)
          workers = (await (await room.handler(request())).json()).data
        }
        return { credentials: room.credentials, workers: workers.map(({ id }) => id) }
      }
      for (let n = 0; n < 2; n++) starts.push(yield* Effect.promise(start))
      assert.lengthOf(starts[0]?.workers ?? [], 1)
      assert.deepStrictEqual(starts[1], starts[0])
    }).pipe(Effect.scoped, Effect.provide(environment))
  )

  it.live("that cannot start rejects, and leaves nothing that would block the next one", () =>
    Effect.gen(function* () {
      const data = yield* temporary
      const options = { data, publicUrl: "http://127.0.0.1:1/automation", workers: 0 }
      const first = yield* Effect.promise(() => Mounted.toNodeHandler(options))
      const second = yield* Effect.exit(Effect.tryPromise(() => Mounted.toNodeHandler(options)))
      assert.match(String(second), /another process uses/)
      yield* Effect.promise(first.dispose)
      const third = yield* Effect.promise(() => Mounted.toNodeHandler(options))
      assert.strictEqual(third.credentials.api_key, first.credentials.api_key)
      yield* Effect.promise(third.dispose)
    }).pipe(Effect.scoped, Effect.provide(environment))
  )

  it.live("behind a body parser says that its body was read, and what to do", () =>
    Effect.gen(function* () {
      const { listen, mount, publicUrl } = yield* server()
      const { credentials, handler } = yield* mounted({ data: yield* temporary, publicUrl, workers: 0 })
      mount((request, response) => request.resume().once("end", () => handler(request, response)))
      yield* listen
      const response = yield* Effect.promise(() =>
        fetch(`${publicUrl}/api/v1/workspaces/${credentials.workspace_id}/assets`, {
          method: "POST",
          headers: { authorization: `RC-WSKEY ${credentials.api_key}`, "content-type": "application/json" },
          body: JSON.stringify({ name: "prices" })
        })
      )
      assert.strictEqual(response.status, 500)
      const { message } = yield* Effect.promise(() => response.json())
      assert.match(message, /the body .* was read before .*: mount the control room before body parsers/)
    }).pipe(Effect.scoped, Effect.provide(environment))
  )

  it.live("of an Effect server has credentials and workers from layers", () =>
    Effect.gen(function* () {
      const data = yield* temporary
      const port = yield* Effect.promise(freePort)
      const publicUrl = `http://127.0.0.1:${port}/automation`
      const routes = ServiceMounted.layerRoutes({ publicUrl })
      const served = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port }))
      )
      const room = Embedded.layerWorkers({ data, tasks }).pipe(
        Layer.provideMerge(Embedded.layerCredentials({ data, publicUrl, workspace: "layers" })),
        Layer.provideMerge(served),
        Layer.provide(Server.layerStorage({ data }))
      )
      const services = yield* Layer.build(room)
      const { credentials, origin } = Context.get(services, Embedded.Embedded)
      assert.strictEqual(origin, publicUrl)
      const workspace = yield* Effect.provideContext(Workspaces.get, services)
      assert.strictEqual(workspace.id, credentials.workspace_id)
      const result = yield* Effect.promise(() => greeting(credentials))
      assert.deepStrictEqual(result, { name: "layers", payloads: [{ greeting: "Hello, Ada" }] })
    }).pipe(Effect.scoped, Effect.provide(environment))
  )
})
