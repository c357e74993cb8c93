/** Receivers of webhooks as listeners of `node:http`, over a socket. */
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { type WebhookReceiver, webhookListener } from "../src/PromiseNode.ts"
import * as Webhooks from "../src/Webhooks.ts"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const run = "0190f9a6-0000-7000-8000-000000000001"
const event = {
  id: "evt_1",
  webhookEventTimestamp: "2026-11-28T08:00:00.000Z",
  event: "process_run",
  action: "completed",
  payload: {
    workspaceId: run,
    processId: run,
    processName: "invoices",
    processRunId: run,
    state: "completed",
    seqNo: 2,
    startedAt: null,
    endedAt: null,
    duration: null,
    result: "success",
    errorCode: null,
    pause: null
  }
}

const signed = (body: string, by = secret) =>
  Effect.runPromise(Webhooks.sign({ secret: by, body, id: "evt_1", timestamp: Math.floor(Date.now() / 1000) }))

/** Sends a request to a server with this listener, and returns the status of its response. */
const statusOf = async (
  receiver: WebhookReceiver,
  body: string,
  { by = secret, method = "POST" }: { readonly by?: string; readonly method?: string } = {}
) => {
  const server = createServer(webhookListener(receiver)).listen(0, "127.0.0.1")
  await once(server, "listening")
  try {
    const { port } = server.address() as AddressInfo
    const headers = await signed(body, by)
    return await new Promise<number | undefined>((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, method, headers: { ...headers } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      sent.on("error", reject)
      sent.end(method === "POST" ? body : undefined)
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const never = () => assert.fail("no event was expected")
const text = JSON.stringify(event)

describe("webhookListener", () => {
  it("hands over a signed event, and responds with 204 when it has been handled", async () => {
    const handled: Array<string> = []
    const onEvent: WebhookReceiver["onEvent"] = async ({ action, payload }) => {
      // Longer than a response takes that does not wait for it.
      await setTimeout(50)
      handled.push(`${action} ${payload.processRunId}`)
    }
    assert.strictEqual(await statusOf({ secret, onEvent }, text), 204)
    assert.deepStrictEqual(handled, [`completed ${run}`])
  })

  it("takes each of several secrets, and refuses others with 401", async () => {
    const onEvent = () => {}
    assert.strictEqual(await statusOf({ secret: ["other", secret], onEvent }, text), 204)
    assert.strictEqual(await statusOf({ secret: "other", onEvent: never }, text), 401)
  })

  it("responds with 500 to what the program could not handle, and says what it was", async () => {
    const errors: Array<unknown> = []
    const failure = new Error("the database is away")
    const onError = (error: unknown) => void errors.push(error)
    assert.strictEqual(await statusOf({ secret, onError, onEvent: () => Promise.reject(failure) }, text), 500)
    assert.strictEqual(await statusOf({ secret, onError, onEvent: never }, `{"action":"new"}`), 500)
    assert.strictEqual(errors[0], failure)
    assert.match(String(errors[1]), /not an event/)
  })

  it("refuses other methods and bodies of more than a megabyte", async () => {
    assert.strictEqual(await statusOf({ secret, onEvent: never }, text, { method: "GET" }), 405)
    assert.strictEqual(await statusOf({ secret, onEvent: never }, "x".repeat(1_000_001)), 413)
  })

  it("is not made without a secret", () => {
    for (const none of ["", [], [secret, ""]]) {
      assert.throws(() => webhookListener({ secret: none, onEvent: never }), /webhookListener: secret/)
    }
  })
})
