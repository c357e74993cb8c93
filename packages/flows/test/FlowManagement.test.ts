/** The management of flows over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowManagement from "../src/FlowManagement.ts"
import { Inspection } from "../src/internal/management/Contract.ts"
import { FlowManagementClient, type FlowManagementError, onWire } from "../src/FlowManagementClient.ts"
import { freePort } from "@signalbox/testkit/FreePort"
import { until } from "./support/Polling.ts"
import { address, Diary, layer, oldOrders, orders, token } from "./support/Served.ts"

const connected = (url: string, secret = token) =>
  Layer.fresh(FlowManagementClient.layer({ url, token: Redacted.make(secret) })).pipe(
    Layer.provide(NodeHttpClient.layerUndici)
  )

const client = Layer.unwrap(Effect.map(address, (url) => connected(url)))

const test = <E>(title: string, body: Effect.Effect<void, E, Layer.Success<typeof layer> | FlowManagementClient>) =>
  it.live(title, () => Effect.provide(body, Layer.provideMerge(client, Layer.fresh(layer))))

const waiting = (id: string) =>
  until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.some(({ kind }) => kind === "signal")))
const isIn = (id: string, state: FlowExecutions.State) =>
  until(Effect.map(FlowExecutions.get(id), (execution) => execution.state === state))
const submitted = Effect.fnUntraced(function* (key: string) {
  const id = yield* Flow.submit(orders, key)
  yield* waiting(id)
  return id
})
const approved = { approved: true, by: "ann", comment: null }

/** A raw request. */
const ask = Effect.fnUntraced(function* (path: string, init: RequestInit = {}) {
  const base = yield* address
  return yield* Effect.promise(async () => {
    const response = await fetch(`${base}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers }
    })
    return { status: response.status, text: await response.text() }
  })
})

describe("the client", () => {
  test(
    "lists, inspects and exports as the program itself does",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const old = yield* Flow.submit(oldOrders, "old").pipe(Effect.provide(Flow.layer(oldOrders)))
      const id = yield* submitted("one")
      assert.deepStrictEqual(yield* flows.list(), yield* FlowExecutions.list())
      assert.deepStrictEqual(yield* flows.inspect(id), yield* FlowExecutions.inspect(id))
      assert.deepStrictEqual(yield* flows.history(id), yield* FlowExecutions.history(id))
      assert.deepStrictEqual(yield* flows.versions(), yield* FlowExecutions.versions())
      assert.deepStrictEqual(yield* flows.versions("absent"), [])
      const listed = yield* Stream.runCollect(flows.stream({ version: 0 }))
      assert.deepStrictEqual(
        listed.map(({ id, registered }) => [id, registered]),
        [[old, false]]
      )
      const { executions, next } = yield* flows.list({ limit: 1, flow: "orders" })
      assert.strictEqual(executions.length, 1)
      assert.isNotNull(next)
      const rest = yield* flows.list({ before: next ?? "" })
      assert.deepStrictEqual([executions[0]?.id, rest.executions[0]?.id].sort(), [id, old].sort())
      assert.isNull(rest.next)
    })
  )

  test(
    "says why an execution halted, and reads what a program of an earlier version sends, which does not",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const halting = Flow.make("halting", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        run: () => Effect.die(new TypeError("a mistake"))
      })
      const id = yield* Flow.submit(halting, undefined).pipe(
        Effect.tap((id) => isIn(id, "halted")),
        Effect.provide(Flow.layer(halting))
      )
      const inspection = yield* flows.inspect(id)
      assert.strictEqual(inspection.halt?.code, "BODY_DEFECT")
      assert.deepStrictEqual(inspection, yield* FlowExecutions.inspect(id))
      const { computing_since: _since, halt: _halt, ...earlier } = onWire.inspection(inspection)
      const decoded = Schema.decodeUnknownSync(Inspection)(earlier)
      assert.deepStrictEqual(decoded, { ...inspection, halt: null })
    })
  )

  test(
    "says what a queued execution waits for",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const slow = Flow.make("slow", {
        version: 1,
        input: Schema.String,
        success: Schema.String,
        error: Schema.Never,
        idempotencyKey: (text) => text,
        limit: [{ key: () => "one", concurrency: 1 }],
        run: (text) => Effect.as(Flow.sleep("hour", "1 hour"), text)
      })
      yield* Effect.gen(function* () {
        const first = yield* Flow.submit(slow, "first")
        yield* until(Effect.map(FlowExecutions.get(first), ({ state }) => state !== "queued"))
        const second = yield* Flow.submit(slow, "second")
        const inspection = yield* flows.inspect(second)
        assert.deepStrictEqual(inspection, yield* FlowExecutions.inspect(second))
        assert.deepInclude(inspection.queue, { limit: 0, key: "one", place: 1, holders: [first] })
        const { text } = yield* ask(`/flow-executions/${second}`)
        assert.include(text, '"queue":{"limit":0,"key":"one","place":1,')
        const { executions } = yield* flows.list({ state: "queued" })
        assert.deepStrictEqual(
          executions.map(({ id, limits }) => [id, limits]),
          [[second, ["one"]]]
        )
        yield* flows.cancel(second)
        assert.strictEqual((yield* FlowExecutions.get(second)).state, "cancelled")
      }).pipe(Effect.provide(Flow.layer(slow)))
    })
  )

  test(
    "filters by key, tag, state and time",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const id = yield* submitted("one")
      yield* submitted("two")
      const { startedAt } = yield* FlowExecutions.get(id)
      const found = (filter: FlowExecutions.Filter) =>
        Effect.map(flows.list({ ...filter, flow: "orders" }), ({ executions }) => executions.length)
      assert.strictEqual(yield* found({ key: "one" }), 1)
      assert.strictEqual(yield* found({ tag: "tag one" }), 1)
      assert.strictEqual(yield* found({ state: "waiting" }), 2)
      assert.strictEqual(yield* found({ state: "completed" }), 0)
      assert.strictEqual(yield* found({ startedFrom: startedAt }), 2)
      assert.strictEqual(yield* found({ startedBefore: startedAt }), 0)
    })
  )

  test(
    "signals, suspends, resumes, cancels, retries and terminates",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const id = yield* submitted("one")
      yield* flows.suspend(id)
      yield* isIn(id, "suspended")
      yield* flows.resume(id)
      yield* flows.signal(id, "mail", { text: "hello" }, { id: "1" })
      yield* flows.signal(id, "mail", { text: "hello" }, { id: "1" })
      yield* flows.signal(id, "approval", approved)
      yield* isIn(id, "completed")
      assert.strictEqual((yield* flows.inspect(id)).execution.result, "ann")

      const two = yield* submitted("two")
      yield* flows.cancel(two)
      yield* isIn(two, "cancelled")
      yield* flows.retry(two, { from: "note" })
      yield* waiting(two)
      assert.deepStrictEqual(yield* Diary.read, ["one", "two", "two undone", "two"])
      assert.isAbove((yield* flows.history(two)).aside.length, 0)
      yield* flows.terminate(two)
      yield* isIn(two, "cancelled")
      assert.deepStrictEqual(yield* Diary.read, ["one", "two", "two undone", "two"])
    })
  )

  test(
    "carries out a command for all that match, and says for how many",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const ids = yield* Effect.forEach(["a", "b", "c"], submitted)
      const [a = ""] = ids
      yield* flows.signal(a, "approval", approved)
      yield* isIn(a, "completed")
      // The completed one is nothing to cancel.
      assert.deepStrictEqual(yield* flows.each({ flow: "orders" }, "cancel"), { changed: 2, refused: 0 })
      yield* Effect.forEach(ids.slice(1), (id) => isIn(id, "cancelled"))
      // It ended by no failure, so a person must name the step.
      assert.deepStrictEqual(yield* flows.each({ key: "a" }, "retry"), { changed: 0, refused: 1 })
      assert.deepStrictEqual(yield* flows.each({}, "terminate", { all: true }), { changed: 0, refused: 0 })
      assert.deepStrictEqual(yield* flows.each({ tag: "tag b" }, "retry", { from: "note", version: 1 }), {
        changed: 1,
        refused: 0
      })
    })
  )

  test(
    "says what was wrong, by the code of the program, and records nothing then",
    Effect.gen(function* () {
      const flows = yield* FlowManagementClient
      const id = yield* submitted("one")
      const ended = yield* submitted("two")
      yield* flows.signal(ended, "approval", approved)
      yield* isIn(ended, "completed")
      yield* flows.signal(id, "approval[early]", approved)
      const before = yield* Effect.forEach([id, ended], FlowExecutions.history)
      const old = yield* Flow.submit(oldOrders, "old").pipe(Effect.provide(Flow.layer(oldOrders)))
      const no = "NOT_FOUND the execution nobody does not exist"
      const table: ReadonlyArray<readonly [Effect.Effect<unknown, FlowManagementError>, string | RegExp]> = [
        [flows.inspect("nobody"), no],
        [flows.history("nobody"), no],
        [flows.cancel("nobody"), no],
        [flows.terminate("nobody"), no],
        [flows.suspend("nobody"), no],
        [flows.resume("nobody"), no],
        [flows.retry("nobody"), no],
        [flows.retry("nobody", { version: 1 }), no],
        [flows.signal("nobody", "approval", 1), no],
        [flows.list({ before: "nobody" }), no],
        [flows.signal(id, "typo", 1), "INVALID_REQUEST signal: typo does not exist; expected one of approval, mail"],
        [flows.signal(id, "approval[", 1), /^INVALID_REQUEST signal: expected approval, or approval with a key/],
        [flows.signal(id, "approval", 1), /^INVALID_REQUEST value: does not fit the signal approval: Expected object/],
        [flows.signal(id, "mail", { text: "x".repeat(1_000_000) }), /^INVALID_REQUEST value: is 1000011 bytes of JSON/],
        [flows.signal(id, "mail", { text: "x".repeat(4_000_000) }), /^PAYLOAD_TOO_LARGE the body is larger than 4 MB/],
        [flows.signal(id, "mail", { text: "x" }, { id: "" }), /^INVALID_REQUEST id: expected at least one character/],
        [flows.signal(id, "approval", approved, { id: "1" }), /^INVALID_REQUEST id: expected none/],
        [
          flows.signal(id, "approval[early]", { ...approved, by: "bob" }),
          /^CONFLICT .* already has another value for the signal/
        ],
        [flows.signal(ended, "approval[late]", approved), /^CONFLICT .* has ended and accepts no signals/],
        [flows.signal(old, "approval", 1), /^INVALID_REQUEST .*orders@0 is not registered in this program/],
        [flows.suspend(ended), /^CONFLICT .* has ended \(completed\)/],
        [flows.resume(ended), /^CONFLICT .* has ended \(completed\): retry it/],
        [flows.resume(id), "nothing"],
        [flows.retry(id), `CONFLICT the execution ${id} has not ended (waiting): cancel it first`],
        [flows.retry(ended), /^CONFLICT .* did not end by the failure of a step: name the step to begin with, in from/],
        [flows.retry(ended, { from: "typo" }), /^NOT_FOUND from: the execution .* has recorded no step typo/],
        [flows.retry(ended, { from: "note", version: 9 }), /^CONFLICT version: .* orders, version 9; registered are 1/],
        [flows.each({}, "cancel"), /^INVALID_REQUEST filter: Expected a flow, .*or `all: true`/],
        [
          flows.each({ flow: "none" }, "cancel", { skip: ["x"] }),
          /^INVALID_REQUEST skip: Expected nothing, because cancel has no such option/
        ]
      ]
      for (const [call, expected] of table) {
        const said = yield* Effect.match(call, {
          onFailure: ({ code, message }) => `${code} ${message}`,
          onSuccess: () => "nothing"
        })
        if (typeof expected === "string") assert.strictEqual(said, expected)
        else assert.match(said, expected)
      }
      assert.deepStrictEqual(yield* Effect.forEach([id, ended], FlowExecutions.history), before)
    })
  )

  test(
    "distinguishes a wrong token, no program, and a program of another kind",
    Effect.gen(function* () {
      const url = yield* address
      const codeOf = (layer: Layer.Layer<FlowManagementClient>) =>
        Effect.map(
          Effect.flip(Effect.flatMap(FlowManagementClient, (flows) => flows.inspect("x")).pipe(Effect.provide(layer))),
          ({ code, message }) => {
            assert.notInclude(message, "wrong-secret")
            return code
          }
        )
      assert.strictEqual(yield* codeOf(connected(url, "wrong-secret")), "UNAUTHENTICATED")
      assert.strictEqual(yield* codeOf(connected(`http://127.0.0.1:${yield* Effect.promise(freePort)}`)), "UNREACHABLE")
      assert.strictEqual(yield* codeOf(connected(`${url}/elsewhere/`)), "UNEXPECTED_ANSWER")
    })
  )
})

describe("the routes", () => {
  test(
    "respond in the envelope of the service, and leave other routes of the program alone",
    Effect.gen(function* () {
      const refusal = Effect.fnUntraced(function* (path: string, init?: RequestInit) {
        const { status, text } = yield* ask(path, init)
        const { error, message } = JSON.parse(text)
        assert.strictEqual(error.message, message)
        return `${status} ${error.code} ${message}`
      })
      const post = (value: unknown) => ({ method: "POST", body: JSON.stringify(value) })
      const commands = "/flow-executions/commands"
      const odd = { command: "cancel", filter: { flow: "orders", stat: "failed" } }
      assert.match(yield* refusal("/flow-executions", { headers: { authorization: "" } }), /^401 UNAUTHENTICATED/)
      assert.match(yield* refusal("/flow-executions/x/retry", { method: "POST", body: "{" }), /^400 INVALID_REQUEST/)
      assert.match(yield* refusal("/flow-executions?state=odd"), /^400 INVALID_REQUEST state: Expected/)
      assert.match(yield* refusal("/flow-executions?limit=0"), /^400 INVALID_REQUEST limit: Expected/)
      assert.match(yield* refusal("/flow-executions?stat=failed"), /^400 INVALID_REQUEST stat: /)
      assert.match(
        yield* refusal("/flow-executions?started_from=now"),
        /^400 INVALID_REQUEST started_from: Expected a time/
      )
      const noDay = "2027-02-30T00:00:00Z"
      for (const field of ["started_from", "started_before"]) {
        assert.match(
          yield* refusal(`/flow-executions?${field}=${noDay}`),
          new RegExp(`^400 INVALID_REQUEST ${field}: Expected a time of a day that exists`)
        )
      }
      assert.match(
        yield* refusal(commands, post({ command: "cancel", filter: { started_from: noDay } })),
        /^400 INVALID_REQUEST filter.started_from: Expected a time of a day that exists/
      )
      assert.match(yield* refusal("/flow-executions/x/signals", post({ value: 1 })), /^400 INVALID_REQUEST signal: /)
      assert.match(yield* refusal(commands, post(odd)), /^400 INVALID_REQUEST filter.stat: /)
      assert.match(yield* refusal(commands, post({ ...odd, command: "end" })), /^400 INVALID_REQUEST command: Expected/)
      assert.strictEqual((yield* ask("/")).text, "the program's own")
    })
  )

  test(
    "return times in ISO 8601 and names with underscores",
    Effect.gen(function* () {
      const id = yield* submitted("one")
      const { text } = yield* ask(`/flow-executions/${id}`)
      assert.match(text, /"started_at":"\d{4}-\d\d-\d\dT[\d:.]+Z"/)
      assert.notInclude(text, "startedAt")
    })
  )

  it.effect("need a token that is not guessed soon", () =>
    Effect.gen(function* () {
      const routes = FlowManagement.layerRoutes({ token: Redacted.make("short") })
      const error = yield* Layer.build(routes).pipe(
        Effect.provide([HttpServer.layerServices, HttpRouter.layer, FlowEngine.layerMemory]),
        Effect.scoped,
        Effect.flip
      )
      assert.match(error.message, /^token: Expected at least 16 characters/)
    })
  )
})
