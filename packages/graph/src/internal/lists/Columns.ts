/**
 * Columns of lists.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Graph } from "../../Graph.ts"
import type { GraphError } from "../../GraphError.ts"
import type { ListId, SiteId } from "../../model/Common.ts"
import { Column } from "../../model/Column.ts"
import { path } from "../../Path.ts"
import { json, list, unit } from "../requests/Call.ts"

const one = json(Column)
const many = list(Column)

/** A list by its id or by its display name. */
export type ListAddress = ListId | string

/** A column to make: its name and the facet of its type, such as `{ name: "PageCount", number: {} }`. */
export interface NewColumn {
  readonly name: string
  readonly [facet: string]: Schema.Json | undefined
}

/** What of a column is changed; further members, such as settings of the facet of its type, are sent as they are. */
export interface ColumnChanges {
  readonly displayName?: string | undefined
  readonly description?: string | undefined
  readonly required?: boolean | undefined
  readonly hidden?: boolean | undefined
  /** With an index, filters and orders by the column are taken without a warning. */
  readonly indexed?: boolean | undefined
  readonly enforceUniqueValues?: boolean | undefined
  readonly [member: string]: Schema.Json | undefined
}

/** The columns of a list, also those that the service keeps for itself. */
export const columns = (site: SiteId, list: ListAddress): Stream.Stream<Column, GraphError, Graph> =>
  many({ path: path`/sites/${site}/lists/${list}/columns` }).pipe(Stream.withSpan("Lists.columns"))

/** Adds a column. */
export const addColumn = Effect.fn("Lists.addColumn")((site: SiteId, list: ListAddress, column: NewColumn) =>
  one({ method: "POST", path: path`/sites/${site}/lists/${list}/columns`, json: column })
)

/**
 * Changes a column, named by its id, and returns it. Its type stays: the service refuses another facet with `InvalidRequest` (`Update
 * columnDefinition` of Graph 1.0). Takes the permission `Sites.Manage.All`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Lists from "@signalbox/graph/Lists"
 * import type { SiteId } from "@signalbox/graph/model/Common"
 * import * as Stream from "effect/Stream"
 *
 * export const index = (site: SiteId, name: string) =>
 *   Lists.columns(site, "Orders").pipe(
 *     Stream.filter((column) => column.name === name),
 *     Stream.runForEach((column) =>
 *       Lists.updateColumn(site, "Orders", column.id, { indexed: true })
 *     )
 *   )
 * ```
 */
export const updateColumn = Effect.fn("Lists.updateColumn")(
  (site: SiteId, list: ListAddress, column: string, changes: ColumnChanges) =>
    one({ method: "PATCH", path: path`/sites/${site}/lists/${list}/columns/${column}`, json: changes })
)

/**
 * Deletes a column, named by its id, with the values that items have in it. Safe to repeat. The service refuses it for columns of its
 * own.
 */
export const removeColumn = Effect.fn("Lists.removeColumn")((site: SiteId, list: ListAddress, column: string) =>
  unit({ method: "DELETE", path: path`/sites/${site}/lists/${list}/columns/${column}` })
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
