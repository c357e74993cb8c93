/** What listeners are told of calls against a server on a socket, in virtual time, and what errors say of the function that was called. */
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestConsole from "effect/testing/TestConsole"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import manifest from "../package.json" with { type: "json" }
import { WebhookId, WorkItemId, WorkspaceId } from "../src/contract/Ids.ts"
import { ControlRoom, type Options } from "../src/ControlRoom.ts"
import { ControlRoomError, NotFound } from "../src/ControlRoomError.ts"
import { ClientEvents, type Listeners } from "../src/Events.ts"
import { operationOf } from "../src/internal/calls/Operation.ts"
import * as Webhooks from "../src/Webhooks.ts"
import * as WorkItems from "../src/WorkItems.ts"
import * as Workspaces from "../src/Workspaces.ts"
import { answer, type Fault, type FaultServer, make, settle } from "./support/FaultServer.ts"
import { connect, good, workItem } from "./support/Retries.ts"

const recorder = () => {
  const events: Array<readonly [string, object]> = []
  const on =
    (name: string) =>
    (event: object): void =>
      void events.push([name, event])
  return {
    events,
    listeners: {
      onRequest: on("request"),
      onResponse: on("response"),
      onRetry: on("retry"),
      onPause: on("pause")
    } satisfies Listeners
  }
}

const item = WorkItemId.make("item")

const run = <A, E>(
  server: FaultServer,
  faults: ReadonlyArray<Fault>,
  call: Effect.Effect<A, E, ControlRoom>,
  options: Partial<Options> = {}
) => {
  server.script(faults)
  return settle(server, Effect.provide(call, connect(server, options)), 500)
}

const failing = <A, E>(server: FaultServer, faults: ReadonlyArray<Fault>, call: Effect.Effect<A, E, ControlRoom>) =>
  run(server, faults, Effect.flip(call))

const first = { operation: "WorkItems.get", method: "GET", path: "/workspaces/workspace/work-items/item", attempt: 1 }
const second = { ...first, attempt: 2 }

/** Without what depends on the machine. */
const timeless = (events: ReadonlyArray<readonly [string, object]>): ReadonlyArray<readonly [string, object]> =>
  events.map(([name, event]) => [name, { ...event, ...("bytes" in event ? { millis: 0, bytes: 0 } : {}) }])

describe("the listeners of a connection", () => {
  it.effect("are told what it does, and nothing that is secret", () =>
    Effect.gen(function* () {
      const server = yield* make
      const { events, listeners } = recorder()
      const refusal = answer(429, undefined, { "retry-after": "2", "x-request-id": "r1" })
      yield* run(server, [refusal, good], WorkItems.get(item), { on: listeners })
      const ended = { problem: null, millis: 0, bytes: 0 }
      assert.deepStrictEqual(timeless(events), [
        ["request", first],
        ["response", { ...first, status: 429, requestId: "r1", ...ended }],
        ["retry", { ...second, status: 429, requestId: "r1", problem: null, pauseMillis: 2000 }],
        ["pause", { ...second, why: "rateLimit", millis: 2000 }],
        ["request", second],
        ["response", { ...second, status: 200, requestId: null, ...ended }]
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("are told of the length of a body that says it", () =>
    Effect.gen(function* () {
      const server = yield* make
      const { events, listeners } = recorder()
      const body = JSON.stringify(workItem)
      const sized = answer(200, body, { "content-length": String(body.length) })
      yield* run(server, [sized], WorkItems.get(item), { on: listeners })
      assert.include(events[1]?.[1], { bytes: body.length })
    }).pipe(Effect.scoped)
  )

  it.effect("are told of each page of a stream", () =>
    Effect.gen(function* () {
      const server = yield* make
      const { events, listeners } = recorder()
      const page = (next: string | null) => answer(200, { data: [], next, has_more: next !== null })
      const both = [page(`${server.origin}/api/v1/x?cursor=2`), page(null)]
      yield* run(server, both, Stream.runDrain(WorkItems.stream()), { on: listeners })
      const requests = events.flatMap(([name, event]) => (name === "request" ? [event] : []))
      const list = { operation: "WorkItems.list", method: "GET", path: "/workspaces/workspace/work-items", attempt: 1 }
      assert.deepStrictEqual(requests, [list, list])
    }).pipe(Effect.scoped)
  )

  it.effect("stand beside those of a part of a program", () =>
    Effect.gen(function* () {
      const server = yield* make
      const ofConnection = recorder()
      const ofPart = recorder()
      const call = Effect.provideService(WorkItems.get(item), ClientEvents, ofPart.listeners)
      yield* run(server, [good], call, { on: ofConnection.listeners })
      assert.lengthOf(ofConnection.events, 2)
      assert.deepStrictEqual(ofPart.events, ofConnection.events)
    }).pipe(Effect.scoped)
  )

  it.effect("are functions", () =>
    Effect.gen(function* () {
      const server = yield* make
      // A program without types.
      const on = { onRetry: "yes" } as unknown as Listeners
      const exit = yield* Effect.exit(run(server, [good], WorkItems.get(item), { on }))
      assert.include(String(exit), "on.onRetry: expected a function")
    }).pipe(Effect.scoped)
  )
})

describe("SIGNALBOX_DEBUG", () => {
  const linesWith = Effect.fnUntraced(function* (value: string) {
    const server = yield* make
    const env = ConfigProvider.layer(ConfigProvider.fromUnknown({ SIGNALBOX_DEBUG: value }))
    server.script([answer(503, undefined, { "retry-after": "1", "x-request-id": "r1" }), good])
    yield* settle(server, WorkItems.get(item).pipe(Effect.provide(Layer.provideMerge(connect(server), env))), 500)
    return (yield* TestConsole.errorLines).map((line) => String(line).replace(/\d+ ms(, \d+ bytes)?$/, "… ms"))
  }, Effect.scoped)

  it.effect("as client writes a line per event to standard error", () =>
    Effect.gen(function* () {
      const what = "WorkItems.get GET /workspaces/workspace/work-items/item"
      const lines = yield* linesWith("client")
      assert.isTrue(lines.every((line) => /^1970-01-01T00:00:0\d\.\d{3}Z /.test(line)))
      assert.deepStrictEqual(
        lines.map((line) => line.slice("1970-01-01T00:00:00.000Z ".length)),
        [
          `${what} attempt 1`,
          `${what} attempt 1: 503, request r1, … ms`,
          `${what} retry as attempt 2 in 1000 ms: 503, request r1`,
          `${what} pause of 1000 ms before attempt 2: after a failure`,
          `${what} attempt 2`,
          `${what} attempt 2: 200, … ms`
        ]
      )
    })
  )

  it.effect("among others counts too", () =>
    Effect.map(linesWith("flows,client"), (lines) => assert.lengthOf(lines, 6))
  )

  it.effect("as something else writes nothing", () =>
    Effect.map(linesWith("clients"), (lines) => assert.deepStrictEqual(lines, []))
  )
})

describe("a request", () => {
  it.effect("names the client with the version of the package, and the runtime", () =>
    Effect.gen(function* () {
      const server = yield* make
      yield* run(server, [good], WorkItems.get(item))
      const own = `signalbox-api/${manifest.version} node/${process.versions.node}`
      assert.strictEqual(server.received()[0]?.headers["user-agent"], own)
      yield* run(server, [good], WorkItems.get(item), { userAgent: "invoices/2.1" })
      assert.strictEqual(server.received()[0]?.headers["user-agent"], `invoices/2.1 ${own}`)
    }).pipe(Effect.scoped)
  )

  it.effect("has the headers of the connection", () =>
    Effect.gen(function* () {
      const server = yield* make
      yield* run(server, [good], WorkItems.get(item), { headers: { "X-Gateway": "blue" } })
      assert.strictEqual(server.received()[0]?.headers["x-gateway"], "blue")
      assert.strictEqual(server.received()[0]?.headers.authorization, "RC-WSKEY key")
    }).pipe(Effect.scoped)
  )

  for (const [headers, expected] of [
    [{ Authorization: "mine" }, "headers: Authorization is set by the client; leave it out"],
    [{ "User-Agent": "mine" }, "headers: User-Agent is set by the client; use userAgent"],
    [{ "x-one": "two\nlines" }, "headers: expected names and texts that a header can carry"]
  ] as const) {
    it.effect(`cannot have ${JSON.stringify(headers)}`, () =>
      Effect.gen(function* () {
        const server = yield* make
        const exit = yield* Effect.exit(run(server, [good], WorkItems.get(item), { headers }))
        assert.include(String(exit), `ControlRoom.layer: ${expected}`)
      }).pipe(Effect.scoped)
    )
  }
})

describe("ControlRoom.layer", () => {
  it.effect("takes a fetch of the program's own", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const fetch: typeof globalThis.fetch = (input) => {
        asked.push(String(input))
        return Promise.resolve(Response.json(workItem))
      }
      const options = { baseUrl: "http://room.test", apiKey: Redacted.make("key"), workspaceId: WorkspaceId.make("w") }
      yield* Effect.provide(WorkItems.get(item), ControlRoom.layer({ ...options, fetch }))
      assert.deepStrictEqual(asked, ["http://room.test/api/v1/workspaces/w/work-items/item"])
    })
  )
})

describe("an error", () => {
  it.effect("says which function was called, and the path with its ids", () =>
    Effect.gen(function* () {
      const server = yield* make
      const error = yield* failing(server, [answer(403, undefined, { "x-request-id": "r1" })], WorkItems.get(item))
      assert.deepStrictEqual(error.request, {
        operation: "WorkItems.get",
        method: "GET",
        path: "/workspaces/workspace/work-items/item",
        attempts: 1,
        requestId: "r1"
      })
      assert.strictEqual(
        error.message,
        "Forbidden: told to fail, in WorkItems.get, on GET /workspaces/workspace/work-items/item (request r1)"
      )
    }).pipe(Effect.scoped)
  )

  it.effect("says it also in a function that has no span, and not in which function of the program it was", () =>
    Effect.gen(function* () {
      const server = yield* make
      const within = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.withSpan(effect, "Mine.run")
      const stream = Stream.runDrain(Webhooks.deliveries(WebhookId.make("w")))
      assert.include(yield* failing(server, [answer(404)], within(Workspaces.get)), { _tag: "NotFound" })
      const [ofGet, ofStream] = [
        yield* failing(server, [answer(404)], within(Workspaces.get)),
        yield* failing(server, [answer(404)], within(stream))
      ]
      assert.strictEqual(ofGet.request.operation, "Workspaces.get")
      assert.strictEqual(ofStream.request.operation, "Webhooks.deliveries")
    }).pipe(Effect.scoped)
  )

  it.effect("says it where spans are turned off", () =>
    Effect.gen(function* () {
      const server = yield* make
      const error = yield* failing(server, [answer(404)], Effect.withTracerEnabled(WorkItems.get(item), false))
      assert.strictEqual(error.request.operation, "WorkItems.get")
    }).pipe(Effect.scoped)
  )

  it.effect("of what is refused before it is sent says it in the words of the program", () =>
    Effect.gen(function* () {
      const server = yield* make
      const error = yield* failing(server, [good], WorkItems.list({ limit: 0.5 }))
      assert.match(error.message, /the query of WorkItems\.list is invalid: limit/)
      assert.strictEqual(error.request.path, "/workspaces/workspace/work-items")
      const unfit = yield* failing(server, [good], WorkItems.get(WorkItemId.make("..")))
      assert.strictEqual(unfit.request.path, "/workspaces/workspace/work-items/:work_item_id")
    }).pipe(Effect.scoped)
  )

  it("that was stored before has no function", () => {
    const request = { method: "GET", path: "/", attempts: 1, requestId: null }
    const stored = { _tag: "NotFound", code: "C", message: "m", request }
    const error = Schema.decodeUnknownSync(Schema.toCodecJson(NotFound))(stored)
    assert.isNull(error.request.operation)
    const other = Schema.decodeUnknownSync(Schema.toCodecJson(ControlRoomError))({
      _tag: "ControlRoomError",
      reason: { _tag: "Malformed", message: "m" },
      request
    })
    assert.strictEqual(other.message, "Malformed: m, on GET /")
  })
})

/** Modules with functions that have spans, except what sends nothing. */
const source = join(import.meta.dirname, "../src")
const modules = readdirSync(source)
  .filter((file) => file.endsWith(".ts") && file !== "WebhookSignature.ts")
  .map((file) => file.slice(0, -".ts".length))
  .filter((name) => readFileSync(join(source, `${name}.ts`), "utf8").includes(`Effect.fn("${name}.`))

it.effect.each(modules)("the functions of %s are known", (name) =>
  Effect.gen(function* () {
    assert.strictEqual(yield* Effect.withSpan(operationOf("endpoint"), `${name}.fn`), `${name}.fn`)
  })
)
