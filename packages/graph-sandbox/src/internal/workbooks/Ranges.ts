/**
 * Ranges of cells: read, written and cleared.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "../requests/Address.ts"
import * as Failure from "../model/Failure.ts"
import { dispatch, type GraphRequest, type Handler, noContent, textOf } from "../requests/GraphRequest.ts"
import type { Properties } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"
import * as A1 from "../xlsx/A1.ts"
import * as Book from "../xlsx/Book.ts"

export interface Range {
  readonly book: Book.Book
  readonly sheet: Book.Sheet
  readonly area: A1.Area
}

const mostCells = 5_000_000

const isError = (value: Book.Value): boolean =>
  typeof value === "string" && /^#(?:NULL!|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|N\/A)$/.test(value)

const typeOf = (value: Book.Value): string => {
  if (value === "") return "Empty"
  if (isError(value)) return "Error"
  return typeof value === "string" ? "String" : typeof value === "boolean" ? "Boolean" : "Double"
}

/** As a cell without a format shows it. */
const shown = (value: Book.Value): string => (typeof value === "boolean" ? String(value).toUpperCase() : String(value))

export const valuesOf = ({ area, book, sheet }: Range): ReadonlyArray<ReadonlyArray<Book.Value>> =>
  Book.cellsOf(sheet, area).map((row) => row.map((cell) => Book.valueOf(book, sheet, cell)))

const view = (range: Range): Properties => {
  const { area, book, sheet } = range
  const values = valuesOf(range)
  const cells = Book.cellsOf(sheet, area)
  const address = `${A1.quoted(sheet.name)}!${A1.areaName(area)}`
  const formulas = cells.map((row, n) => row.map(({ formula }, at) => formula ?? values[n]?.[at]))
  return {
    "@odata.type": "#microsoft.graph.workbookRange",
    address,
    addressLocal: address,
    cellCount: area.rows * area.columns,
    columnCount: area.columns,
    columnHidden: false,
    columnIndex: area.column,
    formulas,
    formulasLocal: formulas,
    hidden: false,
    numberFormat: cells.map((row) => row.map((cell) => Book.formatOf(book, cell))),
    rowCount: area.rows,
    rowHidden: false,
    rowIndex: area.row,
    text: values.map((row) => row.map(shown)),
    values,
    valueTypes: values.map((row) => row.map(typeOf))
  }
}

const get: Handler<Range> = (range, request) =>
  range.area.rows * range.area.columns > mostCells
    ? Effect.fail(Failure.rangeExceedsLimit())
    : Effect.succeed(Pages.one(request, "workbookRange", view(range)))

type Cells = ReadonlyArray<ReadonlyArray<unknown>>

/** Cells of a body, as many as the area has; one value alone is for each of them. */
export const cellsOf = (
  value: unknown,
  { columns, rows }: Pick<A1.Area, "rows" | "columns">
): Effect.Effect<Cells, Failure.Failure> => {
  if (!Array.isArray(value)) {
    return Effect.succeed(Array.from({ length: rows }, () => Array.from({ length: columns }, () => value)))
  }
  const isSame = value.length === rows && value.every((row) => Array.isArray(row) && row.length === columns)
  return isSame
    ? Effect.succeed(value)
    : Effect.fail(
        Failure.invalidArgument(
          "The number of rows or columns in the input array doesn't match the size or dimensions of the range."
        )
      )
}

type Input = Partial<Pick<Book.Cell, "value" | "formula">>

/** What a cell gets when this is entered into it; null: it stays as it is. */
export const entered = (given: unknown, format: string): Effect.Effect<Input | null, Failure.Failure> => {
  if (given === null || given === undefined) return Effect.succeed(null)
  if (typeof given === "number" || typeof given === "boolean") return Effect.succeed({ value: given })
  if (typeof given !== "string") return Effect.fail(Failure.invalidArgument())
  if (given.startsWith("'")) return Effect.succeed({ value: given.slice(1) })
  if (format === "@") return Effect.succeed({ value: given })
  if (given.startsWith("=")) {
    return Book.isServed(given)
      ? Effect.succeed({ value: 0, formula: given })
      : Effect.fail(Failure.notServed(`The sandbox does not calculate ${given}, but sums of a range.`))
  }
  if (/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(given)) return Effect.succeed({ value: Number(given) })
  return Effect.succeed({ value: /^(?:true|false)$/i.test(given) ? given.toLowerCase() === "true" : given })
}

/** Enters values, and returns what to do once all of them are known to be right. */
export const entering = Effect.fnUntraced(function* ({ area, book, sheet }: Range, cells: Cells, formats?: Cells) {
  const writes: Array<() => void> = []
  for (const [down, row] of cells.entries()) {
    for (const [right, given] of row.entries()) {
      const at = [area.row + down, area.column + right] as const
      const format = formats?.[down]?.[right]
      const input = yield* entered(
        given,
        typeof format === "string" ? format : Book.formatOf(book, Book.cellAt(sheet, ...at))
      )
      if (input !== null) writes.push(() => Book.write(sheet, ...at, input))
    }
  }
  return () => {
    for (const write of writes) write()
  }
})

const update: Handler<Range> = Effect.fnUntraced(function* (range, request) {
  const { area, book, sheet } = range
  const body = yield* request.json
  const formats = "numberFormat" in body ? yield* cellsOf(body["numberFormat"], area) : undefined
  const writes = yield* Effect.forEach(
    ["values", "formulas"].filter((name) => name in body),
    (name) => Effect.flatMap(cellsOf(body[name], area), (cells) => entering(range, cells, formats))
  )
  for (const write of writes) write()
  for (const [down, row] of (formats ?? []).entries()) {
    for (const [right, format] of row.entries()) {
      if (typeof format !== "string") continue
      const at = [area.row + down, area.column + right] as const
      const cell = Book.cellAt(sheet, ...at)
      Book.write(sheet, ...at, { formula: cell.formula, style: Book.styleWith(book, cell.style, format) })
    }
  }
  return yield* get(range, request)
})

/** What is cleared of a cell. */
const cleared: Readonly<Record<string, Partial<Book.Cell>>> = {
  all: { value: "", formula: null, style: 0 },
  contents: { value: "", formula: null },
  formats: { style: 0 }
}

const clear: Handler<Range> = Effect.fnUntraced(function* ({ area, sheet }, request) {
  const applyTo = ((yield* textOf(yield* request.json, "applyTo")) ?? "All").toLowerCase()
  const change = Object.hasOwn(cleared, applyTo) ? cleared[applyTo] : undefined
  if (change === undefined) return yield* Failure.invalidArgument()
  for (const [down, row] of Book.cellsOf(sheet, area).entries()) {
    for (const [right, cell] of row.entries()) {
      if (cell !== Book.blank)
        Book.put(sheet, area.row + down, area.column + right, { ...cell, ...change, source: null })
    }
  }
  return noContent
})

/** A whole number among the arguments of a function. */
export const whole = (segment: Segment, name: string): Effect.Effect<number, Failure.Failure> => {
  const text = segment.args?.[name.toLowerCase()] ?? ""
  return /^-?\d+$/.test(text) ? Effect.succeed(Number(text)) : Effect.fail(Failure.invalidArgument())
}

/** Ranges that are found from a range, by name in lower case. */
const derived: Readonly<Record<string, (area: A1.Area, segment: Segment) => Effect.Effect<A1.Area, Failure.Failure>>> =
  {
    cell: ({ column, row }, segment) =>
      Effect.zipWith(whole(segment, "row"), whole(segment, "column"), (down, right) => ({
        row: row + down,
        column: column + right,
        rows: 1,
        columns: 1
      })),
    row: (area, segment) => Effect.map(whole(segment, "row"), (down) => ({ ...area, row: area.row + down, rows: 1 })),
    column: (area, segment) =>
      Effect.map(whole(segment, "column"), (right) => ({ ...area, column: area.column + right, columns: 1 })),
    lastrow: (area) => Effect.succeed({ ...area, row: area.row + area.rows - 1, rows: 1 })
  }

/** What follows a range in an address. */
export const range: (range: Range, rest: ReadonlyArray<Segment>, request: GraphRequest) => ReturnType<Handler<Range>> =
  Effect.fnUntraced(function* (found, rest, request) {
    const [segment] = rest
    if (segment === undefined) return yield* dispatch({ GET: get, PATCH: update }, found, request)
    const name = segment.text.toLowerCase()
    if (name === "clear") return yield* dispatch({ POST: clear }, found, request)
    const derive = Object.hasOwn(derived, name) ? derived[name] : undefined
    if (derive === undefined) return yield* Failure.unknownSegment(segment.text)
    return yield* range({ ...found, area: yield* derive(found.area, segment) }, rest.slice(1), request)
  })
