/**
 * Addresses of cells, as `Sheet1!A1:C3`. Rows and columns are counted from 0.
 */

export interface Area {
  readonly row: number
  readonly column: number
  readonly rows: number
  readonly columns: number
}

const mostRows = 1_048_576
const mostColumns = 16_384

const letters = (column: number): string =>
  column < 0 ? "" : letters(Math.floor(column / 26) - 1) + String.fromCharCode(65 + (column % 26))

const columnOf = (text: string): number =>
  [...text.toUpperCase()].reduce((n, letter) => n * 26 + letter.charCodeAt(0) - 64, 0) - 1

export const cellName = (row: number, column: number): string => `${letters(column)}${row + 1}`

export const areaName = ({ column, columns, row, rows }: Area): string => {
  const first = cellName(row, column)
  return rows === 1 && columns === 1 ? first : `${first}:${cellName(row + rows - 1, column + columns - 1)}`
}

/** The name of a sheet as addresses have it: in quotes where it needs them. */
export const quoted = (sheet: string): string =>
  /^[a-z_][\w.]*$/i.test(sheet) ? sheet : `'${sheet.replaceAll("'", "''")}'`

const cornerOf = (text: string) => {
  const [, column = "", row = ""] = /^\$?([a-z]{1,3})\$?([1-9]\d{0,6})$/i.exec(text) ?? []
  const corner = { row: Number(row) - 1, column: columnOf(column) }
  return column !== "" && corner.row < mostRows && corner.column < mostColumns ? corner : undefined
}

/** `A1`, or `A1:C3`; undefined for everything else, also whole rows and columns. */
export const parseArea = (text: string): Area | undefined => {
  const [one, other, ...more] = text.split(":").map(cornerOf)
  if (one === undefined || more.length > 0) return undefined
  if (other === undefined) return text.includes(":") ? undefined : { ...one, rows: 1, columns: 1 }
  const row = Math.min(one.row, other.row)
  const column = Math.min(one.column, other.column)
  return {
    row,
    column,
    rows: Math.max(one.row, other.row) - row + 1,
    columns: Math.max(one.column, other.column) - column + 1
  }
}

/** An address that may name a sheet. */
export const parse = (text: string): { readonly sheet: string | null; readonly area: Area } | undefined => {
  const at = text.lastIndexOf("!")
  const area = parseArea(text.slice(at + 1))
  if (area === undefined) return undefined
  const name = at < 0 ? null : text.slice(0, at)
  return { sheet: name?.startsWith("'") === true ? name.slice(1, -1).replaceAll("''", "'") : name, area }
}
