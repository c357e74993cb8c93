/**
 * The graph, as Adobe's helix-onedrive-support uses it. It has no upload sessions, moves nothing and creates no links.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ofSeed } from "../../../src/internal/world/Workbooks.ts"
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

  it.effect("works with the worksheets, ranges and tables of a workbook, in a session", () =>
    Effect.gen(function* () {
      const { drive, root } = yield* connected
      const bytes = yield* ofSeed({
        workbook: {
          May: [
            ["Order", "Customer"],
            [1, "Ann"]
          ]
        }
      })
      const put = yield* call(() => drive.uploadDriveItem(Buffer.from(bytes), root, "/Orders.xlsx"))
      const book = drive.getWorkbook(put)
      yield* call(() => book.createSession())
      yield* call(() => book.createWorksheet("June"))
      assert.deepStrictEqual(yield* call(() => book.getWorksheetNames()), ["May", "June"])
      const table = yield* call(() => book.worksheet("May").addTable("May!A1:B2", true, "Orders"))
      assert.deepStrictEqual(yield* call(() => table.getHeaderNames()), ["Order", "Customer"])
      const index = yield* call(() =>
        table.addRows([
          [2, "Bo"],
          [3, "Cy"]
        ])
      )
      assert.strictEqual(index, 1)
      yield* call(() => book.refreshSession())
      yield* call(() => table.replaceRow(1, [2, "Bob"]))
      yield* call(() => table.deleteRow(0))
      assert.strictEqual(yield* call(() => table.getRowCount()), 2)
      assert.deepStrictEqual(yield* call(() => table.getRow(0)), [2, "Bob"])
      assert.deepStrictEqual(yield* call(() => table.getRowsAsObjects()), [
        { Order: 2, Customer: "Bob" },
        { Order: 3, Customer: "Cy" }
      ])
      assert.deepStrictEqual(yield* call(() => table.getColumn("Customer")), [["Customer"], ["Bob"], ["Cy"]])
      yield* call(() =>
        book
          .worksheet("June")
          .range("B2:C2")
          .update({ values: [["a", 1]] })
      )
      assert.deepStrictEqual(yield* call(() => book.worksheet("June").usedRange().getValues()), [["a", 1]])
      yield* call(() => book.deleteWorksheet("June"))
      yield* call(() => book.closeSession())
      assert.deepStrictEqual(yield* call(() => drive.getWorkbook(put).getTableNames()), ["Orders"])
    })
  )

  it.effect("lists subscriptions, of which there are none", () =>
    Effect.gen(function* () {
      const { drive } = yield* connected
      const { value } = yield* call(() => drive.listSubscriptions())
      assert.deepStrictEqual(value, [])
    })
  )
})
