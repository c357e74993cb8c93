/**
 * Workbooks: sessions, worksheets, ranges and tables, and the file that they are.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Zip from "effect/encoding/Zip"
import * as TestClock from "effect/testing/TestClock"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import type { Seed } from "../src/Seed.ts"
import { asking, fetched, type Init } from "./support/Asking.ts"

const seed: Seed = {
  users: [
    {
      userPrincipalName: "ann@contoso.test",
      displayName: "Ann Lee",
      drive: {
        "Books.xlsx": {
          workbook: {
            May: [["Order", "Customer"], [1, "Ann & Söhne"], [2, "Bo <b>"], [], ["below"]],
            "Old ones": [[true]]
          },
          tables: { Orders: "May!A1:B3" }
        },
        "Text.xlsx": "no workbook"
      }
    }
  ]
}

const path = "/me/drive/root:/Books.xlsx:/workbook"

const ann = Effect.map(
  Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox)),
  (ask) => ({
    ask,
    book: (below: string, init: Init = {}) => ask(`${path}${below}`, init),
    range: (address: string, init: Init = {}) => ask(`${path}/worksheets/May/range(address='${address}')`, init)
  })
)

const opened = Effect.fnUntraced(function* (persistChanges: boolean) {
  const { ask, book } = yield* ann
  const { body } = yield* book("/createSession", { method: "POST", json: { persistChanges } })
  const headers: Record<string, string> = { "workbook-session-id": body.id }
  return {
    id: body.id as string,
    book: (below: string, init: Init = {}) => ask(`${path}${below}`, { ...init, headers })
  }
})

/** A file as other programs write it; its relations are relative, and a part of it is unknown here. */
const other = Effect.map(
  Stream.make(
    Zip.file("[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`),
    Zip.file(
      "_rels/.rels",
      `<Relationships><Relationship Id="r1" Type="x/officeDocument" Target="book/w.xml"/></Relationships>`
    ),
    Zip.file(
      "book/w.xml",
      `<workbook xmlns:r="x"><sheets><sheet name="May" sheetId="4" r:id="r1"/></sheets></workbook>`
    ),
    Zip.file(
      "book/_rels/w.xml.rels",
      `<Relationships><Relationship Id="r1" Type="x/worksheet" Target="may.xml"/>` +
        `<Relationship Id="r2" Type="x/sharedStrings" Target="/book/s.xml"/><Relationship Id="r3" Type="x/styles" Target="f.xml"/></Relationships>`
    ),
    Zip.file(
      "book/s.xml",
      `<sst><si><t>plain</t></si><si><r><t xml:space="preserve">two </t></r><r><t>runs</t></r></si></sst>`
    ),
    Zip.file("book/f.xml", `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`),
    Zip.file(
      "book/may.xml",
      `<worksheet><sheetData><row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c s="1"><v>46146</v></c></row>` +
        `<row r="2"><c r="A2" t="b"><v>1</v></c><c r="B2" t="e"><v>#N/A</v></c><c r="C2"><f>1+2</f><v>3</v></c></row></sheetData></worksheet>`
    )
  ).pipe(Stream.pipeThroughChannel(Zip.encode()), Stream.runCollect),
  (chunks) => Buffer.concat(chunks)
)

const fresh = () => layer(GraphSandbox.layer({ seed }), { excludeTestServices: true })

fresh()("a workbook", (it) => {
  it.effect("has worksheets, which are found by name and by id", () =>
    Effect.gen(function* () {
      const { book } = yield* ann
      const { body } = yield* book("/worksheets")
      assert.deepStrictEqual(
        body.value.map((sheet: { readonly name: string }) => sheet.name),
        ["May", "Old ones"]
      )
      const byId = yield* book(`/worksheets('${encodeURIComponent(body.value[1].id)}')`)
      assert.strictEqual(byId.body.name, "Old ones")
      assert.strictEqual((yield* book("/worksheets/None")).status, 404)
    })
  )

  it.effect("gives values, formulas, texts and formats of a range", () =>
    Effect.gen(function* () {
      const { range } = yield* ann
      const { body } = yield* range("A1:B3")
      assert.deepInclude(body, { address: "May!A1:B3", rowCount: 3, columnCount: 2, cellCount: 6, rowIndex: 0 })
      assert.deepStrictEqual(body.values, [
        ["Order", "Customer"],
        [1, "Ann & Söhne"],
        [2, "Bo <b>"]
      ])
      assert.deepStrictEqual(body.text[1], ["1", "Ann & Söhne"])
      assert.deepStrictEqual(body.valueTypes[1], ["Double", "String"])
    })
  )

  it.effect("takes what is written as if it were entered, and leaves null alone", () =>
    Effect.gen(function* () {
      const { range } = yield* ann
      const values = [["12", "'12", null, "true", "=SUM(D1:E1)"]]
      const numberFormat = [[null, null, null, null, "0.00"]]
      const { body } = yield* range("D1:H1", { method: "PATCH", json: { values, numberFormat } })
      assert.deepStrictEqual(body.values, [[12, "12", "", true, 12]])
      assert.strictEqual(body.formulas[0][4], "=SUM(D1:E1)")
      assert.strictEqual(body.numberFormat[0][4], "0.00")
      const other = yield* range("D1", { method: "PATCH", json: { values: [["=A1*2"]] } })
      assert.deepStrictEqual([other.status, other.body.error.code], [501, "notSupported"])
      const shape = yield* range("D1:E1", { method: "PATCH", json: { values: [[1]] } })
      assert.deepStrictEqual([shape.status, shape.body.error.innerError.code], [400, "invalidArgument"])
    })
  )

  it.effect("refuses what is no workbook, and what is more than 5 MB", () =>
    Effect.gen(function* () {
      const { ask, range } = yield* ann
      const text = yield* ask("/me/drive/root:/Text.xlsx:/workbook/worksheets")
      assert.deepStrictEqual([text.status, text.body.error.innerError.code], [400, "unsupportedWorkbook"])
      const large = yield* range("D1", { method: "PATCH", json: { values: "x".repeat(5 * 1024 * 1024) } })
      assert.strictEqual(large.status, 413)
    })
  )

  it.effect("is a true file: what is in it afterwards is found when it is opened anew", () =>
    Effect.gen(function* () {
      const { ask, book } = yield* ann
      yield* book("/worksheets/add", { method: "POST", json: { name: "It's <new>" } })
      yield* book("/worksheets/It's%20%3Cnew%3E/range(address='B2')", {
        method: "PATCH",
        json: { values: [["ü"]], numberFormat: "0.000" }
      })
      const { body } = yield* ask("/me/drive/root:/Books.xlsx")
      const { bytes } = yield* fetched(body["@microsoft.graph.downloadUrl"])
      yield* ask("/me/drive/root:/Copy.xlsx:/content", { method: "PUT", body: bytes })
      const copy = yield* ask("/me/drive/root:/Copy.xlsx:/workbook/worksheets/It's%20%3Cnew%3E/usedRange")
      assert.deepStrictEqual([copy.body.address, copy.body.values], ["'It''s <new>'!B2", [["ü"]]])
      assert.deepStrictEqual(copy.body.numberFormat, [["0.000"]])
      const tables = yield* ask("/me/drive/root:/Copy.xlsx:/workbook/tables")
      assert.strictEqual(tables.body.value[0].name, "Orders")
    })
  )

  it.effect("may come from another program, with shared strings, runs, formats and formulas", () =>
    Effect.gen(function* () {
      const { ask } = yield* ann
      yield* ask("/me/drive/root:/Other.xlsx:/content", { method: "PUT", body: yield* other })
      const of = "/me/drive/root:/Other.xlsx:/workbook/worksheets/May"
      const before = yield* ask(`${of}/usedRange`)
      assert.deepStrictEqual(before.body.values, [
        ["plain", "two runs", 46_146],
        [true, "#N/A", 3]
      ])
      assert.strictEqual(before.body.numberFormat[0][2], "m/d/yyyy")
      assert.strictEqual(before.body.formulas[1][2], "=1+2")
      yield* ask(`${of}/range(address='A3')`, { method: "PATCH", json: { values: [["more"]] } })
      const after = yield* ask(`${of}/usedRange`)
      assert.deepStrictEqual(after.body.values, [...before.body.values, ["more", "", ""]])
      assert.deepStrictEqual(after.body.numberFormat.slice(0, 2), before.body.numberFormat)
    })
  )

  it.effect("says what of workbooks it does not serve", () =>
    Effect.gen(function* () {
      const { book, range } = yield* ann
      const answers = [yield* book("/worksheets/May/charts"), yield* book("/functions"), yield* range("A:B")]
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [501, 501, 501]
      )
    })
  )
})

fresh()("a table", (it) => {
  it.effect("grows and shrinks by rows, and what lies below it moves", () =>
    Effect.gen(function* () {
      const { book, range } = yield* ann
      const rows = [
        [3, "Cy"],
        [4, "Di"]
      ]
      const added = yield* book("/tables/Orders/rows", { method: "POST", json: { values: rows } })
      assert.deepStrictEqual([added.status, added.body.index], [201, 2])
      yield* book("/tables/Orders/rows/add", { method: "POST", json: { index: 0, values: [[0, "first"]] } })
      assert.strictEqual((yield* range("A8")).body.values[0][0], "below")
      yield* book("/tables/Orders/rows/itemAt(index=1)", { method: "DELETE" })
      yield* book("/tables/Orders/rows/$/itemAt(index=1)", { method: "PATCH", json: { values: [[null, "Bo"]] } })
      const { body } = yield* book("/tables/Orders/rows?$top=3")
      assert.deepStrictEqual(
        body.value.map(({ values }: { readonly values: unknown }) => values),
        [[[0, "first"]], [[2, "Bo"]], [[3, "Cy"]]]
      )
      assert.strictEqual((yield* range("A7")).body.values[0][0], "below")
      assert.strictEqual((yield* book("/tables/Orders/rows/itemAt(index=9)")).status, 404)
    })
  )

  it.effect("without rows keeps a blank one, which the next row fills", () =>
    Effect.gen(function* () {
      const { book } = yield* ann
      const made = yield* book("/tables/add", { method: "POST", json: { address: "May!J1:K1", hasHeaders: true } })
      assert.strictEqual(made.status, 201)
      const of = `/tables/${made.body.name}`
      assert.deepStrictEqual((yield* book(`${of}/rows`)).body.value, [])
      yield* book(`${of}/rows`, { method: "POST", json: { values: [["a", "b"]] } })
      assert.strictEqual((yield* book(`${of}/range`)).body.address, "May!J1:K2")
      assert.deepStrictEqual((yield* book(`${of}/headerRowRange`)).body.values, [["Column1", "Column2"]])
      yield* book(`${of}/rows/0`, { method: "DELETE" })
      assert.strictEqual((yield* book(`${of}/range`)).body.address, "May!J1:K2")
      const again = yield* book("/tables/add", { method: "POST", json: { address: "May!K1:L1", hasHeaders: true } })
      assert.strictEqual(again.status, 400)
    })
  )

  it.effect("of cells without headers gets a row of them above", () =>
    Effect.gen(function* () {
      const { book, range } = yield* ann
      yield* range("P1:Q1", { method: "PATCH", json: { values: [[1, 2]] } })
      const { body } = yield* book("/tables/add", { method: "POST", json: { address: "May!P1:Q1", hasHeaders: false } })
      assert.deepStrictEqual((yield* book(`/tables/${body.name}/range`)).body.values, [
        ["Column1", "Column2"],
        [1, 2]
      ])
    })
  )

  it.effect("has columns by name, with their values", () =>
    Effect.gen(function* () {
      const { book } = yield* ann
      const { body } = yield* book("/tables/Orders/columns/Customer")
      assert.deepInclude(body, { name: "Customer", index: 1 })
      assert.strictEqual(body.values[0][0], "Customer")
    })
  )
})

fresh()("a session", (it) => {
  it.effect("that is not persistent has changes of its own, which are gone with it", () =>
    Effect.gen(function* () {
      const { ask, range } = yield* ann
      const before = (yield* ask("/me/drive/root:/Books.xlsx")).body.cTag
      const session = yield* opened(false)
      const a2 = "/worksheets/May/range(address='A2')"
      yield* session.book(a2, { method: "PATCH", json: { values: [[99]] } })
      assert.strictEqual((yield* session.book(a2)).body.values[0][0], 99)
      assert.strictEqual((yield* range("A2")).body.values[0][0], 1)
      assert.strictEqual((yield* session.book("/closeSession", { method: "POST" })).status, 204)
      assert.strictEqual((yield* session.book(a2)).status, 404)
      assert.strictEqual((yield* ask("/me/drive/root:/Books.xlsx")).body.cTag, before)
    })
  )

  it.effect("that is persistent makes one version of all that it changes", () =>
    Effect.gen(function* () {
      const { ask } = yield* ann
      const session = yield* opened(true)
      for (const n of [1, 2, 3]) {
        yield* session.book("/worksheets/May/range(address='D1')", { method: "PATCH", json: { values: [[n]] } })
      }
      const { body } = yield* ask("/me/drive/root:/Books.xlsx:/versions")
      assert.lengthOf(body.value, 2)
    })
  )

  it.effect("can be lost on purpose", () =>
    Effect.gen(function* () {
      const { setFaults } = yield* GraphSandbox
      const session = yield* opened(true)
      yield* setFaults({ rules: [{ fault: "loseSession", path: "/workbook/", times: 1 }] })
      const { body, status } = yield* session.book("/worksheets")
      assert.deepStrictEqual([status, body.error.innerError.code], [404, "invalidSessionReCreatable"])
      assert.strictEqual((yield* session.book("/worksheets")).status, 404)
    })
  )
})

layer(GraphSandbox.layer({ seed }))("a session that nobody uses", (it) => {
  it.effect("ends after 5 minutes, or 7 where it is not persistent, and lives on when it is refreshed", () =>
    Effect.gen(function* () {
      const [persistent, other] = [yield* opened(true), yield* opened(false)]
      yield* TestClock.adjust("299 seconds")
      assert.strictEqual((yield* persistent.book("/refreshSession", { method: "POST" })).status, 204)
      yield* TestClock.adjust("120 seconds")
      assert.strictEqual((yield* other.book("/worksheets")).status, 200)
      yield* TestClock.adjust("180 seconds")
      assert.strictEqual((yield* persistent.book("/worksheets")).status, 404)
    })
  )
})
