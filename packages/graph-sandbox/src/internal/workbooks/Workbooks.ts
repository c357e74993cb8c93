/**
 * Workbooks: their sessions, worksheets, and what is saved.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Segment } from "../requests/Address.ts"
import * as Failure from "../model/Failure.ts"
import {
  change,
  created,
  dispatch,
  type GraphRequest,
  type Handler,
  nameOf,
  noContent,
  textOf
} from "../requests/GraphRequest.ts"
import * as Ids from "../model/Ids.ts"
import type { Blob, Item, Properties } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"
import { Transfers } from "../world/Transfers.ts"
import * as Tree from "../world/Tree.ts"
import type { Session } from "../world/Workbooks.ts"
import { World } from "../world/World.ts"
import * as A1 from "../xlsx/A1.ts"
import * as Book from "../xlsx/Book.ts"
import { open } from "../xlsx/Reading.ts"
import { save } from "../xlsx/Writing.ts"
import * as Ranges from "./Ranges.ts"
import { tables } from "./Tables.ts"

/** Bytes of a request. */
const mostBytes = 5 * 1024 * 1024

const read = Effect.fnUntraced(function* (blob: Blob) {
  const { blobs } = yield* World
  const chunks = yield* Effect.mapError(Stream.runCollect(blobs.read(blob, 0, blob.size)), () =>
    Failure.serviceNotAvailable()
  )
  return yield* open(new Uint8Array(Buffer.concat(chunks)))
})

/** What the file holds now. */
const current = Effect.fnUntraced(function* ({ blob }: Item) {
  const { workbooks } = yield* World
  if (blob === null) return yield* Failure.unsupportedWorkbook()
  const known = workbooks.books.get(blob)
  const book = known ?? (yield* read(blob))
  workbooks.books.set(blob, book)
  return book
})

const secondsOf = (isPersistent: boolean) =>
  Effect.map(Transfers, ({ settings }) => settings.workbookSessionSeconds[isPersistent ? "persistent" : "other"])

const createSession: Handler<Item> = Effect.fnUntraced(function* (item, request) {
  const { workbooks } = yield* World
  const persistChanges = (yield* request.json)["persistChanges"] !== false
  // What cannot be opened has no session.
  yield* current(item)
  const own = persistChanges || item.blob === null ? null : yield* read(item.blob)
  const id = Ids.secret()
  const expiresAt = request.now + (yield* secondsOf(persistChanges)) * 1000
  workbooks.sessions.set(id, { id, item, own, saved: null, expiresAt })
  for (const [old, session] of workbooks.sessions) if (session.expiresAt <= request.now) workbooks.sessions.delete(old)
  return created({ id, persistChanges })
})

/** The session that a request names, which it keeps alive; undefined: it names none. */
const sessionOf = Effect.fnUntraced(function* (item: Item, request: GraphRequest) {
  const { workbooks } = yield* World
  const id = request.headers["workbook-session-id"]
  if (id === undefined) return undefined
  const session = workbooks.sessions.get(id)
  if (session === undefined || session.item !== item || session.expiresAt <= request.now) {
    return yield* Failure.sessionNotFound()
  }
  session.expiresAt = request.now + (yield* secondsOf(session.own === null)) * 1000
  return session
})

/** Writes the file anew. What one session saves is one version. */
const persist = Effect.fnUntraced(function* (
  item: Item,
  book: Book.Book,
  session: Session | undefined,
  request: GraphRequest
) {
  const { blobs, workbooks } = yield* World
  const bytes = yield* save(book)
  const blob = yield* Effect.mapError(blobs.store(Stream.succeed(bytes), bytes.length), () =>
    Failure.serviceNotAvailable()
  )
  const amends = session !== undefined && session.saved === item.blob
  if (item.blob !== null) workbooks.books.delete(item.blob)
  workbooks.books.set(blob, book)
  Tree.write(item, blob, change(request), amends)
  if (session !== undefined) session.saved = blob
})

interface Sheet {
  readonly book: Book.Book
  readonly sheet: Book.Sheet
}

const idOf = ({ id }: Book.Sheet) => `{00000000-0001-0000-${String(id - 1).padStart(2, "0")}00-000000000000}`

const view =
  (book: Book.Book) =>
  (sheet: Book.Sheet): Properties => ({
    id: idOf(sheet),
    name: sheet.name,
    position: book.sheets.indexOf(sheet),
    visibility: sheet.visibility
  })

const list: Handler<Book.Book> = (book, request) =>
  Pages.page(request, { of: "workbook/worksheets", rows: book.sheets, view: view(book), size: 1000, max: 1000 })

const isName = (name: string): boolean => name.length <= 31 && !/[\\/?*[\]:]|^'|'$/.test(name)

const addSheet: Handler<Book.Book> = Effect.fnUntraced(function* (book, request) {
  const given = yield* textOf(yield* request.json, "name")
  let n = book.sheets.length + 1
  while (Book.sheetBy(book, `Sheet${n}`) !== undefined) n++
  const name = given ?? `Sheet${n}`
  if (!isName(name)) return yield* Failure.invalidArgument()
  if (Book.sheetBy(book, name) !== undefined) return yield* Failure.workbookItemExists()
  return created(view(book)(Book.addSheet(book, name)))
})

const update: Handler<Sheet> = Effect.fnUntraced(function* ({ book, sheet }, request) {
  const body = yield* request.json
  if ("position" in body || "visibility" in body) {
    return yield* Failure.notServed("The sandbox does not move or hide worksheets.")
  }
  const name = yield* nameOf(body, "name")
  const there = Book.sheetBy(book, name)
  if (!isName(name)) return yield* Failure.invalidArgument()
  if (there !== undefined && there !== sheet) return yield* Failure.workbookItemExists()
  sheet.name = name
  return Pages.one(request, "workbook/worksheets", view(book)(sheet))
})

const remove: Handler<Sheet> = ({ book, sheet }) => {
  if (book.sheets.length === 1) return Effect.fail(Failure.invalidArgument("A workbook has at least one worksheet."))
  book.sheets.splice(book.sheets.indexOf(sheet), 1)
  return Effect.succeed(noContent)
}

const get: Handler<Sheet> = ({ book, sheet }, request) =>
  Effect.succeed(Pages.one(request, "workbook/worksheets", view(book)(sheet)))

const worksheets = Effect.fnUntraced(function* (book: Book.Book, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key, segment, ...below] = rest
  if (key === undefined) return yield* dispatch({ GET: list, POST: addSheet }, book, request)
  if (key.text.toLowerCase() === "add") return yield* dispatch({ POST: addSheet }, book, request)
  const sheet =
    Book.sheetBy(book, key.text) ?? book.sheets.find((sheet) => idOf(sheet).toLowerCase() === key.text.toLowerCase())
  if (sheet === undefined) return yield* Failure.workbookItemNotFound()
  const found = { book, sheet }
  if (segment === undefined) return yield* dispatch({ GET: get, PATCH: update, DELETE: remove }, found, request)
  switch (segment.text.toLowerCase()) {
    case "range": {
      const place = A1.parse(segment.args?.["address"] ?? "")
      if (place === undefined) {
        return segment.args === null || /^\$?(?:[a-z]+:\$?[a-z]+|\d+:\$?\d+)$/i.test(segment.args["address"] ?? "")
          ? yield* Failure.notServed("The sandbox does not serve ranges of whole rows, columns and worksheets.")
          : yield* Failure.invalidArgument()
      }
      const named = place.sheet === null ? sheet : Book.sheetBy(book, place.sheet)
      if (named === undefined) return yield* Failure.workbookItemNotFound()
      return yield* Ranges.range({ book, sheet: named, area: place.area }, below, request)
    }
    case "usedrange":
      return yield* Ranges.range({ ...found, area: Book.used(sheet) }, below, request)
    case "cell": {
      const area = { row: 0, column: 0, rows: 1, columns: 1 }
      return yield* Ranges.range({ ...found, area }, [segment, ...below], request)
    }
    case "tables":
      return yield* tables(found, below, request)
    default:
      return yield* Failure.unknownSegment(segment.text)
  }
})

const within = (book: Book.Book, rest: ReadonlyArray<Segment>, request: GraphRequest) => {
  const [segment, ...below] = rest
  switch (segment?.text.toLowerCase()) {
    case "worksheets":
      return worksheets(book, below, request)
    case "tables":
      return tables({ book, sheet: null }, below, request)
    default:
      return Effect.fail(Failure.unknownSegment(segment?.text ?? "workbook"))
  }
}

const answer = Effect.fnUntraced(function* (item: Item, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { workbooks } = yield* World
  const name = rest[0]?.text.toLowerCase()
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) return yield* Failure.payloadTooLarge()
  if (name === "createsession") return yield* dispatch({ POST: createSession }, item, request)
  const session = yield* sessionOf(item, request)
  if (name === "refreshsession" || name === "closesession") {
    if (session === undefined) return yield* Failure.invalidArgument("The header workbook-session-id is missing.")
    if (name === "closesession") workbooks.sessions.delete(session.id)
    return noContent
  }
  const book = session?.own ?? (yield* current(item))
  const reply = yield* within(book, rest, request)
  if (request.method !== "GET" && (session?.own ?? null) === null) yield* persist(item, book, session, request)
  return reply
})

/** What follows the workbook of a file in an address. Requests are answered one after another. */
export const workbook = Effect.fnUntraced(function* (item: Item, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { workbooks } = yield* World
  return yield* workbooks.turn.withPermit(answer(item, rest, request))
})
