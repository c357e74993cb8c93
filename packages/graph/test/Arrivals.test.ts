/**
 * What arrives in a folder: each once, over restarts, whatever fails in between.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Arrivals from "../src/Arrivals.ts"
import { ArrivalStore } from "../src/ArrivalStore.ts"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import type { DriveItem } from "../src/model/Drive.ts"
import * as Uploads from "../src/Uploads.ts"
import { faults, inSandbox, type Needs } from "./support/Sandbox.ts"

const folder = { path: "/In" }
const inbox = Arrivals.files(Drive.me, { folder })

const put = (name: string, text = name) =>
  Uploads.upload(Drive.me, { path: `/In/${name}` }, new TextEncoder().encode(text))

/** A look that collects names; those of `refused` fail. */
const names = Effect.fnUntraced(function* (
  options: { readonly refused?: ReadonlyArray<string> } & Arrivals.LookOptions = {},
  source: Arrivals.Source<DriveItem> = inbox
) {
  const { refused = [], ...looking } = options
  const all: Array<string> = []
  const report = yield* Arrivals.look(
    source,
    ({ item }) =>
      refused.includes(item.name ?? "") ? Effect.fail(`no ${item.name}`) : Effect.sync(() => all.push(item.name ?? "")),
    looking
  )
  assert.strictEqual(report.handedOver, all.length)
  return [...all.toSorted(), ...report.failed.map(({ error }) => error)]
})

const test = (name: string, effect: Effect.Effect<void, unknown, Needs | ArrivalStore>) =>
  it.live(name, () => inSandbox(Effect.provide(effect, ArrivalStore.layerMemory())))

describe("a look", () => {
  test(
    "hands over what is there, and then what is new",
    Effect.gen(function* () {
      yield* put("a.txt")
      yield* put("b/c.txt")
      assert.deepStrictEqual(yield* names(), ["a.txt", "c.txt"])
      assert.deepStrictEqual(yield* names(), [])
      yield* put("d.txt")
      yield* Drives.createFolder(Drive.me, folder, "empty")
      assert.deepStrictEqual(yield* names(), ["d.txt"])
    })
  )

  test(
    "leaves out what was there before, if told so",
    Effect.gen(function* () {
      yield* put("old.txt")
      assert.deepStrictEqual(yield* names({ existing: "skip" }), [])
      yield* put("old.txt", "changed")
      yield* put("new.txt")
      assert.deepStrictEqual(yield* names({ existing: "skip" }), ["new.txt"])
    })
  )

  test(
    "does not take a change, or a new name, for an arrival",
    Effect.gen(function* () {
      const { id } = yield* put("a.txt")
      yield* names()
      yield* put("a.txt", "changed")
      yield* Drives.move(Drive.me, { id }, { name: "b.txt" })
      assert.deepStrictEqual(yield* names(), [])
    })
  )

  test(
    "hands over changed contents under another key, if told so",
    Effect.gen(function* () {
      const changing = Arrivals.files(Drive.me, { folder, changed: true })
      const keys: Array<string> = []
      const look = Arrivals.look(changing, ({ key }) => Effect.sync(() => keys.push(key)))
      const { id } = yield* put("a.txt")
      yield* look
      yield* Drives.move(Drive.me, { id }, { name: "b.txt" })
      yield* look
      assert.strictEqual(keys.length, 1)
      yield* put("b.txt", "changed")
      yield* look
      assert.strictEqual(new Set(keys).size, 2)
    })
  )

  test(
    "hands over again what its handler failed for, and nothing else",
    Effect.gen(function* () {
      yield* put("a.txt")
      yield* put("b.txt")
      assert.deepStrictEqual(yield* names({ refused: ["a.txt"] }), ["b.txt", "no a.txt"])
      assert.deepStrictEqual(yield* names({ refused: ["a.txt"] }), ["no a.txt"])
      assert.deepStrictEqual(yield* names(), ["a.txt"])
      assert.deepStrictEqual(yield* names(), [])
    })
  )

  test(
    "stores the link only after all was handed over",
    Effect.gen(function* () {
      const store = yield* ArrivalStore
      yield* put("a.txt")
      yield* put("b.txt")
      yield* names({ refused: ["a.txt"] })
      assert.isNull(Option.getOrThrow(yield* store.load).link)
      yield* names()
      assert.isString(Option.getOrThrow(yield* store.load).link)
    })
  )

  test(
    "that is interrupted hands over again only what it was at",
    Effect.gen(function* () {
      for (let n = 0; n < 45; n++) yield* put(`${n}.txt`)
      const begun = yield* Deferred.make<void>()
      let count = 0
      const look = Arrivals.look(
        inbox,
        () =>
          Effect.suspend(() =>
            ++count > 41 ? Effect.andThen(Deferred.succeed(begun, undefined), Effect.never) : Effect.void
          ),
        { concurrency: 1 }
      )
      const fiber = yield* Effect.forkScoped(look)
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* names()).length, 4)
    })
  )

  test(
    "that fails later hands over again nothing that was taken",
    Effect.gen(function* () {
      for (let n = 0; n < 5; n++) yield* put(`${n}.txt`)
      const missing = Stream.fromEffectDrain(Drives.item(Drive.me, { path: "/missing" }))
      const failing = { ...inbox, look: (from: string | null) => Stream.concat(inbox.look(from), missing) }
      assert.strictEqual((yield* Effect.flip(names({}, failing)))._tag, "GraphError")
      assert.deepStrictEqual(yield* names(), [])
    })
  )

  test(
    "over many stores its state a few times, since that is written as a whole",
    Effect.gen(function* () {
      const states = yield* ArrivalStore
      let stored = 0
      const counting = ArrivalStore.of({
        ...states,
        save: (state) =>
          Effect.andThen(
            states.save(state),
            Effect.sync(() => stored++)
          )
      })
      const many = Array.from({ length: 2_000 }, (_, n) => ({ id: `${n}`, version: "", key: `${n}`, item: n }))
      const pages = Array.from({ length: 20 }, (_, n) => many.slice(n * 100, (n + 1) * 100))
      const source: Arrivals.Source<number> = {
        name: "numbers",
        look: () =>
          Stream.map(Stream.fromIterable(pages), (found) => ({ found, gone: [], link: "end", restarted: false }))
      }
      const { handedOver } = yield* Effect.provideService(
        Arrivals.look(source, () => Effect.void),
        ArrivalStore,
        counting
      )
      assert.strictEqual(handedOver, 2_000)
      assert.isBelow(stored, 40)
    })
  )

  test(
    "after the service has lost the link hands over only what it has not seen",
    Effect.gen(function* () {
      yield* put("a.txt")
      const { id } = yield* put("gone.txt")
      yield* names()
      yield* put("b.txt")
      yield* Drives.remove(Drive.me, { id })
      yield* faults({ fault: "status", status: 410, code: "resyncRequired", path: "/delta.*token", times: 1 })
      assert.deepStrictEqual(yield* names(), ["b.txt"])
      const { seen } = Option.getOrThrow(yield* (yield* ArrivalStore).load)
      assert.strictEqual(Object.keys(seen).length, 2)
    })
  )

  test(
    "into another folder begins anew, with the same store",
    Effect.gen(function* () {
      yield* put("a.txt")
      yield* put("b/c.txt")
      yield* names()
      const below = Arrivals.files(Drive.me, { folder: { path: "/In/b" } })
      assert.deepStrictEqual(yield* names({}, below), ["c.txt"])
    })
  )

  test(
    "has keys that name the drive and the file",
    Effect.gen(function* () {
      const { id, parentReference } = yield* put("a.txt")
      const keys: Array<string> = []
      yield* Arrivals.look(inbox, ({ key }) => Effect.sync(() => keys.push(key)))
      assert.deepStrictEqual(keys, [`${parentReference?.driveId}/${id}`])
    })
  )
})

describe("looks that follow one another", () => {
  /** Follows the folder; the names come one by one. */
  const following = Effect.fnUntraced(function* (options: Arrivals.FollowOptions) {
    const arrived = yield* Queue.unbounded<string>()
    const fiber = yield* Effect.forkScoped(
      Arrivals.follow(inbox, ({ item }) => Queue.offer(arrived, item.name ?? ""), options)
    )
    return { next: Queue.take(arrived), fiber }
  })

  test(
    "look when a hint comes, and after a pause in any case",
    Effect.gen(function* () {
      const hints = yield* Queue.unbounded<string>()
      const hinted = yield* following({ every: "1 hour", hints: Stream.fromQueue(hints) })
      yield* put("a.txt")
      yield* Queue.offer(hints, "notified")
      assert.strictEqual(yield* hinted.next, "a.txt")
      yield* Fiber.interrupt(hinted.fiber)
      const { next } = yield* following({ every: 20, hints: Stream.empty })
      yield* put("b.txt")
      assert.strictEqual(yield* next, "b.txt")
    })
  )

  test(
    "go on after a look that failed, and end when the sign-in is lost",
    Effect.gen(function* () {
      yield* faults({ fault: "status", status: 403, path: "/delta", times: 1 })
      const { fiber, next } = yield* following({ every: 20 })
      yield* put("a.txt")
      assert.strictEqual(yield* next, "a.txt")
      yield* faults({ fault: "expiredToken", path: "/delta" })
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error._tag === "GraphError" && error.reason._tag, "Unauthenticated")
    })
  )
})

describe("the state in a file", () => {
  it.live("outlives the program; a file of something else is refused", () =>
    inSandbox(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const home = `${yield* fs.makeTempDirectoryScoped()}/deep`
        const path = `${home}/inbox.json`
        const run = Effect.suspend(() => Effect.provide(names(), ArrivalStore.layerFile(path)))
        yield* put("a.txt")
        assert.deepStrictEqual(yield* run, ["a.txt"])
        yield* put("b.txt")
        assert.deepStrictEqual(yield* run, ["b.txt"])
        assert.deepStrictEqual(yield* fs.readDirectory(home), ["inbox.json"])
        yield* fs.writeFileString(path, "{}")
        const error = yield* Effect.flip(run)
        assert.include(error.message, "inbox.json does not hold the state of arrivals")
      })
    )
  )
})
