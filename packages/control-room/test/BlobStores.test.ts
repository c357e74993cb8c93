/** The contract of blob stores, over each of them: a folder, memory, a bucket. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import { createHash, randomBytes } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { BlobStore } from "../src/BlobStore.ts"
import * as MemoryFiles from "../src/internal/blobs/MemoryFiles.ts"
import * as S3BlobStore from "../src/internal/blobs/S3BlobStore.ts"
import { externalBucket, optionsOf, s3Server } from "./support/Bucket.ts"
import { movedBy, temporaryFolder } from "./support/Service.ts"

const limit = Duration.hours(1)
const hasRealBucket = externalBucket() !== null

/** Its clock cannot be moved, so that its sweep knows no limit. */
const realBucket = Layer.unwrap(
  Effect.map(
    Effect.sync(() => externalBucket() ?? assert.fail("no bucket")),
    (options) => S3BlobStore.layer(options, Duration.zero)
  )
)

const stores = {
  "a folder": Layer.unwrap(Effect.map(temporaryFolder, (folder) => BlobStore.layerDisk(`${folder}/files`, limit))),
  memory: BlobStore.layerDisk("/files", limit).pipe(Layer.provide(Layer.merge(MemoryFiles.layer, Path.layer))),
  "a bucket": Layer.unwrap(Effect.map(s3Server, (server) => S3BlobStore.layer(optionsOf(server), limit))),
  "a bucket below a prefix": Layer.unwrap(
    Effect.map(s3Server, (server) => S3BlobStore.layer({ ...optionsOf(server), prefix: "rooms/invoices/" }, limit))
  ),
  ...(hasRealBucket ? { "a real bucket": realBucket } : {})
}

/** Emits bytes in chunks, as they come from a connection. */
const inChunks = (bytes: Uint8Array, size = 60_000) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size))
  )

const write = (bytes: Uint8Array) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { commit, size } = yield* (yield* BlobStore).stage(inChunks(bytes))
      assert.strictEqual(size, bytes.length)
      return yield* commit
    })
  )

const readAll = Effect.fnUntraced(function* (...args: Parameters<BlobStore["Service"]["read"]>) {
  const chunks = yield* Stream.runCollect(yield* (yield* BlobStore).read(...args))
  return Buffer.concat(chunks)
})

const allNames = Effect.flatMap(BlobStore, ({ names }) =>
  Effect.map(Stream.runCollect(names), (pages) => pages.flat().toSorted())
)

/** A sweep at another time, that knows these blobs. */
const sweepIn = Effect.fnUntraced(function* (
  duration: Duration.Duration,
  known: ReadonlyArray<string>,
  ...room: ReadonlyArray<string>
) {
  const { sweep } = yield* BlobStore
  const clock = yield* Clock.Clock
  return yield* Effect.provideService(
    sweep((blobs) => Effect.succeed(new Set(blobs.filter((blob) => known.includes(blob)))), ...room),
    Clock.Clock,
    movedBy(clock, Duration.toMillis(duration))
  )
})

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

for (const [name, layer] of Object.entries(stores)) {
  const run = <A, E>(effect: Effect.Effect<A, E, BlobStore>) =>
    effect.pipe(Effect.provide(layer.pipe(Layer.provide(NodeServices.layer))), Effect.scoped)

  describe(`a blob store in ${name}`, () => {
    it.live("returns the bytes that were committed, of any size, and ranges of them", () =>
      run(
        Effect.gen(function* () {
          const { sizeOf } = yield* BlobStore
          // Nothing, one part, exactly one part, and several.
          for (const size of [0, 5, 5 * 1024 * 1024, 12_000_003]) {
            const bytes = randomBytes(size)
            const blob = yield* write(bytes)
            assert.strictEqual(yield* sizeOf(blob), size)
            assert.strictEqual(digest(yield* readAll(blob)), digest(bytes))
            if (size < 5) continue
            const range = yield* readAll(blob, { offset: 1, length: 3 })
            assert.deepStrictEqual(range, bytes.subarray(1, 4))
            const end = yield* readAll(blob, { offset: size - 2, length: 2 })
            assert.deepStrictEqual(end, bytes.subarray(size - 2))
          }
          assert.lengthOf(yield* allNames, 4)
        })
      )
    )

    it.live(
      "shows nothing of an upload before it is committed, and nothing of one that failed or was not committed",
      () =>
        run(
          Effect.gen(function* () {
            const { sizeOf, stage } = yield* BlobStore
            const bytes = inChunks(randomBytes(11_000_000))
            yield* Effect.scoped(
              Effect.andThen(
                stage(bytes),
                Effect.flatMap(allNames, (all) => Effect.sync(() => assert.lengthOf(all, 0)))
              )
            )
            const cut = Stream.concat(bytes, Stream.fail("cut off"))
            const exit = yield* Effect.exit(Effect.scoped(stage(cut)))
            assert.isTrue(Exit.isFailure(exit))
            assert.lengthOf(yield* allNames, 0)
            const named = crypto.randomUUID()
            yield* Effect.scoped(
              Effect.flatMap(stage(Stream.succeed(new Uint8Array(2)), named), ({ commit }) => commit)
            )
            assert.strictEqual(yield* sizeOf(named), 2)
          })
        )
    )

    it.live("does not know what was removed, or was never there", () =>
      run(
        Effect.gen(function* () {
          const { read, remove, sizeOf } = yield* BlobStore
          const blob = yield* write(randomBytes(10))
          yield* remove(blob)
          yield* remove(blob)
          for (const missing of [blob, crypto.randomUUID()]) {
            assert.isNull(yield* sizeOf(missing))
            assert.strictEqual((yield* Effect.flip(read(missing)))._tag, "BlobMissing")
            assert.strictEqual((yield* Effect.flip(read(missing, { offset: 0, length: 1 })))._tag, "BlobMissing")
          }
        })
      )
    )

    it.live("sweeps blobs that no row names when they are old enough, and no others", () =>
      run(
        Effect.gen(function* () {
          const named = yield* write(randomBytes(10))
          const unnamed = yield* write(randomBytes(10))
          // Memory does not know times, and only one process uses it.
          if (name === "a real bucket") yield* Effect.sleep("2 seconds")
          else if (name !== "memory") {
            assert.strictEqual(yield* sweepIn(Duration.minutes(50), [named]), 0)
            assert.deepStrictEqual(yield* allNames, [named, unnamed].toSorted())
          }
          const later = Duration.minutes(name === "a real bucket" ? 0 : 70)
          assert.strictEqual(yield* sweepIn(later, [named]), 1)
          assert.deepStrictEqual(yield* allNames, [named])
        })
      )
    )

    // No other room finds what is in memory.
    if (name !== "memory") {
      it.live("that is swept by one room keeps everything from the sweeps of another", () =>
        run(
          Effect.gen(function* () {
            const later = Duration.minutes(name === "a real bucket" ? 0 : 70)
            assert.strictEqual(yield* sweepIn(later, [], "room one"), 0)
            yield* write(randomBytes(10))
            assert.strictEqual(yield* sweepIn(later, [], "room two"), 0)
            assert.strictEqual(yield* sweepIn(later, [], "room one"), 1)
          })
        )
      )
    }

    it.live("can be probed, which leaves no blob", () =>
      run(
        Effect.gen(function* () {
          const { probe } = yield* BlobStore
          yield* probe
          yield* probe
          assert.lengthOf(yield* allNames, 0)
        })
      )
    )

    it.live.skipIf(name === "memory")("has a file of an upload until it ends", () =>
      run(
        Effect.gen(function* () {
          const { stageFile } = yield* BlobStore
          const bytes = randomBytes(6_000_000)
          const path = yield* Effect.scoped(
            Effect.gen(function* () {
              const { commit, path } = yield* stageFile(inChunks(bytes))
              assert.strictEqual(digest(readFileSync(path)), digest(bytes))
              assert.strictEqual(digest(yield* readAll(yield* commit)), digest(bytes))
              return path
            })
          )
          assert.isFalse(existsSync(path))
        })
      )
    )
  })
}
