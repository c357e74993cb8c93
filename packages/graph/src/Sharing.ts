/**
 * Who may see and change an item: permissions, links and invitations.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { type DriveAddress, type ItemAddress, itemPath } from "./Drive.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { json, list, unit } from "./internal/Call.ts"
import { Permission } from "./model/Permission.ts"
import { path } from "./Path.ts"

export { Permission, SharingLink } from "./model/Permission.ts"

const one = json(Permission)
const many = list(Permission)
const invited = json(Schema.Struct({ value: Schema.Array(Permission) }))

export type Role = "read" | "write"

/** All permissions of an item, also those that it has from the folders above it. */
export const permissions = (drive: DriveAddress, item: ItemAddress): Stream.Stream<Permission, GraphError, Graph> =>
  many({ path: itemPath(drive, item, "permissions") })

export interface LinkOptions {
  /** Default `view`. */
  readonly type?: "view" | "edit" | "embed"
  /** Whom the link works for: anyone, the organisation (default), or those who have access anyway. */
  readonly scope?: "anonymous" | "organization" | "users"
  /** ISO 8601. */
  readonly expirationDateTime?: string
  /** Personal drives only. */
  readonly password?: string
}

/**
 * A link to an item; the same one when it is asked for again.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Sharing from "@signalbox/graph/Sharing"
 * import * as Effect from "effect/Effect"
 *
 * export const url = Effect.map(
 *   Sharing.createLink(Drive.me, { path: "/Reports/May.pdf" }, { type: "view", scope: "organization" }),
 *   ({ link }) => link?.webUrl
 * )
 * ```
 */
export const createLink = Effect.fn("Sharing.createLink")(
  (drive: DriveAddress, item: ItemAddress, options: LinkOptions = {}) =>
    one({
      method: "POST",
      path: itemPath(drive, item, "createLink"),
      json: { type: "view", scope: "organization", ...options },
      repeatable: true
    })
)

export interface Invitation {
  /** Mail addresses. */
  readonly recipients: ReadonlyArray<string>
  readonly roles: ReadonlyArray<Role>
  /** Default true. */
  readonly requireSignIn?: boolean
  /** Whether the service writes to them; default true. */
  readonly sendInvitation?: boolean
  /** What it writes. */
  readonly message?: string
}

/** Gives people access; the permissions that they have now. */
export const invite = Effect.fn("Sharing.invite")(
  (drive: DriveAddress, item: ItemAddress, { recipients, ...invitation }: Invitation) =>
    Effect.map(
      invited({
        method: "POST",
        path: itemPath(drive, item, "invite"),
        json: {
          requireSignIn: true,
          sendInvitation: true,
          ...invitation,
          recipients: recipients.map((email) => ({ email }))
        }
      }),
      ({ value }) => value
    )
)

/** Changes what a permission allows. */
export const updatePermission = Effect.fn("Sharing.updatePermission")(
  (drive: DriveAddress, item: ItemAddress, permission: string, roles: ReadonlyArray<Role>) =>
    one({
      method: "PATCH",
      path: itemPath(drive, item, path`permissions/${permission}`),
      json: { roles },
      repeatable: true
    })
)

/** Takes a permission or a link away. Safe to repeat. */
export const removePermission = Effect.fn("Sharing.removePermission")(
  (drive: DriveAddress, item: ItemAddress, permission: string) =>
    unit({ method: "DELETE", path: itemPath(drive, item, path`permissions/${permission}`) })
)
