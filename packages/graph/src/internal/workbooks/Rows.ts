/**
 * Rows of tables as objects by the headers of their columns, and in portions that a request may have.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { first, parseOptions } from "@signalbox/transport/SchemaProblem"
import { suggest } from "@signalbox/transport/Suggestions"
import { type AnySchema, codecOf } from "@signalbox/api/StandardSchema"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { GraphError } from "../../GraphError.ts"
import type { CellValue } from "../../model/Workbook.ts"
import { type CellInput, encoded, problemOf } from "./Cells.ts"

/** The cells of a row by the headers of their columns. A blank cell is null. */
export type RowValues = Readonly<Record<string, CellValue>>

/** A row of a table. */
export interface Row<A = RowValues> {
  /** From 0, without the headers. It changes when rows before it are added or removed. */
  readonly index: number
  /** In the order of the columns. */
  readonly cells: ReadonlyArray<CellValue>
  /** By the headers of the columns; with a `schema`, what it makes of them. */
  readonly values: A
}

/** A row does not fit the `schema`. `path`: the header of the column that does not. */
export class UnexpectedRow extends TaggedError<UnexpectedRow>()("UnexpectedRow", {
  index: Schema.Finite,
  path: Schema.String,
  expected: Schema.String
}) {
  override get message(): string {
    const at = this.path === "" ? "" : `${this.path}: `
    return `row ${this.index} of the table does not fit the schema: ${at}${this.expected}`
  }
}

/**
 * Some rows were added, and then a request failed for the reason of `error`. `added`: how many are there, from the first on. Where its
 * reason is `OutcomeUnknown`, the rows of that request, at most `unknown`, may be there too: look before you continue.
 */
export class RowsPartlyAdded extends TaggedError<RowsPartlyAdded>()("RowsPartlyAdded", {
  added: Schema.Finite,
  /** How many may be there besides; 0: the service refused the request. */
  unknown: Schema.Finite,
  error: GraphError
}) {
  override get message(): string {
    const maybe = this.unknown === 0 ? "" : `, and ${this.unknown} more may have been`
    return `${this.added} rows were added${maybe}: ${this.error.message}`
  }
}

/** The values of a row by its headers, as JSON and then by the schema. */
export const reader = (schema: AnySchema | undefined): ((row: Row) => Effect.Effect<Row<unknown>, UnexpectedRow>) => {
  if (schema === undefined) return Effect.succeed
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(codecOf(schema)), parseOptions)
  return (row) => {
    const decoded = decode(row.values)
    if (Result.isSuccess(decoded)) return Effect.succeed({ ...row, values: decoded.success })
    const { field, message } = first(decoded.failure)
    return Effect.fail(new UnexpectedRow({ index: row.index, path: field, expected: message }))
  }
}

export const rowOf = (headers: ReadonlyArray<string>, index: number, cells: ReadonlyArray<CellValue>): Row => ({
  index,
  cells,
  values: Object.fromEntries(headers.map((header, n) => [header, cells[n] === "" ? null : (cells[n] ?? null)]))
})

/** A row to be written: cells in the order of the columns, or an object by their headers. */
export type RowInput = ReadonlyArray<CellInput> | object

export const isByHeader = (row: RowInput): boolean => !Array.isArray(row)

/** The cells of a row that is written; or why it cannot be, with the place. */
export const cellsOf = (
  row: RowInput,
  headers: ReadonlyArray<string>
): Result.Result<ReadonlyArray<CellValue>, string> => {
  const members: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(row))
  const names = isByHeader(row) ? headers : Object.keys(members)
  const unknown = Object.keys(members).find((name) => members[name] !== undefined && !names.includes(name))
  if (unknown !== undefined) {
    return Result.fail(`${unknown}: the table has no such column; ${suggest(unknown, names)}`)
  }
  const cells: Array<CellValue> = []
  for (const name of names) {
    const cell = members[name]
    const problem = problemOf(cell)
    if (problem !== null) return Result.fail(`${name}: ${problem}`)
    // Its kind was checked.
    cells.push(encoded(cell as CellInput))
  }
  return Result.succeed(cells)
}

/** Bytes of a request, below the 5 MB that the service takes. */
const mostBytes = 4_000_000

/** Rows for one request each: so many, and not too long. */
export const portions = (
  rows: ReadonlyArray<ReadonlyArray<CellValue>>,
  mostRows: number
): ReadonlyArray<ReadonlyArray<ReadonlyArray<CellValue>>> => {
  const all: Array<Array<ReadonlyArray<CellValue>>> = []
  const encoder = new TextEncoder()
  let bytes = 0
  for (const row of rows) {
    const size = encoder.encode(JSON.stringify(row)).length + 1
    const last = all.at(-1)
    if (last !== undefined && last.length < mostRows && bytes + size <= mostBytes) {
      last.push(row)
      bytes += size
    } else {
      all.push([row])
      bytes = size
    }
  }
  return all
}
