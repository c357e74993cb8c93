/**
 * The file of a workbook as a `Book`.
 */
import * as Effect from "effect/Effect"
import * as A1 from "./A1.ts"
import type { Book, Cell, Row, Sheet, Table, Value } from "./Book.ts"
import * as Parts from "./Parts.ts"

const { child, children, textOf } = Parts

/** Codes of the formats that files name by number alone. */
const builtIn: Readonly<Record<string, string>> = {
  "1": "0",
  "2": "0.00",
  "3": "#,##0",
  "4": "#,##0.00",
  "9": "0%",
  "10": "0.00%",
  "11": "0.00E+00",
  "14": "m/d/yyyy",
  "15": "d-mmm-yy",
  "16": "d-mmm",
  "17": "mmm-yy",
  "20": "h:mm",
  "21": "h:mm:ss",
  "22": "m/d/yyyy h:mm",
  "49": "@"
}

const formatsOf = (styles: Parts.Element): Array<string> => {
  const codes = new Map(
    children(child(styles, "numFmts"), "numFmt").map(({ attributes: { formatCode, numFmtId } }) => [
      numFmtId,
      formatCode
    ])
  )
  return children(child(styles, "cellXfs"), "xf").map(
    ({ attributes: { numFmtId = "0" } }) => codes.get(numFmtId) ?? builtIn[numFmtId] ?? "General"
  )
}

/** The text of a string: that of its runs, without how it is read aloud. */
const stringOf = (item: Parts.Element | undefined): string =>
  [...children(item, "t"), ...children(item, "r").flatMap((run) => children(run, "t"))].map(textOf).join("")

const valueOf = (cell: Parts.Element, strings: ReadonlyArray<string>): Value => {
  const text = textOf(child(cell, "v"))
  switch (cell.attributes["t"]) {
    case "s":
      return strings[Number(text)] ?? ""
    case "inlineStr":
      return stringOf(child(cell, "is"))
    case "b":
      return text === "1"
    case "str":
    case "e":
    case "d":
      return text
    default:
      return text === "" ? "" : Number(text)
  }
}

const cellOf = (cell: Parts.Element, strings: ReadonlyArray<string>): Cell => {
  const formula = textOf(child(cell, "f"))
  return {
    value: valueOf(cell, strings),
    formula: formula === "" ? null : `=${formula}`,
    style: Number(cell.attributes["s"] ?? 0),
    source: cell
  }
}

/** Rows and cells may leave out where they are: then they follow the one before. */
const rowsOf = (sheet: Parts.Element, strings: ReadonlyArray<string>): Map<number, Row> => {
  const rows = new Map<number, Row>()
  let row = -1
  for (const { attributes, children: cells, name } of children(child(sheet, "sheetData"), "row")) {
    const { r, spans: _, ...others } = attributes
    row = r === undefined ? row + 1 : Number(r) - 1
    const found = new Map<number, Cell>()
    let column = -1
    for (const cell of children({ name, attributes, children: cells }, "c")) {
      column = A1.parseArea(cell.attributes["r"] ?? "")?.column ?? column + 1
      found.set(column, cellOf(cell, strings))
    }
    rows.set(row, { attributes: others, cells: found })
  }
  return rows
}

const tableOf = ({ attributes, children: below, name }: Parts.Element, path: string): ReadonlyArray<Table> => {
  const area = A1.parseArea(attributes["ref"] ?? "")
  const root = { name, attributes, children: below }
  if (area === undefined) return []
  return [
    {
      id: Number(attributes["id"] ?? 0),
      name: attributes["displayName"] ?? attributes["name"] ?? "",
      area,
      hasHeaders: attributes["headerRowCount"] !== "0",
      hasTotals: Number(attributes["totalsRowCount"] ?? 0) > 0,
      names: children(child(root, "tableColumns"), "tableColumn").map(({ attributes: { name = "" } }) => name),
      style: child(root, "tableStyleInfo")?.attributes["name"] ?? "TableStyleMedium2",
      path
    }
  ]
}

const visibilities = { visible: "Visible", hidden: "Hidden", veryHidden: "VeryHidden" } as const

/** Opens a file; fails for what is no workbook. */
export const open = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const parts = yield* Parts.unzip(bytes)
  const [main] = (yield* Parts.relations(parts, "")).filter(({ kind }) => kind === "officeDocument")
  const path = main?.path ?? "xl/workbook.xml"
  const workbook = yield* Parts.tree(parts, path)
  const links = yield* Parts.relations(parts, path)
  const partOf = (kind: string) => links.find((link) => link.kind === kind && parts.has(link.path))?.path
  const stringsPath = partOf("sharedStrings")
  const strings =
    stringsPath === undefined ? [] : children(yield* Parts.tree(parts, stringsPath), "si").map((item) => stringOf(item))
  const stylesPath = partOf("styles")
  const formats = stylesPath === undefined ? ["General"] : formatsOf(yield* Parts.tree(parts, stylesPath))

  const sheets: Array<Sheet> = []
  for (const { attributes } of children(child(workbook, "sheets"), "sheet")) {
    const link = links.find(({ id }) => id === attributes["r:id"])
    // Sheets of charts have no cells.
    if (link?.kind !== "worksheet") continue
    const root = yield* Parts.tree(parts, link.path)
    const tables: Array<Table> = []
    for (const { kind, path } of yield* Parts.relations(parts, link.path)) {
      if (kind === "table") tables.push(...tableOf(yield* Parts.tree(parts, path), path))
    }
    const state = attributes["state"] ?? "visible"
    sheets.push({
      id: Number(attributes["sheetId"]),
      name: attributes["name"] ?? "",
      visibility: state === "hidden" || state === "veryHidden" ? visibilities[state] : "Visible",
      rows: rowsOf(root, strings),
      tables,
      path: link.path
    })
  }
  const book: Book = { parts, path, sheets, formats, styles: formats.length, bases: new Map() }
  return book
})
