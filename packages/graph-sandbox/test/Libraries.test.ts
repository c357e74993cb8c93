/**
 * Libraries as lists: a file and its list item are two sides of one thing.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const ann = Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "ann@contoso.test"))

const site = "/sites/contoso.sharepoint.test:/sites/team:"

interface Named {
  readonly displayName: string
  readonly list: { readonly template: string }
}

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("a library as a list", (it) => {
  it.effect("is among the lists of its site, and is the list of its drive", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const lists: ReadonlyArray<Named> = (yield* ask(`${site}/lists`)).body.value
      assert.deepStrictEqual(
        lists.map(({ displayName, list }) => [displayName, list.template]),
        [
          ["Documents", "documentLibrary"],
          ["Archive", "documentLibrary"],
          ["A/B #1", "genericList"]
        ]
      )
      const list = yield* ask(`${site}/drive/list`)
      assert.strictEqual(list.body.displayName, "Documents")
      const drive = yield* ask(`${site}/lists/${list.body.id}/drive`)
      assert.strictEqual(drive.body.id, (yield* ask(`${site}/drive`)).body.id)
      assert.strictEqual((yield* ask(`${site}/lists/A%2FB%20%231/drive`)).status, 404)
      assert.strictEqual((yield* ask("/me/drive/list")).status, 404)
    })
  )

  it.effect("leads from a file to its item and back", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const file = (yield* ask(`${site}/drive/root:/Report.txt`)).body
      const item = (yield* ask(`${site}/drive/items/${file.id}/listItem?$expand=fields`)).body
      assert.deepInclude(item.fields, { FileLeafRef: "Report.txt", FileSizeDisplay: "2", ContentType: "Document" })
      assert.strictEqual(item.eTag, file.eTag)
      const back = yield* ask(`${site}/lists/Documents/items/${item.id}/driveItem`)
      assert.strictEqual(back.body.id, file.id)
      const rows = (yield* ask(`${site}/lists/Documents/items`)).body.value
      assert.deepStrictEqual(
        rows.map(({ id }: { readonly id: string }) => id),
        [item.id]
      )
      assert.strictEqual((yield* ask(`${site}/drive/root/listItem`)).status, 404)
      assert.strictEqual((yield* ask(`${site}/lists/A%2FB%20%231/items/1/driveItem`)).status, 404)
    })
  )

  it.effect("has columns whose values files carry", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const columns = `${site}/lists/Archive/columns`
      yield* ask(columns, { method: "POST", json: { name: "Year", number: {} } })
      const fields = `${site}/drives`
      const drives = (yield* ask(fields)).body.value
      const file = `/drives/${drives[1].id}/root:/Old.txt:`
      const patched = yield* ask(`${file}/listItem/fields`, { method: "PATCH", json: { Year: 1815 } })
      assert.deepInclude(patched.body, { Year: 1815, FileLeafRef: "Old.txt" })
      assert.strictEqual((yield* ask(`${file}/listItem`)).body.fields.Year, 1815)
      const renamed = yield* ask(`${file}/listItem/fields`, { method: "PATCH", json: { FileLeafRef: "New.txt" } })
      assert.deepStrictEqual([renamed.status, renamed.body.error.message], [400, "Field 'FileLeafRef' is read-only"])
      const added = yield* ask(`${site}/lists/Archive/items`, { method: "POST", json: { fields: { Year: 1 } } })
      assert.deepStrictEqual(
        [added.status, added.body.error.message],
        [400, "To add an item to a document library, upload a file."]
      )
      yield* ask(`${columns}/Year`, { method: "DELETE" })
      assert.notProperty((yield* ask(`${file}/listItem`)).body.fields, "Year")
    })
  )

  it.effect("comes with a drive, and takes it along", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const json = { displayName: "Invoices", list: { template: "documentLibrary" } }
      const made = yield* ask(`${site}/lists`, { method: "POST", json })
      assert.strictEqual(made.status, 201)
      const drive = (yield* ask(`${site}/lists/Invoices/drive`)).body
      const put = yield* ask(`/drives/${drive.id}/root:/a.txt:/content`, { method: "PUT", body: "a" })
      const items = `${site}/lists/Invoices/items`
      const item = (yield* ask(items)).body.value[0]
      assert.strictEqual((yield* ask(`${items}/${item.id}`, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* ask(`/drives/${drive.id}/items/${put.body.id}`)).status, 404)
      yield* ask(`${site}/lists/Invoices`, { method: "PATCH", json: { displayName: "Bills" } })
      assert.strictEqual((yield* ask(`/drives/${drive.id}`)).body.name, "Bills")
      assert.strictEqual((yield* ask(`${site}/lists/Bills`, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* ask(`/drives/${drive.id}`)).status, 404)
    })
  )
})
