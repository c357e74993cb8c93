/**
 * Lists of a site, their columns and their items.
 */
import * as Schema from "effect/Schema"
import { base, ListId, ListItemId, maybe, SharepointIds } from "./Common.ts"

export * from "./Column.ts"

const text = maybe(Schema.String)
const flag = maybe(Schema.Boolean)
const empty = Schema.Struct({})

export class SiteList extends Schema.Opaque<SiteList>()(
  Schema.Struct({
    ...base,
    id: ListId,
    displayName: text,
    list: maybe(Schema.Struct({ template: text, hidden: flag, contentTypesEnabled: flag })),
    sharepointIds: maybe(SharepointIds),
    /** Present on lists that the service keeps for itself. */
    system: maybe(empty)
  })
) {}

/** The values of an item by internal names of columns. A column without a value is absent. */
export const Fields = Schema.Record(Schema.String, Schema.Json)
export type Fields = typeof Fields.Type

export class ListItem extends Schema.Opaque<ListItem>()(
  Schema.Struct({
    ...base,
    id: ListItemId,
    contentType: maybe(Schema.Struct({ id: text, name: text })),
    fields: maybe(Fields),
    /** In changes: the item has gone. */
    deleted: maybe(Schema.Struct({ state: text })),
    sharepointIds: maybe(SharepointIds)
  })
) {}
