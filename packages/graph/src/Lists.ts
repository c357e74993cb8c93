/**
 * Lists of a site, their columns and their items.
 */
import type { AnySchema } from "@signalbox/api/StandardSchema"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Batch from "./Batch.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import type { ListAddress, NewColumn } from "./internal/lists/Columns.ts"
import { reader, type TypedItem, type UnexpectedFields, type WithSchema } from "./internal/lists/FieldSchema.ts"
import { json, list, unit } from "./internal/requests/Call.ts"
import { expansion, selection, type Selection } from "./internal/requests/Options.ts"
import type { ListItemId, SiteId } from "./model/Common.ts"
import { Fields, ListItem, SiteList } from "./model/List.ts"
import { path } from "./Path.ts"

export {
  addColumn,
  type ColumnChanges,
  type ColumnNames,
  columnNames,
  columns,
  type ListAddress,
  type NewColumn,
  removeColumn,
  updateColumn
} from "./internal/lists/Columns.ts"
export { type TypedItem, UnexpectedFields, type WithSchema } from "./internal/lists/FieldSchema.ts"
export { Column, columnType, Fields, ListItem, SiteList } from "./model/List.ts"

const one = json(SiteList)
const many = list(SiteList)
const oneItem = json(ListItem)
const manyItems = list(ListItem)
const fieldsOf = json(Fields)

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

/** How the items of a list are read, with the type of a schema or without. */
export interface ReadItems {
  <S extends AnySchema>(
    site: SiteId,
    list: ListAddress,
    options: ItemsOptions & WithSchema<S>
  ): Stream.Stream<TypedItem<S>, GraphError | UnexpectedFields, Graph>
  (site: SiteId, list: ListAddress, options?: ItemsOptions): Stream.Stream<ListItem, GraphError, Graph>
}

/**
 * The items of a list with their fields, over all pages. With a `schema` fields have its type; fails with `UnexpectedFields` at the
 * first item that does not fit.
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
export const items = ((
  site: SiteId,
  list: ListAddress,
  options: ItemsOptions & Partial<WithSchema<AnySchema>> = {}
) => {
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
  }).pipe(Stream.mapEffect(reader(options.schema)), Stream.withSpan("Lists.items"))
  // Fields have the type of the schema when there is one.
}) as ReadItems

/** How an item of a list is read, with the type of a schema or without. */
export interface ReadItem {
  <S extends AnySchema>(
    site: SiteId,
    list: ListAddress,
    id: ListItemId,
    options: Pick<ItemsOptions, "fields"> & WithSchema<S>
  ): Effect.Effect<TypedItem<S>, GraphError | UnexpectedFields, Graph>
  (
    site: SiteId,
    list: ListAddress,
    id: ListItemId,
    options?: Pick<ItemsOptions, "fields">
  ): Effect.Effect<ListItem, GraphError, Graph>
}

/** An item with its fields; fails with `NotFound`, and with `UnexpectedFields` when they do not fit a `schema`. */
export const item = Effect.fn("Lists.item")(
  (
    site: SiteId,
    list: ListAddress,
    id: ListItemId,
    options: Pick<ItemsOptions, "fields"> & Partial<WithSchema<AnySchema>> = {}
  ) =>
    Effect.flatMap(
      oneItem({
        path: path`/sites/${site}/lists/${list}/items/${id}`,
        query: { $expand: expansion(options.fields) }
      }),
      reader(options.schema)
    )
  // As in `items`.
) as ReadItem

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
      jsonName: "fields",
      headers: options.ifMatch === undefined ? undefined : { "If-Match": options.ifMatch }
    })
)

/** Deletes an item. Safe to repeat. */
export const removeItem = Effect.fn("Lists.removeItem")((site: SiteId, list: ListAddress, id: ListItemId) =>
  unit({ method: "DELETE", path: path`/sites/${site}/lists/${list}/items/${id}` })
)
