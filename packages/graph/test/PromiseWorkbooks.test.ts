/**
 * Workbooks with promises: sessions that close, rows by a schema, and errors as classes.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Rule } from "@signalbox/graph-sandbox/Faults"
import type { Seed } from "@signalbox/graph-sandbox/Seed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import {
  asText,
  connectGraph,
  dateOf,
  type GraphClient,
  me,
  NotFound,
  OutcomeUnknown,
  RowsPartlyAdded,
  SessionLost,
  UnexpectedRow,
  type Workbook
} from "../src/Promise.ts"
import { all, rejection } from "./support/Promises.ts"
import { asked, faults, GraphSandbox, inSandbox } from "./support/Sandbox.ts"

const seed: Seed = {
  users: [
    {
      userPrincipalName: "ann@contoso.test",
      displayName: "Ann Lee",
      drive: {
        "Orders.xlsx": {
          workbook: {
            May: [
              ["Order", "Customer"],
              [1, "Ann"]
            ]
          },
          tables: { Orders: "May!A1:B2" }
        }
      }
    }
  ]
}

const item = { path: "/Orders.xlsx" }
const file: Workbook = { drive: me, item }

/** Runs with a client of a sandbox in which this goes wrong, and returns what was asked of the workbook. */
const withGraph = (body: (graph: GraphClient) => Promise<void>, ...rules: ReadonlyArray<Rule>) =>
  inSandbox(
    Effect.gen(function* () {
      const { accessToken, origin } = yield* GraphSandbox
      const token = yield* accessToken()
      yield* faults(...rules)
      yield* Effect.promise(async () => {
        await using graph = connectGraph({ token, graphUrl: origin, loginUrl: origin, policy: { baseMillis: 1 } })
        await body(graph)
      })
      return (yield* asked).map(({ url }) => url.split("/workbook/")[1])
    }),
    { seed }
  )

describe("workbooks with promises", () => {
  it.live("are read and written, in a session that closes where it ends", () =>
    Effect.gen(function* () {
      const urls = yield* withGraph(async ({ workbooks }) => {
        await using book = await workbooks.session(me, item)
        await workbooks.addWorksheet(book, "June")
        assert.deepStrictEqual(
          (await all(workbooks.worksheets(book))).map(({ name }) => name),
          ["May", "June"]
        )
        assert.strictEqual((await workbooks.worksheet(book, "June")).position, 1)
        const paid = new Date("2026-05-04")
        const values = [
          ["Order", "Paid"],
          [asText("007"), paid]
        ]
        await workbooks.writeRange(book, "June", "A1:B2", { values })
        const { values: read } = await workbooks.range(book, "June", "A2:B2", { select: ["values"] })
        assert.deepStrictEqual([read?.[0]?.[0], dateOf(Number(read?.[0]?.[1]))], ["007", paid])
        const table = await workbooks.addTable(book, { address: "June!A1:B2", name: "Payments" })
        assert.strictEqual((await workbooks.table(book, "Payments")).id, table.id)
        assert.lengthOf(await all(workbooks.tables(book)), 2)
        assert.lengthOf(await all(workbooks.columns(book, "Payments")), 2)
        await workbooks.clearRange(book, "June", "A2:B2", "Contents")
        assert.strictEqual((await workbooks.usedRange(book, "June")).address, "June!A1:B1")
        await workbooks.removeWorksheet(book, "June")
      })
      assert.deepStrictEqual([urls[0], urls.at(-1)], ["createSession", "closeSession"])
    })
  )

  it.live("close their sessions with the client", () =>
    Effect.gen(function* () {
      const urls = yield* withGraph(async ({ workbooks }) => {
        const book = await workbooks.session(me, item)
        await book.close()
        await workbooks.session(me, item, { persistChanges: false })
      })
      assert.deepStrictEqual(urls, ["createSession", "closeSession", "createSession", "closeSession"])
    })
  )

  it.live("give rows of any interface and of a schema", () =>
    withGraph(async ({ workbooks }) => {
      interface Order {
        readonly Order: number
        readonly Customer?: string
      }
      const orders: ReadonlyArray<Order> = [{ Order: 2, Customer: "Bo" }, { Order: 3 }]
      assert.strictEqual(await workbooks.addRows(file, "Orders", orders), 2)
      assert.deepStrictEqual(await workbooks.headers(file, "Orders"), ["Order", "Customer"])
      await workbooks.updateRow(file, "Orders", 0, { Customer: "Anna" })
      await workbooks.removeRow(file, "Orders", 1)
      assert.deepStrictEqual(
        (await all(workbooks.rows(file, "Orders"))).map(({ values }) => values),
        [
          { Order: 1, Customer: "Anna" },
          { Order: 3, Customer: null }
        ]
      )
      const schema = Schema.Struct({ Customer: Schema.String })
      const customers: Array<string> = []
      const error = await rejection(
        (async () => {
          for await (const { values } of workbooks.rows(file, "Orders", { schema })) customers.push(values.Customer)
        })()
      )
      assert.deepStrictEqual(customers, ["Anna"])
      assert.instanceOf(error, UnexpectedRow)
      assert.deepInclude(error, { index: 1, path: "Customer", operation: "workbooks.rows" })
    })
  )

  it.live("reject with a class for a row whose outcome is unknown, and for what was added before", () =>
    withGraph(
      async ({ workbooks }) => {
        const error = await rejection(
          workbooks.addRows(
            file,
            "Orders",
            [[2], [3]].map(([n = 0]) => [n, ""]),
            { rowsPerRequest: 1 }
          )
        )
        assert.instanceOf(error, RowsPartlyAdded)
        assert.deepInclude(error, { added: 1, unknown: 1, operation: "workbooks.addRows" })
        assert.instanceOf(await rejection(workbooks.addRows(file, "Orders", [[4, ""]])), OutcomeUnknown)
        assert.instanceOf(await rejection(workbooks.table(file, "None")), NotFound)
      },
      { fault: "drop", when: "after", path: "rows/add", skip: 1, times: 2 }
    )
  )

  it.live("reject with SessionLost when changes are gone", () =>
    withGraph(
      async ({ workbooks }) => {
        await using book = await workbooks.session(me, item, { persistChanges: false })
        await workbooks.writeRange(book, "May", "A1", { values: "Id" })
        assert.instanceOf(await rejection(workbooks.range(book, "May", "A1")), SessionLost)
      },
      { fault: "loseSession", path: "range", skip: 1, times: 1 }
    )
  )
})
