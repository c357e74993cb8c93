/**
 * Who may see and change an item: permissions, links and invitations.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type DriveAddress, type ItemAddress, itemPath } from "./Drive.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { readError } from "./internal/requests/Answer.ts"
import { decoder, json, list, parse, request, unit } from "./internal/requests/Call.ts"
import { asText } from "./internal/requests/Transport.ts"
import { maybe } from "./model/Common.ts"
import { Permission } from "./model/Permission.ts"
import { path } from "./Path.ts"

export { Permission, SharingLink } from "./model/Permission.ts"

const one = json(Permission)
const many = list(Permission)
const InvitedPermission = Schema.Struct({ ...Permission.fields, error: maybe(Schema.Unknown) })
const decodeInvited = decoder(Schema.Struct({ value: Schema.Array(InvitedPermission) }))

export type Role = "read" | "write"

/** All permissions of an item, also those that it has from the folders above it. */
export const permissions = (drive: DriveAddress, item: ItemAddress): Stream.Stream<Permission, GraphError, Graph> =>
  many({ path: itemPath(drive, item, "permissions") }).pipe(Stream.withSpan("Sharing.permissions"))

export interface LinkOptions {
  /** Default `view`. */
  readonly type?: "view" | "edit" | "embed" | undefined
  /** Whom the link works for: anyone, the organisation (default), or those who have access anyway. */
  readonly scope?: "anonymous" | "organization" | "users" | undefined
  /** ISO 8601. */
  readonly expirationDateTime?: string | undefined
  /** Personal drives only. */
  readonly password?: string | undefined
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
 *   Sharing.createLink(
 *     Drive.me,
 *     { path: "/Reports/May.pdf" },
 *     { type: "view", scope: "organization" }
 *   ),
 *   ({ link }) => link?.webUrl
 * )
 * ```
 */
export const createLink = Effect.fn("Sharing.createLink")(
  (drive: DriveAddress, item: ItemAddress, options: LinkOptions = {}) =>
    one({
      method: "POST",
      path: itemPath(drive, item, "createLink"),
      json: { ...options, type: options.type ?? "view", scope: options.scope ?? "organization" },
      repeatable: true
    })
)

export interface Invitation {
  /** Mail addresses. */
  readonly recipients: ReadonlyArray<string>
  readonly roles: ReadonlyArray<Role>
  /** Default true. */
  readonly requireSignIn?: boolean | undefined
  /** Whether the service writes to them; default true. */
  readonly sendInvitation?: boolean | undefined
  /** What it writes. */
  readonly message?: string | undefined
}

/** Why the service did not do all that was asked for a recipient: the access, or the mail about it. */
export interface InvitationProblem {
  /** The codes of the service, from the outermost to the deepest one. */
  readonly codes: ReadonlyArray<string>
  readonly message: string
  /** Where a person can put it right, such as a page that verifies the account. */
  readonly fixItUrl: string | null
}

/** What became of one recipient. */
export interface Invited {
  /** The mail address as it was given; null if the service does not say whom this is about. */
  readonly recipient: string | null
  /** What they have now; without an `id` where nothing was granted. */
  readonly permission: Permission
  /** Null: all was done. */
  readonly problem: InvitationProblem | null
}

/** Whom a permission is about, among those who were invited. */
const recipientOf = (permission: Permission, index: number, count: number, recipients: ReadonlyArray<string>) => {
  const { grantedTo, grantedToV2, invitation } = permission
  const named = [invitation?.email, grantedToV2?.user?.email, grantedTo?.user?.email]
    .filter((email) => typeof email === "string")
    .map((email) => email.toLowerCase())
  const found = recipients.find((recipient) => named.includes(recipient.toLowerCase()))
  return found ?? (count === recipients.length ? (recipients[index] ?? null) : null)
}

/**
 * Gives people access. It may succeed for some recipients only, or give access without a mail about it: each result has what
 * became of one of them.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Sharing from "@signalbox/graph/Sharing"
 * import * as Effect from "effect/Effect"
 *
 * export const notInvited = Effect.map(
 *   Sharing.invite(
 *     Drive.me,
 *     { path: "/Reports" },
 *     { recipients: ["joan@contoso.example"], roles: ["read"] }
 *   ),
 *   (all) =>
 *     all
 *       .filter(({ problem }) => problem !== null)
 *       .map(({ recipient }) => recipient)
 * )
 * ```
 */
export const invite = Effect.fn("Sharing.invite")(function* (
  drive: DriveAddress,
  item: ItemAddress,
  { recipients, ...invitation }: Invitation
): Effect.fn.Return<ReadonlyArray<Invited>, GraphError, Graph> {
  const sent = yield* request(
    {
      method: "POST",
      path: itemPath(drive, item, "invite"),
      json: {
        ...invitation,
        requireSignIn: invitation.requireSignIn ?? true,
        sendInvitation: invitation.sendInvitation ?? true,
        recipients: recipients.map((email) => ({ email }))
      }
    },
    asText
  )
  const { value } = yield* decodeInvited(yield* parse(sent), sent.request)
  return value.map(({ error, ...permission }, index): Invited => ({
    recipient: recipientOf(permission, index, value.length, recipients),
    permission,
    problem: problemOf(error, sent.status)
  }))
})

const problemOf = (error: unknown, status: number): InvitationProblem | null => {
  if (!Predicate.isObject(error)) return null
  const fixItUrl = "fixItUrl" in error && typeof error.fixItUrl === "string" ? error.fixItUrl : null
  return { ...readError(status, { error }), fixItUrl }
}

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
