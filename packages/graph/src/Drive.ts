/**
 * Which drive, and which item in it: addresses are plain values, and nothing is sent to make one.
 */
import * as Base64Url from "effect/encoding/Base64Url"
import type { ItemReference } from "./model/Common.ts"
import { below, path, type Path, verbatim } from "./Path.ts"

/** A drive, or what a sharing link leads to. */
export interface DriveAddress {
  readonly _tag: "DriveAddress"
  /** The drive itself. */
  readonly path: Path
  /** Its root. */
  readonly root: Path
  /** What calls below it send besides. */
  readonly headers: Readonly<Record<string, string>>
}

const address = (base: Path, root: Path = path`${base}/root`, headers = {}): DriveAddress => ({
  _tag: "DriveAddress",
  path: base,
  root,
  headers
})

/** The drive of the account that is signed in. */
export const me: DriveAddress = address(path`/me/drive`)

/** Whose drive: the default one of a user, a group or a site, or any by its id. */
export type Owner =
  | { readonly id: string }
  | { readonly user: string }
  | { readonly group: string }
  | { readonly site: string }

/**
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Drives from "@signalbox/graph/Drives"
 *
 * export const budget = Drives.item(Drive.of({ group: "5ce1" }), {
 *   path: "/Finance/Budget #1.xlsx"
 * })
 * ```
 */
export const of = (owner: Owner): DriveAddress => {
  if ("id" in owner) return address(path`/drives/${owner.id}`)
  if ("user" in owner) return address(path`/users/${owner.user}/drive`)
  if ("group" in owner) return address(path`/groups/${owner.group}/drive`)
  return address(path`/sites/${owner.site}/drive`)
}

/** The default drive of a resource, such as `users/ann@contoso.example` or `sites/<id>`. */
export const ofResource = (resource: string): DriveAddress => address(path`${below(resource)}/drive`)

/** A sharing link as the service names it in addresses. */
export const shareToken = (link: string): string => `u!${Base64Url.encode(new TextEncoder().encode(link))}`

/**
 * What a sharing link leads to; its root is the shared file or folder. The link is redeemed when that is needed for the call;
 * `durably` grants the account access from then on, as opening the link in a browser does.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Drives from "@signalbox/graph/Drives"
 *
 * export const names = Drives.children(
 *   Drive.link("https://contoso.sharepoint.com/:f:/g/Ea1b"),
 *   Drive.root
 * )
 * ```
 */
export const link = (url: string, options: { readonly durably?: boolean } = {}): DriveAddress => {
  const base = path`/shares/${shareToken(url.trim())}`
  // The link gives access by itself: errors do not show it.
  const hidden: Path = { ...base, shown: "/shares/…" }
  const prefer = options.durably === true ? "redeemSharingLink" : "redeemSharingLinkIfNecessary"
  return address(hidden, path`${hidden}/driveItem`, { Prefer: prefer })
}

/**
 * Which item: by its id, by its path from the root, by a path from an item, or in a special folder (`documents`, `photos`,
 * `cameraroll`, `approot`, `music`). An item that the service gave knows its own drive, and is found there, whichever drive is
 * named with it: results of searches and what others share need nothing else.
 */
export type ItemAddress =
  | {
      readonly id: string
      readonly path?: string
      readonly parentReference?: ItemReference | null
      readonly remoteItem?: { readonly id?: string | null; readonly parentReference?: ItemReference | null } | null
    }
  | { readonly path: string }
  | { readonly special: string; readonly path?: string }

/** The root of a drive. */
export const root = { path: "/" } as const

/** An item, and what is asked of it, such as `children` or `search(q='…')`. */
const compose = (base: Path, names: Path, relation: Path | undefined): Path => {
  const isRoot = names.encoded === "" && names.problem === null
  if (isRoot) return relation === undefined ? base : path`${base}/${relation}`
  return relation === undefined ? path`${base}:${names}` : path`${base}:${names}:/${relation}`
}

/** An id in the drive where it is valid. */
const entryOf = (drive: DriveAddress, id: string, reference: ItemReference | null | undefined): Path => {
  const driveId = reference?.driveId
  return driveId === undefined || driveId === null
    ? path`${drive.path}/items/${id}`
    : path`/drives/${driveId}/items/${id}`
}

const locate = (drive: DriveAddress, item: ItemAddress, follow: boolean): Path => {
  if ("special" in item) return path`${drive.path}/special/${item.special}`
  if (!("id" in item)) return drive.root
  const remote = follow ? item.remoteItem : null
  const id = remote?.id
  return id === undefined || id === null
    ? entryOf(drive, item.id, item.parentReference)
    : entryOf(drive, id, remote?.parentReference)
}

/** The path of an item; a shortcut to an item of another drive leads there. */
export const itemPath = (drive: DriveAddress, item: ItemAddress, relation?: string | Path): Path =>
  compose(
    locate(drive, item, true),
    below(item.path ?? ""),
    typeof relation === "string" ? verbatim(relation) : relation
  )

/** The path of the entry itself, also when it is a shortcut. */
export const entryPath = (drive: DriveAddress, item: ItemAddress): Path =>
  compose(locate(drive, item, false), below(item.path ?? ""), undefined)
