/**
 * Lists of a site, their columns and their items.
 */
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Batch from "./Batch.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { json, list, unit } from "./internal/requests/Call.ts"
import { selection, type Selection } from "./internal/requests/Options.ts"
import type { ListId, ListItemId, SiteId } from "./model/Common.ts"
import { Column, Fields, ListItem, SiteList } from "./model/List.ts"
import { path } from "./Path.ts"

export { Column, columnType, Fields, ListItem, SiteList } from "./model/List.ts"

const one = json(SiteList)
const many = list(SiteList)
const oneColumn = json(Column)
const manyColumns = list(Column)
const oneItem = json(ListItem)
const manyItems = list(ListItem)
const fieldsOf = json(Fields)

/** A list by its id or by its display name. */
export type ListAddress = ListId | string

/** A column to make: its name and the facet of its type, such as `{ name: "PageCount", number: {} }`. */
export interface NewColumn {
  readonly name: string
  readonly [facet: string]: Schema.Json | undefined
}

/** A list to make; further members are sent as they are. */
export interface NewList {
  readonly displayName: string
  readonly description?: string | undefined
  readonly columns?: ReadonlyArray<NewColumn> | undefined
  /** Default: `{ template: "genericList" }`. */
  readonly list?: { readonly template?: string; readonly [setting: string]: Schema.Json | undefined } | undefined
  readonly [member: string]: unknown
}

/** The header without which a filter or an order by a column that has no index is refused. Large lists may refuse it all the same. */
const unindexed = { Prefer: "HonorNonIndexedQueriesWarningMayFailRandomly" }

/**
 * Makes a list; fails with `NameAlreadyExists`. Takes the permission `Sites.Manage.All`.
 *
 * ```ts
 * import * as Lists from "@signalbox/graph/Lists"
 * import type { SiteId } from "@signalbox/graph/model/Common"
 *
 * export const books = (site: SiteId) =>
 *   Lists.create(site, {
 *     displayName: "Books",
 *     columns: [{ name: "Author", text: {} }, { name: "PageCount", number: {} }]
 *   })
 * ```
 */
export const create = Effect.fn("Lists.create")((site: SiteId, data: NewList) =>
  one({
    method: "POST",
    path: path`/sites/${site}/lists`,
    json: { ...data, list: data.list ?? { template: "genericList" } }
  })
)

/** A list; fails with `NotFound`. */
export const get = Effect.fn("Lists.get")((site: SiteId, list: ListAddress, options: Selection<SiteList> = {}) =>
  one({ path: path`/sites/${site}/lists/${list}`, query: { $select: selection(options.select) } })
)

/** The lists of a site. */
export const stream = (site: SiteId): Stream.Stream<SiteList, GraphError, Graph> =>
  many({ path: path`/sites/${site}/lists` }).pipe(Stream.withSpan("Lists.stream"))

/** Changes the name or the description of a list. */
export const update = Effect.fn("Lists.update")(
  (
    site: SiteId,
    list: ListAddress,
    changes: { readonly displayName?: string | undefined; readonly description?: string | undefined }
  ) => one({ method: "PATCH", path: path`/sites/${site}/lists/${list}`, json: changes })
)

/** Deletes a list with its items. Safe to repeat. */
export const remove = Effect.fn("Lists.remove")((site: SiteId, list: ListAddress) =>
  unit({ method: "DELETE", path: path`/sites/${site}/lists/${list}` })
)

/** The columns of a list, also those that the service keeps for itself. */
export const columns = (site: SiteId, list: ListAddress): Stream.Stream<Column, GraphError, Graph> =>
  manyColumns({ path: path`/sites/${site}/lists/${list}/columns` }).pipe(Stream.withSpan("Lists.columns"))

/** Adds a column. */
export const addColumn = Effect.fn("Lists.addColumn")((site: SiteId, list: ListAddress, column: NewColumn) =>
  oneColumn({ method: "POST", path: path`/sites/${site}/lists/${list}/columns`, json: column })
)

/** How columns are called: fields and filters use internal names, people see display names. */
export interface ColumnNames {
  readonly internalOf: ReadonlyMap<string, string>
  readonly displayOf: ReadonlyMap<string, string>
}

/**
 * The names of the columns that can be written. Where two have one display name, it stands for the first of them.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Lists from "@signalbox/graph/Lists"
 * import type { SiteId } from "@signalbox/graph/model/Common"
 *
 * export const pageCount = (site: SiteId) =>
 *   Effect.map(Lists.columnNames(site, "Books"), ({ internalOf }) =>
 *     internalOf.get("Page Count")
 *   ) // Page_x0020_Count
 * ```
 */
export const columnNames = Effect.fn("Lists.columnNames")(function* (site: SiteId, list: ListAddress) {
  const internalOf = new Map<string, string>()
  const displayOf = new Map<string, string>()
  yield* Stream.runForEach(columns(site, list), ({ displayName, name, readOnly }) =>
    Effect.sync(() => {
      if (readOnly === true || name === undefined || name === null) return
      const display = displayName ?? name
      displayOf.set(name, display)
      if (!internalOf.has(display)) internalOf.set(display, name)
    })
  )
  const names: ColumnNames = { internalOf, displayOf }
  return names
})

export interface ItemsOptions {
  /** Internal names of the columns to fetch; default: all of them. */
  readonly fields?: ReadonlyArray<string> | undefined
  /** Such as `fields/Author eq 'Le Guin'`, with internal names; put texts into it with `odataText`. */
  readonly filter?: string | undefined
  /** Such as `fields/Page_x0020_Count desc`. */
  readonly orderBy?: string | undefined
  readonly pageSize?: number | undefined
  /** `false`: a filter or an order by a column without an index is refused. Default: it is tried. */
  readonly unindexed?: boolean | undefined
}

const expansion = (fields: ReadonlyArray<string> | undefined): string =>
  fields === undefined ? "fields" : `fields($select=${fields.join(",")})`

/**
 * The items of a list with their fields, over all pages.
 *
 * ```ts
 * import * as Lists from "@signalbox/graph/Lists"
 * import type { SiteId } from "@signalbox/graph/model/Common"
 *
 * export const long = (site: SiteId) =>
 *   Lists.items(site, "Books", {
 *     fields: ["Title"],
 *     filter: "fields/Page_x0020_Count gt 500"
 *   })
 * ```
 */
export const items = (
  site: SiteId,
  list: ListAddress,
  options: ItemsOptions = {}
): Stream.Stream<ListItem, GraphError, Graph> => {
  const picks = options.filter !== undefined || options.orderBy !== undefined
  return manyItems({
    path: path`/sites/${site}/lists/${list}/items`,
    query: {
      $expand: expansion(options.fields),
      $filter: options.filter,
      $orderby: options.orderBy,
      $top: options.pageSize ?? 999
    },
    headers: picks && options.unindexed !== false ? unindexed : undefined
  }).pipe(Stream.withSpan("Lists.items"))
}

/** An item with its fields; fails with `NotFound`. */
export const item = Effect.fn("Lists.item")(
  (site: SiteId, list: ListAddress, id: ListItemId, options: Pick<ItemsOptions, "fields"> = {}) =>
    oneItem({
      path: path`/sites/${site}/lists/${list}/items/${id}`,
      query: { $expand: expansion(options.fields) }
    })
)

/** What a column is given: `null` empties it, a `Date` is its ISO text, and what is undefined is left out. */
export type FieldValue = Schema.Json | Date | undefined

/**
 * The fields of an item to write, by internal names of columns: an object of any interface whose members are such values.
 *
 * ```ts
 * import * as Lists from "@signalbox/graph/Lists"
 * import type { SiteId } from "@signalbox/graph/model/Common"
 *
 * interface Book {
 *   readonly Title: string
 *   readonly Read?: Date
 * }
 *
 * export const add = (site: SiteId, book: Book) =>
 *   Lists.createItem(site, "Books", book)
 * ```
 */
export type FieldsOf<Row> = { readonly [Name in keyof Row]: FieldValue }

/** Makes an item; `fields` have internal names. */
export const createItem = Effect.fn("Lists.createItem")(
  <Row extends FieldsOf<Row>>(site: SiteId, list: ListAddress, fields: Row) =>
    oneItem({ method: "POST", path: path`/sites/${site}/lists/${list}/items`, json: { fields } })
)

/**
 * Makes an item of each row, in requests of twenty, and returns the results in the order of the rows. A connection that breaks
 * loses no result: `Batch.outcomeOf` says which rows are done, refused, not sent, or unknown.
 *
 * ```ts
 * import * as Batch from "@signalbox/graph/Batch"
 * import * as Lists from "@signalbox/graph/Lists"
 * import type { SiteId } from "@signalbox/graph/model/Common"
 * import * as Effect from "effect/Effect"
 *
 * interface Book {
 *   readonly Title: string
 *   readonly Pages: number
 * }
 *
 * export const fill = (site: SiteId, rows: ReadonlyArray<Book>) =>
 *   Effect.map(Lists.createItems(site, "Books", rows), (results) =>
 *     rows.filter((_, n) => {
 *       const result = results[n]
 *       return result !== undefined && Batch.outcomeOf(result) !== "done"
 *     })
 *   )
 * ```
 */
export const createItems = Effect.fn("Lists.createItems")(
  <Row extends FieldsOf<Row>>(
    site: SiteId,
    list: ListAddress,
    rows: Iterable<Row>
  ): Effect.Effect<ReadonlyArray<Result.Result<ListItem, GraphError>>, GraphError, Graph> =>
    Batch.all(rows, (fields) =>
      Batch.part(ListItem, { method: "POST", path: path`/sites/${site}/lists/${list}/items`, json: { fields } })
    )
)

/**
 * Changes some fields of an item and returns all of them. With `ifMatch`, the `eTag` that was read, it fails with
 * `PreconditionFailed` when the item has changed since.
 */
export const updateItem = Effect.fn("Lists.updateItem")(
  <Row extends FieldsOf<Row>>(
    site: SiteId,
    list: ListAddress,
    id: ListItemId,
    fields: Row,
    options: { readonly ifMatch?: string | undefined } = {}
  ) =>
    fieldsOf({
      method: "PATCH",
      path: path`/sites/${site}/lists/${list}/items/${id}/fields`,
      json: fields,
      headers: options.ifMatch === undefined ? undefined : { "If-Match": options.ifMatch }
    })
)

/** Deletes an item. Safe to repeat. */
export const removeItem = Effect.fn("Lists.removeItem")((site: SiteId, list: ListAddress, id: ListItemId) =>
  unit({ method: "DELETE", path: path`/sites/${site}/lists/${list}/items/${id}` })
)
