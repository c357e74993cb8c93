/**
 * Messages that arrive in a mailbox: each once, whatever happens to them afterwards.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Mail } from "@signalbox/graph-sandbox/Seed"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Arrivals from "../src/Arrivals.ts"
import { ArrivalStore } from "../src/ArrivalStore.ts"
import * as MailArrivals from "../src/MailArrivals.ts"
import * as Messages from "../src/Mail.ts"
import * as Mailbox from "../src/Mailbox.ts"
import * as Subscriptions from "../src/Subscriptions.ts"
import { clientState, receiver } from "./support/Receiver.ts"
import { faults, GraphSandbox, inSandbox, type Needs } from "./support/Sandbox.ts"

const joan = Mailbox.of({ user: "joan@contoso.test" })
const inbox = MailArrivals.messages(joan)

const deliver = (mail: Mail) => Effect.flatMap(GraphSandbox, (sandbox) => sandbox.deliver("joan@contoso.test", mail))

/** A look that collects arrivals. */
const arrived = Effect.gen(function* () {
  const all: Array<Arrivals.Arrival<Messages.Message>> = []
  yield* Arrivals.look(inbox, (arrival) => Effect.sync(() => all.push(arrival)))
  return all
})
const subjects = Effect.map(arrived, (all) => all.map(({ item }) => item.subject))

const test = (name: string, effect: Effect.Effect<void, unknown, Needs | ArrivalStore>) =>
  it.live(name, () => inSandbox(Effect.provide(effect, ArrivalStore.layerMemory())))

describe("a look into a mailbox", () => {
  test(
    "hands over what is there, and then what is new, under the id of the mail itself",
    Effect.gen(function* () {
      yield* deliver({ subject: "first" })
      assert.deepStrictEqual(yield* subjects, ["first"])
      const internetMessageId = yield* deliver({ subject: "second", attachments: [{ name: "a.txt", content: "a" }] })
      const [arrival] = yield* arrived
      assert.deepInclude(arrival, { key: internetMessageId })
      assert.deepInclude(arrival?.item, { subject: "second", hasAttachments: true, internetMessageId })
      assert.deepStrictEqual(yield* subjects, [])
    })
  )

  test(
    "does not take a message for another one that was read, moved away, or moved back",
    Effect.gen(function* () {
      yield* deliver({ subject: "once" })
      const [arrival] = yield* arrived
      const id = arrival?.item.id ?? ""
      yield* Messages.update(joan, id, { isRead: true })
      assert.deepStrictEqual(yield* subjects, [])
      yield* Messages.move(joan, id, "archive")
      assert.deepStrictEqual(yield* subjects, [])
      yield* Messages.move(joan, id, "inbox")
      assert.deepStrictEqual(
        (yield* arrived).map(({ key }) => key),
        [arrival?.key]
      )
    })
  )

  test(
    "has a key of printable characters whatever the sender wrote",
    Effect.gen(function* () {
      yield* deliver({ subject: "odd", internetMessageId: "<ü b@example.test>" })
      yield* deliver({ subject: "long", internetMessageId: `<${"x".repeat(300)}@example.test>` })
      const keys = (yield* arrived).map(({ key }) => key)
      for (const key of keys) assert.match(key, /^sha256:[0-9a-f]{64}$/)
      assert.strictEqual(new Set(keys).size, 2)
    })
  )

  test(
    "after the service has lost the link hands over only what it has not seen",
    Effect.gen(function* () {
      yield* deliver({ subject: "seen" })
      yield* subjects
      yield* deliver({ subject: "new" })
      yield* faults({ fault: "status", status: 410, code: "SyncStateNotFound", path: "deltatoken", times: 1 })
      assert.deepStrictEqual(yield* subjects, ["new"])
    })
  )

  test(
    "comes when a subscription says that a message is new",
    Effect.gen(function* () {
      const { received, url } = yield* receiver
      const { hints } = yield* Subscriptions.keep(
        {
          resource: MailArrivals.resource(joan),
          changeTypes: ["created"],
          notificationUrl: url,
          clientState
        },
        Stream.fromQueue(received)
      )
      const found = yield* Queue.unbounded<string>()
      yield* Effect.forkScoped(
        Arrivals.follow(inbox, ({ item }) => Queue.offer(found, item.subject ?? ""), { every: "1 hour", hints })
      )
      yield* deliver({ subject: "told" })
      assert.strictEqual(yield* Queue.take(found), "told")
    })
  )
})
