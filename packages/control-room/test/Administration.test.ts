/** A program that uses only the public modules of the package. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Assets from "@signalbox/api/Assets"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as HttpServer from "effect/http/HttpServer"
import { Administration } from "../src/Administration.ts"
import { BlobStore } from "../src/BlobStore.ts"
import * as NodeServer from "../src/NodeServer.ts"
import * as Server from "../src/Server.ts"
import { storageIn, temporaryFolder } from "./support/Service.ts"

class NotSaved extends Data.TaggedError("NotSaved") {}

const storage = Layer.unwrap(Effect.map(temporaryFolder, (folder) => Server.layerStorage(storageIn(folder)))).pipe(
  Layer.provide(NodeServices.layer)
)

const listening = NodeHttpServer.layer(NodeServer.create, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 })

/** Where a first key is saved. */
const place = Effect.map(Ref.make<Redacted.Redacted | null>(null), (saved) => ({
  workspace: "first",
  saved: Ref.get(saved),
  save: ({ key }: { readonly key: Redacted.Redacted }) => Ref.set(saved, key)
}))

describe("the first key", () => {
  it.live("is created once, and stays while it is saved", () =>
    Effect.gen(function* () {
      const { ensureFirstKey } = yield* Administration
      const saved = yield* place
      const first = yield* ensureFirstKey(saved)
      const again = yield* ensureFirstKey({ ...saved, workspace: "another name" })
      assert.strictEqual(Redacted.value(again.key), Redacted.value(first.key))
      const elsewhere = yield* ensureFirstKey(yield* place)
      assert.strictEqual(elsewhere.workspaceId, first.workspaceId)
      assert.notStrictEqual(Redacted.value(elsewhere.key), Redacted.value(first.key))
    }).pipe(Effect.provide(storage))
  )

  it.live("is not created where it cannot be saved, nor is its workspace", () =>
    Effect.gen(function* () {
      const { ensureFirstKey, firstWorkspace } = yield* Administration
      const failing = { ...(yield* place), save: () => Effect.fail(new NotSaved()) }
      assert.instanceOf(yield* Effect.flip(ensureFirstKey(failing)), NotSaved)
      assert.strictEqual((yield* firstWorkspace("second")).name, "second")
    }).pipe(Effect.provide(storage))
  )

  it.live("is one where many ask together", () =>
    Effect.gen(function* () {
      const { ensureFirstKey } = yield* Administration
      const saved = yield* place
      const all = yield* Effect.all(
        Array.from({ length: 8 }, () => ensureFirstKey(saved)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf([...new Set(all.map(({ key }) => Redacted.value(key)))], 1)
    }).pipe(Effect.provide(storage))
  )
})

describe("a blob store that is provided over the storage", () => {
  it.live("has the bytes of the service", () =>
    Effect.gen(function* () {
      const staged = yield* Ref.make(0)
      const counting = Layer.effect(
        BlobStore,
        Effect.map(BlobStore, (disk) =>
          BlobStore.of({
            ...disk,
            stage: (bytes) =>
              Effect.andThen(
                Ref.update(staged, (n) => n + 1),
                disk.stage(bytes)
              )
          })
        )
      )
      const served = yield* Layer.build(
        Server.layer({ rateLimit: null }).pipe(
          Layer.provideMerge(counting),
          Layer.provideMerge(storage),
          Layer.provideMerge(listening),
          Layer.provideMerge(NodeHttpClient.layerUndici)
        )
      )
      const { createKey, firstWorkspace } = Context.get(served, Administration)
      const { id } = yield* firstWorkspace("w")
      const apiKey = yield* createKey(id, "k", [
        "Assets.read_asset_storage_assets",
        "Assets.write_asset_storage_assets"
      ])
      const baseUrl = HttpServer.formatAddress(Context.get(served, HttpServer.HttpServer).address)
      yield* Assets.put("a", { name: "a", bytes: new TextEncoder().encode("text") }).pipe(
        Effect.provide(ControlRoom.layerHttpClient({ baseUrl, workspaceId: id, apiKey })),
        Effect.provideContext(served)
      )
      assert.isAbove(yield* Ref.get(staged), 0)
    }).pipe(Effect.scoped)
  )
})
