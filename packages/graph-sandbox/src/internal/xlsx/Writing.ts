/**
 * A `Book` as a file: parts that nobody has changed stay as they are.
 */
import * as Effect from "effect/Effect"
import * as A1 from "./A1.ts"
import { type Book, type Cell, columnNames, type Sheet, type Table, valueOf } from "./Book.ts"
import * as Parts from "./Parts.ts"

const { child, children, element, withChild } = Parts

const namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const packages = "http://schemas.openxmlformats.org/package/2006"
const contentType = (of: string) => `application/vnd.openxmlformats-officedocument.spreadsheetml.${of}+xml`

const typesPath = "[Content_Types].xml"

const cellElement = (book: Book, sheet: Sheet, r: string, cell: Cell): Parts.Element => {
  const { formula, source, style } = cell
  // A sum may have another value than the file says.
  if (source !== null && formula === null) return { ...source, attributes: { ...source.attributes, r } }
  const value = valueOf(book, sheet, cell)
  const formulas =
    source === null ? (formula === null ? [] : [element("f", {}, [formula.slice(1)])]) : children(source, "f")
  const s = style === 0 ? undefined : String(style)
  const v = () => element("v", {}, [typeof value === "boolean" ? String(Number(value)) : String(value)])
  if (value === "") return element("c", { r, s }, formulas)
  if (typeof value === "string" && formula === null) {
    return element("c", { r, s, t: "inlineStr" }, [
      element("is", {}, [element("t", { "xml:space": "preserve" }, [value])])
    ])
  }
  const t =
    typeof value === "string" ? (source?.attributes["t"] ?? "str") : typeof value === "boolean" ? "b" : undefined
  return element("c", { r, s, t }, [...formulas, v()])
}

const sheetData = (book: Book, sheet: Sheet): Parts.Element =>
  element(
    "sheetData",
    {},
    [...sheet.rows]
      .sort(([a], [b]) => a - b)
      .map(([row, { attributes, cells }]) =>
        element(
          "row",
          { r: String(row + 1), ...attributes },
          [...cells]
            .sort(([a], [b]) => a - b)
            .map(([column, cell]) => cellElement(book, sheet, A1.cellName(row, column), cell))
        )
      )
  )

const tableElement = (sheet: Sheet, table: Table): Parts.Element => {
  const { area, hasHeaders, hasTotals, id, name, style } = table
  const ref = A1.areaName(area)
  const filtered = A1.areaName({ ...area, rows: area.rows - (hasTotals ? 1 : 0) })
  const columns = columnNames(sheet, table).map((name, n) => element("tableColumn", { id: String(n + 1), name }))
  const counts = { headerRowCount: hasHeaders ? undefined : "0", totalsRowCount: hasTotals ? "1" : undefined }
  return element("table", { xmlns: namespace, id: String(id), name, displayName: name, ref, ...counts }, [
    ...(hasHeaders ? [element("autoFilter", { ref: filtered })] : []),
    element("tableColumns", { count: String(columns.length) }, columns),
    element("tableStyleInfo", { name: style, showRowStripes: "1" })
  ])
}

/** Which children of a sheet stand before its tables. */
const beforeTables =
  "sheetData sheetCalcPr sheetProtection protectedRanges scenarios autoFilter sortState dataConsolidate customSheetViews " +
  "mergeCells phoneticPr conditionalFormatting dataValidations hyperlinks printOptions pageMargins pageSetup headerFooter " +
  "rowBreaks colBreaks customProperties cellWatches ignoredErrors smartTags drawing legacyDrawing legacyDrawingHF " +
  "drawingHF picture oleObjects controls webPublishItems"

const emptySheet = element("worksheet", { xmlns: namespace, "xmlns:r": office })

interface Link {
  readonly id: string
  readonly kind: string
  readonly path: string
}

/** The relations of a part: those of these kinds are replaced. */
const linked = Effect.fnUntraced(function* (
  parts: Map<string, Uint8Array>,
  path: string,
  replaced: ReadonlySet<string>,
  links: ReadonlyArray<Link>
) {
  const at = Parts.relationsPath(path)
  const root = parts.has(at)
    ? yield* Parts.tree(parts, at)
    : element("Relationships", { xmlns: `${packages}/relationships` })
  const kept = children(root, "Relationship").filter(
    ({ attributes: { Type = "" } }) => !replaced.has(Type.slice(Type.lastIndexOf("/") + 1))
  )
  const made = links.map(({ id, kind, path }) =>
    element("Relationship", { Id: id, Type: `${office}/${kind}`, Target: `/${path}` })
  )
  if (parts.has(at) || made.length > 0) parts.set(at, Parts.bytesOf({ ...root, children: [...kept, ...made] }))
})

/** Ids of relations that no other program gives. */
const linkId = (kind: string, id: number) => `r${kind}${id}`

const saveSheet = Effect.fnUntraced(function* (book: Book, sheet: Sheet, parts: Map<string, Uint8Array>) {
  const root = parts.has(sheet.path) ? yield* Parts.tree(parts, sheet.path) : emptySheet
  const tables = sheet.tables.map(({ id, path }) => ({ id: linkId("table", id), kind: "table", path }))
  const tableParts = element(
    "tableParts",
    { count: String(tables.length) },
    tables.map(({ id }) => element("tablePart", { "r:id": id }))
  )
  const filled = withChild(withChild(root, null, "dimension"), sheetData(book, sheet), "sheetData", ["sheetPr", "cols"])
  const whole = withChild(filled, tables.length === 0 ? null : tableParts, "tableParts", beforeTables.split(" "))
  parts.set(sheet.path, Parts.bytesOf({ ...whole, attributes: { ...whole.attributes, "xmlns:r": office } }))
  for (const table of sheet.tables) parts.set(table.path, Parts.bytesOf(tableElement(sheet, table)))
  yield* linked(parts, sheet.path, new Set(["table"]), tables)
})

/** New number formats, each in a style of its own. */
const stylesWith = (book: Book, root: Parts.Element): Parts.Element => {
  const xfs = children(child(root, "cellXfs"), "xf")
  const formats = children(child(root, "numFmts"), "numFmt")
  const free = Math.max(163, ...formats.map(({ attributes: { numFmtId } }) => Number(numFmtId))) + 1
  const made = [...book.bases].map(([style, base], n) => ({
    format: element("numFmt", { numFmtId: String(free + n), formatCode: book.formats[style] }),
    xf: element(
      "xf",
      { ...xfs[base]?.attributes, numFmtId: String(free + n), applyNumberFormat: "1" },
      xfs[base]?.children
    )
  }))
  const list = (name: string, below: ReadonlyArray<Parts.Element>) =>
    element(name, { count: String(below.length) }, below)
  const withXfs = withChild(root, list("cellXfs", [...xfs, ...made.map(({ xf }) => xf)]), "cellXfs")
  return withChild(withXfs, list("numFmts", [...formats, ...made.map(({ format }) => format)]), "numFmts")
}

/** The types of the parts: those of sheets and tables are all here, and that of the order of calculation is gone. */
const typesWith = (book: Book, root: Parts.Element): Parts.Element => {
  const ours = new Map([
    ...book.sheets.map(({ path }) => [`/${path}`, contentType("worksheet")] as const),
    ...book.sheets.flatMap(({ tables }) => tables.map(({ path }) => [`/${path}`, contentType("table")] as const))
  ])
  const replaced = new Set(["worksheet", "table", "calcChain"].map(contentType))
  const kept = root.children.filter(
    (type) => typeof type === "string" || !replaced.has(type.attributes["ContentType"] ?? "")
  )
  const made = [...ours].map(([PartName, ContentType]) => element("Override", { PartName, ContentType }))
  return { ...root, children: [...kept, ...made] }
}

const states = { Visible: undefined, Hidden: "hidden", VeryHidden: "veryHidden" } as const

/** The bytes of the file. */
export const save = Effect.fnUntraced(function* (book: Book) {
  const parts = new Map(book.parts)
  const links = yield* Parts.relations(parts, book.path)
  const gone = links.filter(
    ({ kind, path }) => kind === "worksheet" && !book.sheets.some((sheet) => sheet.path === path)
  )
  for (const { path } of [...gone, ...links.filter(({ kind }) => kind === "calcChain")]) {
    parts.delete(path)
    parts.delete(Parts.relationsPath(path))
  }
  for (const sheet of book.sheets) yield* saveSheet(book, sheet, parts)
  const sheets = book.sheets.map(({ id, name, visibility }) =>
    element("sheet", { name, sheetId: String(id), state: states[visibility], "r:id": linkId("sheet", id) })
  )
  const root = yield* Parts.tree(parts, book.path)
  const others = children(child(root, "sheets"), "sheet").filter(({ attributes }) =>
    links.some(({ id, kind }) => id === attributes["r:id"] && kind !== "worksheet")
  )
  parts.set(book.path, Parts.bytesOf(withChild(root, element("sheets", {}, [...sheets, ...others]), "sheets")))
  yield* linked(
    parts,
    book.path,
    new Set(["worksheet", "calcChain"]),
    book.sheets.map(({ id, path }) => ({ id: linkId("sheet", id), kind: "worksheet", path }))
  )
  const styles = links.find(({ kind }) => kind === "styles")?.path
  if (styles !== undefined && book.bases.size > 0) {
    parts.set(styles, Parts.bytesOf(stylesWith(book, yield* Parts.tree(parts, styles))))
  }
  parts.set(typesPath, Parts.bytesOf(typesWith(book, yield* Parts.tree(parts, typesPath))))
  return yield* Parts.zip(parts)
})

const part = (root: Parts.Element) => Parts.bytesOf(root)

const empty = (name: string, below: Parts.Element) => element(name, { count: "1" }, [below])

const plainStyles = element("styleSheet", { xmlns: namespace }, [
  empty("fonts", element("font", {}, [element("sz", { val: "11" }), element("name", { val: "Calibri" })])),
  empty("fills", element("fill", {}, [element("patternFill", { patternType: "none" })])),
  empty("borders", element("border", {})),
  empty("cellStyleXfs", element("xf", { numFmtId: "0", fontId: "0", fillId: "0", borderId: "0" })),
  empty("cellXfs", element("xf", { numFmtId: "0", fontId: "0", fillId: "0", borderId: "0", xfId: "0" }))
])

const relation = (Id: string, kind: string, Target: string) =>
  element("Relationship", { Id, Type: `${office}/${kind}`, Target })

/** A workbook without sheets. */
export const blankBook = (): Book => {
  const relations = (...below: ReadonlyArray<Parts.Element>) =>
    part(element("Relationships", { xmlns: `${packages}/relationships` }, below))
  const types = element("Types", { xmlns: `${packages}/content-types` }, [
    element("Default", { Extension: "rels", ContentType: "application/vnd.openxmlformats-package.relationships+xml" }),
    element("Default", { Extension: "xml", ContentType: "application/xml" }),
    element("Override", { PartName: "/xl/workbook.xml", ContentType: contentType("sheet.main") }),
    element("Override", { PartName: "/xl/styles.xml", ContentType: contentType("styles") })
  ])
  const parts = new Map([
    [typesPath, part(types)],
    ["_rels/.rels", relations(relation("rId1", "officeDocument", "/xl/workbook.xml"))],
    ["xl/workbook.xml", part(element("workbook", { xmlns: namespace, "xmlns:r": office }))],
    ["xl/_rels/workbook.xml.rels", relations(relation("rId1", "styles", "/xl/styles.xml"))],
    ["xl/styles.xml", part(plainStyles)]
  ])
  return { parts, path: "xl/workbook.xml", sheets: [], formats: ["General"], styles: 1, bases: new Map() }
}
