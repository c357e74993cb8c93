/** Drives and their files, as functions with promises. */
import type { AnySchema } from "@signalbox/api/StandardSchema"
import * as Delta from "../../Delta.ts"
import * as Documents from "../../Documents.ts"
import type { DriveAddress, ItemAddress } from "../../Drive.ts"
import * as Drives from "../../Drives.ts"
import type { FieldsOf, TypedItem, WithSchema } from "../../Lists.ts"
import type { Drive, DriveItem, DriveItemVersion } from "../../model/Drive.ts"
import type { ThumbnailSet } from "../../model/Facets.ts"
import type { Fields, ListItem } from "../../model/List.ts"
import type { Permission } from "../../model/Permission.ts"
import * as Sharing from "../../Sharing.ts"
import type { Selection } from "../requests/Options.ts"
import type { CallOptions, Members } from "./Members.ts"

/** A drive: `me`, `driveOf({ site })`, or `linkTo(url)`. */
export interface DriveRef extends DriveAddress {}

/** An item: `{ path }`, `{ id }`, or what the service gave. */
export type ItemRef = ItemAddress

/** Which fields come. */
export interface SelectItem extends Selection<DriveItem> {}

/** Where an item goes, and how it is called there. */
export interface MoveOptions extends Drives.IfMatch {
  readonly to?: Drives.Target | undefined
  readonly name?: string | undefined
  readonly conflict?: Drives.Conflict | undefined
}

/** What of an item is changed. */
export interface ItemChanges {
  readonly description?: string | undefined
  readonly fileSystemInfo?: Drives.Times | undefined
}

/** Which drives there are, and what is in them. */
export interface DrivesClient {
  /**
   * A drive.
   * @example const { quota } = await graph.drives.get(me, { select: ["quota"] })
   */
  readonly get: (drive: DriveRef, select?: Selection<Drive>, options?: CallOptions) => Promise<Drive>
  /**
   * A file or folder; rejects with `NotFound`.
   * @example const item = await graph.drives.item(me, { path: "/Reports/May.pdf" })
   */
  readonly item: (drive: DriveRef, item: ItemRef, select?: SelectItem, options?: CallOptions) => Promise<DriveItem>
  /**
   * What is in a folder, over all pages.
   * @example
   * for await (const { name } of graph.drives.children(drive, { path: "/Inbox" }))
   *   console.log(name)
   */
  readonly children: (
    drive: DriveRef,
    folder: ItemRef,
    list?: Parameters<typeof Drives.children>[2],
    options?: CallOptions
  ) => AsyncIterable<DriveItem>
  /**
   * What a text is in, over all pages.
   * @example
   * for await (const { name } of graph.drives.search(me, "invoice"))
   *   console.log(name)
   */
  readonly search: (
    drive: DriveRef,
    text: string,
    search?: Parameters<typeof Drives.search>[2],
    options?: CallOptions
  ) => AsyncIterable<DriveItem>
  /**
   * Makes a folder; rejects with `NameAlreadyExists`.
   * @example await graph.drives.createFolder(drive, root, "2026", { conflict: "rename" })
   */
  readonly createFolder: (
    drive: DriveRef,
    parent: ItemRef,
    name: string,
    folder?: { readonly conflict?: Drives.Conflict | undefined },
    options?: CallOptions
  ) => Promise<DriveItem>
  /**
   * The folder of a path, made with all folders above it where they are missing.
   * @example const folder = await graph.drives.ensureFolder(drive, "/2026/11")
   */
  readonly ensureFolder: (drive: DriveRef, folder: string, options?: CallOptions) => Promise<DriveItem>
  /**
   * Moves and renames an item.
   * @example
   * const to = { folder: { path: "/Done" } }
   * await graph.drives.move(drive, item, { to, name: "May.pdf" })
   */
  readonly move: (drive: DriveRef, item: ItemRef, move: MoveOptions, options?: CallOptions) => Promise<DriveItem>
  /**
   * Changes the description or the times of an item.
   * @example await graph.drives.update(drive, item, { description: "checked" })
   */
  readonly update: (
    drive: DriveRef,
    item: ItemRef,
    changes: ItemChanges,
    match?: Drives.IfMatch,
    options?: CallOptions
  ) => Promise<DriveItem>
  /**
   * Deletes an item with all that is in it, into the recycle bin.
   * @example await graph.drives.remove(drive, { path: "/Inbox/old.pdf" })
   */
  readonly remove: (drive: DriveRef, item: ItemRef, match?: Drives.IfMatch, options?: CallOptions) => Promise<void>
  /**
   * Copies an item with all that is in it, and waits until the service is done.
   * @example
   * const to = { folder: { path: "/Archive" } }
   * await graph.drives.copy(drive, item, { to })
   */
  readonly copy: (
    drive: DriveRef,
    item: ItemRef,
    copy: Omit<MoveOptions, "ifMatch">,
    options?: CallOptions
  ) => Promise<DriveItem>
  /** The files that were used last. */
  readonly recent: (drive: DriveRef, options?: CallOptions) => AsyncIterable<DriveItem>
  /**
   * What others share with the owner of a drive.
   * @example for await (const { name } of graph.drives.sharedWithMe(me)) console.log(name)
   */
  readonly sharedWithMe: (
    drive: DriveRef,
    shared?: { readonly external?: boolean | undefined },
    options?: CallOptions
  ) => AsyncIterable<DriveItem>
  /** The versions of a file, the newest first. */
  readonly versions: (drive: DriveRef, item: ItemRef, options?: CallOptions) => AsyncIterable<DriveItemVersion>
  /** Makes an older version the newest one. */
  readonly restoreVersion: (drive: DriveRef, item: ItemRef, version: string, options?: CallOptions) => Promise<void>
}

export const drives: Members<DrivesClient> = {
  get: { of: Drives.get, parameters: 2 },
  item: { of: Drives.item, parameters: 3 },
  children: { of: Drives.children, parameters: 3 },
  search: { of: Drives.search, parameters: 3 },
  createFolder: { of: Drives.createFolder, parameters: 4 },
  ensureFolder: { of: Drives.ensureFolder, parameters: 2 },
  move: { of: Drives.move, parameters: 3 },
  update: { of: Drives.update, parameters: 4 },
  remove: { of: Drives.remove, parameters: 3 },
  copy: { of: Drives.copy, parameters: 3 },
  recent: { of: Drives.recent, parameters: 1 },
  sharedWithMe: { of: Drives.sharedWithMe, parameters: 2 },
  versions: { of: Drives.versions, parameters: 2 },
  restoreVersion: { of: Drives.restoreVersion, parameters: 3 }
}

/** How a file is read as an item of its list, with the type of a schema or without. */
export interface AsListItem {
  <S extends AnySchema>(
    drive: DriveRef,
    item: ItemRef,
    read: WithSchema<S>,
    options?: CallOptions
  ): Promise<TypedItem<S>>
  (drive: DriveRef, item: ItemRef, read?: Partial<WithSchema<AnySchema>>, options?: CallOptions): Promise<ListItem>
}

/** What files have beside their contents. */
export interface DocumentsClient {
  /**
   * A file or folder of a library as the item of its list, with the values of its columns, typed by a `schema` if there is one.
   * @example const { fields } = await graph.documents.asListItem(drive, item)
   */
  readonly asListItem: AsListItem
  /**
   * Changes some columns of a file or folder of a library, and returns all of them.
   * @example await graph.documents.updateFields(drive, item, { Status: "Paid", Total: 12.5 })
   */
  readonly updateFields: <Row extends FieldsOf<Row>>(
    drive: DriveRef,
    item: ItemRef,
    fields: Row,
    options?: CallOptions
  ) => Promise<Fields>
  /** Reserves a file; rejects with `Locked` when another account has it. */
  readonly checkOut: (drive: DriveRef, item: ItemRef, options?: CallOptions) => Promise<void>
  /**
   * Makes what was changed since the check-out visible to others.
   * @example await graph.documents.checkIn(drive, item, { comment: "figures of May" })
   */
  readonly checkIn: (
    drive: DriveRef,
    item: ItemRef,
    checkIn?: Documents.CheckIn,
    options?: CallOptions
  ) => Promise<void>
  /** Ends a check-out; what was changed since then is thrown away. */
  readonly discardCheckOut: (drive: DriveRef, item: ItemRef, options?: CallOptions) => Promise<void>
  /** Deletes an item past the recycle bin. */
  readonly removePermanently: (drive: DriveRef, item: ItemRef, options?: CallOptions) => Promise<void>
  /** Pictures of a file or folder, in several sizes. */
  readonly thumbnails: (drive: DriveRef, item: ItemRef, options?: CallOptions) => AsyncIterable<ThumbnailSet>
}

export const documents: Members<DocumentsClient> = {
  asListItem: { of: Documents.asListItem, parameters: 3 },
  updateFields: { of: Documents.updateFields, parameters: 3 },
  checkOut: { of: Documents.checkOut, parameters: 2 },
  checkIn: { of: Documents.checkIn, parameters: 3 },
  discardCheckOut: { of: Documents.discardCheckOut, parameters: 2 },
  removePermanently: { of: Documents.removePermanently, parameters: 2 },
  thumbnails: { of: Documents.thumbnails, parameters: 2 }
}

/** Where a look for changes begins. */
export interface DeltaOptions extends Omit<Delta.DeltaOptions, "from"> {
  /** The `link` of the last look. Default: all that is there comes. `latest`: nothing but a link for the next look. */
  readonly from?: string | undefined
}

/** Where a look for changes of a list begins, and which columns come. */
export interface ListDeltaOptions extends Omit<Delta.ListDeltaOptions, "from"> {
  /** The `link` of the last look. Default: all that is there comes. `latest`: nothing but a link for the next look. */
  readonly from?: string | undefined
}

/** What changed. */
export interface DeltaClient {
  /**
   * All changes of one look at a drive, each item once.
   * @example const { items, link } = await graph.delta.changes(drive, { from: "latest" })
   */
  readonly changes: (drive: DriveRef, delta?: DeltaOptions, options?: CallOptions) => Promise<Delta.Changes>
  /**
   * The changes of a drive as pages, to be applied in order.
   * @example for await (const page of graph.delta.stream(drive)) console.log(page.items)
   */
  readonly stream: (drive: DriveRef, delta?: DeltaOptions, options?: CallOptions) => AsyncIterable<Delta.DeltaPage>
  /**
   * All changes of one look at a list, each item once, with its fields.
   * @example const { items, link } = await graph.delta.listItemChanges(site, list)
   */
  readonly listItemChanges: (
    site: string,
    list: string,
    delta?: ListDeltaOptions,
    options?: CallOptions
  ) => Promise<Delta.ListChanges>
  /**
   * The changes of the items of a list as pages, to be applied in order.
   * @example
   * for await (const page of graph.delta.listItems(site, list))
   *   console.log(page.items)
   */
  readonly listItems: (
    site: string,
    list: string,
    delta?: ListDeltaOptions,
    options?: CallOptions
  ) => AsyncIterable<Delta.ListPage>
}

export const delta: Members<DeltaClient> = {
  changes: { of: Delta.changes, parameters: 2 },
  stream: { of: Delta.stream, parameters: 2 },
  listItemChanges: { of: Delta.listItemChanges, parameters: 3 },
  listItems: { of: Delta.listItems, parameters: 3 }
}

/** Who may see and change an item. */
export interface SharingClient {
  /** All permissions of an item. */
  readonly permissions: (drive: DriveRef, item: ItemRef, options?: CallOptions) => AsyncIterable<Permission>
  /**
   * A link to an item; the same one when it is asked for again.
   * @example const { link } = await graph.sharing.createLink(drive, item, { type: "view" })
   */
  readonly createLink: (
    drive: DriveRef,
    item: ItemRef,
    link?: Sharing.LinkOptions,
    options?: CallOptions
  ) => Promise<Permission>
  /**
   * Gives people access; each result has what became of one of them.
   * @example
   * const recipients = ["mia@contoso.example"]
   * await graph.sharing.invite(drive, item, { recipients, roles: ["read"] })
   */
  readonly invite: (
    drive: DriveRef,
    item: ItemRef,
    invitation: Sharing.Invitation,
    options?: CallOptions
  ) => Promise<ReadonlyArray<Sharing.Invited>>
  /**
   * Changes what a permission allows.
   * @example await graph.sharing.updatePermission(drive, item, permission, ["write"])
   */
  readonly updatePermission: (
    drive: DriveRef,
    item: ItemRef,
    permission: string,
    roles: ReadonlyArray<Sharing.Role>,
    options?: CallOptions
  ) => Promise<Permission>
  /** Takes a permission or a link away. */
  readonly removePermission: (
    drive: DriveRef,
    item: ItemRef,
    permission: string,
    options?: CallOptions
  ) => Promise<void>
}

export const sharing: Members<SharingClient> = {
  permissions: { of: Sharing.permissions, parameters: 2 },
  createLink: { of: Sharing.createLink, parameters: 3 },
  invite: { of: Sharing.invite, parameters: 3 },
  updatePermission: { of: Sharing.updatePermission, parameters: 4 },
  removePermission: { of: Sharing.removePermission, parameters: 3 }
}
