/**
 * Reads that lag behind writes, and sizes that are wrong.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Faults } from "../src/Faults.ts"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

interface Row {
  readonly id: string
  readonly name?: string
  readonly fields?: { readonly Title?: string }
  readonly deleted?: { readonly state: string }
}

const setUp = Effect.fnUntraced(function* (faults: Omit<Faults, "rules">, rules: Faults["rules"] = []) {
  const sandbox = yield* GraphSandbox
  yield* sandbox.clearFaults
  const ask = yield* asking(sandbox, "ann@contoso.test")
  const put = (path: string, body = "new") => ask(`/me/drive/root:${path}:/content`, { method: "PUT", body })
  const rows = (path: string) => Effect.map(ask(path), ({ body }): ReadonlyArray<Row> => body.value)
  const names = (path: string) => Effect.map(rows(path), (all) => all.map(({ name }) => name))
  yield* put("/Lag/old.txt", "older words")
  yield* sandbox.setFaults({ rules, ...faults })
  return { ask, put, rows, names }
})

const folder = "/me/drive/root:/Lag:/children"
const search = "/me/drive/root:/Lag:/search(q='words')"

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("with a lag", (it) => {
  it.effect("of requests, a folder shows a new file after so many, and an old one at once", () =>
    Effect.gen(function* () {
      const { ask, names, put } = yield* setUp({ lag: { requests: 2 } })
      yield* put("/Lag/new.txt")
      assert.strictEqual((yield* ask("/me/drive/root:/Lag/new.txt")).status, 200)
      assert.deepStrictEqual(yield* names(folder), ["old.txt"])
      assert.deepStrictEqual(yield* names(folder), ["old.txt"])
      assert.deepStrictEqual(yield* names(folder), ["new.txt", "old.txt"])
      yield* ask("/me/drive/root:/Lag/new.txt", { method: "DELETE" })
    })
  )

  it.effect("a file that was deleted is still listed and found, and no more there", () =>
    Effect.gen(function* () {
      const { ask, names } = yield* setUp({ lag: { requests: 1 } })
      yield* ask("/me/drive/root:/Lag/old.txt", { method: "DELETE" })
      assert.strictEqual((yield* ask("/me/drive/root:/Lag/old.txt")).status, 404)
      assert.deepStrictEqual(yield* names(folder), ["old.txt"])
      assert.deepStrictEqual(yield* names(folder), [])
      const { names: again } = yield* setUp({ lag: { of: ["search"], requests: 1 } })
      yield* ask("/me/drive/root:/Lag/old.txt", { method: "DELETE" })
      assert.deepStrictEqual(yield* again(folder), [])
      assert.deepStrictEqual(yield* again(search), ["old.txt"])
      assert.deepStrictEqual(yield* again(search), [])
    })
  )

  it.effect("of time, a search finds nothing new until it is over", () =>
    Effect.gen(function* () {
      const { names, put } = yield* setUp({ lag: { of: ["search"], millis: 3_600_000 } })
      yield* put("/Lag/new.txt", "new words")
      assert.deepStrictEqual(yield* names(search), ["old.txt"])
      assert.deepStrictEqual(yield* names(folder), ["new.txt", "old.txt"])
      const sandbox = yield* GraphSandbox
      yield* sandbox.setFaults({ rules: [], lag: { of: ["search"], millis: 3_600_000 } })
      assert.sameMembers([...(yield* names(search))], ["old.txt", "new.txt"])
    })
  )

  it.effect("changes come later, each of them, and none is lost", () =>
    Effect.gen(function* () {
      const { ask, put, rows } = yield* setUp({ lag: { of: ["delta"], requests: 1 } })
      const latest = (yield* ask("/me/drive/root/delta?token=latest")).body["@odata.deltaLink"]
      yield* put("/Lag/later.txt")
      const none = (yield* ask(latest)).body
      assert.deepStrictEqual(none.value, [])
      const found = yield* rows(none["@odata.deltaLink"])
      assert.include(
        found.map(({ name }) => name),
        "later.txt"
      )
      assert.include(
        (yield* rows(latest)).map(({ name }) => name),
        "later.txt"
      )
    })
  )

  it.effect("the items of a list lag, and their changes", () =>
    Effect.gen(function* () {
      const { ask, rows } = yield* setUp({ lag: { requests: 1 } })
      const list = "/sites/contoso.sharepoint.test:/sites/team:/lists/A%2FB%20%231/items"
      const { body } = yield* ask(list, { method: "POST", json: { fields: { Title: "three" } } })
      const titles = Effect.map(rows(`${list}?$expand=fields`), (all) => all.map(({ fields }) => fields?.Title))
      assert.deepStrictEqual(yield* titles, ["one", "two"])
      assert.deepStrictEqual(yield* titles, ["one", "two", "three"])
      const link = (yield* ask(`${list}/delta?token=latest`)).body["@odata.deltaLink"]
      yield* ask(`${list}/${body.id}`, { method: "DELETE" })
      assert.deepStrictEqual(yield* rows(link), [])
      assert.deepStrictEqual(
        (yield* rows(link)).map(({ deleted, id }) => [id, deleted?.state]),
        [[body.id, "deleted"]]
      )
    })
  )

  it.effect("is set over HTTP, and a lag that cannot be is refused by its field", () =>
    Effect.gen(function* () {
      const { origin, setFaults } = yield* GraphSandbox
      const put = (lag: unknown) =>
        Effect.promise(() =>
          fetch(`${origin}/sandbox/faults`, { method: "PUT", body: JSON.stringify({ rules: [], lag }) })
        )
      assert.strictEqual((yield* put({ of: ["lists"], requests: 3 })).status, 204)
      const refused = yield* put({ of: ["mails"] })
      assert.strictEqual(refused.status, 400)
      const { error } = yield* Effect.promise(async (): Promise<{ readonly error: string }> => refused.json())
      assert.include(error, "lag")
      yield* setFaults({ rules: [] })
    })
  )
})

layer(GraphSandbox.layer({ seed: contoso, faults: { rules: [], lag: { requests: 1 } } }), {
  excludeTestServices: true
})("a lag from the start on", (it) => {
  it.effect("does not hide what was there, and holds for what is added and removed", () =>
    Effect.gen(function* () {
      const ask = yield* Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "ann@contoso.test"))
      const names = Effect.map(ask("/me/drive/root:/Docs:/children"), ({ body }) =>
        body.value.map(({ name }: Row) => name)
      )
      assert.deepStrictEqual(yield* names, ["Deep", "O'Brien & co.txt", "a #1%.txt"])
      yield* ask("/me/drive/root:/Docs/a%20%231%25.txt", { method: "DELETE" })
      yield* ask("/me/drive/root:/Docs/new.txt:/content", { method: "PUT", body: "new" })
      assert.deepStrictEqual(yield* names, ["Deep", "O'Brien & co.txt", "a #1%.txt"])
      assert.deepStrictEqual(yield* names, ["Deep", "O'Brien & co.txt", "new.txt"])
    })
  )
})

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("wrong sizes", (it) => {
  it.effect("are those of files in answers, in a batch too, and contents stay as they are", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp({}, [{ fault: "wrongSize", path: "old.txt|children", by: 7 }])
      const file = "/me/drive/root:/Lag/old.txt"
      assert.strictEqual((yield* ask(file)).body.size, 18)
      const { value } = (yield* ask(folder)).body
      assert.deepStrictEqual(
        value.map(({ size }: { readonly size: number }) => size),
        [18]
      )
      const json = { requests: [{ id: "1", method: "GET", url: file }] }
      const { responses } = (yield* ask("/$batch", { method: "POST", json })).body
      assert.strictEqual(responses[0].body.size, 18)
      const parent = (yield* ask("/me/drive/root:/Lag")).body
      assert.strictEqual(parent.size, 11)
    })
  )
})
