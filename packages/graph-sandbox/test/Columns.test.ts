/**
 * Columns of a list, changed and deleted.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const lists = "/sites/contoso.sharepoint.test:/sites/team:/lists"

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("a column of a list", (it) => {
  const list = Effect.fnUntraced(function* (displayName: string) {
    const ask = yield* Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "ann@contoso.test"))
    const columns = [{ name: "Pages", number: {} }]
    yield* ask(lists, { method: "POST", json: { displayName, columns } })
    const added = yield* ask(`${lists}/${displayName}/items`, {
      method: "POST",
      json: { fields: { Title: "Emma", Pages: 474 } }
    })
    return {
      ask,
      column: `${lists}/${displayName}/columns/Pages`,
      item: `${lists}/${displayName}/items/${added.body.id}`
    }
  })

  it.effect("gets other properties, and keeps its name and kind", () =>
    Effect.gen(function* () {
      const { ask, column } = yield* list("Changed")
      const json = { displayName: "Number of pages", indexed: true, number: { decimalPlaces: "none" } }
      const patched = yield* ask(column, { method: "PATCH", json })
      assert.strictEqual(patched.status, 200)
      assert.deepInclude((yield* ask(column)).body, { ...json, name: "Pages" })
      for (const json of [{ name: "Other" }, { text: {} }, { indexed: "yes" }]) {
        const refused = yield* ask(column, { method: "PATCH", json })
        assert.strictEqual(refused.status, 400)
        assert.include(refused.body.error.message, `'${Object.keys(json).join("")}'`)
      }
    })
  )

  it.effect("is deleted together with what items have in it", () =>
    Effect.gen(function* () {
      const { ask, column, item } = yield* list("Deleted")
      assert.strictEqual((yield* ask(item)).body.fields.Pages, 474)
      assert.strictEqual((yield* ask(column, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* ask(column)).status, 404)
      assert.notProperty((yield* ask(item)).body.fields, "Pages")
      const title = yield* ask(column.replace("Pages", "Title"), { method: "DELETE" })
      assert.strictEqual(title.status, 400)
    })
  )
})
