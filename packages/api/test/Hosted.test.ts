/**
 * What differs between services: addresses, error bodies, members and fields that this contract does not know.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { ProcessRunId, WorkItemId, WorkspaceId } from "../src/contract/Ids.ts"
import { ControlRoom } from "../src/ControlRoom.ts"
import { connect } from "../src/Promise.ts"
import * as Processes from "../src/Processes.ts"
import * as Secrets from "../src/Secrets.ts"
import * as ProcessRuns from "../src/ProcessRuns.ts"
import * as WorkItems from "../src/WorkItems.ts"
import { answer, type FaultServer, make } from "./support/FaultServer.ts"

const run = {
  id: "run",
  state: "completed",
  created_at: "2026-11-20T00:00:00.000Z",
  started_at: null,
  ended_at: null,
  process: { id: "process", name: "orders" },
  started_by: { type: "api", details: null },
  duration: null
}

const connectTo = (server: FaultServer, suffix = "") =>
  Layer.provide(
    ControlRoom.layerHttpClient({
      baseUrl: server.origin + suffix,
      apiKey: Redacted.make("key"),
      workspaceId: WorkspaceId.make("w")
    }),
    NodeHttpClient.layerUndici
  )

const get = ProcessRuns.get(ProcessRunId.make("run"))

describe("an address", () => {
  for (const suffix of ["", "/", "/api/v1", "/api/v1/"]) {
    it.live(`may end with "${suffix}"`, () =>
      Effect.gen(function* () {
        const server = yield* make
        server.script([answer(200, run)])
        yield* Effect.provide(get, connectTo(server, suffix))
        const [request] = server.received()
        assert.strictEqual(request?.path, "/api/v1/workspaces/w/process-runs/run")
        assert.strictEqual(request?.headers.authorization, "RC-WSKEY key")
      }).pipe(Effect.scoped)
    )
  }
})

describe("a request", () => {
  it.live("has only the keys that were set, since extensions refuse what they do not know", () =>
    Effect.gen(function* () {
      const server = yield* make
      const definition = { name: "orders", steps: [{ name: "read", task: { name: "read" } }] }
      server.script([answer(200, { id: "process", name: "orders", steps: [] }), answer(200, { started: false })])
      const sent = Effect.andThen(Processes.create(definition), ({ id }) => ProcessRuns.start(id))
      yield* Effect.ignore(Effect.provide(sent, connectTo(server)))
      const [created, started] = server.received()
      assert.deepStrictEqual(JSON.parse(created?.body ?? ""), definition)
      assert.deepStrictEqual(JSON.parse(started?.body || "{}"), {})
    }).pipe(Effect.scoped)
  )
})

describe("an answer", () => {
  it.live("may have members and fields that this contract does not know", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script([
        answer(200, { ...run, state: "suspended", started_by: { type: "telepathy", details: null }, extra: { a: 1 } })
      ])
      const found = yield* Effect.provide(get, connectTo(server))
      assert.strictEqual(found.state, "suspended")
      assert.strictEqual(found.started_by.type, "telepathy")
      assert.notProperty(found, "extra")
    }).pipe(Effect.scoped)
  )

  const bodies: ReadonlyArray<readonly [string, unknown, string, string]> = [
    ["an object and a message", { error: { code: "GONE", message: "inner" }, message: "outer" }, "GONE", "inner"],
    ["an object alone", { error: { code: "GONE", message: "inner" } }, "GONE", "inner"],
    ["a text and a message", { error: "Not Found", message: "outer" }, "HTTP_404", "outer"],
    ["a text alone", { error: "Not Found" }, "HTTP_404", "Not Found"],
    ["code and message at the top", { code: "GONE", message: "outer" }, "GONE", "outer"],
    ["HTML", "<html></html>", "HTTP_404", "the service responded with 404"],
    ["nothing", "", "HTTP_404", "the service responded with 404"]
  ]
  for (const [what, body, code, message] of bodies) {
    it.live(`may have its error as ${what}`, () =>
      Effect.gen(function* () {
        const server = yield* make
        server.script([answer(404, body, { "x-request-id": "r-1" })])
        const error = yield* Effect.flip(Effect.provide(get, connectTo(server)))
        if (error._tag !== "NotFound") return assert.fail(error.message)
        assert.strictEqual(error.code, code)
        assert.strictEqual(error.message, message)
        assert.deepStrictEqual(
          { ...error.request },
          {
            operation: "ProcessRuns.get",
            method: "GET",
            path: "/workspaces/w/process-runs/run",
            attempts: 1,
            requestId: "r-1"
          }
        )
      }).pipe(Effect.scoped)
    )
  }
})

describe("an operation that the service does not have", () => {
  for (const status of [404, 405, 501]) {
    it.live(`responded with ${status} says that it is an extension`, () =>
      Effect.gen(function* () {
        const server = yield* make
        server.script([answer(status, "<html></html>")])
        const error = yield* Effect.flip(Effect.provide(Processes.create({ name: "p", steps: [] }), connectTo(server)))
        assert.include(error.message, "Processes.create is an extension of Signalbox")
        const own = yield* Effect.flip(Effect.provide(get, connectTo(server)))
        assert.notInclude(own.message, "extension")
      }).pipe(Effect.scoped)
    )
  }
})

it.live("an extension of a service that is Signalbox says what is missing alone", () =>
  Effect.gen(function* () {
    const server = yield* make
    server.script([answer(404, { message: "this workspace has no secret shop" }, { "idempotency-key-ttl": "86400" })])
    const error = yield* Effect.flip(Effect.provide(Secrets.get("shop"), connectTo(server)))
    assert.strictEqual(error.message, "this workspace has no secret shop")
  }).pipe(Effect.scoped)
)

describe("a list", () => {
  const page = (ids: ReadonlyArray<string>, next: string | null) =>
    answer(200, { data: ids.map((id) => ({ ...run, id })), has_more: next !== null, next })

  it.live("is followed by its cursor at the configured address, wherever next points", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script([
        page(["a", "b"], "https://elsewhere.example/api/v1/workspaces/w/process-runs?cursor=two%2F2&limit=2"),
        page(["c"], null)
      ])
      const ids = yield* Stream.runCollect(ProcessRuns.stream({ limit: 2 })).pipe(
        Effect.map((runs) => runs.map(({ id }) => id)),
        Effect.provide(connectTo(server))
      )
      assert.deepStrictEqual<ReadonlyArray<string>>(ids, ["a", "b", "c"])
      assert.deepStrictEqual(
        server.received().map((request) => request.path),
        ["/api/v1/workspaces/w/process-runs?limit=2", "/api/v1/workspaces/w/process-runs?limit=2&cursor=two%2F2"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("is not fetched further than the consumer goes", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script([page(["a", "b"], "?cursor=2"), page(["c", "d"], "?cursor=3"), page(["e"], null)])
      const taken = yield* ProcessRuns.stream().pipe(
        Stream.take(3),
        Stream.runCollect,
        Effect.provide(connectTo(server))
      )
      assert.strictEqual(taken.length, 3)
      assert.strictEqual(server.received().length, 2)
    }).pipe(Effect.scoped)
  )
})

describe("without Effect", () => {
  it.live("calls are promises, lists async iterators, errors tagged", () =>
    Effect.gen(function* () {
      const server = yield* make
      const room = connect({ baseUrl: server.origin, apiKey: "key", workspaceId: "w", policy: { attempts: 1 } })
      server.script([answer(200, run), answer(200, { data: [run, run], has_more: false, next: null }), answer(404)])
      const seen = yield* Effect.promise(async () => {
        const found = await room.processRuns.get("run")
        const ids: Array<string> = []
        for await (const { id } of room.processRuns.stream({ limit: 5 })) ids.push(id)
        const failure: unknown = await room.workItems.get("item").catch((error: unknown) => error)
        await room.close()
        return { found: found.id, ids, failure }
      })
      assert.strictEqual(seen.found, "run")
      assert.deepStrictEqual(seen.ids, ["run", "run"])
      assert.strictEqual(
        typeof seen.failure === "object" && seen.failure !== null && "_tag" in seen.failure ? seen.failure._tag : "",
        "NotFound"
      )
    }).pipe(Effect.scoped)
  )

  it.live("a signal aborts the request", () =>
    Effect.gen(function* () {
      const server = yield* make
      server.script([{ _tag: "Hang" }])
      const room = connect({ baseUrl: server.origin, apiKey: "key", workspaceId: "w" })
      const abort = new AbortController()
      const call = room.run(WorkItems.get(WorkItemId.make("item")), { signal: abort.signal }).then(
        () => "answered",
        () => "aborted"
      )
      while (server.received().length === 0) yield* Effect.sleep("5 millis")
      const closed = server.nextClosed()
      abort.abort()
      assert.strictEqual(yield* Effect.promise(() => call), "aborted")
      yield* Effect.promise(() => closed).pipe(Effect.timeout("2 seconds"))
      yield* Effect.promise(() => room.close())
    }).pipe(Effect.scoped)
  )
})
