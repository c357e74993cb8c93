/**
 * Programs of examples/clients/room whose shape stripe-node has too, as they are written with it, against a server with its
 * answers: docs/compare-clients.md counts their lines.
 */
import { assert, describe, it } from "@effect/vitest"
import { startHttpProxy } from "@signalbox/testkit/HttpProxy"
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { Stripe } from "stripe"
import { afterAll, beforeAll, vi } from "vitest"
import * as createOnce from "./programs/create-once.stripe.ts"
import * as errors from "./programs/errors.stripe.ts"
import * as ownFetch from "./programs/own-fetch.stripe.ts"
import * as pages from "./programs/pages.stripe.ts"
import * as timeLimits from "./programs/time-limits.stripe.ts"
import * as webhookReceiver from "./programs/webhook-receiver.stripe.ts"

const key = "sk_test_1"

/** What becomes of the deletion of a customer. */
const refusals: Readonly<Record<string, readonly [status: number, headers: Readonly<Record<string, string>>]>> = {
  missing: [404, {}],
  busy: [409, { "stripe-should-retry": "false" }],
  often: [429, { "retry-after": "3600" }],
  foreign: [403, { "request-id": "req-1" }]
}

/** The few answers of the service that the programs ask for, each as a function of the request. */
const answering = () => {
  const customers = ["cus_1", "cus_2", "cus_3", "cus_4", "cus_5"]
  const created = new Map<string, string>()
  const headers: Array<IncomingMessage["headers"]> = []
  const listed = (query: URLSearchParams) => {
    const from = customers.indexOf(query.get("starting_after") ?? "") + 1
    const until = from + Number(query.get("limit"))
    const data = customers.slice(from, until).map((id) => ({ id, object: "customer", name: id }))
    return { object: "list", url: "/v1/customers", data, has_more: until < customers.length }
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://stripe.test")
    headers.push(request.headers)
    await text(request)
    const send = (status: number, body: object, more: Readonly<Record<string, string>> = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...more }).end(JSON.stringify(body))
    const id = pathname.split("/").at(-1) ?? ""
    if (request.method === "DELETE") {
      const refusal = refusals[id]
      if (refusal === undefined) return send(200, { id, object: "customer", deleted: true })
      const [status, more] = refusal
      return send(status, { error: { type: "invalid_request_error", code: id, message: "not yours" } }, more)
    }
    if (request.method === "GET" && id === "customers") return send(200, listed(searchParams))
    if (request.method === "GET" && id === "account") return send(200, { id: "acct_1", object: "account" })
    if (request.method === "GET") return send(200, { id, object: "refund", status: "pending" })
    const given = String(request.headers["idempotency-key"])
    const isNew = !created.has(given)
    if (isNew) created.set(given, `cus_new_${created.size}`)
    // The answer to the first request is lost.
    return isNew ? response.destroy() : send(200, { id: created.get(given), object: "customer" })
  }
  return { answer, created, headers }
}

const listening = async (server: Server): Promise<number> => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : assert.fail("it does not listen")
}

describe("programs with stripe", () => {
  const { answer, created, headers } = answering()
  const server = createServer((request, response) => void answer(request, response))
  let port = 0
  let config: Stripe.StripeConfig = {}
  beforeAll(async () => {
    vi.spyOn(console, "log").mockImplementation(() => {})
    vi.spyOn(console, "error").mockImplementation(() => {})
    port = await listening(server)
    config = { protocol: "http", host: "127.0.0.1", port, telemetry: false }
  })
  afterAll(() => {
    vi.restoreAllMocks()
    server.closeAllConnections()
    server.close()
  })

  it("read pages, and go on later where they stopped", async () => {
    const first = await pages.main("ann@example.com", undefined, key, config)
    const second = await pages.main("ann@example.com", first.later, key, config)
    assert.deepStrictEqual([first.ids, first.later], [["cus_1", "cus_2", "cus_3", "cus_4"], "cus_4"])
    assert.deepStrictEqual(second, { ids: ["cus_5"], later: undefined })
  })

  it("create a customer once, although an answer is lost and the program runs again", async () => {
    const first = await createOnce.main("7", key, config)
    assert.strictEqual(await createOnce.main("7", key, config), first)
    assert.strictEqual(created.size, 1)
  })

  it("tell errors apart", async () => {
    assert.strictEqual(await errors.main("cus_1", key, config), "deleted")
    assert.strictEqual(await errors.main("missing", key, config), "there was none")
    assert.strictEqual(await errors.main("busy", key, config), "it is in use")
    assert.strictEqual(await errors.main("often", key, config), "too early, in 3600000 ms again")
    const error = await errors.main("foreign", key, config).catch((error: unknown) => error)
    assert.match(String(error), /not yours/)
    assert.deepStrictEqual(vi.mocked(console.error).mock.lastCall, [403, "foreign", "req-1"])
  })

  it("wait no longer than they want to", async () => {
    const { signal } = new AbortController()
    assert.strictEqual(await timeLimits.main("re_1", 50, signal, key, config), "still running")
  })

  it("end when a person cancels", async () => {
    const abort = new AbortController()
    const waiting = timeLimits.main("re_1", 60_000, abort.signal, key, config)
    abort.abort()
    assert.strictEqual(await waiting, "cancelled")
  })

  it("use a fetch of their own, with headers and a name", async () => {
    let calls = 0
    const own: typeof fetch = async (input, init) => {
      calls++
      return fetch(input, init)
    }
    assert.strictEqual(await ownFetch.throughFetch(own, key, config), "acct_1")
    assert.strictEqual(calls, 1)
    assert.strictEqual(headers.at(-1)?.["x-team"], "billing")
    assert.match(headers.at(-1)?.["user-agent"] ?? "", /invoices\/2\.1$/)
  })

  it("use a proxy", async () => {
    const between = await startHttpProxy({ hosts: { "stripe.test": port } })
    try {
      assert.strictEqual(await ownFetch.throughProxy(between.url, key, { ...config, host: "stripe.test" }), "acct_1")
      assert.deepStrictEqual(between.asked(), [`CONNECT stripe.test:${port}`])
    } finally {
      await between.close()
    }
  })

  it("receive webhooks that were signed, and no others", async () => {
    const secret = "whsec_1"
    const events: Array<string> = []
    const receiver = webhookReceiver.main(secret, ({ type }) => void events.push(type))
    const origin = `http://127.0.0.1:${await listening(receiver)}`
    const payload = JSON.stringify({ id: "evt_1", object: "event", type: "refund.updated", data: { object: {} } })
    const send = async (secret: string) => {
      const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret })
      const sent = { method: "POST", body: payload, headers: { "stripe-signature": signature } }
      return (await fetch(origin, sent)).status
    }
    try {
      assert.deepStrictEqual([await send(secret), await send("whsec_2")], [204, 401])
      assert.deepStrictEqual(events, ["refund.updated"])
    } finally {
      receiver.closeAllConnections()
      receiver.close()
    }
  })
})
