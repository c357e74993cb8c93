/**
 * The graph, as Adobe's helix-onedrive-support uses it. It has no upload sessions, moves nothing and creates no links.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Command } from "../../support/command.ts"
import { type DriveItem, oneDriveAt } from "./support/helix.ts"

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const connected = Effect.gen(function* () {
  const { ann, ask, graph_url } = yield* Command
  const drive = yield* Effect.acquireRelease(
    Effect.sync(() => oneDriveAt(graph_url, ann.accessToken)),
    (drive) => call(() => drive.dispose())
  )
  const id: string = (yield* ask("/me/drive")).body.id
  const root = yield* call(() => drive.getDriveRootItem(id))
  return { ask, drive, id, root }
})

const names = (items: ReadonlyArray<DriveItem>) => items.map(({ name }) => name)

layer(Command.layer(), { excludeTestServices: true })("helix-onedrive-support, against the command", (it) => {
  it.effect("lists, uploads, finds by a name that is not quite right, and downloads", () =>
    Effect.gen(function* () {
      const { drive, root } = yield* connected
      assert.strictEqual((yield* call(() => drive.me())).displayName, "Ann Lee")
      assert.include(names((yield* call(() => drive.listChildren(root))).value), "Docs")
      const put = yield* call(() => drive.uploadDriveItem(Buffer.from("from helix"), root, "/Helix/My File.txt"))
      const [found] = yield* call(() => drive.fuzzyGetDriveItem(root, "/Helix/my-file.txt"))
      assert.strictEqual(found?.id, put.id)
      assert.strictEqual((yield* call(() => drive.getParentDriveItem(put))).name, "Helix")
      const contents = yield* call(() => drive.downloadDriveItem(put))
      assert.strictEqual(contents.toString(), "from helix")
      const refused: unknown = yield* call(() =>
        drive.uploadDriveItem(Buffer.from("again"), root, "/Helix/My File.txt", "fail").catch((error: unknown) => error)
      )
      assert.deepInclude(refused, { statusCode: 409, message: "The specified item name already exists." })
    })
  )

  it.effect("reaches a file by its sharing link", () =>
    Effect.gen(function* () {
      const { ask, drive, root } = yield* connected
      yield* call(() => drive.uploadDriveItem(Buffer.from("shared"), root, "/shared.txt"))
      const { body } = yield* ask("/me/drive/root:/shared.txt:/createLink", { method: "POST", json: { type: "view" } })
      const item = yield* call(() => drive.getDriveItemFromShareLink(body.link.webUrl))
      assert.strictEqual(item.name, "shared.txt")
    })
  )

  it.effect("follows what changes by delta", () =>
    Effect.gen(function* () {
      const { drive, id, root } = yield* connected
      const resource = `/drives/${id}/root`
      const first = yield* call(() => drive.fetchChanges(resource))
      assert.includeMembers(names(first.changes), ["root", "Docs"])
      yield* call(() => drive.uploadDriveItem(Buffer.from("new"), root, "/New/new.txt"))
      const second = yield* call(() => drive.fetchChanges(resource, first.token))
      assert.sameMembers(names(second.changes), ["root", "New", "new.txt"])
    })
  )

  it.effect("is told that there are no subscriptions", () =>
    Effect.gen(function* () {
      const { drive } = yield* connected
      const refused: unknown = yield* call(() => drive.listSubscriptions().catch((error: unknown) => error))
      assert.deepInclude(refused, { statusCode: 501 })
    })
  )
})
