/** Notifications between nodes: what a node sends after its transactions, and what others receive. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Listening } from "@signalbox/sql/Listening"
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Database } from "../src/internal/store/database/Database.ts"
import { channelOf, Notifier } from "../src/internal/store/database/Notifier.ts"
import { storageIn, temporaryFolder } from "./support/Service.ts"

const database = Effect.map(temporaryFolder, (folder) => storageIn(folder).database ?? assert.fail("not on Postgres"))

/** A node that has no tables, and nothing but notifications. */
const nodeOn = (options: Effect.Success<typeof database>) =>
  Effect.map(
    Layer.build(
      Layer.fresh(
        Notifier.layerPostgres(options).pipe(
          Layer.provideMerge(Database.layer),
          Layer.provideMerge(PostgresClient.layer(options))
        )
      )
    ),
    (context) => ({ ...Context.get(context, Notifier), ...Context.get(context, Database), context })
  )

/** What is sent on the channel of a node from now on, as it is. */
const textsOf = Effect.fnUntraced(function* ({ context }: Effect.Success<ReturnType<typeof nodeOn>>, schema?: string) {
  const texts: Array<string> = []
  const begun = yield* Deferred.make<void>()
  yield* Context.get(context, Listening)
    .texts(channelOf(schema), Effect.asVoid(Deferred.succeed(begun, undefined)))
    .pipe(
      Stream.runForEach((text) => Effect.sync(() => texts.push(text))),
      Effect.forkScoped
    )
  yield* Deferred.await(begun)
  return texts
})

/** What a node receives of others, without what it may have missed. */
const receivedBy = Effect.fnUntraced(function* ({ subscribe }: Effect.Success<ReturnType<typeof nodeOn>>) {
  const received: Array<string> = []
  for (const topic of ["work", "key revoked", "changed"] as const) {
    yield* subscribe(topic, (about) => Effect.sync(() => about !== null && received.push(`${topic} ${about}`)))
  }
  return received
})

const until = (condition: () => boolean) =>
  Effect.repeat(Effect.andThen(Effect.sleep("5 millis"), Effect.sync(condition)), { until: (holds) => holds })

const started = Effect.gen(function* () {
  const options = yield* database
  const [sender, other] = [yield* nodeOn(options), yield* nodeOn(options)]
  const texts = yield* textsOf(other, options.schema)
  const received = yield* receivedBy(other)
  // From here on the other node listens too.
  yield* Effect.repeat(Effect.andThen(sender.notify("changed", "begin"), Effect.sleep("5 millis")), {
    until: () => received.length > 0
  })
  yield* sender.notify("changed", "begun")
  yield* until(() => received.includes("changed begun"))
  texts.length = 0
  received.length = 0
  return { options, sender, texts, received }
}).pipe(Effect.provide(NodeServices.layer))

describe("notifications of nodes", () => {
  it.live("are sent once for a transaction, whatever it tells and how often", () =>
    Effect.gen(function* () {
      const { received, sender, texts } = yield* started
      yield* sender.transaction(
        Effect.forEach(Array.from({ length: 20 }), (_, index) =>
          Effect.andThen(sender.notify("work", ""), sender.notify("key revoked", String(index % 2)))
        )
      )
      yield* until(() => received.length === 3)
      assert.deepStrictEqual(received, ["work ", "key revoked 0", "key revoked 1"])
      assert.lengthOf(texts, 1)
    })
  )

  it.live("are in several texts when they do not fit into one", () =>
    Effect.gen(function* () {
      const { received, sender, texts } = yield* started
      const all = Array.from({ length: 500 }, (_, index) => `${"0".repeat(40)}${index}`)
      yield* sender.transaction(Effect.forEach(all, (about) => sender.notify("key revoked", about)))
      yield* until(() => received.length === 500)
      assert.deepStrictEqual(
        received,
        all.map((about) => `key revoked ${about}`)
      )
      for (const text of texts) assert.isBelow(text.length, 8000)
      assert.isAbove(texts.length, 1)
    })
  )

  it.live("are not sent of a transaction that is rolled back", () =>
    Effect.gen(function* () {
      const { received, sender } = yield* started
      yield* Effect.exit(sender.transaction(Effect.andThen(sender.notify("work", ""), Effect.fail("no"))))
      yield* sender.notify("changed", "later")
      yield* until(() => received.length > 0)
      assert.deepStrictEqual(received, ["changed later"])
    })
  )

  it.live("are sent before a node ends", () =>
    Effect.gen(function* () {
      const { options, received } = yield* started
      yield* Effect.scoped(Effect.flatMap(nodeOn(options), ({ notify }) => notify("key revoked", "last")))
      yield* until(() => received.length > 0)
      assert.deepStrictEqual(received, ["key revoked last"])
    })
  )
})
