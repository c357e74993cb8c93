/**
 * Drives, items and sites in the forms in which the compatibility module takes them.
 */
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as Address from "../../Drive.ts"
import * as Drives from "../../Drives.ts"
import * as Files from "../../Files.ts"
import { DriveId, SiteId } from "../../model/Common.ts"
import type { DriveItem } from "../../model/Drive.ts"
import { NotAFile, NotAFolder, transferError } from "../../TransferError.ts"
import * as Shapes from "./Shapes.ts"

/** A drive that was returned, or its id. */
export type DriveLike = Shapes.CompatDrive | string
/** An item that was returned, or its path from the root of the drive. */
export type ItemLike = Shapes.CompatDriveItem | string
/** A site that was returned, or its id. */
export type SiteLike = Shapes.CompatSite | string

/** Whose drive (default `me`; also a mail address, `user:ID`, `group:ID`, `site:ID`, `users/ID` …), and which one of them. */
export interface DriveOptions {
  readonly resource?: string | undefined
  readonly drive?: DriveLike | undefined
}

/** Whether size and hash are compared after a transfer; default true. In a library of a site a difference is only logged. */
export interface VerifyOptions {
  readonly verify?: boolean | undefined
}

/** Where to, made when it is missing (default: the current folder), and under which name; its extension may be left out. */
export interface LocalOptions extends VerifyOptions {
  readonly to_path?: string | undefined
  readonly name?: string | undefined
}

const prefixes: Readonly<Record<string, string>> = { user: "users", group: "groups", site: "sites" }

/** The path of a resource in one of its forms. */
export const resourcePath = (resource: string | undefined): string => {
  const text = resource?.trim() ?? ""
  if (text === "") return "me"
  if (text.includes("@")) return `users/${text.replace(/^users\//, "")}`
  const colon = text.indexOf(":")
  const prefix = colon === -1 ? undefined : prefixes[text.slice(0, colon)]
  return prefix === undefined ? text : `${prefix}/${text.slice(colon + 1).trim()}`
}

const idOf = (value: { readonly object_id: string } | string): string =>
  typeof value === "string" ? value.trim() : value.object_id

export const siteId = (site: SiteLike) => SiteId.make(idOf(site))

export const driveOf = ({ drive, resource }: DriveOptions): Address.DriveAddress =>
  drive === undefined ? Address.ofResource(resourcePath(resource)) : Address.of({ id: idOf(drive) })

/** The library of a site: the default one, or that drive. */
export const libraryOf = (site: SiteLike, drive: DriveLike | undefined) =>
  drive === undefined ? Address.of({ site: siteId(site) }) : Address.of({ id: idOf(drive) })

/** An item by its path, or in its own drive; where a shortcut leads to. */
export const itemOf = (item: ItemLike): Address.ItemAddress => {
  if (typeof item === "string") return { path: item }
  const { drive_id, object_id } = { ...item, ...item.remote_item }
  const driveId = drive_id === null ? null : DriveId.make(drive_id)
  return { id: object_id ?? item.object_id, parentReference: { driveId } }
}

/** What means the root. Anything else is a path: a folder may well be called `Root`. */
const roots: ReadonlySet<string> = new Set(["", "/", "\\", "root", "ROOT"])

export const folderOf = (folder: ItemLike | undefined): Address.ItemAddress =>
  folder === undefined || (typeof folder === "string" && roots.has(folder)) ? Address.root : itemOf(folder)

/** Where a search looks: without a folder, or with an empty one, in all of the drive and in what others share. */
export const withinOf = (folder: ItemLike | undefined): { readonly within?: Address.ItemAddress } =>
  folder === undefined || folder === "" ? {} : { within: folderOf(folder) }

const hasFacet = (facet: unknown): boolean => facet !== undefined && facet !== null

export const expectFile = (item: DriveItem) =>
  hasFacet(item.folder)
    ? Effect.fail(transferError(new NotAFile({ is: "folder", message: "this is a folder" }), item.name))
    : Effect.succeed(item)

export const expectFolder = (item: DriveItem) =>
  hasFacet((item.remoteItem ?? item).folder)
    ? Effect.succeed(item)
    : Effect.fail(transferError(new NotAFolder({ message: "this is not a folder" }), item.name))

export const listed = <E, R>(items: Stream.Stream<DriveItem, E, R>, folders: boolean | undefined) =>
  Effect.map(Stream.runCollect(items), (found) =>
    found.map(Shapes.toDriveItem).filter((item) => folders === true || !item.is_folder)
  )

export const downloadTo = Effect.fnUntraced(function* (
  drive: Address.DriveAddress,
  item: Address.ItemAddress,
  { name, to_path, verify }: LocalOptions
) {
  const found = yield* Drives.item(drive, item)
  const paths = yield* Path.Path
  const called = name === undefined || paths.extname(name) !== "" ? name : `${name}${paths.extname(found.name ?? "")}`
  const { path } = yield* Files.download(drive, found["@microsoft.graph.downloadUrl"] === undefined ? item : found, {
    to: to_path,
    name: called,
    verify
  })
  return path
})
