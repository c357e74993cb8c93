/**
 * The items of a list; those of a library are its files and folders.
 */
import * as Effect from "effect/Effect"
import { type Segment, segment } from "../requests/Address.ts"
import * as Changes from "../requests/Changes.ts"
import * as Failure from "../model/Failure.ts"
import * as Filter from "../requests/Filter.ts"
import {
  change,
  checkMatch,
  created,
  dispatch,
  type GraphRequest,
  noContent,
  objectOf,
  ok,
  prefers
} from "../requests/GraphRequest.ts"
import * as Lagging from "../requests/Lagging.ts"
import * as ListModel from "../world/ListModel.ts"
import * as ListViews from "./ListViews.ts"
import type { List, ListItem, Site } from "../model/Model.ts"
import * as Pages from "../requests/Pages.ts"

export interface In {
  readonly site: Site
  readonly list: List
}

const always = new Set(["id", "created", "modified"])

/** A filter or an order over a column without an index is refused, unless the client takes the risk. */
const checkIndexed = Effect.fnUntraced(function* (list: List, request: GraphRequest) {
  const filter = request.options.get("filter")
  const orderby = request.options.get("orderby")
  const named = [
    ...(filter === undefined ? [] : (yield* Effect.fromResult(Filter.parse(filter))).properties),
    ...(orderby === undefined ? [] : Filter.parseOrder(orderby).properties)
  ]
  if (prefers(request, "HonorNonIndexedQueriesWarningMayFailRandomly")) return
  for (const property of named) {
    const name = property.replace(/^fields\//i, "")
    if (!/^fields\//i.test(property) || always.has(name.toLowerCase())) continue
    if (list.columns.find((column) => column.name === name)?.indexed === true) continue
    return yield* Failure.invalidRequest(
      `Field '${name}' cannot be referenced in filter or orderby as it is not indexed. Provide the 'Prefer: ` +
        `HonorNonIndexedQueriesWarningMayFailRandomly' header to allow this, but be warned that such queries may fail on large lists.`
    )
  }
})

const all = Effect.fnUntraced(function* ({ list, site }: In, request: GraphRequest) {
  yield* checkIndexed(list, request)
  return yield* Pages.page(request, {
    of: `sites('${encodeURIComponent(site.id)}')/lists('${list.id}')/items`,
    rows: ListModel.items(list, (changes, there) => Lagging.rows(request, "lists", changes, there)),
    view: ListViews.expanded(site, list, request),
    whole: ListViews.whole(site, list),
    size: 200,
    max: 5000
  })
})

const add = Effect.fnUntraced(function* ({ list, site }: In, request: GraphRequest) {
  const body = yield* request.json
  const made = yield* Effect.fromResult(ListModel.addItem(list, objectOf(body["fields"]), change(request)))
  const location = `${request.base}/sites/${site.id}/lists/${list.id}/items/${made.id}`
  return created(ListViews.whole(site, list)(made), location)
})

const delta = (segment: Segment) =>
  Effect.fnUntraced(function* ({ list, site }: In, request: GraphRequest) {
    const show = ListViews.expanded(site, list, request)
    return yield* Changes.page(request, segment, {
      of: "Collection(listItem)",
      id: list.id,
      changes: list.library?.changes ?? list.changes,
      options: { next: "token", delta: "token" },
      view: (id) => {
        const item = ListModel.changedItem(list, id)
        return item === undefined ? undefined : show(item)
      },
      gone: (_, { listItem }) => ({ id: listItem, deleted: { state: "deleted" }, parentReference: { siteId: site.id } })
    })
  })

interface InItem extends In {
  readonly item: ListItem
}

const get = ({ item, list, site }: InItem, request: GraphRequest) => {
  const names = ListViews.expansion(request) ?? "all"
  const shown = { ...ListViews.item(site, list)(item), fields: ListViews.pick(ListViews.fields(list, item), names) }
  return Effect.succeed(Pages.one(request, "listItems", shown))
}

/** Writes fields, and returns the item as it is now. */
const write = Effect.fnUntraced(function* (
  { item, list }: InItem,
  fields: Readonly<Record<string, unknown>>,
  request: GraphRequest
) {
  yield* checkMatch(request, [ListViews.itemTag(list, item)])
  return yield* Effect.fromResult(ListModel.writeFields(list, item, fields, change(request)))
})

const patch = Effect.fnUntraced(function* (there: InItem, request: GraphRequest) {
  const item = yield* write(there, objectOf((yield* request.json)["fields"]), request)
  return yield* get({ ...there, item }, request)
})

const remove = Effect.fnUntraced(function* ({ item, list }: InItem, request: GraphRequest) {
  yield* checkMatch(request, [ListViews.itemTag(list, item)])
  ListModel.removeItem(list, item, change(request))
  return noContent
})

const patchFields = Effect.fnUntraced(function* (there: InItem, request: GraphRequest) {
  return ok(ListViews.fields(there.list, yield* write(there, yield* request.json, request)))
})

const getFields = ({ item, list }: InItem, request: GraphRequest) =>
  Effect.succeed(Pages.one(request, "fields", ListViews.fields(list, item)))

/** What follows `items` of a list in an address. */
export const items = Effect.fnUntraced(function* (there: In, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key, relation] = rest
  if (key === undefined) return yield* dispatch({ GET: all, POST: add }, there, request)
  if (key.text.toLowerCase() === "delta") return yield* dispatch({ GET: delta(key) }, there, request)
  const item = ListModel.item(there.list, key.text)
  if (item === undefined) return yield* Failure.itemNotFound("The specified item was not found")
  const inItem = { ...there, item }
  switch (relation?.text.toLowerCase()) {
    case undefined:
      return yield* dispatch({ GET: get, PATCH: patch, DELETE: remove }, inItem, request)
    case "fields":
      return yield* dispatch({ GET: getFields, PATCH: patchFields }, inItem, request)
    case "driveitem": {
      const { file } = item
      if (file === null) return yield* Failure.itemNotFound("The item is no file: its list is not a library.")
      return yield* request.at([...["drives", file.drive.id, "items", file.id].map(segment), ...rest.slice(2)])
    }
    default:
      return yield* Failure.unknownSegment(relation?.text ?? "")
  }
})
