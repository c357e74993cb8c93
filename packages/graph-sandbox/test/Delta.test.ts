/**
 * Changes of lists, libraries and users since the last round.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const ann = Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "ann@contoso.test"))

const lists = "/sites/contoso.sharepoint.test:/sites/team:/lists"

interface Row {
  readonly id: string
  readonly deleted?: { readonly state: string }
  readonly fields?: { readonly Title?: string; readonly FileLeafRef?: string }
}

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("a delta", (it) => {
  it.effect("of list items tells what was added, changed and deleted, page by page", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const list = `${lists}/A%2FB%20%231/items`
      const first = yield* ask(`${list}/delta?$expand=fields&$top=1`)
      assert.deepStrictEqual(
        first.body.value.map(({ fields }: Row) => fields?.Title),
        ["one"]
      )
      assert.notProperty(first.body, "@odata.deltaLink")
      const second = yield* ask(first.body["@odata.nextLink"])
      const done = second.body["@odata.deltaLink"]
      assert.strictEqual((yield* ask(done)).body.value.length, 0)
      const added = yield* ask(list, { method: "POST", json: { fields: { Title: "three" } } })
      yield* ask(`${list}/2/fields`, { method: "PATCH", json: { Title: "2" } })
      yield* ask(`${list}/1`, { method: "DELETE" })
      const later = yield* ask(done.replace("$top=1", "$top=100"))
      const rows: ReadonlyArray<Row> = later.body.value
      assert.deepStrictEqual(
        rows.map(({ deleted, fields, id }) => [id, fields?.Title ?? deleted?.state]),
        [
          [added.body.id, "three"],
          ["2", "2"],
          ["1", "deleted"]
        ]
      )
    })
  )

  it.effect("of the items of a library tells of its files", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const items = `${lists}/Documents/items`
      const latest = (yield* ask(`${items}/delta?token=latest&$expand=fields`)).body
      assert.strictEqual(latest.value.length, 0)
      const drive = (yield* ask(`${lists}/Documents/drive`)).body.id
      const put = yield* ask(`/drives/${drive}/root:/new.txt:/content`, { method: "PUT", body: "new" })
      const changed: ReadonlyArray<Row> = (yield* ask(latest["@odata.deltaLink"])).body.value
      assert.deepStrictEqual(
        changed.map(({ fields }) => fields?.FileLeafRef),
        ["new.txt"]
      )
      yield* ask(`/drives/${drive}/items/${put.body.id}`, { method: "DELETE" })
      const gone: ReadonlyArray<Row> = (yield* ask(latest["@odata.deltaLink"])).body.value
      assert.deepStrictEqual(
        gone.map(({ deleted, id }) => [id, deleted?.state]),
        [[changed[0]?.id, "deleted"]]
      )
    })
  )

  it.effect("of users has all of them, and then nothing", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const first = yield* ask("/users/delta?$select=displayName&$top=2")
      assert.strictEqual(first.body.value.length, 2)
      assert.include(first.body["@odata.nextLink"], "$skiptoken=")
      const second = yield* ask(first.body["@odata.nextLink"])
      assert.deepStrictEqual(second.body.value, [{ displayName: "Bo Jones" }])
      assert.include(second.body["@odata.deltaLink"], "$deltatoken=")
      assert.deepStrictEqual((yield* ask(second.body["@odata.deltaLink"])).body.value, [])
    })
  )

  it.effect("starts anew where its token is of another list", () =>
    Effect.gen(function* () {
      const ask = yield* ann
      const link: string = (yield* ask(`${lists}/Documents/items/delta`)).body["@odata.deltaLink"]
      const other = yield* ask(`${lists}/Archive/items/delta?token=${new URL(link).searchParams.get("token") ?? ""}`)
      assert.deepStrictEqual([other.status, other.body.error.code], [410, "resyncRequired"])
    })
  )
})
