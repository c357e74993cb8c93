/** Flows of another program, by their definitions. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import { freePort } from "@signalbox/testkit/FreePort"
import { createServer, type Server } from "node:http"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Flow from "../src/Flow.ts"
import { FlowClient } from "../src/FlowClient.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowManagement from "../src/FlowManagement.ts"
import { FlowManagementClient, type FlowManagementError } from "../src/FlowManagementClient.ts"
import { connectFlows } from "../src/PromiseClient.ts"
import { until } from "./support/Polling.ts"
import { address, Diary, layer, limitedToken, orders, token } from "./support/Served.ts"

const connected = (url: string, secret: string) => {
  const options = { url, token: Redacted.make(secret) }
  return Layer.fresh(Layer.mergeAll(FlowClient.layer(options), FlowManagementClient.layer(options))).pipe(
    Layer.provide(NodeHttpClient.layerUndici)
  )
}
const clients = (secret: string) => Layer.unwrap(Effect.map(address, (url) => connected(url, secret)))

type Clients = FlowClient | FlowManagementClient

const test = <E>(
  title: string,
  body: Effect.Effect<void, E, Layer.Success<typeof layer> | Clients>,
  secret: string = token
) => it.live(title, () => Effect.provide(body, Layer.provideMerge(clients(secret), Layer.fresh(layer))))

const isWaiting = (id: string) =>
  until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.some(({ kind }) => kind === "signal")))
const approval = Flow.approval("approval")
const decided = (by: string) => ({ approved: true, by, comment: null })

/** What a web application has of the flow: no body. */
const definition = Flow.define("orders", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: orders.error,
  idempotencyKey: (key) => key,
  signals: [approval, ...orders.signals.filter(({ name }) => name === "mail")]
})

describe("a client", () => {
  test(
    "starts an execution, joins it by its key, and gets its typed result",
    Effect.gen(function* () {
      const flows = yield* FlowClient
      const id = yield* flows.submit(definition, "one")
      assert.strictEqual(yield* flows.submit(definition, "one"), id)
      const waiting = yield* Effect.forkChild(flows.execute(definition, "one"))
      const found = yield* flows.handle(definition, "one")
      assert.strictEqual(found.id, id)
      yield* found.signal(approval, decided("ann"))
      assert.strictEqual(yield* Fiber.join(waiting), "ann")
      assert.strictEqual(yield* found.result, "ann")
      assert.deepStrictEqual((yield* FlowExecutions.get(id)).tags, ["tag one"])
      assert.deepStrictEqual(yield* Diary.read, ["one"])
    })
  )

  test(
    "fails with the errors of the flow, and with FlowCancelled",
    Effect.gen(function* () {
      const flows = yield* FlowClient
      yield* flows.signalWithStart(definition, "one", approval, decided("nobody"))
      const refused = yield* Effect.flip(flows.execute(definition, "one"))
      assert.deepInclude(refused, { _tag: "Refused", why: "nobody decided" })
      yield* isWaiting(yield* flows.submit(definition, "two"))
      const two = yield* flows.handle(definition, "two")
      yield* two.cancel
      assert.deepInclude(yield* Effect.flip(two.result), { _tag: "FlowCancelled", execution: two.id })
    })
  )

  test(
    "fails with DeadlineExceeded",
    Effect.gen(function* () {
      const flows = yield* FlowClient
      const id = yield* Flow.submit(orders, "late", { deadline: 50 })
      const late = yield* flows.handle(definition, "late")
      const error = yield* Effect.flip(late.result)
      const { deadlineAt } = yield* FlowExecutions.get(id)
      assert(deadlineAt !== null)
      assert.deepInclude(error, { _tag: "DeadlineExceeded", execution: id, deadlineAt })
      assert.strictEqual((yield* late.describe).execution.deadlineAt, deadlineAt)
    })
  )

  test(
    "starts an execution with a message, which counts once however often it is sent",
    Effect.gen(function* () {
      const flows = yield* FlowClient
      const [, mail] = definition.signals
      assert(mail !== undefined)
      const sent = flows.signalWithStart(definition, "one", mail, { text: "hello" }, { id: "1" })
      const id = yield* sent
      assert.strictEqual(yield* sent, id)
      const { mail: messages } = yield* FlowExecutions.get(id)
      assert.strictEqual(messages, 1)
    })
  )

  test(
    "starts later, in an order and until a deadline, and makes one of a burst",
    Effect.gen(function* () {
      const flows = yield* FlowClient
      const at = new Date("2099-01-02T03:04:05Z")
      const day = 86_400_000
      const before = Date.now()
      const id = yield* flows.submit(definition, "later", { at, priority: 7, deadline: "1 day" })
      const { deadlineAt, priority, startsAt } = yield* FlowExecutions.get(id)
      assert.deepStrictEqual([startsAt, priority], [at.getTime(), 7])
      assert(deadlineAt !== null && deadlineAt >= before + day && deadlineAt <= Date.now() + day)
      const late = yield* Effect.flip(flows.execute(definition, "late", { after: "1 day", deadline: "1 millis" }))
      assert.propertyVal(late, "_tag", "DeadlineExceeded")
      const debounce = { key: "burst", quiet: "1 hour", most: "1 day" } as const
      const first = yield* flows.submit(definition, "first", { debounce })
      assert.strictEqual(yield* flows.submit(definition, "last", { debounce }), first)
      assert.strictEqual((yield* FlowExecutions.get(first)).input, "last")
      const management = yield* FlowManagementClient
      const both = yield* Effect.flip(management.start({ flow: "orders", input: "x", after: 1, at: at.getTime() }))
      assert.strictEqual(both.message, "after: expected either at or after, not both")
    })
  )

  test(
    "reschedules what has not begun, one and all that match",
    Effect.gen(function* () {
      const flows = yield* FlowClient
      const management = yield* FlowManagementClient
      const at = new Date("2099-01-02T03:04:05Z")
      const id = yield* flows.submit(definition, "later", { after: "1 day" })
      const handle = yield* flows.handle(definition, "later")
      yield* handle.reschedule({ at, priority: 7, by: "ann" })
      const { commands, execution } = yield* FlowExecutions.inspect(id)
      assert.deepInclude(execution, { startsAt: at.getTime(), priority: 7, state: "queued" })
      assert.deepStrictEqual(
        commands.map(({ by, command }) => [by, command]),
        [["ann", "reschedule"]]
      )
      const all = { flow: "orders", state: "queued" } as const
      const carried = yield* management.each(all, "reschedule", { at: new Date(1_000 * 3600 * 24 * 365 * 80) })
      assert.deepStrictEqual(carried, { changed: 1, refused: 0 })
      assert.strictEqual((yield* FlowExecutions.get(id)).startsAt, 1_000 * 3600 * 24 * 365 * 80)
      const body = (json: unknown) => ({ method: "POST", body: JSON.stringify(json) })
      const url = `${yield* address}/flow-executions`
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      for (const [json, expected] of [
        [{}, "expected at, after, priority or deadline"],
        [
          { starts_at: at.toISOString(), starts_after_millis: 1 },
          "starts_at: Expected none beside starts_after_millis"
        ],
        [{ priority: 1_001 }, "priority: expected a whole number from -1000 to 1000, not 1001"]
      ] as const) {
        const response = yield* Effect.promise(() => fetch(`${url}/${id}/reschedule`, { ...body(json), headers }))
        const { message } = (yield* Effect.promise(() => response.json())) as { readonly message: string }
        assert.deepStrictEqual([response.status, message], [400, expected])
      }
      yield* handle.reschedule({ after: 0 })
      yield* isWaiting(id)
      const begun = yield* Effect.flip(handle.reschedule({ priority: 1 }))
      assert.strictEqual(begun.code, "CONFLICT")
      assert.match(begun.message, /has begun \(waiting\): it can be rescheduled while it starts later, or is queued/)
    })
  )

  test(
    "refuses an input that does not fit before anything is sent",
    Effect.gen(function* () {
      const flows = yield* FlowClient
      const numbers = Flow.define("orders", {
        version: 1,
        input: Schema.Struct({ lines: Schema.Array(Schema.Finite) }),
        success: Schema.String,
        error: Schema.Never,
        idempotencyKey: () => "one"
      })
      const refused = yield* Effect.flip(flows.submit(numbers, { lines: [Number.NaN] }))
      assert.deepInclude(refused, { _tag: "InvalidInput", flow: "orders", path: "lines.0" })
      const other = yield* Effect.flip(flows.submit(numbers, { lines: [1] }))
      assert.deepInclude(other, { _tag: "FlowManagementError", code: "INVALID_REQUEST" })
      assert.match(other.message, /^input: Expected string/)
      assert.deepStrictEqual((yield* FlowExecutions.list()).executions, [])
    })
  )

  test(
    "of before a deployment starts the newest version; one of after it is refused",
    Effect.gen(function* () {
      const flows = yield* FlowClient
      const id = yield* flows.submit({ ...definition, version: 0 }, "old")
      assert.strictEqual((yield* FlowExecutions.get(id)).version, 1)
      const refusal = (flow: typeof definition) =>
        Effect.map(Effect.flip(flows.submit(flow, "new")), ({ message }) => message)
      assert.strictEqual(
        yield* refusal({ ...definition, version: 2 }),
        "version: orders is registered in version 1: deploy version 2 before its callers"
      )
      assert.strictEqual(
        yield* refusal({ ...definition, name: "nothing" }),
        "flow: nothing is not registered in this program"
      )
      const missing = yield* Effect.flip(flows.handle(definition, "nobody"))
      assert.strictEqual(missing._tag, "ExecutionNotFound")
    })
  )

  test(
    "says why an execution is halted",
    Effect.gen(function* () {
      const flows = yield* FlowClient
      const halting = Flow.make("halting", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        run: () => Effect.die(new TypeError("a mistake"))
      })
      const halted = yield* Effect.provide(Effect.flip(flows.execute(halting, undefined)), Flow.layer(halting))
      assert.deepInclude(halted, { _tag: "FlowHalted", code: "BODY_DEFECT" })
    })
  )

  it.live("waits while the program restarts", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "flows-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      const port = yield* Effect.promise(freePort)
      const servers: Array<Server> = []
      const listening = () => {
        const server = createServer()
        servers.push(server)
        return server
      }
      const program = HttpRouter.serve(FlowManagement.layerRoutes({ token: Redacted.make(token) }), {
        disableLogger: true,
        disableListenLog: true
      }).pipe(
        Layer.provide(
          NodeHttpServer.layer(listening, { host: "127.0.0.1", port, gracefulShutdownTimeout: "100 millis" })
        ),
        Layer.provideMerge(Flow.layer(orders)),
        Layer.provideMerge(FlowEngine.layerSqlite({ file: join(folder, "flows.db") })),
        Layer.provide(Diary.layer)
      )
      yield* Effect.gen(function* () {
        const flows = yield* FlowClient
        const waiting = yield* Effect.gen(function* () {
          const id = yield* flows.submit(definition, "one")
          const waiting = yield* Effect.forkChild(flows.execute(definition, "one"))
          yield* isWaiting(id)
          return waiting
        }).pipe(Effect.provide(Layer.fresh(program)))
        // As the end of a process does.
        for (const server of servers) server.closeAllConnections()
        yield* Effect.gen(function* () {
          const found = yield* flows.handle(definition, "one")
          yield* found.signal(approval, decided("bob"))
          assert.strictEqual(yield* Fiber.join(waiting), "bob")
        }).pipe(Effect.provide(Layer.fresh(program)))
      }).pipe(Effect.provide(connected(`http://127.0.0.1:${port}`, token)))
    }).pipe(Effect.scoped)
  )

  test(
    "of promises does the same",
    Effect.gen(function* () {
      const url = yield* address
      const flows = connectFlows({ url, token })
      const waiting = flows.execute(definition, "one")
      yield* until(Effect.map(FlowExecutions.list({ key: "one" }), ({ executions }) => executions.length === 1))
      yield* Effect.promise(async () => {
        const handle = await flows.handle(definition, "one")
        await handle.signal(approval, decided("ann"))
        assert.strictEqual(await waiting, "ann")
        assert.strictEqual((await handle.describe()).execution.state, "completed")
        await flows.submit(definition, "later", { after: "1 day" })
        const later = await flows.handle(definition, "later")
        await later.reschedule({ priority: 3 })
        assert.strictEqual((await later.describe()).execution.priority, 3)
        const fork = await handle.fork({ from: "note", version: 1, key: "fork" })
        assert.strictEqual((await flows.handle(definition, "fork")).id, fork)
        const absent: unknown = await handle.fork({ from: "note", version: 9 }).catch((error: unknown) => error)
        assert.match(String(absent), /version: no running program has registered orders, version 9/)
        const aborted = await flows
          .execute(definition, "two", { abortSignal: AbortSignal.timeout(50) })
          .catch(() => "aborted")
        assert.strictEqual(aborted, "aborted")
      })
      assert.deepStrictEqual((yield* FlowExecutions.list({ key: "two" })).executions.length, 1)
    })
  )
})

describe("a token for some verbs and flows", () => {
  test(
    "may do these, and is refused the others with a 403 that names them",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const id = (yield* flows.start({ flow: "orders", input: "one" })).id
      yield* isWaiting(id)
      assert.strictEqual((yield* flows.inspect(id)).execution.id, id)
      assert.strictEqual((yield* flows.list({ flow: "orders" })).executions.length, 1)
      assert.isFalse((yield* flows.result(id)).settled)
      const may = "it is for start, read"
      const refusals: ReadonlyArray<readonly [Effect.Effect<unknown, FlowManagementError>, string]> = [
        [flows.signal(id, "approval", 1), `the token may not signal: ${may}`],
        [flows.cancel(id), `the token may not command: ${may}`],
        [flows.suspend(id), `the token may not command: ${may}`],
        [flows.resume(id), `the token may not command: ${may}`],
        [flows.retry(id), `the token may not command: ${may}`],
        [flows.reschedule(id, { priority: 1 }), `the token may not command: ${may}`],
        [flows.terminate(id), `the token may not terminate: ${may}`],
        [flows.each({ flow: "orders" }, "terminate"), `the token may not command: ${may}`],
        [flows.schedules.remove("x"), `the token may not schedule: ${may}`],
        [flows.list(), "flow: Expected one of orders, which the token is for"],
        [flows.list({ flow: "other" }), "the token may not reach the flow other: it is for orders"],
        [flows.start({ flow: "other", input: 1 }), "the token may not reach the flow other: it is for orders"]
      ]
      for (const [call, expected] of refusals) {
        const { code, message } = yield* Effect.flip(call)
        assert.strictEqual(`${code} ${message}`, `FORBIDDEN ${expected}`)
      }
      assert.strictEqual((yield* FlowExecutions.get(id)).state, "waiting")
    }),
    limitedToken
  )

  test(
    "sees no execution of another flow",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const other = Flow.make("other", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        run: () => Flow.sleep("day", "1 day")
      })
      const id = yield* Effect.provide(Flow.submit(other, undefined), Flow.layer(other))
      const calls: ReadonlyArray<Effect.Effect<unknown, FlowManagementError>> = [
        flows.inspect(id),
        flows.history(id),
        flows.result(id)
      ]
      for (const call of calls) {
        const { code, message } = yield* Effect.flip(call)
        assert.strictEqual(`${code} ${message}`, "FORBIDDEN the token may not reach the flow other: it is for orders")
      }
    }),
    limitedToken
  )

  it.effect("is refused when it is short, twice there, or has an unknown verb", () =>
    Effect.gen(function* () {
      const refusal = (options: Partial<FlowManagement.TokenOptions>) =>
        FlowManagement.toWebHandler({
          token: Redacted.make(token),
          tokens: [{ token: Redacted.make(limitedToken), ...options }]
        }).pipe(
          Effect.flip,
          Effect.map(({ message }) => message)
        )
      assert.strictEqual(
        yield* refusal({ token: Redacted.make("short") }),
        "tokens.0.token: Expected at least 16 characters"
      )
      assert.strictEqual(yield* refusal({ token: Redacted.make(token) }), "tokens: Expected each token once")
      const odd = ["odd"] as unknown as FlowManagement.TokenOptions["verbs"]
      assert.match(yield* refusal({ verbs: odd }), /^tokens.0.verbs: Expected some of read, start, signal/)
    }).pipe(Effect.scoped, Effect.provide(FlowEngine.layerMemory))
  )
})
