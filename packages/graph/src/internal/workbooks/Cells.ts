/**
 * Values of cells as programs write them.
 */
import type { CellValue } from "../../model/Workbook.ts"

/** What a cell is given: null and undefined leave it as it is, `""` empties it, a `Date` is the number that Excel has for it. */
export type CellInput = string | number | boolean | Date | null | undefined

const day = 86_400_000
/** The number of 1970-01-01. */
const epoch = 25_569
/** From the 1st of March 1900 on, numbers are one higher than they should be: Excel has a 29th of February of that year. */
const firstOfMarch = 61

/**
 * The number that Excel has for a time: whole days since the end of 1899, and the time of day as their fraction. It has no zone: the
 * UTC time of the date is what people see. For workbooks that count from 1904, an old setting, take 1462 from it.
 *
 * ```ts
 * import * as Workbooks from "@signalbox/graph/Workbooks"
 *
 * // 46146.5
 * export const noon = Workbooks.serialOf(new Date("2026-05-04T12:00Z"))
 * ```
 */
export const serialOf = (date: Date): number => {
  const serial = date.getTime() / day + epoch
  return serial < firstOfMarch ? serial - 1 : serial
}

/**
 * The time that a number of Excel stands for, to the millisecond: the inverse of `serialOf`. The 29th of February 1900 (60), which
 * never was, comes as the 1st of March.
 */
export const dateOf = (serial: number): Date =>
  new Date(Math.round(((serial < firstOfMarch ? serial + 1 : serial) - epoch) * day))

/**
 * A text that the service keeps as it is. What is written is otherwise taken as if a person had typed it: `=1+1` is a formula, `007`
 * the number 7, and `1/2` a date. Use it for texts from outside, so that nobody can write a formula.
 *
 * ```ts
 * import * as Workbooks from "@signalbox/graph/Workbooks"
 *
 * export const row = (order: string, comment: string) => [
 *   Workbooks.asText(order),
 *   Workbooks.asText(comment)
 * ]
 * ```
 */
export const asText = (text: string): string => `'${text}`

/** What is sent. */
export const encoded = (cell: CellInput): CellValue => (cell instanceof Date ? serialOf(cell) : (cell ?? null))

/** Why a cell cannot have a value; null: it can. */
export const problemOf = (cell: unknown): string | null => {
  const value = cell instanceof Date ? serialOf(cell) : cell
  if (typeof value === "number") return Number.isFinite(value) ? null : "expected a finite number or a valid date"
  return value === null || ["string", "boolean", "undefined"].includes(typeof value)
    ? null
    : "expected text, a number, a boolean, a Date, null or undefined"
}
