/**
 * A workbook in memory: its sheets with their cells and tables, changed in place.
 */
import type { Element } from "effect/encoding/Xml"
import * as A1 from "./A1.ts"

/** What a cell has; a blank one has empty text. */
export type Value = string | number | boolean

export interface Cell {
  readonly value: Value
  /** With its equals sign. */
  readonly formula: string | null
  /** The number of its format. */
  readonly style: number
  /** As the file has it, while nobody has changed it. */
  readonly source: Element | null
}

export interface Row {
  /** Its height and the like, as the file has them. */
  readonly attributes: Readonly<Record<string, string>>
  readonly cells: Map<number, Cell>
}

export interface Table {
  readonly id: number
  name: string
  /** With the rows of headers and totals. */
  area: A1.Area
  readonly hasHeaders: boolean
  readonly hasTotals: boolean
  /** The names of its columns where it has no headers. */
  readonly names: ReadonlyArray<string>
  style: string
  /** The part of the file that describes it. */
  readonly path: string
}

export interface Sheet {
  /** As the file counts them. */
  readonly id: number
  name: string
  visibility: "Visible" | "Hidden" | "VeryHidden"
  readonly rows: Map<number, Row>
  readonly tables: Array<Table>
  readonly path: string
}

export interface Book {
  /** The parts of the file by path: those that nobody changes stay as they are. */
  readonly parts: Map<string, Uint8Array>
  /** The part that lists the sheets. */
  readonly path: string
  readonly sheets: Array<Sheet>
  /** Codes of number formats by style; those behind `styles` are new. */
  readonly formats: Array<string>
  readonly styles: number
  /** The style that each new one is made from. */
  readonly bases: Map<number, number>
}

export const blank: Cell = { value: "", formula: null, style: 0, source: null }

export const cellAt = (sheet: Sheet, row: number, column: number): Cell =>
  sheet.rows.get(row)?.cells.get(column) ?? blank

export const put = (sheet: Sheet, row: number, column: number, cell: Cell): void => {
  const there = sheet.rows.get(row)
  const isBlank = cell.value === "" && cell.formula === null && cell.style === 0
  if (isBlank) there?.cells.delete(column)
  else if (there === undefined) sheet.rows.set(row, { attributes: {}, cells: new Map([[column, cell]]) })
  else there.cells.set(column, cell)
}

/** Another value; what else the cell has stays. */
export const write = (
  sheet: Sheet,
  row: number,
  column: number,
  given: Partial<Pick<Cell, "value" | "formula" | "style">>
): void => put(sheet, row, column, { ...cellAt(sheet, row, column), formula: null, ...given, source: null })

/** The smallest area with all that is not blank; `A1` of an empty sheet. */
export const used = (sheet: Sheet): A1.Area => {
  const bounds = { top: Infinity, left: Infinity, bottom: 0, right: 0 }
  for (const [row, { cells }] of sheet.rows) {
    for (const [column, cell] of cells) {
      if (cell.value === "" && cell.formula === null) continue
      bounds.top = Math.min(bounds.top, row)
      bounds.left = Math.min(bounds.left, column)
      bounds.bottom = Math.max(bounds.bottom, row)
      bounds.right = Math.max(bounds.right, column)
    }
  }
  const { bottom, left, right, top } = bounds
  return top === Infinity
    ? { row: 0, column: 0, rows: 1, columns: 1 }
    : { row: top, column: left, rows: bottom - top + 1, columns: right - left + 1 }
}

/** Whether a table lies below a row, in these columns alone. */
const isBelow = (area: A1.Area, from: Pick<A1.Area, "row" | "column" | "columns">): boolean =>
  area.row >= from.row && area.column >= from.column && area.column + area.columns <= from.column + from.columns

/** Moves the cells of some columns from a row on, down or up, to where nothing is. References in formulas stay. */
export const shift = (sheet: Sheet, from: Pick<A1.Area, "row" | "column" | "columns">, by: number): void => {
  const order = [...sheet.rows.keys()].sort((a, b) => (by > 0 ? b - a : a - b)).filter((row) => row >= from.row)
  for (const row of order) {
    for (let column = from.column; column < from.column + from.columns; column++) {
      const cell = cellAt(sheet, row, column)
      if (cell === blank) continue
      put(sheet, row, column, blank)
      put(sheet, row + by, column, cell)
    }
  }
  for (const table of sheet.tables) {
    if (isBelow(table.area, from)) table.area = { ...table.area, row: table.area.row + by }
  }
}

/** The style with this number format, and all else of another one. */
export const styleWith = (book: Book, base: number, format: string): number => {
  if (book.formats[base] === format) return base
  for (const [style, from] of book.bases) if (from === base && book.formats[style] === format) return style
  book.bases.set(book.formats.length, base)
  return book.formats.push(format) - 1
}

export const formatOf = (book: Book, { style }: Cell): string => book.formats[style] ?? "General"

export const sheetBy = (book: Book, name: string): Sheet | undefined =>
  book.sheets.find((sheet) => sheet.name.toLowerCase() === name.toLowerCase())

const nextId = (ids: ReadonlyArray<number>): number => Math.max(0, ...ids) + 1

const freePath = (book: Book, of: (n: number) => string): string => {
  const taken = new Set([
    ...book.parts.keys(),
    ...book.sheets.flatMap(({ path, tables }) => [path, ...tables.map(({ path }) => path)])
  ])
  for (let n = 1; ; n++) if (!taken.has(of(n))) return of(n)
}

export const addSheet = (book: Book, name: string): Sheet => {
  const sheet: Sheet = {
    id: nextId(book.sheets.map(({ id }) => id)),
    name,
    visibility: "Visible",
    rows: new Map(),
    tables: [],
    path: freePath(book, (n) => `xl/worksheets/sheet${n}.xml`)
  }
  book.sheets.push(sheet)
  return sheet
}

const tablesOf = (book: Book): ReadonlyArray<Table> => book.sheets.flatMap(({ tables }) => tables)

/** A table over these cells; a row for its headers must be there. */
export const addTable = (
  book: Book,
  sheet: Sheet,
  given: { readonly area: A1.Area; readonly name?: string }
): Table => {
  const id = nextId(tablesOf(book).map(({ id }) => id))
  const table: Table = {
    id,
    name: given.name ?? `Table${id}`,
    // A table has a row below its headers, even if it is a blank one.
    area: { ...given.area, rows: Math.max(2, given.area.rows) },
    hasHeaders: true,
    hasTotals: false,
    names: [],
    style: "TableStyleMedium2",
    path: freePath(book, (n) => `xl/tables/table${n}.xml`)
  }
  sheet.tables.push(table)
  return table
}

const sum = /^=SUM\((.+)\)$/i

/** Whether the sandbox can calculate it: the sum of a range, and nothing else. */
export const isServed = (formula: string): boolean => A1.parse(sum.exec(formula)?.[1] ?? "") !== undefined

/** The value of a cell: of a sum what it comes to, of every other formula what the file says. */
export const valueOf = (book: Book, sheet: Sheet, cell: Cell): Value => {
  const range = cell.formula === null ? undefined : A1.parse(sum.exec(cell.formula)?.[1] ?? "")
  const of = range === undefined ? undefined : range.sheet === null ? sheet : sheetBy(book, range.sheet)
  if (range === undefined || of === undefined) return cell.value
  return cellsOf(of, range.area)
    .flat()
    .filter((summed) => summed !== cell)
    .map((summed) => valueOf(book, of, summed))
    .reduce<number>((total, value) => total + (typeof value === "number" ? value : 0), 0)
}

export const cellsOf = (sheet: Sheet, { column, columns, row, rows }: A1.Area): ReadonlyArray<ReadonlyArray<Cell>> =>
  Array.from({ length: rows }, (_, down) =>
    Array.from({ length: columns }, (_, right) => cellAt(sheet, row + down, column + right))
  )

/** The rows of a table between its headers and its totals. */
export const bodyOf = (sheet: Sheet, { area, hasHeaders, hasTotals }: Table): A1.Area => {
  const body = {
    ...area,
    row: area.row + (hasHeaders ? 1 : 0),
    rows: area.rows - (hasHeaders ? 1 : 0) - (hasTotals ? 1 : 0)
  }
  // A table without rows has a blank one.
  const [only, ...more] = cellsOf(sheet, body)
  const isEmpty = more.length === 0 && only?.every(({ formula, value }) => value === "" && formula === null) === true
  return isEmpty ? { ...body, rows: 0 } : body
}

/** The names of the columns of a table: those in its row of headers. */
export const columnNames = (sheet: Sheet, { area, hasHeaders, names }: Table): ReadonlyArray<string> =>
  hasHeaders ? (cellsOf(sheet, { ...area, rows: 1 })[0] ?? []).map(({ value }) => String(value)) : names
