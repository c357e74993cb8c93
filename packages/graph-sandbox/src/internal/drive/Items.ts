/**
 * One item of a drive: what it is, its name and place, what lies in it.
 */
import * as Effect from "effect/Effect"
import * as Failure from "../model/Failure.ts"
import {
  change,
  checkMatch,
  created,
  type GraphRequest,
  isMissing,
  type Methods,
  noContent,
  ok,
  textOf,
  timesOf
} from "../requests/GraphRequest.ts"
import type { Item } from "../model/Model.ts"
import * as Lagging from "../requests/Lagging.ts"
import * as Names from "../world/Names.ts"
import * as OfficeFiles from "./OfficeFiles.ts"
import * as Pages from "../requests/Pages.ts"
import * as Places from "./Places.ts"
import * as Publishing from "./Publishing.ts"
import { Transfers } from "../world/Transfers.ts"
import * as Tree from "../world/Tree.ts"
import * as Views from "./Views.ts"
import { World } from "../world/World.ts"

type Place = Places.Place

const tags = (item: Item) => [Views.eTag(item), Views.cTag(item)]

const byName = (items: Iterable<Item>) => [...items].sort((a, b) => (a.name < b.name ? -1 : 1))

export const context = (item: Item) => `drives('${encodeURIComponent(item.drive.id)}')/items`

/** One item, as the query asks for it. */
const show = Effect.fnUntraced(function* (request: GraphRequest, item: Item) {
  const view = yield* Views.items(request)
  const expanded = (request.options.get("expand") ?? "").toLowerCase().includes("children")
    ? { children: byName(item.children.values()).map(view) }
    : {}
  return Pages.one(request, context(item), { ...view(item), ...expanded })
})

export const get = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const item = yield* Places.existing(place)
  if (request.headers["if-none-match"] !== undefined && tags(item).includes(request.headers["if-none-match"])) {
    return { status: 304 }
  }
  return yield* show(request, item)
})

const update = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const item = yield* Places.existing(place)
  yield* Publishing.checkUnlocked(item, request)
  yield* checkMatch(request, tags(item))
  const body = yield* request.json
  const name = yield* textOf(body, "name")
  const description = yield* textOf(body, "description")
  const conflict = yield* Places.conflictOf(request, body, "fail")
  const folder = isMissing(body["parentReference"])
    ? undefined
    : yield* Places.referenced(body["parentReference"], item)
  if (name !== undefined || folder !== undefined) {
    if (item.parent === null) return yield* Failure.invalidRequest("The root of a drive cannot be renamed or moved.")
    const to = { folder: folder ?? item.parent, name: name ?? item.name }
    yield* Effect.fromResult(Tree.move(item, to, conflict, change(request)))
  }
  if (description !== undefined) item.description = description
  if ("fileSystemInfo" in body) item.fileSystem = { ...item.fileSystem, ...timesOf(body["fileSystemInfo"]) }
  if (description !== undefined || "fileSystemInfo" in body) Tree.changed(item, change(request))
  return yield* show(request, item)
})

const remove = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const item = yield* Places.existing(place)
  yield* Publishing.checkUnlocked(item, request)
  yield* checkMatch(request, tags(item))
  if (item.parent === null) return yield* Failure.invalidRequest("The root of a drive cannot be deleted.")
  Tree.remove(item, change(request))
  return noContent
})

export const item: Methods<Place> = { GET: get, PATCH: update, DELETE: remove }

const list = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const folder = yield* Places.existing(place)
  const view = yield* Views.items(request)
  const of = `${context(folder)}('${folder.id}')/children`
  const there = [...folder.children.values()]
  const rows = Lagging.rows(request, "lists", folder.drive.changes, there, ({ parent }) => parent === folder)
  return yield* Pages.page(request, { of, rows: byName(rows), view, size: 200, max: 999, counted: true })
})

const createChild = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const folder = yield* Places.existing(place)
  const { blobs } = yield* World
  const body = yield* request.json
  const name = yield* Effect.fromResult(Names.check(body["name"]))
  const conflict = yield* Places.conflictOf(request, body, "fail")
  if (!("folder" in body) && !("file" in body)) {
    return yield* Failure.invalidRequest("Exactly one of 'folder' and 'file' must be given.", "invalidParameterFormat")
  }
  const kind = "folder" in body ? "folder" : "file"
  const blob = kind === "file" ? blobs.ofBytes(new Uint8Array()) : null
  const made = yield* Effect.fromResult(Tree.add(folder, { name, kind, blob }, conflict, change(request)))
  const view = yield* Views.items(request)
  const shown = view(made.item)
  return created(shown, `${request.base}/drives/${folder.drive.id}/items/${made.item.id}`)
})

export const children: Methods<Place> = { GET: list, POST: createChild }

const download = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const item = yield* Places.existing(place)
  const transfers = yield* Transfers
  if (item.blob === null) return yield* Failure.invalidRequest("Only a file has contents that can be downloaded.")
  const format = request.options.get("format")
  if (format !== undefined) return yield* Failure.notServed(`The sandbox does not convert files to ${format}.`)
  if (tags(item).includes(request.headers["if-none-match"] ?? "")) return { status: 304 }
  return { status: 302, headers: { location: transfers.contentUrl(item, request.now) } }
})

/** Bytes: what a simple upload may have. */
const maxSimple = 250 * 1024 * 1024

const upload = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const { blobs } = yield* World
  yield* Publishing.checkUnlocked(place.item, request)
  yield* checkMatch(request, place.item === undefined ? null : tags(place.item))
  const conflict = yield* Places.conflictOf(request, {}, "replace")
  const length = request.headers["content-length"]
  if (length !== undefined && Number(length) > maxSimple) {
    return yield* Failure.tooLarge("Use an upload session for a file of this size.", "maxFileSizeExceeded")
  }
  if (place.item !== undefined && place.item.kind !== "file") {
    return yield* Failure.invalidRequest("Only a file has contents that can be replaced.")
  }
  // A name that is taken or impossible is refused before the bytes are read, and looked at again when they are here.
  if (place.item !== undefined && conflict === "fail") return yield* Failure.nameAlreadyExists()
  yield* Effect.fromResult(Tree.checkPath(place.from, place.names))
  const sent = yield* Effect.mapError(blobs.store(request.body, length === undefined ? null : Number(length)), () =>
    Failure.invalidRequest("The body ended too early.")
  )
  const blob = yield* OfficeFiles.stored(sent, place.names.at(-1) ?? place.from.name, place.from.drive)
  const put = yield* store(place, blob, conflict, request)
  const view = yield* Views.items(request)
  const shown = view(put.item)
  return put.created ? created(shown) : ok(shown)
})

const store = Effect.fnUntraced(function* (
  place: Place,
  blob: NonNullable<Item["blob"]>,
  conflict: Tree.Conflict,
  request: GraphRequest
) {
  const { folder, name } = yield* Places.target(place, request)
  if (name !== undefined) {
    return yield* Effect.fromResult(Tree.add(folder, { name, kind: "file", blob }, conflict, change(request)))
  }
  Tree.write(folder, blob, change(request))
  return { item: folder, created: false }
})

export const content: Methods<Place> = { GET: download, PUT: upload }

const copyItem = Effect.fnUntraced(function* (place: Place, request: GraphRequest) {
  const item = yield* Places.existing(place)
  const transfers = yield* Transfers
  const body = yield* request.json
  const name = (yield* textOf(body, "name")) ?? item.name
  const conflict = yield* Places.conflictOf(request, body, "fail")
  const folder = yield* Places.referenced(body["parentReference"], item)
  const copied = yield* Effect.fromResult(Tree.copy(item, { folder, name }, conflict, change(request)))
  return { status: 202, headers: { location: transfers.startJob("ItemCopy", copied.id) } }
})

export const copy: Methods<Place> = { POST: copyItem }

/** Pictures are not made: there are none. */
export const thumbnails: Methods<Place> = {
  GET: (place, request) =>
    Effect.flatMap(Places.existing(place), (item) =>
      Pages.page(request, { of: `${context(item)}/thumbnails`, rows: [], view: (row) => row, size: 200, max: 999 })
    )
}
