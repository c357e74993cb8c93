/**
 * Workbooks: sessions that are lost, ranges, tables, and what is repeated when a connection breaks.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeTransport from "@signalbox/transport/node"
import type { Seed } from "@signalbox/graph-sandbox/Seed"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as TestClock from "effect/testing/TestClock"
import { AccessTokens } from "../src/AccessTokens.ts"
import * as Drive from "../src/Drive.ts"
import { Graph } from "../src/Graph.ts"
import { defaultPolicy, GraphPolicy } from "../src/Policy.ts"
import * as Workbooks from "../src/Workbooks.ts"
import { asked, faults, GraphSandbox, inSandbox } from "./support/Sandbox.ts"

const seed: Seed = {
  users: [
    {
      userPrincipalName: "ann@contoso.test",
      displayName: "Ann Lee",
      drive: {
        "Books/2026 #1.xlsx": {
          workbook: { May: [["Order", "Customer"], [1, "Ann"], [2, "Bo"], [3, "Cy"], [], ["below"]], "Old & new": [] },
          tables: { Orders: "May!A1:B4" }
        }
      }
    }
  ]
}

const item = { path: "/Books/2026 #1.xlsx" }
/** Without a session. */
const file: Workbooks.Workbook = { drive: Drive.me, item }

const withBook = <A, E>(effect: Parameters<typeof inSandbox<A, E>>[0]) => inSandbox(effect, { seed })

/** What was asked of the workbook, without what all of it has in common. */
const calls = Effect.map(asked, (all) =>
  all.map(({ method, status, url }) => `${method} ${decodeURI(url).split("/workbook/")[1] ?? ""} ${status}`)
)

const customers = (book: Workbooks.Workbook) =>
  Effect.map(Stream.runCollect(Workbooks.rows(book, "Orders")), (rows) => rows.map(({ values }) => values["Customer"]))

const a1 = (book: Workbooks.Workbook) =>
  Effect.map(Workbooks.range(book, "May", "A1"), ({ values }) => values?.[0]?.[0])

describe("a session", () => {
  it.live("is opened once, and closed at the end", () =>
    withBook(
      Effect.gen(function* () {
        const names = yield* Effect.scoped(
          Effect.gen(function* () {
            const book = yield* Workbooks.session(Drive.me, item)
            yield* Workbooks.worksheet(book, "Old & new")
            return yield* Stream.runCollect(Workbooks.worksheets(book))
          })
        )
        assert.deepStrictEqual(
          names.map(({ name }) => name),
          ["May", "Old & new"]
        )
        assert.deepStrictEqual(yield* calls, [
          "POST createSession 201",
          "GET worksheets/Old %26 new 200",
          "GET worksheets 200",
          "POST closeSession 204"
        ])
      })
    )
  )

  it.live("that saves is begun again when it is lost, for reads and for writes", () =>
    withBook(
      Effect.gen(function* () {
        const book = yield* Workbooks.session(Drive.me, item)
        yield* Workbooks.writeRange(book, "May", "A1", { values: [["Id"]] })
        yield* faults({ fault: "loseSession", path: "range|rows/add", every: 2 })
        assert.strictEqual(yield* a1(book), "Id")
        assert.strictEqual(yield* a1(book), "Id")
        assert.strictEqual(yield* Workbooks.addRows(book, "Orders", [[4, "Di"]]), 1)
        assert.deepStrictEqual(yield* calls, [
          "GET worksheets/May/range(address='A1') 200",
          "GET worksheets/May/range(address='A1') 404",
          "POST createSession 201",
          "GET worksheets/May/range(address='A1') 200",
          "POST tables/Orders/rows/add 404",
          "POST createSession 201",
          "POST tables/Orders/rows/add 201"
        ])
        assert.deepStrictEqual(yield* customers(file), ["Ann", "Bo", "Cy", "Di"])
      })
    )
  )

  it.live("that does not save fails when its changes are gone", () =>
    withBook(
      Effect.gen(function* () {
        const book = yield* Workbooks.session(Drive.me, item, { persistChanges: false })
        yield* Workbooks.writeRange(book, "May", "A1", { values: [["Id"]] })
        yield* faults({ fault: "loseSession", path: "range", times: 1 })
        const { message, reason } = yield* Effect.flip(Workbooks.writeRange(book, "May", "B1", { values: [["Name"]] }))
        assert.strictEqual(reason._tag, "SessionLost")
        assert.include(message, "the session has ended, and with it what was changed in it")
        // It would show the workbook as if nothing had been changed.
        assert.strictEqual((yield* Effect.flip(a1(book))).reason._tag, "SessionLost")
      })
    )
  )

  it.live("that does not save goes on when nothing was changed in it", () =>
    withBook(
      Effect.gen(function* () {
        const book = yield* Workbooks.session(Drive.me, item, { persistChanges: false })
        yield* Effect.flip(Workbooks.writeRange(book, "May", "A1", { values: [["too", "many"]] }))
        yield* faults({ fault: "loseSession", path: "range", times: 1 })
        yield* Workbooks.writeRange(book, "May", "A1", { values: [["Id"]] })
        assert.strictEqual(yield* a1(book), "Id")
        assert.strictEqual(yield* a1(file), "Order")
      })
    )
  )

  it.live("fails when it is lost again at once", () =>
    withBook(
      Effect.gen(function* () {
        const book = yield* Workbooks.session(Drive.me, item)
        yield* faults({ fault: "loseSession", path: "range" })
        assert.strictEqual((yield* Effect.flip(a1(book))).reason._tag, "SessionLost")
      })
    )
  )

  it.effect("that nobody uses is refreshed before the service ends it", () =>
    withBook(
      Effect.gen(function* () {
        const book = yield* Workbooks.session(Drive.me, item, { persistChanges: false })
        yield* Workbooks.writeRange(book, "May", "A1", { values: [["Id"]] })
        yield* TestClock.adjust("4 minutes")
        yield* calls.pipe(
          Effect.filterOrFail((all) => all.includes("POST refreshSession 204")),
          Effect.retry(Schedule.spaced("5 millis")),
          TestClock.withLive
        )
        // Later than 7 minutes after the last call.
        yield* TestClock.adjust("210 seconds")
        assert.strictEqual(yield* a1(book), "Id")
      }).pipe(
        // A response that is on its way while the clock is moved is no late one.
        Effect.provideService(GraphPolicy, { ...defaultPolicy, attemptTimeoutMillis: 3_600_000 })
      )
    )
  )

  it.live("sends one call at a time", () =>
    withBook(
      Effect.gen(function* () {
        const { accessToken, origin } = yield* GraphSandbox
        const token = Redacted.make(yield* accessToken())
        const seen: Array<"request" | "response"> = []
        const graph = Graph.layerHttpClient({
          graphUrl: origin,
          loginUrl: origin,
          on: { onRequest: () => void seen.push("request"), onResponse: () => void seen.push("response") }
        })
        const connection = Layer.provide(graph, Layer.mergeAll(AccessTokens.layerFixed(token), NodeTransport.layer))
        yield* Effect.gen(function* () {
          const book = yield* Workbooks.session(Drive.me, item)
          yield* Effect.all([a1(book), a1(book), a1(book)], { concurrency: "unbounded" })
        }).pipe(Effect.provide(connection))
        assert.deepStrictEqual(
          seen.slice(0, 8),
          [0, 1, 2, 3].flatMap(() => ["request", "response"] as const)
        )
      })
    )
  )
})

describe("a range", () => {
  it.live("is written, read and cleared", () =>
    withBook(
      Effect.gen(function* () {
        const noon = new Date("2026-05-04T12:00:00Z")
        const written = yield* Workbooks.writeRange(file, "May", "D1:F2", {
          values: [
            [noon, Workbooks.asText("=1+1"), true],
            [1, 2, null]
          ],
          formulas: [
            [null, null, null],
            [null, null, "=SUM(D2:E2)"]
          ],
          numberFormat: [["yyyy-mm-dd", null, null], Array.from({ length: 3 }, () => "0.00")]
        })
        assert.deepStrictEqual(written.values, [
          [46_146.5, "=1+1", true],
          [1, 2, 3]
        ])
        assert.strictEqual(written.address, "May!D1:F2")
        assert.strictEqual(written.numberFormat?.[0]?.[0], "yyyy-mm-dd")
        const { values, ...others } = yield* Workbooks.range(file, "May", "D1", { select: ["values"] })
        assert.deepStrictEqual(Workbooks.dateOf(Number(values?.[0]?.[0])), noon)
        assert.deepStrictEqual(others, {})
        yield* Workbooks.clearRange(file, "May", "D1:F2")
        assert.strictEqual((yield* Workbooks.usedRange(file, "May")).address, "May!A1:B6")
      })
    )
  )

  it.live("refuses what cannot be in a cell, before it is sent", () =>
    withBook(
      Effect.gen(function* () {
        const { message, reason } = yield* Effect.flip(
          Workbooks.writeRange(file, "May", "A1:B1", { values: [[1, Number.NaN]] })
        )
        assert.strictEqual(reason._tag, "InvalidRequest")
        assert.include(message, "values.0.1: expected a finite number or a valid date")
        assert.lengthOf(yield* calls, 0)
      })
    )
  )

  it.live("is written again when the connection breaks", () =>
    withBook(
      Effect.gen(function* () {
        yield* faults({ fault: "drop", when: "after", path: "range", times: 1 })
        yield* Workbooks.writeRange(file, "May", "A1", { values: "Id" })
        assert.lengthOf(yield* calls, 2)
        assert.strictEqual(yield* a1(file), "Id")
      })
    )
  )

  it.live("waits when the service is throttled", () =>
    withBook(
      Effect.gen(function* () {
        yield* faults({ fault: "throttle", path: "range", times: 2, retryAfter: "decimal", seconds: 0.01 })
        assert.strictEqual(yield* a1(file), "Order")
        assert.lengthOf(yield* calls, 3)
      })
    )
  )
})

describe("a worksheet", () => {
  it.live("is added and deleted", () =>
    withBook(
      Effect.gen(function* () {
        const { name, position } = yield* Workbooks.addWorksheet(file, "It's new")
        assert.deepStrictEqual([name, position], ["It's new", 2])
        assert.strictEqual((yield* Effect.flip(Workbooks.addWorksheet(file, "It's new"))).reason._tag, "Conflict")
        yield* Workbooks.removeWorksheet(file, "It's new")
        const error = yield* Effect.flip(Workbooks.worksheet(file, "It's new"))
        assert.deepStrictEqual([error.reason._tag, error.code], ["NotFound", "itemNotFound"])
        assert.strictEqual(error.request.operation, "Workbooks.worksheet")
      })
    )
  )
})

interface Order {
  readonly Order: number
  readonly Customer?: string
}

const orders = (count: number): ReadonlyArray<Order> =>
  Array.from({ length: count }, (_, n) => ({ Order: 10 + n, Customer: `C${n}` }))

describe("a table", () => {
  it.live("is made of cells, and has a name, headers and columns", () =>
    withBook(
      Effect.gen(function* () {
        yield* Workbooks.writeRange(file, "Old & new", "A1:B1", { values: [["Id", "Paid"]] })
        const made = yield* Workbooks.addTable(file, { address: "'Old & new'!A1:B1", name: "Payments" })
        assert.strictEqual(made.name, "Payments")
        assert.deepStrictEqual(yield* Workbooks.headers(file, "Payments"), ["Id", "Paid"])
        assert.strictEqual((yield* Workbooks.table(file, "Payments")).id, made.id)
        const [column] = yield* Stream.runCollect(Workbooks.columns(file, "Orders"))
        assert.deepStrictEqual(column?.values, [["Order"], [1], [2], [3]])
        const inMay = yield* Stream.runCollect(Workbooks.tables(file, "May"))
        const all = yield* Stream.runCollect(Workbooks.tables(file))
        assert.deepStrictEqual([inMay.length, all.length], [1, 2])
      })
    )
  )

  it.live("is read in pages, by headers", () =>
    withBook(
      Effect.gen(function* () {
        yield* Workbooks.addRows(file, "Orders", [{ Order: 4 }])
        yield* faults()
        const rows = yield* Stream.runCollect(Workbooks.rows(file, "Orders", { pageSize: 2 }))
        assert.deepStrictEqual(rows.at(-1), { index: 3, cells: [4, ""], values: { Order: 4, Customer: null } })
        assert.deepStrictEqual(
          (yield* calls).filter((call) => call.includes("rows")),
          [0, 2, 4].map((skip) => `GET tables/Orders/rows?$top=2&$skip=${skip} 200`)
        )
      })
    )
  )

  it.live("has the type of a schema, and says which row does not fit", () =>
    withBook(
      Effect.gen(function* () {
        const schema = Schema.Struct({ Order: Schema.Int, Customer: Schema.NonEmptyString })
        const rows = Workbooks.rows(file, "Orders", { schema })
        const total = yield* Stream.runFold(
          rows,
          () => 0,
          (sum, { values }) => sum + values.Order
        )
        assert.strictEqual(total, 6)
        yield* Workbooks.updateRow(file, "Orders", 1, { Customer: "" })
        const error = yield* Effect.flip(Stream.runDrain(rows))
        assert.deepInclude(error, { _tag: "UnexpectedRow", index: 1, path: "Customer" })
        const shout: StandardSchemaV1<unknown, string> = {
          "~standard": {
            version: 1,
            vendor: "test",
            validate: (row) => ({ value: JSON.stringify(row).toUpperCase() })
          }
        }
        const [first] = yield* Stream.runCollect(Workbooks.rows(file, "Orders", { schema: shout }))
        assert.strictEqual(first?.values, '{"ORDER":1,"CUSTOMER":"ANN"}')
      })
    )
  )

  it.live("gets rows in portions, in the middle too", () =>
    withBook(
      Effect.gen(function* () {
        yield* faults()
        const added = yield* Workbooks.addRows(file, "Orders", orders(5), { index: 1, rowsPerRequest: 2 })
        assert.strictEqual(added, 5)
        assert.lengthOf(
          (yield* calls).filter((call) => call.includes("rows/add")),
          3
        )
        assert.deepStrictEqual(yield* customers(file), ["Ann", "C0", "C1", "C2", "C3", "C4", "Bo", "Cy"])
      })
    )
  )

  it.live("gets rows in requests that are not too long", () =>
    withBook(
      Effect.gen(function* () {
        const long = "é".repeat(900_000)
        assert.strictEqual(
          yield* Workbooks.addRows(
            file,
            "Orders",
            [1, 2, 3].map((n) => [n, long])
          ),
          3
        )
        assert.lengthOf(yield* calls, 2)
      })
    )
  )

  it.live("refuses a row that it cannot have, before any is sent", () =>
    withBook(
      Effect.gen(function* () {
        const wrong = [...orders(2), { Order: 1, Custmer: "x" }]
        const error = yield* Effect.flip(Workbooks.addRows(file, "Orders", wrong, { rowsPerRequest: 1 }))
        assert.include(error.message, "row 2: Custmer: the table has no such column; did you mean Customer?")
        assert.lengthOf(
          (yield* calls).filter((call) => call.includes("rows/add")),
          0
        )
      })
    )
  )

  it.live("does not get rows twice when the answer is lost: the outcome is unknown", () =>
    withBook(
      Effect.gen(function* () {
        yield* faults({ fault: "drop", when: "after", path: "rows/add", times: 1 })
        const error = yield* Effect.flip(Workbooks.addRows(file, "Orders", [[4, "Di"]]))
        assert.strictEqual(error._tag === "GraphError" ? error.reason._tag : error._tag, "OutcomeUnknown")
        assert.deepStrictEqual(yield* customers(file), ["Ann", "Bo", "Cy", "Di"])
      })
    )
  )

  it.live("does not get rows twice when the service gives up: a 504 may have been done", () =>
    withBook(
      Effect.gen(function* () {
        yield* faults({ fault: "status", path: "rows/add", status: 504 })
        const error = yield* Effect.flip(Workbooks.addRows(file, "Orders", [[4, "Di"]]))
        assert.include(error.message, "OutcomeUnknown")
        assert.lengthOf(yield* calls, 1)
      })
    )
  )

  it.live("says how many rows are there when a later request fails", () =>
    withBook(
      Effect.gen(function* () {
        yield* faults({ fault: "drop", when: "after", path: "rows/add", skip: 1, times: 1 })
        const rows = orders(5)
        const error = yield* Effect.flip(Workbooks.addRows(file, "Orders", rows, { rowsPerRequest: 2 }))
        assert.deepInclude(error, { _tag: "RowsPartlyAdded", added: 2, unknown: 2 })
        assert.include(error.message, "2 rows were added, and 2 more may have been: OutcomeUnknown")
        assert.lengthOf(yield* customers(file), 7)
      })
    )
  )

  it.live("changes and loses a row, and never another one in its place", () =>
    withBook(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* Workbooks.updateRow(file, "Orders", 1, { Customer: "Bob" }), [2, "Bob"])
        yield* faults({ fault: "drop", when: "after", path: "itemAt", times: 1 })
        const error = yield* Effect.flip(Workbooks.removeRow(file, "Orders", 0))
        assert.strictEqual(error.reason._tag, "OutcomeUnknown")
        assert.deepStrictEqual(yield* customers(file), ["Bob", "Cy"])
        yield* Workbooks.removeRow(file, "Orders", 1)
        assert.deepStrictEqual(yield* customers(file), ["Bob"])
      })
    )
  )
})

describe("a date", () => {
  it("is a number of days, with the 29th of February 1900 that Excel has", () => {
    const numbers: ReadonlyArray<readonly [string, number]> = [
      ["1900-01-01", 1],
      ["1900-02-28", 59],
      ["1900-03-01", 61],
      ["1970-01-01", 25_569],
      ["2026-05-04T18:00Z", 46_146.75],
      ["9999-12-31", 2_958_465]
    ]
    for (const [text, serial] of numbers) {
      assert.strictEqual(Workbooks.serialOf(new Date(text)), serial)
      assert.deepStrictEqual(Workbooks.dateOf(serial), new Date(text))
    }
    assert.deepStrictEqual(Workbooks.dateOf(60), new Date("1900-03-01"))
  })
})
