/**
 * Team sites.
 */
import * as Schema from "effect/Schema"
import { base, maybe, SharepointIds, SiteId } from "./Common.ts"

const text = maybe(Schema.String)
const empty = Schema.Struct({})

export class Site extends Schema.Opaque<Site>()(
  Schema.Struct({
    ...base,
    id: SiteId,
    displayName: text,
    isPersonalSite: maybe(Schema.Boolean),
    /** Present when this is the root of its site collection. */
    root: maybe(empty),
    siteCollection: maybe(Schema.Struct({ hostname: text, dataLocationCode: text, root: maybe(empty) })),
    sharepointIds: maybe(SharepointIds)
  })
) {}
