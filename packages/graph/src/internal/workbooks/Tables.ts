/**
 * Tables of a workbook: their columns and rows.
 */
import type { AnySchema, TypeOf } from "@signalbox/api/StandardSchema"
import { check, whole } from "@signalbox/transport/OptionError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import { type CellValue, TableColumn, TableRow, WorkbookTable } from "../../model/Workbook.ts"
import { type Path, path } from "../../Path.ts"
import { json, list, refused, unit, unsent } from "../requests/Call.ts"
import type { CellInput } from "./Cells.ts"
import {
  cellsOf,
  isByHeader,
  portions,
  reader,
  type Row,
  rowOf,
  type RowInput,
  RowsPartlyAdded,
  type UnexpectedRow
} from "./Rows.ts"
import { inSession, once, type Workbook, workbookPath } from "./Sessions.ts"

const oneTable = json(WorkbookTable)
const manyTables = list(WorkbookTable)
const manyColumns = list(TableColumn)
const oneRow = json(TableRow)
const page = json(Schema.Struct({ value: Schema.Array(TableRow) }))

/** All of a list, in one session; its pages come one after another. */
export const listed = <A>(
  workbook: Workbook,
  all: (headers: Readonly<Record<string, string>>) => Stream.Stream<A, GraphError, Graph>
): Stream.Stream<A, GraphError, Graph> =>
  Stream.fromIterableEffect(inSession(workbook, "reads", (headers) => Stream.runCollect(all(headers))))

/** The tables of a workbook, or of one worksheet of it. */
export const tables = (workbook: Workbook, worksheet?: string): Stream.Stream<WorkbookTable, GraphError, Graph> => {
  const relation = worksheet === undefined ? path`tables` : path`worksheets/${worksheet}/tables`
  const of = workbookPath(workbook, relation)
  return listed(workbook, (headers) => manyTables({ path: of, headers })).pipe(Stream.withSpan("Workbooks.tables"))
}

/** A table to add. */
export interface NewTable {
  /** Of its cells, with the worksheet, as `May!A1:C3`. */
  readonly address: string
  /** Whether the first row of these cells has the headers; default true. Without them, the service adds a row above. */
  readonly hasHeaders?: boolean | undefined
  readonly name?: string | undefined
}

const tablePath = (workbook: Workbook, table: string, relation?: Path) =>
  workbookPath(workbook, relation === undefined ? path`tables/${table}` : path`tables/${table}/${relation}`)

/** A table by its name or id; fails with `NotFound`. */
export const table = Effect.fn("Workbooks.table")((workbook: Workbook, name: string) =>
  inSession(workbook, "reads", (headers) => oneTable({ path: tablePath(workbook, name), headers }))
)

/**
 * Makes a table of cells. Fails with `OutcomeUnknown` when the connection broke, so that it may be there.
 *
 * ```ts
 * import * as Workbooks from "@signalbox/graph/Workbooks"
 *
 * export const orders = (book: Workbooks.Workbook) =>
 *   Workbooks.addTable(book, { address: "May!A1:C1", name: "Orders" })
 * ```
 */
export const addTable = Effect.fn("Workbooks.addTable")(function* (workbook: Workbook, table: NewTable) {
  const { address, hasHeaders = true, name } = table
  const made = yield* inSession(workbook, "writes", (headers) =>
    once(
      oneTable({
        method: "POST",
        path: workbookPath(workbook, path`tables/add`),
        headers,
        json: { address, hasHeaders }
      })
    )
  )
  if (name === undefined) return made
  return yield* inSession(workbook, "writes", (headers) =>
    oneTable({ method: "PATCH", path: tablePath(workbook, made.id), headers, json: { name }, repeatable: true })
  )
})

/** The columns of a table with their cells, the header first. */
export const columns = (workbook: Workbook, table: string): Stream.Stream<TableColumn, GraphError, Graph> =>
  listed(workbook, (headers) => manyColumns({ path: tablePath(workbook, table, path`columns`), headers })).pipe(
    Stream.withSpan("Workbooks.columns")
  )

/** The headers of a table, in the order of its columns. */
export const headers = Effect.fn("Workbooks.headers")(
  (workbook: Workbook, table: string): Effect.Effect<ReadonlyArray<string>, GraphError, Graph> =>
    inSession(workbook, "reads", (headers) =>
      Stream.runCollect(
        manyColumns({
          path: tablePath(workbook, table, path`columns`),
          headers,
          query: { $select: "id,name,index" }
        }).pipe(Stream.map(({ name }) => name ?? ""))
      )
    )
)

/** How rows are read. */
export interface RowsOptions {
  /** Rows of a request; default 500. */
  readonly pageSize?: number | undefined
}

/** How rows are read, with the type of a schema or without. */
export interface StreamRows {
  <S extends AnySchema>(
    workbook: Workbook,
    table: string,
    options: RowsOptions & { readonly schema: S }
  ): Stream.Stream<Row<TypeOf<S>>, UnexpectedRow | GraphError, Graph>
  (workbook: Workbook, table: string, options?: RowsOptions): Stream.Stream<Row, GraphError, Graph>
}

/**
 * The rows of a table, with their cells by the headers of the columns; a page is fetched when it is wanted. With a `schema`, one of
 * effect or of a library such as Zod, they have its type; fails with `UnexpectedRow` at one that does not fit. Rows that are added or
 * removed meanwhile move the others, so that some may come twice or not at all.
 *
 * ```ts
 * import * as Workbooks from "@signalbox/graph/Workbooks"
 * import * as Schema from "effect/Schema"
 * import * as Stream from "effect/Stream"
 *
 * const Order = Schema.Struct({ Order: Schema.Finite, Date: Schema.Finite })
 *
 * export const dates = (book: Workbooks.Workbook) =>
 *   Workbooks.rows(book, "Orders", { schema: Order }).pipe(
 *     Stream.map(({ values }) => Workbooks.dateOf(values.Date))
 *   )
 * ```
 */
export const rows = ((
  workbook: Workbook,
  table: string,
  options: RowsOptions & { readonly schema?: AnySchema | undefined } = {}
) => {
  check("Workbooks.rows", options, { pageSize: whole(1) })
  const { pageSize = 500, schema } = options
  const read = reader(schema)
  const at = (skip: number) =>
    inSession(workbook, "reads", (headers) =>
      page({ path: tablePath(workbook, table, path`rows`), headers, query: { $top: pageSize, $skip: skip } })
    )
  const all = Stream.paginate<number, TableRow, GraphError, Graph>(0, (skip) =>
    Effect.map(
      at(skip),
      // The service documents no links to pages of rows.
      ({ value }) => [value, value.length < pageSize ? Option.none() : Option.some(skip + value.length)] as const
    )
  )
  return Stream.unwrap(
    Effect.map(headers(workbook, table), (names) =>
      Stream.mapEffect(all, ({ index, values }) => read(rowOf(names, index, values[0] ?? [])))
    )
  ).pipe(Stream.withSpan("Workbooks.rows"))
  // The values have the type of the schema when there is one.
}) as StreamRows

/**
 * A row to write: cells in the order of the columns, or an object of any interface by their headers. What an object leaves out stays
 * as it is; in a new row it is blank, or the formula of its column.
 */
export type CellsOf<Row> = { readonly [Name in keyof Row]: CellInput }

/** The cells of rows that are written, with the headers of the table where a row needs them. */
const encodedRows = Effect.fnUntraced(function* (
  workbook: Workbook,
  table: string,
  rows: ReadonlyArray<RowInput>,
  operation: string
) {
  const names = rows.some(isByHeader) ? yield* headers(workbook, table) : []
  const cells: Array<ReadonlyArray<CellValue>> = []
  for (const [index, row] of rows.entries()) {
    const encoded = cellsOf(row, names)
    if (Result.isFailure(encoded)) {
      const { shown } = tablePath(workbook, table, path`rows`)
      return yield* refused(unsent("POST", shown, operation), `row ${index}: ${encoded.failure}`)
    }
    cells.push(encoded.success)
  }
  return cells
})

/** How rows are added. */
export interface AddRowsOptions {
  /** Where the first of them comes, from 0; what is there moves down. Default: at the end. */
  readonly index?: number | undefined
  /** Rows of a request; default 1000. A request also has at most 4 MB, since the service takes no more than 5. */
  readonly rowsPerRequest?: number | undefined
}

/**
 * Adds rows to a table, many with a request, and returns the number of rows. All are checked before the first request: `InvalidRequest`
 * names the first that cannot be sent. A request is not sent twice when its answer is lost: then it fails with `OutcomeUnknown`, and
 * `RowsPartlyAdded` when others were before it.
 *
 * ```ts
 * import * as Workbooks from "@signalbox/graph/Workbooks"
 *
 * interface Order {
 *   readonly Order: number
 *   readonly Customer: string
 *   readonly Date?: Date
 * }
 *
 * export const add = (
 *   book: Workbooks.Workbook,
 *   orders: ReadonlyArray<Order>
 * ) => Workbooks.addRows(book, "Orders", orders)
 * ```
 */
export const addRows = Effect.fn("Workbooks.addRows")(function* <Row extends CellsOf<Row>>(
  workbook: Workbook,
  table: string,
  rows: Iterable<Row>,
  options: AddRowsOptions = {}
): Effect.fn.Return<number, GraphError | RowsPartlyAdded, Graph> {
  check("Workbooks.addRows", options, { index: whole(0), rowsPerRequest: whole(1) })
  const { index, rowsPerRequest = 1000 } = options
  // An object whose members are cells.
  const given = Array.from(rows, (row): RowInput => row as object)
  const cells = yield* encodedRows(workbook, table, given, "Workbooks.addRows")
  let added = 0
  for (const values of portions(cells, rowsPerRequest)) {
    const at = index === undefined ? null : index + added
    yield* inSession(workbook, "writes", (headers) =>
      once(
        oneRow({
          method: "POST",
          path: tablePath(workbook, table, path`rows/add`),
          headers,
          json: { index: at, values }
        })
      )
    ).pipe(
      Effect.mapError((error) => {
        if (added === 0) return error
        const unknown = error.reason._tag === "OutcomeUnknown" ? values.length : 0
        return new RowsPartlyAdded({ added, unknown, error })
      })
    )
    added += values.length
  }
  return added
})

const rowPath = (workbook: Workbook, table: string, index: number) =>
  tablePath(workbook, table, path`rows/itemAt(index=${String(index)})`)

/**
 * Changes cells of a row, and returns all of them. What is left out, null or undefined stays; `""` empties a cell.
 *
 * ```ts
 * import * as Workbooks from "@signalbox/graph/Workbooks"
 *
 * export const pay = (book: Workbooks.Workbook, index: number) =>
 *   Workbooks.updateRow(book, "Orders", index, { Paid: new Date() })
 * ```
 */
export const updateRow = Effect.fn("Workbooks.updateRow")(function* <Row extends CellsOf<Row>>(
  workbook: Workbook,
  table: string,
  index: number,
  row: Row
): Effect.fn.Return<ReadonlyArray<CellValue>, GraphError, Graph> {
  // As in `addRows`.
  const values = yield* encodedRows(workbook, table, [row as object], "Workbooks.updateRow")
  const changed = yield* inSession(workbook, "writes", (headers) =>
    oneRow({ method: "PATCH", path: rowPath(workbook, table, index), headers, json: { values }, repeatable: true })
  )
  return changed.values[0] ?? []
})

/** Deletes a row; those below it move up. A second time it would be another one: fails with `OutcomeUnknown` when it may be done. */
export const removeRow = Effect.fn("Workbooks.removeRow")((workbook: Workbook, table: string, index: number) =>
  inSession(workbook, "writes", (headers) =>
    once(unit({ method: "DELETE", path: rowPath(workbook, table, index), headers, repeatable: false }))
  )
)
