/**
 * Subscriptions and arrivals with promises: subscribed, hinted and handed over in one program.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connectGraph, driveResource, filesIn, me, NotFound } from "../src/Promise.ts"
import { clientState, receiver } from "./support/Receiver.ts"
import { GraphSandbox, inSandbox } from "./support/Sandbox.ts"

const inbox = filesIn(me, { folder: { path: "/In" } })

const count = async (items: AsyncIterable<unknown>) => {
  let found = 0
  for await (const _ of items) found++
  return found
}

describe("with promises", () => {
  it.live("what arrives is handed over when a notification comes, until it is aborted", () =>
    inSandbox(
      Effect.gen(function* () {
        const { accessToken, origin } = yield* GraphSandbox
        const token = yield* accessToken()
        const { received, url } = yield* receiver
        const hinted = Stream.toAsyncIterable(Stream.fromQueue(received))
        const folder = yield* Effect.acquireRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "arrivals-"))),
          (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
        )
        const arrived = yield* Queue.unbounded<string>()
        const run = Effect.runPromiseWith(yield* Effect.context())
        const nextArrived = () => run(Queue.take(arrived))
        yield* Effect.promise(async () => {
          await using graph = connectGraph({ token, graphUrl: origin, loginUrl: origin })
          const put = (name: string) =>
            graph.uploads.upload(me, { path: `/In/${name}` }, new TextEncoder().encode(name))
          await put("a.txt")
          const stop = new AbortController()
          const hints = graph.subscriptions.keep(
            { resource: driveResource(me), notificationUrl: url, clientState },
            hinted,
            { signal: stop.signal }
          )
          const following = graph.arrivals.follow(
            inbox,
            async ({ item }) => void Queue.offerUnsafe(arrived, item.name ?? ""),
            { store: join(folder, "inbox.json"), every: "1 hour", hints },
            { signal: stop.signal }
          )
          assert.strictEqual(await nextArrived(), "a.txt")
          while ((await count(graph.subscriptions.stream())) === 0) await put("b.txt")
          await put("b.txt")
          assert.strictEqual(await nextArrived(), "b.txt")
          stop.abort("enough")
          assert.strictEqual(await following.catch((error: unknown) => error), "enough")
          while ((await count(graph.subscriptions.stream())) > 0);
        })
      })
    )
  )

  it.live("a look says what its handler threw, and stores where the program says", () =>
    inSandbox(
      Effect.gen(function* () {
        const { accessToken, origin } = yield* GraphSandbox
        const token = yield* accessToken()
        yield* Effect.promise(async () => {
          await using graph = connectGraph({ token, graphUrl: origin, loginUrl: origin })
          await graph.uploads.upload(me, { path: "/In/a.txt" }, new TextEncoder().encode("a"))
          let state: string | null = null
          const store = {
            load: async () => (state === null ? null : JSON.parse(state)),
            save: async (next: unknown) => void (state = JSON.stringify(next))
          }
          const wrong = new Error("not today")
          const refuse = () => {
            throw wrong
          }
          const { failed } = await graph.arrivals.look(inbox, refuse, { store })
          assert.strictEqual(failed[0]?.error, wrong)
          assert.strictEqual((await graph.arrivals.look(inbox, () => null, { store })).handedOver, 1)
          assert.strictEqual((await graph.arrivals.look(inbox, () => null, { store })).handedOver, 0)
          const gone = await graph.subscriptions.get("none").catch((error: unknown) => error)
          assert.instanceOf(gone, NotFound)
          assert.include(gone, { operation: "subscriptions.get", code: "ResourceNotFound" })
        })
      })
    )
  )
})
