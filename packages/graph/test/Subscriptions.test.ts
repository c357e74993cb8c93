/**
 * Subscriptions, made and kept, against a sandbox that calls back.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Options } from "@signalbox/graph-sandbox/GraphSandbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Drive from "../src/Drive.ts"
import * as Subscriptions from "../src/Subscriptions.ts"
import * as Uploads from "../src/Uploads.ts"
import { clientState, receiver } from "./support/Receiver.ts"
import { connect, json, make, settle } from "./support/Server.ts"
import { asked, faults, GraphSandbox, inSandbox, type Needs } from "./support/Sandbox.ts"

const given = (url: string) => ({
  resource: Subscriptions.drive(Drive.me),
  notificationUrl: url,
  clientState: Redacted.make(clientState)
})

const put = (name: string) => Uploads.upload(Drive.me, { path: `/${name}` }, new TextEncoder().encode(name))

const ids = Effect.map(Stream.runCollect(Subscriptions.stream), (all) => all.map(({ id }) => id))

const minutesLeft = ({ expirationDateTime }: Subscriptions.Subscription) =>
  (Date.parse(expirationDateTime) - Date.now()) / 60_000

describe("a subscription", () => {
  const test = (name: string, effect: Effect.Effect<void, unknown, Needs>, options?: Options) =>
    it.live(name, () => inSandbox(effect, options))

  test(
    "is made, read, renewed and removed",
    Effect.gen(function* () {
      const { url } = yield* receiver
      const made = yield* Subscriptions.create({ ...given(url), minutes: 60 })
      assert.strictEqual((yield* Subscriptions.get(made.id)).resource, "/me/drive/root")
      assert.deepStrictEqual(yield* ids, [made.id])
      const renewed = yield* Subscriptions.renew(made)
      assert.isAbove(minutesLeft(renewed), 42_000)
      yield* Subscriptions.remove(made.id)
      const gone = yield* Effect.flip(Subscriptions.renew(made))
      assert.strictEqual(gone.reason._tag, "NotFound")
      assert.strictEqual(gone.request.operation, "Subscriptions.renew")
    })
  )

  test(
    "is refused when nobody answers at its address, and its secrets are in no error",
    Effect.gen(function* () {
      const error = yield* Effect.flip(Subscriptions.create(given("http://127.0.0.1:9/secret-path")))
      assert.strictEqual(error.reason._tag, "InvalidRequest")
      assert.include(error.message, "validation request failed")
      assert.notMatch(JSON.stringify(error), /secret/)
    })
  )

  for (const [option, value] of Object.entries({ minutes: 0, clientState: "x".repeat(129), notificationUrl: "" })) {
    test(
      `cannot have ${option} of ${JSON.stringify(value).slice(0, 10)}`,
      Effect.gen(function* () {
        const exit = yield* Effect.exit(Subscriptions.create({ ...given("https://a.example"), [option]: value }))
        assert.include(String(exit), `Subscriptions.create: ${option}: expected`)
      })
    )
  }

  it.effect("can ask for contents, encrypted for a certificate, and lasts less long then", () =>
    Effect.gen(function* () {
      const server = yield* make
      const subscription = { id: "s1", resource: "me/messages", expirationDateTime: "2031-01-01T00:00:00Z" }
      server.script(json(subscription, 201))
      const resourceData = { certificate: "MIIC", certificateId: "c1" }
      const given = { resource: "me/messages", notificationUrl: "https://a.example", clientState, resourceData }
      yield* settle(server, Effect.provide(Subscriptions.create(given), connect(server)))
      const sent = JSON.parse(server.received()[0]?.body ?? "{}")
      assert.deepInclude(sent, {
        includeResourceData: true,
        encryptionCertificate: "MIIC",
        encryptionCertificateId: "c1",
        lifecycleNotificationUrl: "https://a.example"
      })
      const millis = Date.parse(sent.expirationDateTime) - (yield* Clock.currentTimeMillis)
      assert.strictEqual(millis / 60_000, 1_430)
    })
  )

  it("lasts as long as the service documents for its resource", () => {
    const longest = (resource: string, withData = false) => Subscriptions.longestMinutes(resource, { withData })
    assert.deepStrictEqual(
      [
        longest("/me/drive/root"),
        longest("drives/b!x/root"),
        longest("sites/a,b,c/lists/d"),
        longest("users/ann@contoso.test/mailFolders('inbox')/messages"),
        longest("me/messages", true),
        longest("users"),
        longest("groups/1/conversations"),
        longest("chats/1/messages"),
        longest("communications/presences/1"),
        longest("something/new")
      ],
      [42_300, 42_300, 42_300, 10_080, 1_440, 41_760, 4_230, 4_320, 60, 60]
    )
  })
})

describe("a subscription that is kept", () => {
  const test = (name: string, effect: Effect.Effect<void, unknown, Needs>, options?: Options) =>
    it.live(name, () => inSandbox(effect, options))

  /** Kept, with what its receiver gets. */
  const kept = Effect.gen(function* () {
    const { received, url } = yield* receiver
    const subscription = yield* Subscriptions.keep(given(url), Stream.fromQueue(received))
    const hint = Effect.map(Stream.runHead(subscription.hints), (found) => (found._tag === "Some" ? found.value : null))
    return { ...subscription, hint, received }
  })

  test(
    "hints that something has changed, and ends with its scope",
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { hint } = yield* kept
          yield* put("a.txt")
          assert.strictEqual(yield* hint, "notified")
        })
      )
      assert.deepStrictEqual(yield* ids, [])
    })
  )

  test(
    "takes the place of one that a killed run has left",
    Effect.gen(function* () {
      const { url } = yield* receiver
      const left = yield* Subscriptions.create(given(url))
      const other = yield* Subscriptions.create(given(`${url}/other`))
      const { current } = yield* Subscriptions.keep(given(url), Stream.never)
      const found = yield* ids
      assert.sameMembers(found, [other.id, (yield* current).id])
      assert.notInclude(found, left.id)
    })
  )

  test(
    "is renewed before it ends",
    Effect.gen(function* () {
      const { current } = yield* kept
      const { id } = yield* current
      const renewals = Effect.map(asked, (all) => all.filter(({ method }) => method === "PATCH"))
      while ((yield* renewals).length < 2) yield* Effect.sleep("20 millis")
      assert.isTrue((yield* renewals).every(({ status }) => status === 200))
      assert.strictEqual((yield* current).id, id)
    }),
    { subscriptionSeconds: 0.6 }
  )

  test(
    "is made again when the service removed it, and says that something may be missing",
    Effect.gen(function* () {
      const { current, hint } = yield* kept
      const before = yield* current
      yield* Effect.flatMap(GraphSandbox, ({ sendLifecycle }) => sendLifecycle("subscriptionRemoved"))
      assert.strictEqual(yield* hint, "recreated")
      const after = yield* current
      assert.notStrictEqual(after.id, before.id)
      assert.deepStrictEqual(yield* ids, [after.id])
    })
  )

  test(
    "is made again when it is found gone, with as many attempts as that takes",
    Effect.gen(function* () {
      const { current, hint } = yield* kept
      const before = yield* current
      yield* Subscriptions.remove(before.id)
      yield* faults({ fault: "status", status: 403, method: "POST", path: "/subscriptions$", times: 1 })
      assert.strictEqual(yield* hint, "recreated")
      assert.notStrictEqual((yield* current).id, before.id)
    }),
    { subscriptionSeconds: 0.6 }
  )

  test(
    "is authorized again when the service asks for that",
    Effect.gen(function* () {
      const { hint } = yield* kept
      yield* Effect.flatMap(GraphSandbox, ({ sendLifecycle }) => sendLifecycle("reauthorizationRequired"))
      assert.strictEqual(yield* hint, "missed")
      yield* put("after.txt")
      assert.strictEqual(yield* hint, "notified")
    })
  )

  test(
    "says when notifications were missed, and ignores what concerns another subscription",
    Effect.gen(function* () {
      const { current, hint, received } = yield* kept
      const { id } = yield* current
      const notification = {
        subscriptionId: "another",
        changeType: null,
        resource: null,
        resourceId: null,
        subscriptionExpirationDateTime: null,
        tenantId: null,
        raw: {}
      }
      yield* Queue.offer(received, { ...notification, lifecycleEvent: "subscriptionRemoved" })
      yield* Queue.offer(received, { ...notification, lifecycleEvent: "missed" })
      assert.strictEqual(yield* hint, "missed")
      assert.strictEqual((yield* current).id, id)
    })
  )
})
