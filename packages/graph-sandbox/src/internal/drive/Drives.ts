/**
 * Drives, and the way from a drive to its items.
 */
import * as Effect from "effect/Effect"
import { type Segment, segment as toSegment } from "../requests/Address.ts"
import * as Delta from "./Delta.ts"
import * as Failure from "../model/Failure.ts"
import {
  change,
  dispatch,
  type GraphRequest,
  type Methods,
  relation,
  type Relations
} from "../requests/GraphRequest.ts"
import * as Items from "./Items.ts"
import * as Lagging from "../requests/Lagging.ts"
import type { Drive, Item } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"
import * as Places from "./Places.ts"
import * as Publishing from "./Publishing.ts"
import * as Sharing from "./Sharing.ts"
import * as Tree from "../world/Tree.ts"
import * as Uploads from "./Uploads.ts"
import * as Versions from "./Versions.ts"
import * as Views from "./Views.ts"
import { workbook } from "../workbooks/Workbooks.ts"
import { specialFolders, World } from "../world/World.ts"

type Place = Places.Place

const holds = (item: Item, text: string): boolean => {
  const { blob, description, name } = item
  if (`${name}\n${description ?? ""}`.toLowerCase().includes(text)) return true
  return (
    blob !== null && typeof blob.source !== "string" && Buffer.from(blob.source).toString().toLowerCase().includes(text)
  )
}

const sparse = { searchResult: { onClickTelemetryUrl: "https://telemetry.sandbox.test/click" } }

/** By name, description, and the contents of small files. The whole drive also finds what others share with the user. */
const search = (segment: Segment, everywhere: boolean): Methods<Place> => ({
  GET: Effect.fnUntraced(function* (place, request) {
    const folder = yield* Places.existing(place)
    const text = segment.args?.["q"]
    if (text === undefined || text === "") return yield* Failure.invalidRequest("The search text 'q' must be given.")
    const { principal } = request
    const others =
      everywhere && principal.kind === "user"
        ? (yield* Sharing.sharedWith(principal.user.id)).filter(({ drive }) => drive !== folder.drive)
        : []
    const there = [...Tree.descendants(folder)]
    const found = Lagging.rows(request, "search", folder.drive.changes, there, (gone) => Tree.isBelow(gone, folder))
    const own = found.filter((item) => everywhere || item.kind !== "remote")
    const view = yield* Views.items(request)
    return yield* Pages.page(request, {
      of: "Collection(driveItem)",
      rows: [...own, ...others].filter((item) => holds(item, text.toLowerCase())),
      view: (item) => ({ ...(item.drive === folder.drive ? view(item) : Views.shared(item)), ...sparse }),
      size: 200,
      max: 999
    })
  })
})

const itemRelations: Relations<Place> = {
  checkin: Publishing.checkin,
  checkout: Publishing.checkout,
  children: Items.children,
  content: Items.content,
  copy: Items.copy,
  createlink: Sharing.createLink,
  createuploadsession: Uploads.createSession,
  discardcheckout: Publishing.discardCheckout,
  invite: Sharing.invite,
  permanentdelete: Publishing.permanentDelete,
  permissions: Sharing.permissions,
  thumbnails: Items.thumbnails,
  versions: Versions.versions
}

/** What follows an item in an address. */
export const item: (
  place: Place,
  rest: ReadonlyArray<Segment>,
  request: GraphRequest
) => ReturnType<typeof relation<Place>> = Effect.fnUntraced(function* (place, rest, request) {
  const [segment, key, last] = rest
  if (segment === undefined) return yield* dispatch({ ...Uploads.item, ...Items.item }, place, request)
  const name = segment.text.toLowerCase()
  if (name === "search") return yield* dispatch(search(segment, false), place, request)
  if (name === "delta") return yield* dispatch(Delta.items(segment), place, request)
  if (name === "listitem") return yield* listItem(yield* Places.existing(place), rest.slice(1), request)
  if (name === "workbook") {
    const file = yield* Places.existing(place)
    if (request.method !== "GET") yield* Publishing.checkUnlocked(file, request)
    return yield* workbook(file, rest.slice(1), request)
  }
  if (key === undefined) return yield* relation(itemRelations, name, place, request)
  if (name === "children") {
    const folder = yield* Places.existing(place)
    const below = Tree.child(folder, key.text) ?? [...folder.children.values()].find(({ id }) => id === key.text)
    const names = key.path ?? []
    const found = below === undefined ? Places.below(place, [key.text, ...names]) : Places.place(below, names)
    return yield* item(found, rest.slice(2), request)
  }
  if (name === "permissions" && last === undefined) return yield* dispatch(Sharing.permission(key.text), place, request)
  if (name === "versions") {
    return last === undefined
      ? yield* dispatch(Versions.version(key.text), place, request)
      : yield* relation(Versions.versionRelations(key.text), last.text, place, request)
  }
  return yield* Failure.unknownSegment(key.text)
})

/** The list that a library is, as an address. */
const listOf = Effect.fnUntraced(function* ({ id, siteId }: Drive) {
  const { sites } = yield* World
  const site = sites.get(siteId ?? "")
  const list = [...(site?.lists.values() ?? [])].find(({ library }) => library?.id === id)
  if (site === undefined || list === undefined) {
    return yield* Failure.itemNotFound("The sandbox has a list for the libraries of sites only.")
  }
  return ["sites", site.id, "lists", list.id]
})

/** A file or folder of a library, as the item of its list. */
const listItem = Effect.fnUntraced(function* (item: Item, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  if (item.parent === null) return yield* Failure.itemNotFound("The root of a library is no item of its list.")
  const list = yield* listOf(item.drive)
  return yield* request.at([...[...list, "items", item.listItem].map(toSegment), ...rest])
})

/** Files, newest first. */
const recent = Effect.fnUntraced(function* (drive: Drive, request: GraphRequest) {
  const view = yield* Views.items(request)
  const rows = [...drive.items.values()]
    .filter(({ kind }) => kind === "file")
    .sort((a, b) => b.modifiedAt - a.modifiedAt)
  return yield* Pages.page(request, { of: "Collection(driveItem)", rows, view, size: 200, max: 999 })
})

const sharedWithMe = Effect.fnUntraced(function* (_drive: Drive, request: GraphRequest) {
  const { principal } = request
  if (principal.kind === "app") return yield* Failure.accessDenied()
  const rows = yield* Sharing.sharedWith(principal.user.id)
  return yield* Pages.page(request, { of: "Collection(driveItem)", rows, view: Views.shared, size: 200, max: 999 })
})

const driveRelations: Relations<Drive> = { recent: { GET: recent }, sharedwithme: { GET: sharedWithMe } }

/** A special folder; it is made when it is first asked for. */
const special = Effect.fnUntraced(function* (drive: Drive, name: string, request: GraphRequest) {
  const path = Object.hasOwn(specialFolders, name.toLowerCase()) ? specialFolders[name.toLowerCase()] : undefined
  if (path === undefined) return yield* Failure.itemNotFound(`There is no special folder '${name}'.`)
  const folder = yield* Effect.fromResult(Tree.folders(drive.root, path, change(request)))
  folder.specialFolder = name.toLowerCase()
  return folder
})

const get = (drive: Drive, request: GraphRequest) => Effect.succeed(Pages.one(request, "drives", Views.drive(drive)))

/** What follows a drive in an address. */
export const drive = Effect.fnUntraced(function* (drive: Drive, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [segment, key] = rest
  if (segment === undefined) return yield* dispatch({ GET: get }, drive, request)
  const root = Places.place(drive.root, [])
  switch (segment.text.toLowerCase()) {
    case "root":
      return yield* item(Places.below(root, segment.path ?? []), rest.slice(1), request)
    case "search":
      return yield* dispatch(search(segment, true), root, request)
    case "delta":
      return yield* dispatch(Delta.items(segment), root, request)
    case "items": {
      if (key === undefined) return yield* Failure.invalidRequest("The id of an item must be given.")
      const found = yield* Places.byId(drive, key.text)
      return yield* item(Places.below(found, key.path ?? []), rest.slice(2), request)
    }
    case "list":
      return yield* request.at([...(yield* listOf(drive)).map(toSegment), ...rest.slice(1)])
    case "special": {
      if (key === undefined) return yield* Failure.invalidRequest("The name of a special folder must be given.")
      const folder = yield* special(drive, key.text, request)
      return yield* item(Places.place(folder, key.path ?? []), rest.slice(2), request)
    }
    default:
      return yield* relation(driveRelations, segment.text, drive, request)
  }
})

/** The drives of a user, a site or a group: the default one, all of them, or one by its id. */
export const of = Effect.fnUntraced(function* (owner: string, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { drivesOf } = yield* World
  const drives = drivesOf.get(owner) ?? []
  const [first, key] = rest
  const [main] = drives
  if (main === undefined) return yield* Failure.itemNotFound("There is no drive here.", "provisioningNotAllowed")
  if (first?.text.toLowerCase() === "drive") return yield* drive(main, rest.slice(1), request)
  if (key === undefined) {
    const all = { of: "drives", rows: drives, view: Views.drive, size: 200, max: 999 }
    return yield* dispatch({ GET: () => Pages.page(request, all) }, drives, request)
  }
  return yield* byId(key.text, rest.slice(2), request)
})

/** A drive by its id. */
export const byId = Effect.fnUntraced(function* (id: string, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { drives } = yield* World
  const found = drives.get(id)
  if (found === undefined) return yield* Failure.itemNotFound("The drive could not be found.")
  return yield* drive(found, rest, request)
})
