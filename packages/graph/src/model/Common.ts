/**
 * What several resources have. Fields keep the names of the service. Any field may be missing, since a `$select` leaves it out
 * and some responses are sparse; most may be null. Times are ISO 8601 texts in UTC, as the service sends them.
 */
import * as Schema from "effect/Schema"

/** A field that may be absent or null. */
export const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const text = maybe(Schema.String)

export const UserId = Schema.String.pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type

export const DriveId = Schema.String.pipe(Schema.brand("DriveId"))
export type DriveId = typeof DriveId.Type

/** Identifies an item within its drive. */
export const ItemId = Schema.String.pipe(Schema.brand("ItemId"))
export type ItemId = typeof ItemId.Type

/** `host,site collection,site`, or what the service takes in its place. */
export const SiteId = Schema.String.pipe(Schema.brand("SiteId"))
export type SiteId = typeof SiteId.Type

export const ListId = Schema.String.pipe(Schema.brand("ListId"))
export type ListId = typeof ListId.Type

/** Identifies an item within its list. */
export const ListItemId = Schema.String.pipe(Schema.brand("ListItemId"))
export type ListItemId = typeof ListItemId.Type

/** A person, an app or a device. */
export class Identity extends Schema.Opaque<Identity>()(Schema.Struct({ id: text, displayName: text, email: text })) {}

export class IdentitySet extends Schema.Opaque<IdentitySet>()(
  Schema.Struct({
    user: maybe(Identity),
    application: maybe(Identity),
    device: maybe(Identity),
    group: maybe(Identity)
  })
) {}

export class SharepointIds extends Schema.Opaque<SharepointIds>()(
  Schema.Struct({
    listId: text,
    listItemId: text,
    listItemUniqueId: text,
    siteId: text,
    siteUrl: text,
    tenantId: text,
    webId: text
  })
) {}

/** Where something is. */
export class ItemReference extends Schema.Opaque<ItemReference>()(
  Schema.Struct({
    driveId: maybe(DriveId),
    driveType: text,
    id: maybe(ItemId),
    name: text,
    path: text,
    shareId: text,
    sharepointIds: maybe(SharepointIds),
    siteId: maybe(SiteId)
  })
) {}

/** What drives, items, sites and lists have. */
export const base = {
  name: text,
  description: text,
  eTag: text,
  webUrl: text,
  createdDateTime: Schema.optionalKey(Schema.String),
  lastModifiedDateTime: Schema.optionalKey(Schema.String),
  createdBy: maybe(IdentitySet),
  lastModifiedBy: maybe(IdentitySet),
  parentReference: maybe(ItemReference)
}
