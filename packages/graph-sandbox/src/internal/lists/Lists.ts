/**
 * The lists of a site; its libraries are among them.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Segment, segment } from "../requests/Address.ts"
import * as Columns from "./Columns.ts"
import * as Failure from "../model/Failure.ts"
import {
  change,
  created,
  dispatch,
  type GraphRequest,
  nameOf,
  noContent,
  objectOf,
  ok,
  textOf
} from "../requests/GraphRequest.ts"
import * as ListItems from "./ListItems.ts"
import * as ListModel from "../world/ListModel.ts"
import * as ListViews from "./ListViews.ts"
import type { Site } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"
import { World } from "../world/World.ts"

type In = ListItems.In

const get = ({ list, site }: In, request: GraphRequest) => {
  const expand = request.options.get("expand")?.toLowerCase() ?? ""
  return Effect.succeed(
    Pages.one(request, "lists", {
      ...ListViews.list(site)(list),
      columns: expand.includes("columns") ? list.columns : undefined,
      items: expand.includes("items") ? ListModel.items(list).map(ListViews.whole(site, list)) : undefined
    })
  )
}

const patch = Effect.fnUntraced(function* (there: In, request: GraphRequest) {
  const { list, site } = there
  const body = yield* request.json
  list.displayName = (yield* textOf(body, "displayName")) ?? list.displayName
  list.description = (yield* textOf(body, "description")) ?? list.description
  list.version++
  list.modifiedAt = request.now
  if (list.library !== null) list.library.name = list.displayName
  return ok(ListViews.list(site)(list))
})

const remove = Effect.fnUntraced(function* ({ list, site }: In) {
  const { removeDrive } = yield* World
  site.lists.delete(list.id)
  if (list.library !== null) removeDrive(site.id, list.library)
  return noContent
})

const create = Effect.fnUntraced(function* (site: Site, request: GraphRequest) {
  const { addLibrary } = yield* World
  const body = yield* request.json
  const displayName = yield* nameOf(body, "displayName")
  const description = (yield* textOf(body, "description")) ?? ""
  const template = (yield* textOf(objectOf(body["list"]), "template")) ?? "genericList"
  const given = Array.isArray(body["columns"]) ? body["columns"].map(objectOf) : []
  const columns = yield* Effect.forEach(given, (column) =>
    Effect.map(nameOf(column, "name"), (name) => ({ ...column, name }))
  )
  const asked = { displayName, description, template, columns }
  const made = yield* Effect.fromResult(
    template === ListModel.libraryTemplate
      ? Result.map(addLibrary(site, asked, change(request)), ({ list }) => list)
      : ListModel.make(site, asked, change(request))
  )
  const { list: shown, ...rest } = ListViews.list(site)(made)
  return created({ ...rest, list: shown }, `${request.base}/sites/${site.id}/lists/${made.id}`)
})

/** What follows `lists` of a site in an address. */
export const lists = Effect.fnUntraced(function* (site: Site, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key, relation] = rest
  if (key === undefined) {
    const all = { of: "lists", rows: [...site.lists.values()], view: ListViews.list(site), size: 200, max: 999 }
    return yield* dispatch({ GET: () => Pages.page(request, all), POST: create }, site, request)
  }
  const list = ListModel.find(site, key.text)
  if (list === undefined) return yield* Failure.itemNotFound("The specified list was not found")
  const there = { site, list }
  switch (relation?.text.toLowerCase()) {
    case undefined:
      return yield* dispatch({ GET: get, PATCH: patch, DELETE: remove }, there, request)
    case "items":
      return yield* ListItems.items(there, rest.slice(2), request)
    case "columns":
      return yield* Columns.columns(list, rest.slice(2), request)
    case "drive": {
      const { library } = list
      if (library === null) return yield* Failure.itemNotFound("The list has no drive: it is not a library.")
      return yield* request.at([...["drives", library.id].map(segment), ...rest.slice(2)])
    }
    default:
      return yield* Failure.unknownSegment(relation?.text ?? "")
  }
})
