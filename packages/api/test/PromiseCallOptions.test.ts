/** Options of one call with promises, of a view of a client, and of a client. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { OptionError } from "@signalbox/transport/OptionError"
import { layer } from "../src/Node.ts"
import { type CallOptions, connect, InvalidRequest, Timeout } from "../src/Promise.ts"
import * as WorkItems from "../src/WorkItems.ts"
import { answer, type Received } from "./support/FaultServer.ts"
import { collect, optionsOf, policy, rejectionOf, withRoom } from "./support/PromiseRoom.ts"
import { workItem } from "./support/Retries.ts"

const good = answer(200, workItem, { "x-request-id": "req-7" })
const page = answer(200, { data: [], next: null, has_more: false })

const headersOf = (received: ReadonlyArray<Received>, name: string) => received.map(({ headers }) => headers[name])

/** Options of other types, as programs without types give them. */
const untyped = (options: object): CallOptions => options

describe("the last argument of a call", () => {
  it("stands after all parameters of the function, whether these are given or not", () =>
    withRoom(async (room, server) => {
      server.script([page])
      const options = { headers: { "x-trace": "1" } }
      await room.workItems.list({ limit: 5 }, options)
      await room.workItems.list(undefined, options)
      await collect(room.workItems.stream({}, options))
      assert.deepStrictEqual(headersOf(server.received(), "x-trace"), ["1", "1", "1"])
    }))

  it("is taken by a function without parameters", () =>
    withRoom(async (room, server) => {
      server.script([answer(500)])
      await rejectionOf(room.workspaces.get({ headers: { "x-trace": "1" }, policy: { attempts: 1 } }))
      assert.deepStrictEqual(headersOf(server.received(), "x-trace"), ["1"])
    }))

  it("aborts the call, and the requests of it", () =>
    withRoom(async (room, server) => {
      server.script([{ _tag: "Hang" }])
      const controller = new AbortController()
      const closed = server.nextClosed()
      const call = rejectionOf(room.workItems.get("item", undefined, { signal: controller.signal }))
      while (server.received().length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
      controller.abort(new Error("enough"))
      assert.strictEqual(await call, controller.signal.reason)
      await closed
    }))

  it("sends nothing when the signal is aborted already", () =>
    withRoom(async (room, server) => {
      server.script([good])
      const signal = AbortSignal.abort(new Error("before"))
      assert.strictEqual(await rejectionOf(room.workItems.get("item", undefined, { signal })), signal.reason)
      assert.strictEqual(await rejectionOf(collect(room.workItems.stream({}, { signal }))), signal.reason)
      assert.deepStrictEqual(server.received(), [])
    }))

  it("limits the time of a call and of a stream", () =>
    withRoom(async (room, server) => {
      server.script([{ _tag: "Hang" }])
      for (const call of [
        room.workItems.get("item", undefined, { timeout: 20 }),
        collect(room.workItems.stream({}, { timeout: "20 millis" }))
      ]) {
        const error = await rejectionOf(call)
        assert.instanceOf(error, Timeout)
        assert.match(error.message, /^not done within 20 ms, on workItems\.(get|stream)$/)
      }
    }))

  it("has the key of what is created, with a number from the second request on", () =>
    withRoom(async (room, server) => {
      server.script([good])
      await room.workItems.create({ process: "process" }, { idempotencyKey: "order-1" })
      const payloads = Array.from({ length: 1001 }, () => null)
      server.script([answer(200, { work_items: [{ id: "item" }] })])
      await room.workItems.createMany({ process: "process", payloads }, { idempotencyKey: "orders" })
      assert.deepStrictEqual(headersOf(server.received(), "idempotency-key"), ["orders", "orders/2"])
    }))

  it("has the policy of the call, on top of that of the client", () =>
    withRoom(async (room, server) => {
      server.script([answer(503)])
      await rejectionOf(room.workItems.get("item", undefined, { policy: { attempts: 2 } }))
      assert.lengthOf(server.received(), 2)
    }))

  it("is never taken for a filter, nor a filter for it", () =>
    withRoom(async (room, server) => {
      server.script([page])
      const error = await rejectionOf(room.workItems.list({}, untyped({ limit: 5 })))
      assert.instanceOf(error, InvalidRequest)
      assert.match(error.message, /^limit is not one of the options of a call, with signal, timeout, headers,/)
      assert.instanceOf(
        await rejectionOf(collect(room.workItems.stream({}, untyped({ state: "new" })))),
        InvalidRequest
      )
      assert.deepStrictEqual(server.received(), [])
    }))

  it("leaves a cursor as an argument of its own, as lists took it before", () =>
    withRoom(async (room, server) => {
      server.script([page])
      await Reflect.apply(room.workItems.list, undefined, [{}, "cursor-1", { headers: { "x-trace": "1" } }])
      const [request] = server.received()
      assert.match(request?.path ?? "", /cursor=cursor-1/)
      assert.strictEqual(request?.headers["x-trace"], "1")
    }))

  const wrong: ReadonlyArray<readonly [options: object, said: string]> = [
    [{ timeout: 0 }, "workItems.get: timeout: expected a length of time above 0"],
    [{ signal: {} }, "workItems.get: signal: expected an AbortSignal"],
    [{ idempotencyKey: "" }, "workItems.get: idempotencyKey: expected a text that is not empty"],
    [{ policy: { attempts: 0 } }, "workItems.get: policy.attempts: expected a whole number of at least 1"],
    [{ headers: { Authorization: "mine" } }, "workItems.get: headers.Authorization: the client sets this header"],
    [{ headers: { "x-n": 1 } }, "workItems.get: headers.x-n: expected a text"]
  ]
  for (const [options, said] of wrong) {
    it(`is refused where it cannot be: ${JSON.stringify(options)}`, () =>
      withRoom(async (room) => {
        const error = await rejectionOf(room.workItems.get("item", undefined, untyped(options)))
        assert.instanceOf(error, OptionError)
        assert.include(error.message, said)
      }))
  }
})

describe("a view of a client", () => {
  it("has options for all its calls, which a call adds to", () =>
    withRoom(async (room, server) => {
      server.script([good])
      const view = room.with({ headers: { "x-a": "1", "x-b": "1" } }).with({ headers: { "x-b": "2" } })
      await view.workItems.get("item", undefined, { headers: { "x-c": "3" } })
      const [request] = server.received()
      assert.deepStrictEqual(
        ["x-a", "x-b", "x-c"].map((name) => request?.headers[name]),
        ["1", "2", "3"]
      )
    }))

  it("is aborted by its own signal, and by that of a call", () =>
    withRoom(async (room, server) => {
      server.script([{ _tag: "Hang" }])
      const [outer, inner] = [new AbortController(), new AbortController()]
      const view = room.withSignal(outer.signal)
      const calls = [view.workItems.get("item", undefined, { signal: inner.signal }), view.workItems.get("item")]
      const rejections = Promise.all(calls.map(rejectionOf))
      inner.abort(new Error("inner"))
      outer.abort(new Error("outer"))
      assert.deepStrictEqual(await rejections, [inner.signal.reason, outer.signal.reason])
    }))

  it("is of the same connection", () =>
    withRoom(async (room, server) => {
      server.script([good])
      await room.with({}).close()
      await rejectionOf(room.workItems.get("item"))
      assert.deepStrictEqual(server.received(), [])
    }))

  it("has the modules once", () => withRoom(async (room) => assert.strictEqual(room.workItems, room.workItems)))
})

describe("withResponse", () => {
  it("resolves to the result and what is known of its response", () =>
    withRoom(async (room, server) => {
      server.script([answer(503), good])
      const { data, response } = await room.workItems.get("item").withResponse()
      assert.strictEqual(data.id, "item")
      assert.deepStrictEqual(response, { status: 200, requestId: "req-7", attempts: 2 })
    }))

  it("rejects as the call does", () =>
    withRoom(async (room, server) => {
      server.script([answer(404)])
      const call = room.workItems.get("item")
      assert.strictEqual(await rejectionOf(call.withResponse()), await rejectionOf(call))
    }))

  it("says that nothing was sent", () =>
    withRoom(async (room) => {
      const { response } = await room.workItems.retry([]).withResponse()
      assert.deepStrictEqual(response, { status: null, requestId: null, attempts: 0 })
    }))
})

describe("connect", () => {
  it("takes headers of every request, and a fetch", async () => {
    const sent: Array<Request> = []
    const fetch = async (...args: Parameters<typeof globalThis.fetch>) => {
      sent.push(new Request(...args))
      return Response.json(workItem)
    }
    await using room = connect({
      baseUrl: "http://room.example.com",
      apiKey: "key",
      workspaceId: "workspace",
      headers: { "x-team": "robots" },
      fetch,
      policy
    })
    await room.workItems.get("item")
    assert.deepStrictEqual(
      sent.map(({ headers, url }) => [url, headers.get("x-team"), headers.get("authorization")]),
      [["http://room.example.com/api/v1/workspaces/workspace/work-items/item", "robots", "RC-WSKEY key"]]
    )
  })

  it("sends its headers to the service alone, not to where files are", () =>
    withRoom(async (room, server) => {
      server.script([answer(200, "bytes")])
      const file = { download: { url: `${server.origin}/elsewhere`, expires_at: "" } }
      await collect(room.with({ headers: { "x-team": "robots" } }).files.download(file))
      assert.deepStrictEqual(headersOf(server.received(), "x-team"), [undefined])
    }))

  it("takes what the program calls itself, and functions that see what happens", () => {
    const seen: Array<string> = []
    return withRoom(
      async (room, server) => {
        server.script([answer(503), good])
        await room.workItems.get("item")
        assert.match(server.received()[0]?.headers["user-agent"] ?? "", /^invoices\/2\.1 signalbox-api\//)
        assert.deepStrictEqual(seen, ["request 1", "response 503", "retry 2", "request 2", "response 200"])
      },
      {
        userAgent: "invoices/2.1",
        onRequest: ({ attempt }) => seen.push(`request ${attempt}`),
        onResponse: ({ status }) => seen.push(`response ${status}`),
        onRetry: ({ attempt }) => seen.push(`retry ${attempt}`)
      }
    )
  })

  it("says in events what was called, by the name of it with promises", () => {
    const seen = new Set<string>()
    return withRoom(
      async (room, server) => {
        server.script([page])
        await room.workItems.list()
        await collect(room.workItems.stream())
        await room.run(WorkItems.list())
        assert.deepStrictEqual([...seen], ["workItems.list", "workItems.stream", "WorkItems.list"])
      },
      { onRequest: ({ operation }) => seen.add(operation) }
    )
  })

  it("refuses a fetch that its layer would not use", () =>
    withRoom(async (_, server) => {
      const both = { ...optionsOf(server), fetch: globalThis.fetch, connect: layer }
      assert.throws(
        () => connect(both),
        OptionError,
        "connect: fetch: the layer of the option connect sends the requests"
      )
    }))

  it("refuses headers that it sets itself", () =>
    withRoom(async (_, server) => {
      const headers = { authorization: "mine" }
      assert.throws(() => connect({ ...optionsOf(server), headers }), OptionError, "connect: headers.authorization")
    }))

  it("runs effects with the options of a call", () =>
    withRoom(async (room) => {
      const error = await rejectionOf(room.run(Effect.never, { timeout: 5 }))
      assert.instanceOf(error, Timeout)
      assert.strictEqual(await room.run(Effect.succeed(Context.empty()).pipe(Effect.as(1))), 1)
    }))
})
