/**
 * Receivers of notifications: web standards alone.
 */
import { assert, describe, it } from "@effect/vitest"
import { readNotifications, receiveNotifications } from "../src/Notifications.ts"

const clientState = "our secret"

const changed = {
  id: "n1",
  subscriptionId: "s1",
  subscriptionExpirationDateTime: "2031-01-01T00:00:00Z",
  clientState,
  changeType: "created",
  resource: "Users/1/Messages/2",
  resourceData: { "@odata.type": "#Microsoft.Graph.Message", id: "2" },
  tenantId: "t1"
}
const lifecycle = { subscriptionId: "s1", clientState, lifecycleEvent: "missed" }

const read = (value: unknown, url = "/graph", state: string | ReadonlyArray<string> = clientState) =>
  readNotifications({ url, body: typeof value === "string" ? value : JSON.stringify(value) }, { clientState: state })

describe("a receiver", () => {
  it("answers a validation with its token as plain text", () => {
    const found = read("", "/graph?a=1&validationToken=Validation%3A%20%3Cb%3E+x")
    assert.deepInclude(found, { status: 200, body: "Validation: <b> x", notifications: [] })
    assert.deepInclude(found.headers, {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff"
    })
  })

  it("decodes notifications, and answers them with 202", () => {
    const { notifications, refused, status } = read({ value: [changed, lifecycle] })
    assert.deepStrictEqual([status, refused], [202, 0])
    const { clientState: _, ...raw } = changed
    assert.deepStrictEqual(notifications[0], {
      subscriptionId: "s1",
      changeType: "created",
      lifecycleEvent: null,
      resource: "Users/1/Messages/2",
      resourceId: "2",
      subscriptionExpirationDateTime: "2031-01-01T00:00:00Z",
      tenantId: "t1",
      raw
    })
    assert.deepInclude(notifications[1], { changeType: null, lifecycleEvent: "missed", resource: null })
  })

  for (const state of ["", "our secre", "our secret ", "Our secret", null, 5]) {
    it(`leaves out a notification with the state ${JSON.stringify(state)}`, () => {
      const found = read({ value: [{ ...changed, clientState: state }, changed] })
      assert.deepStrictEqual([found.status, found.notifications.length, found.refused], [202, 1, 1])
    })
  }

  it("knows several states while one is replaced", () => {
    assert.strictEqual(read({ value: [changed] }, "/", ["the new one", clientState]).notifications.length, 1)
  })

  for (const body of ["", "{", "[]", '{"value":{}}', "null"]) {
    it(`refuses ${JSON.stringify(body)}`, () => {
      assert.deepInclude(read(body), { status: 400, notifications: [] })
    })
  }

  it("has no use for an empty state", () => {
    for (const state of ["", [], ["a", ""]]) assert.throws(() => read({ value: [] }, "/", state), TypeError)
  })

  it("takes web requests, and no other methods than POST", async () => {
    const url = "https://intake.example/graph"
    const body = JSON.stringify({ value: [changed] })
    const { notifications, response } = await receiveNotifications(new Request(url, { method: "POST", body }), {
      clientState
    })
    assert.deepStrictEqual([response.status, notifications.length], [202, 1])
    const got = await receiveNotifications(new Request(url), { clientState })
    assert.strictEqual(got.response.status, 405)
  })
})
