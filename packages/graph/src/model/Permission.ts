/**
 * Who may do what with an item, and the links that say so.
 */
import * as Schema from "effect/Schema"
import { IdentitySet, ItemReference, maybe } from "./Common.ts"

const text = maybe(Schema.String)
const flag = maybe(Schema.Boolean)

/** `type`: `view`, `edit` or `embed`; `scope`: `anonymous`, `organization` or `users`. */
export class SharingLink extends Schema.Opaque<SharingLink>()(
  Schema.Struct({
    type: text,
    scope: text,
    webUrl: text,
    webHtml: text,
    preventsDownload: flag
  })
) {}

export class Permission extends Schema.Opaque<Permission>()(
  Schema.Struct({
    /** Absent where the service only says what holds, such as for some invitations. */
    id: Schema.optionalKey(Schema.String),
    /** `read`, `write`, `owner`. */
    roles: maybe(Schema.Array(Schema.String)),
    shareId: text,
    hasPassword: flag,
    expirationDateTime: text,
    link: maybe(SharingLink),
    grantedTo: maybe(IdentitySet),
    grantedToV2: maybe(IdentitySet),
    grantedToIdentities: maybe(Schema.Array(IdentitySet)),
    grantedToIdentitiesV2: maybe(Schema.Array(IdentitySet)),
    inheritedFrom: maybe(ItemReference),
    invitation: maybe(Schema.Struct({ email: text, signInRequired: flag, invitedBy: maybe(IdentitySet) }))
  })
) {}
