/**
 * Subscriptions, and the notifications that are sent for them.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"
import { receiver } from "./support/Receiver.ts"

const minute = 60_000
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * minute).toISOString()

const ann = Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "ann@contoso.test"))

const drive = {
  changeType: "updated",
  resource: "me/drive/root",
  clientState: "our secret",
  expirationDateTime: inMinutes(60)
}

/** A subscription to the drive of Ann, and how it is asked about. */
const subscribed = Effect.fnUntraced(function* (url: string, more: object = {}) {
  const ask = yield* ann
  const made = yield* ask("/subscriptions", { method: "POST", json: { ...drive, notificationUrl: url, ...more } })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  const address = `/subscriptions/${made.body.id}`
  const put = (name: string) => ask(`/me/drive/root:/${name}:/content`, { method: "PUT", body: "text" })
  return { ask, put, address, body: made.body }
})

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("a subscription", (it) => {
  it.effect("is made when its receiver repeats the token, and then tells of changes", () =>
    Effect.gen(function* () {
      const { next, url } = yield* receiver()
      const { body, put } = yield* subscribed(url)
      assert.deepInclude(body, { ...drive, notificationUrl: url })
      yield* put("told.txt")
      const told = yield* next
      assert.deepInclude(told, {
        subscriptionId: body.id,
        clientState: "our secret",
        changeType: "updated",
        resource: "me/drive/root"
      })
    })
  )

  it.effect.each([
    { answers: "something else", status: 200, type: "text/plain", text: "hello" },
    { answers: "HTML", status: 200, type: "text/html", text: null },
    { answers: "403", status: 403, type: "text/plain", text: null }
  ])("is refused when the receiver answers $answers", ({ text, type, ...answer }) =>
    Effect.gen(function* () {
      const ask = yield* ann
      const { url } = yield* receiver({
        validation: (token, response) => {
          response.writeHead(answer.status, { "content-type": type }).end(text ?? token)
        }
      })
      const { body, status } = yield* ask("/subscriptions", {
        method: "POST",
        json: { ...drive, notificationUrl: url }
      })
      assert.deepStrictEqual([status, body.error.code], [400, "ValidationError"])
      assert.include(body.error.message, "Subscription validation request failed.")
    })
  )

  it.effect.each([
    { of: "no resource", fields: { resource: undefined }, says: "resource is a required property" },
    { of: "a plain address elsewhere", fields: { notificationUrl: "http://example.com/" }, says: "HTTPS" },
    { of: "creations in a drive", fields: { changeType: "created,updated" }, says: "'created' is not supported" },
    { of: "the past", fields: { expirationDateTime: inMinutes(-1) }, says: "a time in the future" },
    {
      of: "more than 30 days",
      fields: { expirationDateTime: inMinutes(42_301) },
      code: "ExtensionError",
      says: "only be 42300 minutes"
    },
    { of: "a long state", fields: { clientState: "x".repeat(129) }, says: "at most 128 characters" },
    { of: "people", fields: { resource: "users" }, status: 501, code: "notSupported", says: "no subscriptions to" },
    {
      of: "a drive that is not there",
      fields: { resource: "drives/none/root" },
      status: 404,
      code: "itemNotFound",
      says: "drive could not be found"
    }
  ])("is refused for $of", ({ code = "ValidationError", fields, says, status = 400 }) =>
    Effect.gen(function* () {
      const ask = yield* ann
      const { url } = yield* receiver()
      const json = { ...drive, notificationUrl: url, ...fields }
      const answer = yield* ask("/subscriptions", { method: "POST", json })
      assert.deepStrictEqual([answer.status, answer.body.error.code], [status, code])
      assert.include(answer.body.error.message, says)
    })
  )

  it.effect("to a folder below the root is refused", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const { url } = yield* receiver()
      const { id } = (yield* ask("/me/drive/root:/Docs")).body
      const json = { ...drive, resource: `me/drive/items/${id}`, notificationUrl: url }
      const { body } = yield* ask("/subscriptions", { method: "POST", json })
      assert.include(body.error.message, "Only the root folder")
    })
  )

  it.effect("is read, renewed, moved to another receiver and deleted; its state is never shown again", () =>
    Effect.gen(function* () {
      const first = yield* receiver()
      const second = yield* receiver()
      const { address, ask, put } = yield* subscribed(first.url)
      assert.isNull((yield* ask(address)).body.clientState)
      const later = inMinutes(120)
      const renewed = yield* ask(address, { method: "PATCH", json: { expirationDateTime: later } })
      assert.deepStrictEqual([renewed.status, renewed.body.expirationDateTime], [200, later])
      assert.strictEqual((yield* ask(address, { method: "PATCH", json: {} })).status, 400)
      yield* ask(address, { method: "PATCH", json: { notificationUrl: second.url } })
      yield* put("moved.txt")
      yield* second.next
      assert.strictEqual((yield* ask(address, { method: "DELETE" })).status, 204)
      const gone = yield* ask(address)
      assert.deepStrictEqual([gone.status, gone.body.error.code], [404, "ResourceNotFound"])
    })
  )

  it.effect("is seen by the app and the person that made it, and nobody else", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver()
      const { address, ask, body } = yield* subscribed(url)
      const ids = (yield* ask("/subscriptions")).body.value.map(({ id }: { readonly id: string }) => id)
      assert.include(ids, body.id)
      const joan = yield* Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "joan@contoso.test"))
      assert.strictEqual((yield* joan(address)).status, 404)
      assert.deepStrictEqual((yield* joan("/subscriptions")).body.value, [])
    })
  )

  it.effect("to a list tells of its items", () =>
    Effect.gen(function* () {
      const { next, url } = yield* receiver()
      const ask = yield* ann
      const lists = "/sites/contoso.sharepoint.test:/sites/team:/lists"
      const { id, parentReference } = (yield* ask(`${lists}/A%2FB%20%231`)).body
      const resource = `sites/${parentReference.siteId}/lists/${id}`
      yield* subscribed(url, { resource })
      yield* ask(`${lists}/A%2FB%20%231/items`, { method: "POST", json: { fields: { Title: "four" } } })
      assert.strictEqual((yield* next).resource, resource)
    })
  )

  it.effect.each([
    { resource: "me/mailFolders('inbox')/messages" },
    { resource: "/users/ann@contoso.test/mailFolders/inbox/messages" },
    { resource: "me/messages" }
  ])("to $resource tells which message is new, and of nothing that was not asked for", ({ resource }) =>
    Effect.gen(function* () {
      const { deliver } = yield* GraphSandbox
      const { next, url } = yield* receiver()
      const { ask } = yield* subscribed(url, { resource, changeType: "created" })
      yield* deliver("ann@contoso.test", { subject: "told", body: "now" })
      const told = yield* next
      assert.strictEqual(told.changeType, "created")
      const message = yield* ask(`/${told.resource}`)
      assert.strictEqual(message.body.subject, "told")
      yield* ask(`/${told.resource}`, { method: "PATCH", json: { isRead: true } })
      yield* deliver("ann@contoso.test", { subject: "next" })
      const after = yield* next
      assert.strictEqual(after.changeType, "created")
      assert.strictEqual((yield* ask(`/${after.resource}`)).body.subject, "next")
    })
  )

  it.effect("is sent again until the receiver confirms it", () =>
    Effect.gen(function* () {
      const statuses = [503, 202]
      const { next, url } = yield* receiver({ status: () => statuses.shift() ?? 202 })
      const { put } = yield* subscribed(url)
      yield* put("again.txt")
      assert.deepStrictEqual(yield* next, yield* next)
    })
  )
})

const world = layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })

world("what goes wrong with notifications", (it) => {
  it.effect("loses one, sends one twice, and one late", () =>
    Effect.gen(function* () {
      const { requests, setFaults } = yield* GraphSandbox
      const { next, received, url } = yield* receiver()
      const { put } = yield* subscribed(url)
      const host = "notifications" as const
      const met = Effect.fnUntraced(function* (fault: "drop" | "delay") {
        while (!(yield* requests).some(({ faults }) => faults.includes(fault))) yield* Effect.sleep("5 millis")
      })
      yield* setFaults({ rules: [{ fault: "drop", host, times: 1 }] })
      yield* put("lost.txt")
      yield* met("drop")
      assert.strictEqual(yield* Queue.size(received), 0)
      yield* setFaults({ rules: [{ fault: "drop", host, when: "after", times: 1 }] })
      yield* put("twice.txt")
      assert.deepStrictEqual(yield* next, yield* next)
      yield* setFaults({
        rules: [
          { fault: "delay", host, millis: 50 },
          { fault: "throttle", path: "/other" }
        ]
      })
      yield* put("late.txt")
      yield* next
      yield* met("delay")
      const sent = (yield* requests).filter((request) => request.host === host)
      assert.deepStrictEqual(
        sent.map(({ faults, status }) => [...faults, status]),
        [["drop", 0], ["drop", 202], [202], ["delay", 202]]
      )
    })
  )

  it.effect("a subscription that must be authorized again is silent until it is", () =>
    Effect.gen(function* () {
      const { sendLifecycle } = yield* GraphSandbox
      const { next, received, url } = yield* receiver()
      const { address, ask, body, put } = yield* subscribed(url, { lifecycleNotificationUrl: url })
      yield* sendLifecycle("reauthorizationRequired", body.id)
      const told = yield* next
      assert.deepInclude(told, { lifecycleEvent: "reauthorizationRequired", clientState: "our secret" })
      assert.notProperty(told, "changeType")
      yield* put("silent.txt")
      assert.strictEqual((yield* ask(`${address}/reauthorize`, { method: "POST" })).status, 204)
      assert.strictEqual(yield* Queue.size(received), 0)
      yield* put("heard.txt")
      assert.strictEqual((yield* next).changeType, "updated")
    })
  )

  it.effect("a subscription that is removed says so, and is gone", () =>
    Effect.gen(function* () {
      const { origin } = yield* GraphSandbox
      const { next, url } = yield* receiver()
      const { address, ask, body } = yield* subscribed(url, { lifecycleNotificationUrl: url })
      const control = (json: object) => ask(`${origin}/sandbox/lifecycle`, { method: "POST", json })
      assert.strictEqual((yield* control({ event: "missed", subscription: body.id })).status, 204)
      assert.strictEqual((yield* next).lifecycleEvent, "missed")
      assert.strictEqual((yield* control({ event: "subscriptionRemoved", subscription: body.id })).status, 204)
      assert.strictEqual((yield* next).lifecycleEvent, "subscriptionRemoved")
      assert.strictEqual((yield* ask(address)).status, 404)
      assert.strictEqual((yield* control({ event: "missed", subscription: body.id })).status, 404)
    })
  )
})

layer(GraphSandbox.layer({ seed: contoso, enforceScopes: true, subscriptionSeconds: 1 }), {
  excludeTestServices: true
})("where scopes are enforced, and subscriptions are short", (it) => {
  it.effect("a drive needs the permission to write files", () =>
    Effect.gen(function* () {
      const { accessToken, graphUrl } = yield* GraphSandbox
      const { url } = yield* receiver()
      const status = Effect.fnUntraced(function* (...scopes: ReadonlyArray<string>) {
        const token = yield* accessToken("ann@contoso.test", scopes)
        const ask = yield* ann
        const headers = { authorization: `Bearer ${token}` }
        const json = { ...drive, notificationUrl: url }
        return (yield* ask(`${graphUrl}/subscriptions`, { method: "POST", headers, json })).status
      })
      assert.deepStrictEqual([yield* status("Files.Read.All"), yield* status("Files.ReadWrite.All")], [403, 201])
    })
  )

  it.effect("one that has expired is gone", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver()
      const { address, ask, body } = yield* subscribed(url)
      assert.isBelow(Date.parse(body.expirationDateTime), Date.parse(drive.expirationDateTime))
      while ((yield* ask(address)).status === 200) yield* Effect.sleep("50 millis")
      assert.strictEqual((yield* ask(address)).status, 404)
    })
  )
})
