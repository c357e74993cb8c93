/**
 * Tables: their rows and columns.
 */
import * as Effect from "effect/Effect"
import { type Segment } from "../requests/Address.ts"
import * as Failure from "../model/Failure.ts"
import { created, dispatch, type GraphRequest, type Handler, noContent, textOf } from "../requests/GraphRequest.ts"
import type { Properties } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"
import * as A1 from "../xlsx/A1.ts"
import * as Book from "../xlsx/Book.ts"
import * as Ranges from "./Ranges.ts"

/** The tables of a sheet, or with `sheet: null` those of all. */
export interface Tables {
  readonly book: Book.Book
  readonly sheet: Book.Sheet | null
}

interface Found {
  readonly book: Book.Book
  readonly sheet: Book.Sheet
  readonly table: Book.Table
}

const all = ({ book, sheet }: Tables): ReadonlyArray<Found> =>
  (sheet === null ? book.sheets : [sheet]).flatMap((sheet) => sheet.tables.map((table) => ({ book, sheet, table })))

const idOf = ({ id }: Book.Table) => `{00000000-000C-0000-FFFF-FFFF${String(id).padStart(8, "0")}}`

const view = ({ table }: Found): Properties => ({
  id: idOf(table),
  legacyId: String(table.id),
  name: table.name,
  showHeaders: table.hasHeaders,
  showTotals: table.hasTotals,
  showBandedColumns: false,
  showBandedRows: true,
  showFilterButton: true,
  highlightFirstColumn: false,
  highlightLastColumn: false,
  style: table.style
})

const list: Handler<Tables> = (tables, request) =>
  Pages.page(request, { of: "workbook/tables", rows: all(tables), view, size: 1000, max: 1000 })

const overlap = (a: A1.Area, b: A1.Area): boolean =>
  a.row < b.row + b.rows && b.row < a.row + a.rows && a.column < b.column + b.columns && b.column < a.column + a.columns

const add: Handler<Tables> = Effect.fnUntraced(function* ({ book, sheet: own }, request) {
  const body = yield* request.json
  const place = A1.parse((yield* textOf(body, "address")) ?? "")
  const sheet = place?.sheet == null ? (own ?? book.sheets[0]) : Book.sheetBy(book, place.sheet)
  if (place === undefined || sheet === undefined) return yield* Failure.invalidArgument()
  if (sheet.tables.some(({ area }) => overlap(area, place.area))) {
    return yield* Failure.invalidArgument("A table can't overlap another table.")
  }
  const { area } = place
  // Cells without headers get some, above them.
  const isBare = body["hasHeaders"] !== true
  if (isBare) Book.shift(sheet, area, 1)
  const whole = isBare ? { ...area, rows: area.rows + 1 } : area
  const names = new Set<string>()
  for (let n = 0; n < area.columns; n++) {
    const at = [area.row, area.column + n] as const
    const given = String(Book.cellAt(sheet, ...at).value)
    const name = given !== "" && !names.has(given.toLowerCase()) ? given : `Column${n + 1}`
    names.add(name.toLowerCase())
    Book.write(sheet, ...at, { value: name })
  }
  const table = Book.addTable(book, sheet, { area: whole })
  return created(view({ book, sheet, table }))
})

const get: Handler<Found> = (found, request) => Effect.succeed(Pages.one(request, "workbook/tables", view(found)))

const update: Handler<Found> = Effect.fnUntraced(function* (found, request) {
  const { book, table } = found
  const body = yield* request.json
  const name = yield* textOf(body, "name")
  if (body["showTotals"] === true || body["showHeaders"] === false) {
    return yield* Failure.notServed("The sandbox does not add rows of totals, nor remove headers.")
  }
  if (name !== undefined) {
    const isTaken = all({ book, sheet: null }).some(
      (other) => other.table !== table && other.table.name.toLowerCase() === name.toLowerCase()
    )
    if (isTaken) return yield* Failure.workbookItemExists()
    if (!/^[\p{L}_\\][\p{L}\p{N}_.\\]{0,254}$/u.test(name)) return yield* Failure.invalidArgument()
    table.name = name
  }
  table.style = (yield* textOf(body, "style")) ?? table.style
  return yield* get(found, request)
})

const remove: Handler<Found> = ({ sheet, table }) =>
  Effect.sync(() => {
    const { area } = table
    for (let row = area.row; row < area.row + area.rows; row++) {
      for (let column = area.column; column < area.column + area.columns; column++) {
        Book.put(sheet, row, column, Book.blank)
      }
    }
    sheet.tables.splice(sheet.tables.indexOf(table), 1)
    return noContent
  })

/** The part of a table that a range covers, by name in lower case. */
const parts: Readonly<Record<string, (found: Found) => A1.Area | undefined>> = {
  range: ({ table }) => table.area,
  headerrowrange: ({ table }) => (table.hasHeaders ? { ...table.area, rows: 1 } : undefined),
  databodyrange: ({ sheet, table }) => {
    const body = Book.bodyOf(sheet, table)
    return { ...body, rows: Math.max(1, body.rows) }
  },
  totalrowrange: ({ table: { area, hasTotals } }) =>
    hasTotals ? { ...area, row: area.row + area.rows - 1, rows: 1 } : undefined
}

const rowView = (found: Found, body: A1.Area) => (index: number) => ({
  index,
  values: Ranges.valuesOf({ ...found, area: { ...body, row: body.row + index, rows: 1 } })
})

const listRows: Handler<Found> = (found, request) => {
  const body = Book.bodyOf(found.sheet, found.table)
  const rows = Array.from({ length: body.rows }, (_, index) => index)
  return Pages.page(request, { of: "workbook/tables/rows", rows, view: rowView(found, body), size: 1000, max: 5000 })
}

/** Adds rows; what lies below moves down. */
const addRows: Handler<Found> = Effect.fnUntraced(function* (found, request) {
  const { book, sheet, table } = found
  const body = yield* request.json
  const given = body["values"]
  const count = Array.isArray(given) ? given.length : 0
  if (count === 0) return yield* Failure.invalidArgument()
  const before = Book.bodyOf(sheet, table)
  const index = body["index"] ?? before.rows
  if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index > before.rows) {
    return yield* Failure.invalidArgument()
  }
  const cells = yield* Ranges.cellsOf(given, { rows: count, columns: before.columns })
  const area = { ...before, row: before.row + index, rows: count }
  // New rows have the formats of a column, so its texts stay texts.
  const like = before.row + Math.max(0, before.rows - 1)
  const styles = Array.from({ length: area.columns }, (_, n) => Book.cellAt(sheet, like, area.column + n).style)
  const formats = cells.map(() => styles.map((style) => book.formats[style] ?? "General"))
  const write = yield* Ranges.entering({ book, sheet, area }, cells, formats)
  // The blank row of a table without rows is the first to be filled.
  const grown = before.rows === 0 ? count - 1 : count
  if (grown > 0) Book.shift(sheet, { ...area, row: area.row + count - grown }, grown)
  table.area = { ...table.area, rows: table.area.rows + grown }
  for (let down = 0; down < count; down++) {
    for (const [n, style] of styles.entries()) Book.write(sheet, area.row + down, area.column + n, { value: "", style })
  }
  write()
  return created(rowView(found, Book.bodyOf(sheet, table))(index))
})

const row = (index: number): { readonly [M in "GET" | "PATCH" | "DELETE"]: Handler<Found> } => {
  const areaOf = ({ sheet, table }: Found) => {
    const body = Book.bodyOf(sheet, table)
    return index >= 0 && index < body.rows
      ? Effect.succeed({ ...body, row: body.row + index, rows: 1 })
      : Effect.fail(Failure.workbookItemNotFound())
  }
  const show: Handler<Found> = (found, request) =>
    Effect.map(areaOf(found), () =>
      Pages.one(request, "workbook/tables/rows", rowView(found, Book.bodyOf(found.sheet, found.table))(index))
    )
  return {
    GET: show,
    PATCH: Effect.fnUntraced(function* (found, request) {
      const area = yield* areaOf(found)
      const body = yield* request.json
      const write = yield* Ranges.entering({ ...found, area }, yield* Ranges.cellsOf(body["values"], area))
      write()
      return yield* show(found, request)
    }),
    DELETE: Effect.fnUntraced(function* (found) {
      const { sheet, table } = found
      const area = yield* areaOf(found)
      for (let n = 0; n < area.columns; n++) Book.put(sheet, area.row, area.column + n, Book.blank)
      // The last row of a table stays, as a blank one.
      if (Book.bodyOf(sheet, table).rows === 0) return noContent
      Book.shift(sheet, { ...area, row: area.row + 1 }, -1)
      table.area = { ...table.area, rows: table.area.rows - 1 }
      return noContent
    })
  }
}

interface Column extends Found {
  readonly index: number
}

const columns = (found: Found): ReadonlyArray<Column> =>
  Book.columnNames(found.sheet, found.table).map((_, index) => ({ ...found, index }))

const columnArea = ({ index, table }: Column): A1.Area => ({
  ...table.area,
  column: table.area.column + index,
  columns: 1
})

const columnName = ({ index, sheet, table }: Column) => Book.columnNames(sheet, table)[index] ?? ""

const columnView = (column: Column): Properties => ({
  id: String(column.index + 1),
  index: column.index,
  name: columnName(column),
  values: Ranges.valuesOf({ ...column, area: columnArea(column) })
})

const listColumns: Handler<Found> = (found, request) =>
  Pages.page(request, { of: "workbook/tables/columns", rows: columns(found), view: columnView, size: 1000, max: 1000 })

const column = Effect.fnUntraced(function* (found: Found, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key, part] = rest
  const wanted = key?.text ?? ""
  const index = /^itemAt\(index=(\d+)\)$/i.exec(wanted)?.[1]
  const named = columns(found).find(
    (column) =>
      columnName(column).toLowerCase() === wanted.toLowerCase() ||
      String(column.index + 1) === wanted ||
      String(column.index) === index
  )
  if (named === undefined) return yield* Failure.workbookItemNotFound()
  if (part === undefined) {
    const show: Handler<Column> = (column, request) =>
      Effect.succeed(Pages.one(request, "workbook/tables/columns", columnView(column)))
    return yield* dispatch({ GET: show }, named, request)
  }
  const { column: left, columns: width } = columnArea(named)
  return yield* ranged(found, rest.slice(1), request, { column: left, columns: width })
})

/** A range of a table, and what follows it; `within`: only these columns of it. */
const ranged = (
  found: Found,
  [part, ...rest]: ReadonlyArray<Segment>,
  request: GraphRequest,
  within: Partial<A1.Area> = {}
): ReturnType<Handler<Found>> => {
  const name = part?.text.toLowerCase() ?? ""
  const of = Object.hasOwn(parts, name) ? parts[name] : undefined
  if (of === undefined) return Effect.fail(Failure.unknownSegment(part?.text ?? ""))
  const area = of(found)
  return area === undefined
    ? Effect.fail(Failure.workbookItemNotFound())
    : Ranges.range({ ...found, area: { ...area, ...within } }, rest, request)
}

const rows = Effect.fnUntraced(function* (found: Found, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key, ...last] = rest.filter(({ text }) => text !== "$")
  if (key === undefined) return yield* dispatch({ GET: listRows, POST: addRows }, found, request)
  const name = key.text.toLowerCase()
  if (name === "add") return yield* dispatch({ POST: addRows }, found, request)
  const index = name === "itemat" ? yield* Ranges.whole(key, "index") : /^\d+$/.test(name) ? Number(name) : -1
  const [then, ...more] = last
  if (then === undefined) return yield* dispatch(row(index), found, request)
  if (then.text.toLowerCase() === "delete") return yield* dispatch({ POST: row(index).DELETE }, found, request)
  const body = Book.bodyOf(found.sheet, found.table)
  if (index < 0 || index >= body.rows) return yield* Failure.workbookItemNotFound()
  return yield* ranged(found, [then, ...more], request, { row: body.row + index, rows: 1 })
})

/** What follows the tables of a workbook, or of a sheet, in an address. */
export const tables = Effect.fnUntraced(function* (place: Tables, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key, segment] = rest
  if (key === undefined) return yield* dispatch({ GET: list, POST: add }, place, request)
  const name = key.text.toLowerCase()
  if (name === "add") return yield* dispatch({ POST: add }, place, request)
  const found = all(place).find(
    ({ table }) => table.name.toLowerCase() === name || idOf(table).toLowerCase() === name || String(table.id) === name
  )
  if (found === undefined) return yield* Failure.workbookItemNotFound()
  if (segment === undefined) return yield* dispatch({ GET: get, PATCH: update, DELETE: remove }, found, request)
  const below = rest.slice(2)
  switch (segment.text.toLowerCase()) {
    case "rows":
      return yield* rows(found, below, request)
    case "columns":
      return below.length === 0
        ? yield* dispatch({ GET: listColumns }, found, request)
        : yield* column(found, below, request)
    default:
      return yield* ranged(found, rest.slice(1), request)
  }
})
