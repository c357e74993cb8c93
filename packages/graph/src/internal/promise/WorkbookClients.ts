/** Workbooks, as functions with promises. */
import type { AnySchema, TypeOf } from "@signalbox/api/StandardSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { DriveAddress, ItemAddress } from "../../Drive.ts"
import type { Graph } from "../../Graph.ts"
import * as Workbooks from "../../Workbooks.ts"
import type { CallOptions, Members } from "./Members.ts"

/** What a client has open until it is closed. */
export class ClientScope extends Context.Service<ClientScope, Scope.Scope>()("@signalbox/graph/internal/ClientScope") {
  static readonly layer: Layer.Layer<ClientScope> = Layer.effect(ClientScope, Effect.scope)
}

/** A workbook in a session; close it with `await using`, or by `close`. The client closes what is still open. */
export interface OpenWorkbook extends Workbooks.Workbook, AsyncDisposable {
  readonly close: () => Promise<void>
}

/** Rows with the type of a schema, or by the headers of their columns. */
export interface RowsOf {
  <S extends AnySchema>(
    workbook: Workbooks.Workbook,
    table: string,
    read: Workbooks.RowsOptions & { readonly schema: S },
    options?: CallOptions
  ): AsyncIterable<Workbooks.Row<TypeOf<S>>>
  (
    workbook: Workbooks.Workbook,
    table: string,
    read?: Workbooks.RowsOptions,
    options?: CallOptions
  ): AsyncIterable<Workbooks.Row>
}

/** Worksheets, ranges and tables of workbooks. A workbook is `{ drive, item }`, or one in a session. */
export interface WorkbooksClient {
  /**
   * Opens a workbook in a session, which is refreshed while it is open.
   * @example
   * const file = { path: "/Orders.xlsx" }
   * await using workbook = await graph.workbooks.session(me, file)
   * await graph.workbooks.writeRange(workbook, "May", "A1", { values: 42 })
   */
  readonly session: (
    drive: DriveAddress,
    item: ItemAddress,
    session?: Workbooks.SessionOptions,
    options?: CallOptions
  ) => Promise<OpenWorkbook>
  /** The worksheets of a workbook. */
  readonly worksheets: (workbook: Workbooks.Workbook, options?: CallOptions) => AsyncIterable<Workbooks.Worksheet>
  /** A worksheet by its name or id; rejects with `NotFound`. */
  readonly worksheet: (
    workbook: Workbooks.Workbook,
    name: string,
    options?: CallOptions
  ) => Promise<Workbooks.Worksheet>
  /**
   * Adds a worksheet; rejects with `Conflict` when the name is taken.
   * @example await graph.workbooks.addWorksheet(workbook, "May")
   */
  readonly addWorksheet: (
    workbook: Workbooks.Workbook,
    name?: string,
    options?: CallOptions
  ) => Promise<Workbooks.Worksheet>
  /** Deletes a worksheet with all that is in it. */
  readonly removeWorksheet: (workbook: Workbooks.Workbook, name: string, options?: CallOptions) => Promise<void>
  /**
   * The cells of a range: values, formulas, number formats and texts.
   * @example const { values } = await graph.workbooks.range(workbook, "May", "A1:C3")
   */
  readonly range: (
    workbook: Workbooks.Workbook,
    worksheet: string,
    address: string,
    select?: Workbooks.SelectRange,
    options?: CallOptions
  ) => Promise<Workbooks.WorkbookRange>
  /**
   * The smallest range with all cells of a worksheet that have something.
   * @example const { address } = await graph.workbooks.usedRange(workbook, "May")
   */
  readonly usedRange: (
    workbook: Workbooks.Workbook,
    worksheet: string,
    select?: Workbooks.UsedRangeOptions,
    options?: CallOptions
  ) => Promise<Workbooks.WorkbookRange>
  /**
   * Writes cells of a range, and returns it.
   * @example
   * const values = [["Order", "Total"], [4711, 12.5]]
   * await graph.workbooks.writeRange(workbook, "May", "A1:B2", { values })
   */
  readonly writeRange: (
    workbook: Workbooks.Workbook,
    worksheet: string,
    address: string,
    changes: Workbooks.RangeChanges,
    options?: CallOptions
  ) => Promise<Workbooks.WorkbookRange>
  /**
   * Empties a range.
   * @example await graph.workbooks.clearRange(workbook, "May", "A2:C9")
   */
  readonly clearRange: (
    workbook: Workbooks.Workbook,
    worksheet: string,
    address: string,
    applyTo?: "All" | "Contents" | "Formats",
    options?: CallOptions
  ) => Promise<void>
  /**
   * The tables of a workbook, or of one worksheet.
   * @example
   * for await (const table of graph.workbooks.tables(workbook, "May"))
   *   console.log(table.name)
   */
  readonly tables: (
    workbook: Workbooks.Workbook,
    worksheet?: string,
    options?: CallOptions
  ) => AsyncIterable<Workbooks.WorkbookTable>
  /** A table by its name or id; rejects with `NotFound`. */
  readonly table: (
    workbook: Workbooks.Workbook,
    name: string,
    options?: CallOptions
  ) => Promise<Workbooks.WorkbookTable>
  /**
   * Makes a table of cells.
   * @example
   * const cells = { address: "May!A1:C3", name: "Orders" }
   * await graph.workbooks.addTable(workbook, cells)
   */
  readonly addTable: (
    workbook: Workbooks.Workbook,
    table: Workbooks.NewTable,
    options?: CallOptions
  ) => Promise<Workbooks.WorkbookTable>
  /** The columns of a table with their cells. */
  readonly columns: (
    workbook: Workbooks.Workbook,
    table: string,
    options?: CallOptions
  ) => AsyncIterable<Workbooks.TableColumn>
  /** The headers of a table. */
  readonly headers: (
    workbook: Workbooks.Workbook,
    table: string,
    options?: CallOptions
  ) => Promise<ReadonlyArray<string>>
  /**
   * The rows of a table; rejects with `UnexpectedRow` at one that does not fit the `schema`.
   * @example
   * for await (const { values } of graph.workbooks.rows(workbook, "Orders"))
   *   console.log(values)
   */
  readonly rows: RowsOf
  /**
   * Adds rows, and returns their number; rejects with `RowsPartlyAdded` when a later request fails.
   * @example
   * const rows = [{ Order: 4711, Total: 12.5 }]
   * await graph.workbooks.addRows(workbook, "Orders", rows)
   */
  readonly addRows: <Row extends Workbooks.CellsOf<Row>>(
    workbook: Workbooks.Workbook,
    table: string,
    rows: Iterable<Row>,
    add?: Workbooks.AddRowsOptions,
    options?: CallOptions
  ) => Promise<number>
  /**
   * Changes cells of a row, and returns all of them.
   * @example
   * await graph.workbooks.updateRow(workbook, "Orders", 0, { Total: 13 })
   */
  readonly updateRow: <Row extends Workbooks.CellsOf<Row>>(
    workbook: Workbooks.Workbook,
    table: string,
    index: number,
    row: Row,
    options?: CallOptions
  ) => Promise<ReadonlyArray<Workbooks.CellValue>>
  /**
   * Deletes a row; rejects with `OutcomeUnknown` when it may be done.
   * @example await graph.workbooks.removeRow(workbook, "Orders", 0)
   */
  readonly removeRow: (
    workbook: Workbooks.Workbook,
    table: string,
    index: number,
    options?: CallOptions
  ) => Promise<void>
}

/** A session in a scope of its own, which ends with that of the client. */
const opened = Effect.fnUntraced(function* (
  ...args: Parameters<typeof Workbooks.session>
): Effect.fn.Return<OpenWorkbook, unknown, Graph | ClientScope> {
  const context = yield* Effect.context<Graph>()
  const scope = yield* Scope.fork(yield* ClientScope)
  const workbook = yield* Workbooks.session(...args).pipe(
    Scope.provide(scope),
    Effect.onError(() => Scope.close(scope, Exit.void))
  )
  const close = () => Effect.runPromiseWith(context)(Scope.close(scope, Exit.void))
  return { ...workbook, close, [Symbol.asyncDispose]: close }
})

export const workbooks: Members<WorkbooksClient> = {
  session: { of: opened, parameters: 3 },
  worksheets: { of: Workbooks.worksheets, parameters: 1 },
  worksheet: { of: Workbooks.worksheet, parameters: 2 },
  addWorksheet: { of: Workbooks.addWorksheet, parameters: 2 },
  removeWorksheet: { of: Workbooks.removeWorksheet, parameters: 2 },
  range: { of: Workbooks.range, parameters: 4 },
  usedRange: { of: Workbooks.usedRange, parameters: 3 },
  writeRange: { of: Workbooks.writeRange, parameters: 4 },
  clearRange: { of: Workbooks.clearRange, parameters: 4 },
  tables: { of: Workbooks.tables, parameters: 2 },
  table: { of: Workbooks.table, parameters: 2 },
  addTable: { of: Workbooks.addTable, parameters: 2 },
  columns: { of: Workbooks.columns, parameters: 2 },
  headers: { of: Workbooks.headers, parameters: 2 },
  rows: { of: Workbooks.rows, parameters: 3 },
  addRows: { of: Workbooks.addRows, parameters: 4 },
  updateRow: { of: Workbooks.updateRow, parameters: 4 },
  removeRow: { of: Workbooks.removeRow, parameters: 3 }
}
