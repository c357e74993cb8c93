/**
 * What files have beside their contents: columns of the library that they are in, check-out and check-in, pictures of them.
 */
import type { AnySchema } from "@signalbox/api/StandardSchema"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type DriveAddress, type ItemAddress, itemPath } from "./Drive.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { reader, type TypedItem, type UnexpectedFields, type WithSchema } from "./internal/lists/FieldSchema.ts"
import { json, list, unit } from "./internal/requests/Call.ts"
import { ThumbnailSet } from "./model/Facets.ts"
import type { FieldsOf } from "./Lists.ts"
import { Fields, ListItem } from "./model/List.ts"

const listItem = json(ListItem)
const fieldsOf = json(Fields)
const thumbnailSets = list(ThumbnailSet)

const at = (drive: DriveAddress, item: ItemAddress, relation: string) => ({
  path: itemPath(drive, item, relation),
  headers: drive.headers
})

/** How a file is read as an item of its list, with the type of a schema or without. */
export interface AsListItem {
  <S extends AnySchema>(
    drive: DriveAddress,
    item: ItemAddress,
    options: WithSchema<S>
  ): Effect.Effect<TypedItem<S>, GraphError | UnexpectedFields, Graph>
  (drive: DriveAddress, item: ItemAddress): Effect.Effect<ListItem, GraphError, Graph>
}

/**
 * A file or folder of a library as the item of its list, with the values of its columns in `fields`, by internal names. Fails with
 * `NotFound` in drives that are no libraries of sites. With a `schema` fields have its type; fails with `UnexpectedFields` when they
 * do not fit.
 *
 * ```ts
 * import * as Documents from "@signalbox/graph/Documents"
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 *
 * const schema = Schema.Struct({ State: Schema.optionalKey(Schema.String) })
 *
 * export const state = (site: string) =>
 *   Effect.map(
 *     Documents.asListItem(
 *       Drive.of({ site }),
 *       { path: "/Invoices/1.pdf" },
 *       { schema }
 *     ),
 *     ({ fields }) => fields.State
 *   )
 * ```
 */
export const asListItem = Effect.fn("Documents.asListItem")(
  (drive: DriveAddress, item: ItemAddress, options: Partial<WithSchema<AnySchema>> = {}) =>
    Effect.flatMap(listItem({ ...at(drive, item, "listItem"), query: { $expand: "fields" } }), reader(options.schema))
  // Fields have the type of the schema when there is one.
) as AsListItem

/**
 * Changes some columns of a file or folder of a library, and returns all of them.
 *
 * ```ts
 * import * as Documents from "@signalbox/graph/Documents"
 * import * as Drive from "@signalbox/graph/Drive"
 *
 * export const paid = (site: string) =>
 *   Documents.updateFields(
 *     Drive.of({ site }),
 *     { path: "/Invoices/1.pdf" },
 *     { State: "paid" }
 *   )
 * ```
 */
export const updateFields = Effect.fn("Documents.updateFields")(
  <Row extends FieldsOf<Row>>(drive: DriveAddress, item: ItemAddress, fields: Row) =>
    // The same values a second time change nothing.
    fieldsOf({
      ...at(drive, item, "listItem/fields"),
      method: "PATCH",
      json: fields,
      jsonName: "fields",
      repeatable: true
    })
)

/** Reserves a file for the account: others cannot change it until it is checked in. Fails with `Locked` when another one has it. */
export const checkOut = Effect.fn("Documents.checkOut")((drive: DriveAddress, item: ItemAddress) =>
  unit({ ...at(drive, item, "checkout"), method: "POST", repeatable: true })
)

export interface CheckIn {
  /** What has changed, for the list of versions. */
  readonly comment?: string | undefined
}

/**
 * Makes what was changed since the check-out visible to others.
 *
 * ```ts
 * import * as Documents from "@signalbox/graph/Documents"
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Uploads from "@signalbox/graph/Uploads"
 * import * as Effect from "effect/Effect"
 *
 * export const publish = (site: string, bytes: Uint8Array) =>
 *   Effect.gen(function* () {
 *     const drive = Drive.of({ site })
 *     const file = { path: "/Plans/2031.txt" }
 *     yield* Documents.checkOut(drive, file)
 *     yield* Uploads.upload(drive, file, bytes)
 *     yield* Documents.checkIn(drive, file, { comment: "as decided" })
 *   })
 * ```
 */
export const checkIn = Effect.fn("Documents.checkIn")((drive: DriveAddress, item: ItemAddress, options: CheckIn = {}) =>
  unit({ ...at(drive, item, "checkin"), method: "POST", json: { comment: options.comment ?? "" } })
)

/** Ends a check-out; what was changed since then is thrown away. */
export const discardCheckOut = Effect.fn("Documents.discardCheckOut")((drive: DriveAddress, item: ItemAddress) =>
  unit({ ...at(drive, item, "discardCheckout"), method: "POST" })
)

/** Deletes an item with all that is in it, past the recycle bin: nobody can restore it. */
export const removePermanently = Effect.fn("Documents.removePermanently")((drive: DriveAddress, item: ItemAddress) =>
  unit({ ...at(drive, item, "permanentDelete"), method: "POST" })
)

/** Pictures of a file or folder, in several sizes. Their addresses give access by themselves, for about an hour. */
export const thumbnails = (drive: DriveAddress, item: ItemAddress): Stream.Stream<ThumbnailSet, GraphError, Graph> =>
  thumbnailSets(at(drive, item, "thumbnails")).pipe(Stream.withSpan("Documents.thumbnails"))
