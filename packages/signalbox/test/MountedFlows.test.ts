/** Durable flows of the program that serves a control room, managed with the keys of the room. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Audit from "@signalbox/api/Audit"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import * as Changes from "@signalbox/api/Changes"
import * as Processes from "@signalbox/api/Processes"
import type { Permission } from "@signalbox/api/contract/Authorization"
import * as Workspaces from "@signalbox/api/Workspaces"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import { FlowManagementClient } from "@signalbox/flows/FlowManagementClient"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Embedded from "../src/Embedded.ts"

const approval = Flow.approval("approval")

const orders = Flow.make("orders", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: (key) => key,
  signals: [approval],
  run: Effect.fnUntraced(function* () {
    const { by } = yield* approval.receive()
    return by
  })
})

const room = (isMounted: boolean) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const options = { data, port: 0, workers: 0 }
      return Embedded.layer(isMounted ? { ...options, flows: yield* FlowManagement.mounted } : options)
    })
  )

const layer = Flow.layer(orders).pipe(
  Layer.provideMerge(room(true)),
  Layer.provideMerge(FlowEngine.layerMemory),
  Layer.provideMerge(NodeServices.layer),
  Layer.provide(Logger.layer([]))
)

/** A request with a key, below the workspace of the key unless another one is named. */
const ask = Effect.fnUntraced(function* (
  method: string,
  path: string,
  { body, key, workspace }: { readonly key?: string; readonly body?: unknown; readonly workspace?: string } = {}
) {
  const { credentials } = yield* Embedded.Embedded
  const { api_key, base_url, workspace_id } = credentials
  return yield* Effect.promise(async () => {
    const response = await fetch(`${base_url}/api/v1/workspaces/${workspace ?? workspace_id}/${path}`, {
      method,
      headers: { authorization: `Bearer ${key ?? api_key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: response.status, text: await response.text() }
  })
})

const keyWith = (...permissions: ReadonlyArray<Permission>) =>
  Effect.map(ApiKeys.create("one of the test", permissions), ({ key }) => Redacted.value(key))

const session = Effect.fnUntraced(function* (key: string) {
  const { origin } = yield* Embedded.Embedded
  return yield* Effect.promise(async () => {
    const response = await fetch(`${origin}/console/session`, {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin", "x-signalbox-console": "1" },
      body: JSON.stringify({ key })
    })
    return { text: await response.text(), cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "" }
  })
})

withLayer(layer, { excludeTestServices: true, timeout: "2 minutes" })("mounted flows", (it) => {
  it.effect("are managed by the client of flows, with a key and the address of the workspace", () =>
    Effect.gen(function* () {
      const { base_url, workspace_id, api_key } = (yield* Embedded.Embedded).credentials
      const id = yield* Flow.submit(orders, "one")
      const flows = yield* Effect.provide(
        FlowManagementClient,
        FlowManagementClient.layer({
          url: `${base_url}/api/v1/workspaces/${workspace_id}`,
          token: Redacted.make(api_key)
        }).pipe(Layer.provide(NodeHttpClient.layerUndici))
      )
      const { executions } = yield* flows.list({ flow: "orders", key: "one" })
      assert.deepStrictEqual(
        executions.map((execution) => execution.id),
        [id]
      )
      yield* flows.signal(id, "approval", { approved: true, comment: null })
      assert.strictEqual(yield* Flow.execute(orders, "one"), "first key")
      assert.strictEqual((yield* flows.inspect(id)).execution.state, "completed")
      assert.deepStrictEqual(yield* flows.schedules.list, [])
      const unknown = yield* Effect.flip(flows.inspect("nothing"))
      assert.strictEqual(unknown.code, "NOT_FOUND")
    })
  )

  it.effect("withhold values from who may not see secret fields, once a process of the workspace has any", () =>
    Effect.gen(function* () {
      const secret = `secret ${crypto.randomUUID()}`
      const id = yield* Flow.submit(orders, secret)
      const { api_key } = (yield* Embedded.Embedded).credentials
      const limited = yield* keyWith("Processes.read_work_items")
      const paths = ["", "/history"].map((part) => `flow-executions/${id}${part}`)
      const quotes = (key: string) =>
        Effect.forEach(paths, (path) =>
          Effect.map(ask("GET", path, { key }), ({ text }) => text.includes(`"input":"${secret}"`))
        )
      assert.deepStrictEqual(yield* quotes(limited), [true, true])
      yield* Processes.create({ name: secret, steps: [], sensitive: ["/ssn"] })
      assert.deepStrictEqual(yield* quotes(limited), [false, false])
      assert.deepStrictEqual(yield* quotes(api_key), [true, true])
      const { text } = yield* ask("GET", `flow-executions/${id}`, { key: limited })
      assert.include(text, '"withheld":true')
    })
  )

  it.effect("need a permission of their own kind to read, and another one to change", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(orders, "two")
      const reads = yield* keyWith("Processes.read_work_items")
      const commands = yield* keyWith("Processes.trigger_processes")
      const readsSchedules = yield* keyWith("Schedules.read_schedules")
      const writesSchedules = yield* keyWith("Schedules.write_schedules")
      const starts = yield* keyWith("Schedules.write_schedules", "Processes.trigger_processes")
      const pause = { note: "why" }
      const table = [
        ["GET", "flow-executions", undefined, reads],
        ["GET", `flow-executions/${id}`, undefined, reads],
        ["GET", `flow-executions/${id}/history`, undefined, reads],
        ["GET", "flow-versions", undefined, reads],
        ["POST", "flow-executions/none/fork", { from: "x" }, commands],
        ["POST", "flow-executions/none/reschedule", { priority: 1 }, commands],
        ["POST", `flow-executions/${id}/suspend`, undefined, commands],
        ["POST", `flow-executions/${id}/resume`, {}, commands],
        ["POST", "flow-executions/commands", { command: "suspend", filter: { key: "none" } }, commands],
        ["GET", "flow-schedules", undefined, readsSchedules],
        ["POST", "flow-schedules/none/pause", pause, writesSchedules],
        // What lets executions start needs the permission to start them.
        ["POST", "flow-schedules/none/resume", undefined, starts],
        ["POST", "flow-schedules/none/run-now", undefined, starts],
        ["POST", "flow-schedules/none/backfill", { from: "2026-11-01T00:00:00Z", to: "2026-11-02T00:00:00Z" }, starts],
        ["DELETE", "flow-schedules/none", undefined, starts]
      ] as const
      for (const [method, path, body, allowed] of table) {
        for (const key of [reads, commands, readsSchedules, writesSchedules]) {
          const { status, text } = yield* ask(method, path, { key, body })
          assert.strictEqual(status === 403, key !== allowed, `${method} ${path}: ${status} ${text}`)
        }
        const { status, text } = yield* ask(method, path, { key: allowed, body })
        assert.strictEqual(status, path.includes("none") ? 404 : 200, text)
      }
      assert.strictEqual((yield* ask("GET", "flow-executions", { key: "nothing" })).status, 401)
    })
  )

  it.effect("are decided and paused in the name of the key, whatever a body says", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(orders, "mine")
      const decide = (value: unknown) =>
        ask("POST", `flow-executions/${id}/signals`, { body: { signal: "approval", value } })
      const decision = { approved: true, by: "the mayor", comment: null }
      for (const forged of [
        decision,
        { ...decision, x: 1 },
        { approved: 1, by: "the mayor" },
        { ...decision, by: ["the mayor"] }
      ]) {
        const { status, text } = yield* decide(forged)
        assert.strictEqual(status, 400, text)
        assert.include(text, 'value.by: Expected nothing or \\"first key\\"')
      }
      const paused = { note: "why", by: "the mayor" }
      for (const [forged, says] of [
        [paused, /by: Expected nothing/],
        [{ ...paused, x: 1 }, /x: /]
      ] as const) {
        const { status, text } = yield* ask("POST", "flow-schedules/none/pause", { body: forged })
        assert.strictEqual(status, 400, text)
        assert.match(text, says)
      }
      assert.strictEqual((yield* decide({ approved: true, comment: "fine", x: 1 })).status, 200)
      assert.strictEqual(yield* Flow.execute(orders, "mine"), "first key")
      // Written before the command and after it: its change is in another database.
      const { data } = yield* Audit.list({ resourceType: "flow_execution", resource: id })
      const [ended = assert.fail("no end"), begun = assert.fail("no entry")] = data
      assert.strictEqual(begun.action, "POST /flow-executions/:id/signals")
      assert.deepStrictEqual([begun.changes, ended.request_id], [[], begun.request_id])
      assert.deepStrictEqual(ended.changes, [{ field: "status", before: null, after: 200 }])
    })
  )

  it.effect("are of one workspace: another one has none", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(orders, "three")
      const other = yield* Workspaces.create("other")
      const key = Redacted.value(other.api_key.key)
      for (const path of ["flow-executions", `flow-executions/${id}`]) {
        const own = yield* ask("GET", path, { key, workspace: other.id })
        assert.strictEqual(own.status, 404, own.text)
        assert.include(own.text, "no durable flows")
        assert.strictEqual((yield* ask("GET", path, { key })).status, 403)
      }
      assert.include((yield* session(key)).text, '"flows":false')
    })
  )

  it.effect("refuse what no route has, and input that is not valid, as the room does", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(orders, "four")
      const unknown = yield* ask("POST", `flow-executions/${id}/explode`)
      assert.strictEqual(unknown.status, 404, unknown.text)
      assert.include(unknown.text, `/flow-executions/${id}/explode`)
      const misspelled = yield* ask("GET", "flow-executions?flou=orders")
      assert.strictEqual(misspelled.status, 400, misspelled.text)
      assert.include(misspelled.text, "INVALID_REQUEST")
      const large = { approved: true, comment: "x".repeat(100_000) }
      const sent = yield* ask("POST", `flow-executions/${id}/signals`, { body: { signal: "approval", value: large } })
      assert.strictEqual(sent.status, 200, sent.text)
    })
  )

  it.effect("are shown to a session of the console, which changes them only from its own page", () =>
    Effect.gen(function* () {
      const { credentials, origin } = yield* Embedded.Embedded
      const { api_key, workspace_id } = credentials
      const id = yield* Flow.submit(orders, "five")
      const { cookie, text } = yield* session(api_key)
      assert.include(text, '"flows":true')
      const suspend = (headers: Readonly<Record<string, string>>) =>
        Effect.promise(async () => {
          const url = `${origin}/api/v1/workspaces/${workspace_id}/flow-executions/${id}/suspend`
          return (await fetch(url, { method: "POST", headers: { cookie, ...headers } })).status
        })
      assert.strictEqual(yield* suspend({ "sec-fetch-site": "cross-site", "x-signalbox-console": "1" }), 403)
      assert.strictEqual(yield* suspend({ "sec-fetch-site": "same-origin" }), 403)
      assert.strictEqual(yield* suspend({ "sec-fetch-site": "same-origin", "x-signalbox-console": "1" }), 200)
    })
  )

  it.effect("tell those who watch the workspace which execution changes, by requests and by itself", () =>
    Effect.gen(function* () {
      const hints = yield* Queue.unbounded<{ readonly topic: string; readonly id: string | null }>()
      const told = (id: string) =>
        Effect.repeat(Queue.take(hints), { until: (hint) => hint.topic === "flows" && hint.id === id })
      yield* Changes.stream().pipe(
        Stream.runForEach((hint) => Queue.offer(hints, hint)),
        Effect.forkScoped
      )
      yield* Effect.repeat(Queue.take(hints), { until: ({ topic }) => topic === "reset" })
      const id = yield* Flow.submit(orders, "watched")
      yield* told(id)
      yield* Queue.clear(hints)
      const sent = yield* ask("POST", `flow-executions/${id}/signals`, {
        body: { signal: "approval", value: { approved: true, comment: null } }
      })
      assert.strictEqual(sent.status, 200, sent.text)
      yield* told(id)
    })
  )
})

withLayer(
  Layer.provideMerge(room(false), Layer.mergeAll(NodeServices.layer, Logger.layer([]), FlowEngine.layerMemory)),
  {
    excludeTestServices: true,
    timeout: "1 minute"
  }
)("a room without flows", (it) => {
  it.effect("says so", () =>
    Effect.gen(function* () {
      const { credentials } = yield* Embedded.Embedded
      const { status, text } = yield* ask("GET", "flow-executions")
      assert.strictEqual(status, 404)
      assert.include(text, "no durable flows")
      assert.strictEqual((yield* ask("POST", "flow-executions/x/resume", { body: {} })).status, 404)
      assert.include((yield* session(credentials.api_key)).text, '"flows":false')
    })
  )
})
