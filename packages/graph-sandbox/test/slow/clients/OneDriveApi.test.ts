/**
 * The graph, as onedrive-api uses it.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { buffer } from "node:stream/consumers"
import { Readable } from "node:stream"
import { Command, patterned } from "../../support/command.ts"
import { itemsAt } from "./support/oneDriveApi.ts"

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const connected = Effect.gen(function* () {
  const { ann, graph_url } = yield* Command
  return { items: itemsAt(graph_url), accessToken: ann.accessToken }
})

const names = (page: { readonly value: ReadonlyArray<{ readonly name?: string | null | undefined }> }) =>
  page.value.map(({ name }) => name)

// It sends its token along with links to contents, which the service itself refuses.
layer(Command.layer("--token-on-files", "ignore"), { excludeTestServices: true })(
  "onedrive-api, against the command",
  (it) => {
    it.effect("lists, uploads, downloads whole and in part, moves and deletes", () =>
      Effect.gen(function* () {
        const { accessToken, items } = yield* connected
        assert.include(names(yield* call(() => items.listChildren({ accessToken }))), "Docs")
        const folder = yield* call(() => items.createFolder({ accessToken, name: "Moved" }))
        const put = yield* call(() =>
          items.uploadSimple({
            accessToken,
            filename: "it's.txt",
            readableStream: Readable.from(["from onedrive-api"])
          })
        )
        const itemId = put.id ?? ""
        assert.deepInclude(yield* call(() => items.getMetadata({ accessToken, itemId })), {
          name: "it's.txt",
          size: 17
        })
        const whole = yield* call(async () => buffer(await items.download({ accessToken, itemId })))
        assert.strictEqual(whole.toString(), "from onedrive-api")
        const part = yield* call(async () =>
          buffer(await items.partialDownload({ accessToken, itemId, bytesFrom: 5, bytesTo: 12 }))
        )
        assert.strictEqual(part.toString(), "onedrive")
        const moved = yield* call(() =>
          items.update({ accessToken, itemId, toUpdate: { name: "b.txt", parentReference: { id: folder.id ?? "" } } })
        )
        assert.strictEqual(moved.parentReference?.id, folder.id)
        const listed = yield* call(() => items.listChildren({ accessToken, itemPath: "/Moved" }))
        assert.deepStrictEqual(names(listed), ["b.txt"])
        yield* call(() => items.delete({ accessToken, itemId }))
        const after = yield* call(() => items.listChildren({ accessToken, itemId: folder.id ?? "" }))
        assert.deepStrictEqual(names(after), [])
      })
    )

    it.effect("uploads a large file by session, and what is stored is what was sent", () =>
      Effect.gen(function* () {
        const { accessToken, items } = yield* connected
        const bytes = patterned(4 * 327_680 + 7)
        const progress: Array<number> = []
        const item = yield* call(() =>
          items.uploadSession(
            {
              accessToken,
              filename: "large.bin",
              fileSize: bytes.length,
              chunksToUpload: 1,
              readableStream: Readable.from([0, 1, 2, 3, 4].map((n) => bytes.subarray(n * 327_680, (n + 1) * 327_680)))
            },
            (sent) => progress.push(sent)
          )
        )
        assert.deepStrictEqual(progress, [327_680, 655_360, 983_040, 1_310_720, 1_310_727])
        const read = yield* call(async () => buffer(await items.download({ accessToken, itemId: item.id ?? "" })))
        assert.isTrue(read.equals(bytes))
      })
    )

    it.effect("shares a file by a link, and reaches it by that", () =>
      Effect.gen(function* () {
        const { accessToken, items } = yield* connected
        const permission = yield* call(() =>
          items.createLink({ accessToken, itemPath: "/Docs", type: "view", body: { scope: "organization" } })
        )
        const token = `u!${Buffer.from(permission.link?.webUrl ?? "").toString("base64url")}`
        const shared = yield* call(() =>
          items.customEndpoint({ accessToken, url: `shares/${token}/driveItem`, method: "GET" })
        )
        assert.strictEqual(shared.name, "Docs")
      })
    )

    it.effect("follows what changes by delta", () =>
      Effect.gen(function* () {
        const { accessToken, items } = yield* connected
        const first = yield* call(() => items.sync({ accessToken }))
        assert.includeMembers(names(first), ["root", "Docs", "a #1%.txt"])
        const next = "@odata.deltaLink" in first ? first["@odata.deltaLink"] : ""
        yield* call(() => items.createFolder({ accessToken, name: "New" }))
        assert.sameMembers(names(yield* call(() => items.sync({ accessToken, next }))), ["root", "New"])
      })
    )

    it.effect("has no pictures and previews of files", () =>
      Effect.gen(function* () {
        const { accessToken, items } = yield* connected
        const none = yield* call(() => items.thumbnails({ accessToken, itemPath: "/Docs" }))
        assert.deepStrictEqual(none.value, [])
        const refused: unknown = yield* call(() =>
          items.preview({ accessToken, itemPath: "/Docs" }).catch((error: unknown) => error)
        )
        assert.match(String(refused), /501/)
      })
    )
  }
)
