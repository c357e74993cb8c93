/**
 * Workbooks that are open, the sessions in which they are, and workbooks of the seed.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as Failure from "../model/Failure.ts"
import type { Blob, Item } from "../model/Model.ts"
import type { Workbook } from "../../Seed.ts"
import * as A1 from "../xlsx/A1.ts"
import * as Book from "../xlsx/Book.ts"
import { blankBook, save } from "../xlsx/Writing.ts"

export interface Session {
  readonly id: string
  readonly item: Item
  /** What it works on when its changes are not to be saved. */
  readonly own: Book.Book | null
  /** The contents that it has saved, which later changes amend. */
  saved: Blob | null
  expiresAt: number
}

export interface Workbooks {
  readonly sessions: Map<string, Session>
  /** What the contents of a file hold. */
  readonly books: WeakMap<Blob, Book.Book>
  /** One request at a time. */
  readonly turn: Semaphore.Semaphore
}

export const make = (): Workbooks => ({
  sessions: new Map(),
  books: new WeakMap(),
  turn: Semaphore.makeUnsafe(1)
})

/** The file of a workbook as the seed has it. */
export const ofSeed = Effect.fnUntraced(function* ({ tables = {}, workbook }: Workbook) {
  const book = blankBook()
  for (const [name, rows] of Object.entries(workbook)) {
    const sheet = Book.addSheet(book, name)
    for (const [row, cells] of rows.entries()) {
      for (const [column, value] of cells.entries()) Book.write(sheet, row, column, { value: value ?? "" })
    }
  }
  for (const [name, address] of Object.entries(tables)) {
    const place = A1.parse(address)
    const sheet = Book.sheetBy(book, place?.sheet ?? book.sheets[0]?.name ?? "")
    if (place === undefined || sheet === undefined) {
      return yield* Failure.invalidArgument(`tables: ${name}: no cells are at '${address}'`)
    }
    Book.addTable(book, sheet, { area: place.area, name })
  }
  return yield* save(book)
})
