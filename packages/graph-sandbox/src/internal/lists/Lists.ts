/**
 * The lists of a site: columns and items.
 */
import * as Effect from "effect/Effect"
import type { Segment } from "../wire/Address.ts"
import * as Failure from "../Failure.ts"
import * as Filter from "../wire/Filter.ts"
import * as Ids from "../Ids.ts"
import * as ListModel from "./ListModel.ts"
import type { Column, List, ListItem, Properties, Site } from "../Model.ts"
import * as Pages from "../wire/Pages.ts"
import {
  change,
  checkMatch,
  created,
  dispatch,
  type GraphRequest,
  noContent,
  objectOf,
  ok,
  prefers,
  textOf,
  time
} from "../wire/Wire.ts"

const tag = (list: List) => `"${list.id},${list.version}"`

const webUrl = (site: Site, list: List) => `https://${site.host}${site.path}/Lists/${encodeURIComponent(list.name)}`

const view =
  (site: Site) =>
  (list: List): Properties => ({
    "@odata.etag": tag(list),
    id: list.id,
    name: list.name,
    displayName: list.displayName,
    description: list.description,
    eTag: tag(list),
    webUrl: webUrl(site, list),
    createdDateTime: time(list.createdAt),
    lastModifiedDateTime: time(list.modifiedAt),
    createdBy: { user: list.createdBy },
    parentReference: { siteId: site.id },
    list: { contentTypesEnabled: false, hidden: false, template: list.template }
  })

const itemTag = (list: List, item: ListItem) => `"${Ids.uuid(`${list.id} ${item.id}`)},${item.version}"`

/** The fields as stored, and those that every item has. Columns that are blank are left out. */
const fieldsOf = (list: List, item: ListItem): Properties => {
  const title = item.fields["Title"]
  return {
    "@odata.etag": itemTag(list, item),
    ...Object.fromEntries(Object.entries(item.fields).filter(([, value]) => value !== null && value !== "")),
    id: item.id,
    ContentType: "Item",
    Modified: time(item.modifiedAt),
    Created: time(item.createdAt),
    AuthorLookupId: "6",
    EditorLookupId: "6",
    _UIVersionString: `${item.version}.0`,
    Attachments: false,
    Edit: "",
    ...(title === undefined ? {} : { LinkTitleNoMenu: title, LinkTitle: title }),
    ItemChildCount: "0",
    FolderChildCount: "0"
  }
}

const viewItem =
  (site: Site, list: List) =>
  (item: ListItem): Properties => ({
    "@odata.etag": itemTag(list, item),
    id: item.id,
    createdDateTime: time(item.createdAt),
    eTag: itemTag(list, item),
    lastModifiedDateTime: time(item.modifiedAt),
    webUrl: `${webUrl(site, list)}/${item.id}_.000`,
    createdBy: { user: item.createdBy },
    lastModifiedBy: { user: item.modifiedBy },
    parentReference: { id: list.id, siteId: site.id },
    contentType: { id: "0x0100AA", name: "Item" }
  })

/** What `$expand` says of fields: nothing, all of them, or some. */
const expansion = (request: GraphRequest): ReadonlyArray<string> | "all" | null => {
  const match = /(?:^|,)fields(?:\(\$?select=([^)]*)\))?/i.exec(request.options.get("expand") ?? "")
  if (match === null) return null
  return match[1] === undefined ? "all" : match[1].split(",").map((name) => name.trim())
}

const pick = (fields: Properties, names: ReadonlyArray<string> | "all") =>
  names === "all"
    ? fields
    : Object.fromEntries(Object.entries(fields).filter(([name]) => name === "@odata.etag" || names.includes(name)))

/** An item with the fields that the query asks for. */
const expanded =
  (site: Site, list: List, request: GraphRequest) =>
  (item: ListItem): Properties => {
    const names = expansion(request)
    return {
      ...viewItem(site, list)(item),
      ...(names === null
        ? {}
        : {
            "fields@odata.context": `${request.base}/$metadata#lists('${list.id}')/items/fields/$entity`,
            fields: pick(fieldsOf(list, item), names)
          })
    }
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

interface In {
  readonly site: Site
  readonly list: List
}

const listItems = Effect.fnUntraced(function* ({ list, site }: In, request: GraphRequest) {
  yield* checkIndexed(list, request)
  const of = `sites('${encodeURIComponent(site.id)}')/lists('${list.id}')/items`
  return yield* Pages.page(request, {
    of,
    rows: [...list.items.values()],
    view: expanded(site, list, request),
    whole: (item) => ({ ...viewItem(site, list)(item), fields: fieldsOf(list, item) }),
    size: 200,
    max: 5000
  })
})

const addItem = Effect.fnUntraced(function* ({ list, site }: In, request: GraphRequest) {
  const body = yield* request.json
  const made = yield* Effect.fromResult(ListModel.addItem(list, objectOf(body["fields"]), change(request)))
  const shown = { ...viewItem(site, list)(made), fields: fieldsOf(list, made) }
  return created(shown, `${request.base}/sites/${site.id}/lists/${list.id}/items/${made.id}`)
})

interface InItem extends In {
  readonly item: ListItem
}

const getItem = ({ item, list, site }: InItem, request: GraphRequest) => {
  const names = expansion(request) ?? "all"
  const shown = { ...viewItem(site, list)(item), fields: pick(fieldsOf(list, item), names) }
  return Effect.succeed(Pages.one(request, "listItems", shown))
}

const write = Effect.fnUntraced(function* (
  { item, list }: InItem,
  fields: Readonly<Record<string, unknown>>,
  request: GraphRequest
) {
  yield* checkMatch(request, [itemTag(list, item)])
  const checked = yield* Effect.fromResult(ListModel.checkFields(list, fields))
  item.fields = { ...item.fields, ...checked }
  item.version++
  item.modifiedAt = request.now
  item.modifiedBy = change(request).by
})

const patchItem = Effect.fnUntraced(function* (there: InItem, request: GraphRequest) {
  yield* write(there, objectOf((yield* request.json)["fields"]), request)
  return yield* getItem(there, request)
})

const removeItem = Effect.fnUntraced(function* ({ item, list }: InItem, request: GraphRequest) {
  yield* checkMatch(request, [itemTag(list, item)])
  list.items.delete(item.id)
  return noContent
})

const patchFields = Effect.fnUntraced(function* (there: InItem, request: GraphRequest) {
  yield* write(there, yield* request.json, request)
  return ok(fieldsOf(there.list, there.item))
})

const getFields = ({ item, list }: InItem, request: GraphRequest) =>
  Effect.succeed(Pages.one(request, "fields", fieldsOf(list, item)))

const items = Effect.fnUntraced(function* (there: In, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key, relation] = rest
  if (key === undefined) return yield* dispatch({ GET: listItems, POST: addItem }, there, request)
  const item = there.list.items.get(key.text)
  if (item === undefined) return yield* Failure.itemNotFound("The specified item was not found")
  const inItem = { ...there, item }
  if (relation === undefined) {
    return yield* dispatch({ GET: getItem, PATCH: patchItem, DELETE: removeItem }, inItem, request)
  }
  if (relation.text.toLowerCase() !== "fields") return yield* Failure.unknownSegment(relation.text)
  return yield* dispatch({ GET: getFields, PATCH: patchFields }, inItem, request)
})

const listColumns = ({ list }: In, request: GraphRequest) =>
  Pages.page(request, { of: "columns", rows: list.columns, view: (column: Column) => column, size: 999, max: 999 })

const nameOf = Effect.fnUntraced(function* (given: Readonly<Record<string, unknown>>, what: string) {
  const name = yield* textOf(given, what)
  if (name === undefined || name.trim() === "") return yield* Failure.invalidRequest(`'${what}' must be given.`)
  return name
})

const addColumn = Effect.fnUntraced(function* ({ list }: In, request: GraphRequest) {
  const body = yield* request.json
  const name = yield* nameOf(body, "name")
  return created(yield* Effect.fromResult(ListModel.addColumn(list, { ...body, name })))
})

interface InColumn extends In {
  readonly column: Column
}

const getColumn = ({ column }: InColumn, request: GraphRequest) => Effect.succeed(Pages.one(request, "columns", column))

const patchColumn = Effect.fnUntraced(function* ({ column, list }: InColumn, request: GraphRequest) {
  return ok(yield* Effect.fromResult(ListModel.updateColumn(list, column, yield* request.json)))
})

const removeColumn = Effect.fnUntraced(function* ({ column, list }: InColumn) {
  yield* Effect.fromResult(ListModel.removeColumn(list, column))
  return noContent
})

const columns = Effect.fnUntraced(function* (there: In, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key] = rest
  if (key === undefined) return yield* dispatch({ GET: listColumns, POST: addColumn }, there, request)
  const column = there.list.columns.find(({ id, name }) => id === key.text || name === key.text)
  if (column === undefined) return yield* Failure.itemNotFound("The specified column was not found")
  return yield* dispatch({ GET: getColumn, PATCH: patchColumn, DELETE: removeColumn }, { ...there, column }, request)
})

const getList = ({ list, site }: In, request: GraphRequest) => {
  const expand = request.options.get("expand")?.toLowerCase() ?? ""
  return Effect.succeed(
    Pages.one(request, "lists", {
      ...view(site)(list),
      ...(expand.includes("columns") ? { columns: list.columns } : {}),
      ...(expand.includes("items")
        ? {
            items: [...list.items.values()].map((item) => ({
              ...viewItem(site, list)(item),
              fields: fieldsOf(list, item)
            }))
          }
        : {})
    })
  )
}

const patchList = Effect.fnUntraced(function* (there: In, request: GraphRequest) {
  const { list, site } = there
  const body = yield* request.json
  list.displayName = (yield* textOf(body, "displayName")) ?? list.displayName
  list.description = (yield* textOf(body, "description")) ?? list.description
  list.version++
  list.modifiedAt = request.now
  return ok(view(site)(list))
})

const removeList = ({ list, site }: In) =>
  Effect.sync(() => {
    site.lists.delete(list.id)
    return noContent
  })

const createList = Effect.fnUntraced(function* (site: Site, request: GraphRequest) {
  const body = yield* request.json
  const displayName = yield* nameOf(body, "displayName")
  const description = (yield* textOf(body, "description")) ?? ""
  const template = (yield* textOf(objectOf(body["list"]), "template")) ?? "genericList"
  const given = Array.isArray(body["columns"]) ? body["columns"].map(objectOf) : []
  const columns = yield* Effect.forEach(given, (column) =>
    Effect.map(nameOf(column, "name"), (name) => ({ ...column, name }))
  )
  const made = yield* Effect.fromResult(
    ListModel.make(site, { displayName, description, template, columns }, change(request))
  )
  const { list: shown, ...rest } = view(site)(made)
  return created({ ...rest, list: shown }, `${request.base}/sites/${site.id}/lists/${made.id}`)
})

/** What follows `lists` of a site in an address. */
export const lists = Effect.fnUntraced(function* (site: Site, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const [key, relation] = rest
  if (key === undefined) {
    const all = { of: "lists", rows: [...site.lists.values()], view: view(site), size: 200, max: 999 }
    return yield* dispatch({ GET: () => Pages.page(request, all), POST: createList }, site, request)
  }
  const list = ListModel.find(site, key.text)
  if (list === undefined) return yield* Failure.itemNotFound("The specified list was not found")
  const there = { site, list }
  switch (relation?.text.toLowerCase()) {
    case undefined:
      return yield* dispatch({ GET: getList, PATCH: patchList, DELETE: removeList }, there, request)
    case "items":
      return yield* items(there, rest.slice(2), request)
    case "columns":
      return yield* columns(there, rest.slice(2), request)
    default:
      return yield* Failure.unknownSegment(relation?.text ?? "")
  }
})
