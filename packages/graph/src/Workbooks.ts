/**
 * Workbooks (`.xlsx`) of drives: worksheets, ranges of cells and tables, in sessions. The service takes requests and gives answers of
 * at most 5 MB, and may end an operation that takes long with a 504; read and write in parts that are small enough ("Best practices
 * for working with the Excel API in Microsoft Graph", "Resource limits and performance optimization for Office Add-ins").
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { DriveAddress, ItemAddress } from "./Drive.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { json, list, refused, unit, unsent } from "./internal/requests/Call.ts"
import { type CellInput, encoded, problemOf } from "./internal/workbooks/Cells.ts"
import { close, inSession, keptAlive, once, open, type Workbook, workbookPath } from "./internal/workbooks/Sessions.ts"
import { listed } from "./internal/workbooks/Tables.ts"
import { WorkbookRange, Worksheet } from "./model/Workbook.ts"
import { literal, type Path, path } from "./Path.ts"

export { asText, type CellInput, dateOf, serialOf } from "./internal/workbooks/Cells.ts"
export { type Row, RowsPartlyAdded, type RowValues, UnexpectedRow } from "./internal/workbooks/Rows.ts"
export type { Session, Workbook } from "./internal/workbooks/Sessions.ts"
export {
  addRows,
  type AddRowsOptions,
  addTable,
  type CellsOf,
  columns,
  headers,
  type NewTable,
  removeRow,
  rows,
  type RowsOptions,
  type StreamRows,
  table,
  tables,
  updateRow
} from "./internal/workbooks/Tables.ts"
export { type Cells, type CellValue, TableColumn, WorkbookRange, WorkbookTable, Worksheet } from "./model/Workbook.ts"

const oneSheet = json(Worksheet)
const manySheets = list(Worksheet)
const oneRange = json(WorkbookRange)

export interface SessionOptions {
  /** Whether changes are saved; default true. Otherwise they are seen in the session alone, and gone with it. */
  readonly persistChanges?: boolean | undefined
}

/**
 * Opens a workbook in a session, which makes more than one or two calls faster. It is refreshed before the service ends it for not
 * being used (after 5 minutes), and closed at the end of the scope. Calls in it are sent one after another.
 *
 * When the service has lost the session, the next call begins a new one. If it does not save and something was changed in it, calls
 * fail with `SessionLost` instead, since the changes are gone. Without a session a workbook is `{ drive, item }`.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Workbooks from "@signalbox/graph/Workbooks"
 * import * as Effect from "effect/Effect"
 *
 * export const may = Effect.gen(function* () {
 *   const file = { path: "/Reports/2026.xlsx" }
 *   const book = yield* Workbooks.session(Drive.me, file)
 *   yield* Workbooks.writeRange(book, "May", "A1:B1", {
 *     values: [["Order", "Total"]]
 *   })
 *   return yield* Workbooks.usedRange(book, "May")
 * }).pipe(Effect.scoped)
 * ```
 */
export const session = Effect.fn("Workbooks.session")(function* (
  drive: DriveAddress,
  item: ItemAddress,
  options: SessionOptions = {}
): Effect.fn.Return<Workbook, GraphError, Graph | Scope.Scope> {
  const workbook = yield* Effect.acquireRelease(open(drive, item, options.persistChanges ?? true), close)
  yield* Effect.forkScoped(keptAlive(workbook))
  return workbook
})

/** The worksheets of a workbook, in the order of their tabs. */
export const worksheets = (workbook: Workbook): Stream.Stream<Worksheet, GraphError, Graph> =>
  listed(workbook, (headers) => manySheets({ path: workbookPath(workbook, path`worksheets`), headers })).pipe(
    Stream.withSpan("Workbooks.worksheets")
  )

const sheetPath = (workbook: Workbook, worksheet: string, relation?: Path) =>
  workbookPath(
    workbook,
    relation === undefined ? path`worksheets/${worksheet}` : path`worksheets/${worksheet}/${relation}`
  )

/** A worksheet by its name or id; fails with `NotFound`. */
export const worksheet = Effect.fn("Workbooks.worksheet")((workbook: Workbook, name: string) =>
  inSession(workbook, "reads", (headers) => oneSheet({ path: sheetPath(workbook, name), headers }))
)

/** Adds a worksheet behind the others; without a name the service gives it one. Fails with `Conflict` when the name is taken. */
export const addWorksheet = Effect.fn("Workbooks.addWorksheet")((workbook: Workbook, name?: string) =>
  inSession(workbook, "writes", (headers) =>
    once(oneSheet({ method: "POST", path: workbookPath(workbook, path`worksheets/add`), headers, json: { name } }))
  )
)

/** Deletes a worksheet with all that is in it. Safe to repeat. */
export const removeWorksheet = Effect.fn("Workbooks.removeWorksheet")((workbook: Workbook, name: string) =>
  inSession(workbook, "writes", (headers) => unit({ method: "DELETE", path: sheetPath(workbook, name), headers }))
)

/** What of a range comes; default: all of it. */
export interface SelectRange {
  readonly select?: ReadonlyArray<keyof WorkbookRange & string> | undefined
}

const rangePath = (workbook: Workbook, worksheet: string, address: string, relation?: Path) => {
  const range = path`range(address=${literal(address)})`
  return sheetPath(workbook, worksheet, relation === undefined ? range : path`${range}/${relation}`)
}

/**
 * The cells of a range, such as `A1:C3`: their values, formulas, number formats and texts. Dates are numbers, which `dateOf` reads.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Workbooks from "@signalbox/graph/Workbooks"
 * import * as Effect from "effect/Effect"
 *
 * const book = { drive: Drive.me, item: { path: "/Reports/2026.xlsx" } }
 *
 * export const total = Effect.map(
 *   Workbooks.range(book, "May", "C12", { select: ["values"] }),
 *   ({ values }) => values?.[0]?.[0]
 * )
 * ```
 */
export const range = Effect.fn("Workbooks.range")(
  (workbook: Workbook, worksheet: string, address: string, options: SelectRange = {}) =>
    inSession(workbook, "reads", (headers) =>
      oneRange({
        path: rangePath(workbook, worksheet, address),
        headers,
        query: { $select: options.select?.join(",") }
      })
    )
)

export interface UsedRangeOptions extends SelectRange {
  /** Default true: cells that have a format alone do not count. */
  readonly valuesOnly?: boolean | undefined
}

/** The smallest range with all cells of a worksheet that have something; `A1` when none has. */
export const usedRange = Effect.fn("Workbooks.usedRange")((
  workbook: Workbook,
  worksheet: string,
  options: UsedRangeOptions = {}
) => {
  const valuesOnly = String(options.valuesOnly ?? true)
  return inSession(workbook, "reads", (headers) =>
    oneRange({
      path: sheetPath(workbook, worksheet, path`usedRange(valuesOnly=${valuesOnly})`),
      headers,
      query: { $select: options.select?.join(",") }
    })
  )
})

/** One value for each cell of a range, or one for all. */
export type Grid<A> = A | ReadonlyArray<ReadonlyArray<A>>

/** What is written into a range. Cells that are null or undefined stay as they are. */
export interface RangeChanges {
  /** Taken as if a person had typed them: `asText` for texts that must stay what they are. */
  readonly values?: Grid<CellInput> | undefined
  /** Such as `=SUM(A1:A3)`, in English. */
  readonly formulas?: Grid<CellInput> | undefined
  /** Such as `yyyy-mm-dd`. */
  readonly numberFormat?: Grid<string | null | undefined> | undefined
}

const isRows = <A>(grid: Grid<A>): grid is ReadonlyArray<ReadonlyArray<A>> => Array.isArray(grid)

const gridOf = (grid: Grid<CellInput> | undefined) =>
  grid === undefined ? undefined : isRows(grid) ? grid.map((row) => row.map(encoded)) : encoded(grid)

const gridProblem = (name: string, grid: Grid<CellInput> | undefined): string | undefined => {
  if (grid === undefined) return undefined
  const cells = isRows(grid) ? grid : [[grid]]
  const found = cells
    .flatMap((row, down) => row.map((cell, right) => ({ at: `${name}.${down}.${right}`, problem: problemOf(cell) })))
    .find(({ problem }) => problem !== null)
  return found === undefined ? undefined : `${found.at}: ${found.problem}`
}

/**
 * Writes cells of a range, and returns it. Safe to repeat, and repeated when a connection breaks. Fails with `InvalidRequest` when
 * there are more or fewer cells than in the range.
 *
 * ```ts
 * import * as Workbooks from "@signalbox/graph/Workbooks"
 *
 * export const done = (book: Workbooks.Workbook) =>
 *   Workbooks.writeRange(book, "May", "A2:B2", {
 *     values: [[new Date(), Workbooks.asText("=done")]],
 *     numberFormat: [["yyyy-mm-dd", null]]
 *   })
 * ```
 */
export const writeRange = Effect.fn("Workbooks.writeRange")((
  workbook: Workbook,
  worksheet: string,
  address: string,
  changes: RangeChanges
): Effect.Effect<WorkbookRange, GraphError, Graph> => {
  const { formulas, numberFormat, values } = changes
  const of = rangePath(workbook, worksheet, address)
  const problem = gridProblem("values", values) ?? gridProblem("formulas", formulas)
  if (problem !== undefined) return Effect.fail(refused(unsent("PATCH", of.shown, "Workbooks.writeRange"), problem))
  const cells = { values: gridOf(values), formulas: gridOf(formulas), numberFormat: gridOf(numberFormat) }
  return inSession(workbook, "writes", (headers) =>
    oneRange({ method: "PATCH", path: of, headers, json: cells, repeatable: true })
  )
})

/** Empties a range: `All` (default), only its `Contents`, or only its `Formats`. Safe to repeat. */
export const clearRange = Effect.fn("Workbooks.clearRange")(
  (workbook: Workbook, worksheet: string, address: string, applyTo: "All" | "Contents" | "Formats" = "All") =>
    inSession(workbook, "writes", (headers) =>
      unit({
        method: "POST",
        path: rangePath(workbook, worksheet, address, path`clear`),
        headers,
        json: { applyTo },
        repeatable: true
      })
    )
)
