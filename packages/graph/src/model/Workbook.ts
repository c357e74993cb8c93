/**
 * Workbooks: their worksheets, ranges of cells and tables.
 */
import * as Schema from "effect/Schema"
import { maybe } from "./Common.ts"

const text = maybe(Schema.String)
const flag = Schema.optionalKey(Schema.Boolean)
const number = Schema.optionalKey(Schema.Finite)

/** What a cell has. A blank one is empty text; dates are numbers, which `dateOf` reads; an error is text such as `#N/A`. */
export const CellValue = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])
export type CellValue = typeof CellValue.Type

/** Rows of cells. */
export const Cells = Schema.Array(Schema.Array(CellValue))
export type Cells = typeof Cells.Type

export class Worksheet extends Schema.Opaque<Worksheet>()(
  Schema.Struct({
    id: Schema.String,
    name: text,
    /** From 0, in the order of the tabs. */
    position: number,
    /** `Visible`, `Hidden` or `VeryHidden`. */
    visibility: Schema.optionalKey(Schema.String)
  })
) {}

export class WorkbookRange extends Schema.Opaque<WorkbookRange>()(
  Schema.Struct({
    /** With its sheet, as `Sheet1!A1:C3`. */
    address: text,
    cellCount: number,
    rowCount: number,
    columnCount: number,
    /** Of its first row, from 0. */
    rowIndex: number,
    columnIndex: number,
    values: maybe(Cells),
    /** Of cells without a formula: their values. */
    formulas: maybe(Cells),
    /** As people see them. */
    text: maybe(Schema.Array(Schema.Array(Schema.NullOr(Schema.String)))),
    /** Such as `yyyy-mm-dd`. */
    numberFormat: maybe(Cells),
    /** `Empty`, `String`, `Double`, `Boolean`, `Error` and others. */
    valueTypes: maybe(Schema.Array(Schema.Array(Schema.NullOr(Schema.String))))
  })
) {}

export class WorkbookTable extends Schema.Opaque<WorkbookTable>()(
  Schema.Struct({
    id: Schema.String,
    name: text,
    showHeaders: flag,
    showTotals: flag,
    showBandedColumns: flag,
    showBandedRows: flag,
    showFilterButton: flag,
    highlightFirstColumn: flag,
    highlightLastColumn: flag,
    /** Such as `TableStyleMedium2`. */
    style: text
  })
) {}

export class TableColumn extends Schema.Opaque<TableColumn>()(
  Schema.Struct({
    id: Schema.String,
    /** What its header says. */
    name: text,
    /** From 0. */
    index: number,
    /** Its cells with the header, each in a row of its own. */
    values: maybe(Cells)
  })
) {}

/** A row of a table, as the service has it: its cells are the only row of `values`. */
export class TableRow extends Schema.Opaque<TableRow>()(
  Schema.Struct({
    /** From 0, without the headers. */
    index: Schema.Finite,
    values: Cells
  })
) {}

export class SessionInfo extends Schema.Opaque<SessionInfo>()(Schema.Struct({ id: Schema.String })) {}
