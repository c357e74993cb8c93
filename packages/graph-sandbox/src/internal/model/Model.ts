/**
 * What the sandbox holds while it runs. One value, changed in place by the handlers: each change is one synchronous step,
 * so that no request sees half of another's.
 */

/** A property bag as the wire shows it. */
export type Properties = { readonly [name: string]: unknown }

export interface User extends Properties {
  readonly id: string
  readonly userPrincipalName: string
  readonly displayName: string
}

export interface Group extends Properties {
  readonly id: string
  readonly displayName: string
  readonly members: ReadonlyArray<string>
}

/** In memory, or the path of a file. */
export type ContentSource = Uint8Array | string

/** The contents of a file: immutable, so that copies and versions share them. */
export interface Blob {
  readonly size: number
  readonly hash: string
  readonly source: ContentSource
}

export interface Identity {
  readonly id: string
  readonly displayName: string
  readonly email?: string
}

export interface Permission {
  readonly id: string
  readonly roles: ReadonlyArray<string>
  readonly link?: { readonly type: string; readonly scope: string; readonly webUrl: string }
  readonly grantedTo?: ReadonlyArray<Identity>
  readonly invitation?: { readonly email: string; readonly signInRequired: boolean }
  readonly password?: string | undefined
}

export interface Version {
  readonly id: string
  readonly blob: Blob
  readonly modifiedAt: number
  readonly modifiedBy: Identity
}

/** Where an item that lives in another drive really is. */
export interface RemoteItem {
  readonly driveId: string
  readonly id: string
}

export interface Item {
  readonly id: string
  /** What its tags begin with. */
  readonly guid: string
  readonly drive: Drive
  parent: Item | null
  name: string
  description: string | null
  /** The contents of a file; `null` for a folder, a notebook or a shortcut. */
  blob: Blob | null
  readonly kind: "file" | "folder" | "package" | "remote"
  readonly remote: RemoteItem | null
  readonly children: Map<string, Item>
  /** Bytes of it and of all below it. */
  size: number
  createdAt: number
  createdBy: Identity
  modifiedAt: number
  modifiedBy: Identity
  /** What the client says of the file on its own disk. */
  fileSystem: { readonly createdDateTime?: string; readonly lastModifiedDateTime?: string }
  tag: number
  contentTag: number
  /** Contents that were replaced, oldest first. */
  readonly versions: Array<Version>
  /** The number of the current version. */
  version: number
  readonly permissions: Map<string, Permission>
  specialFolder: string | null
  /** Who has checked it out, and its contents before; null: nobody. */
  checkedOut: { readonly by: Identity; readonly blob: Blob | null } | null
  /** The number of its item in the list that its library is. */
  readonly listItem: string
  /** What it has in the columns of that list. */
  fields: Readonly<Record<string, unknown>>
}

/** When something changed. */
export interface Moment {
  readonly number: number
  /** Milliseconds since 1970. */
  readonly at: number
  /** How many reads that lag there had been. */
  readonly reads: number
}

/** The last change of something. */
export interface Change<A = unknown> extends Moment {
  readonly deleted: boolean
  /** The id of the list item that it is, or was; `null` for what is in no list. */
  readonly listItem: string | null
  /** When it was made. */
  readonly added: Moment
  /** What it was, while reads may lag behind its end; else `null`. */
  gone: A | null
}

/** What became of something, as notifications say it. */
export type ChangeKind = "created" | "updated" | "deleted"

/** Is called with each change of a collection, as it happens. */
export type Watcher = (id: string, kind: ChangeKind) => void

/** The number of the last change, and for each thing that of its own; in the order of change. */
export interface Changes<A = unknown> {
  last: number
  readonly byItem: Map<string, Change<A>>
  readonly watchers: Set<Watcher>
  /** Reads that lag so far. */
  reads: number
  /** The number of the last change that no read lags behind. */
  settled: number
  /** Whether reads may lag behind what follows. */
  lags: boolean
}

export interface Drive {
  readonly id: string
  name: string
  readonly driveType: "business" | "personal" | "documentLibrary"
  readonly description: string
  readonly owner: { readonly user: Identity } | { readonly group: Identity }
  readonly siteId: string | null
  readonly createdAt: number
  readonly webUrl: string
  readonly quota: number
  readonly items: Map<string, Item>
  readonly root: Item
  readonly changes: Changes<Item>
  /** The number of the next list item. */
  nextListItem: number
}

export interface Column extends Properties {
  readonly id: string
  readonly name: string
  readonly displayName: string
  readonly indexed: boolean
  readonly readOnly: boolean
  readonly required: boolean
}

export interface ListItem {
  readonly id: string
  /** What it is in a library; `null` in every other list. */
  readonly file: Item | null
  fields: Readonly<Record<string, unknown>>
  version: number
  readonly createdAt: number
  readonly createdBy: Identity
  modifiedAt: number
  modifiedBy: Identity
}

export interface List {
  readonly id: string
  readonly siteId: string
  name: string
  displayName: string
  description: string
  template: string
  version: number
  readonly createdAt: number
  modifiedAt: number
  readonly createdBy: Identity
  readonly columns: Array<Column>
  /** The drive whose files and folders are the items; `null` for a list that is no library. */
  readonly library: Drive | null
  /** The items of a list that is no library. */
  readonly items: Map<string, ListItem>
  readonly changes: Changes<ListItem>
  nextItem: number
}

export interface Site {
  readonly id: string
  readonly host: string
  /** Server-relative, as `/sites/team`; empty for the root of the host. */
  readonly path: string
  readonly name: string
  readonly displayName: string
  readonly description: string
  readonly isPersonal: boolean
  readonly createdAt: number
  readonly lists: Map<string, List>
}

/** A part of a file that is still to come: `from` inclusive, `to` exclusive. */
export interface Gap {
  readonly from: number
  readonly to: number
}

export interface App {
  readonly clientId: string
  readonly name: string
  readonly secret: string | null
  readonly redirectUris: ReadonlyArray<string>
  readonly platform: "web" | "spa" | "public"
  /** The application permissions that it was granted. */
  readonly roles: ReadonlyArray<string>
  /** Those whose keys may sign for it, in PEM. */
  readonly certificates: ReadonlyArray<string>
  /** Whose assertions stand for it. */
  readonly federated: ReadonlyArray<{ readonly issuer: string; readonly subject: string; readonly publicKey: string }>
}

export type Principal =
  | { readonly kind: "user"; readonly user: User; readonly app: App; readonly scopes: ReadonlyArray<string> }
  | { readonly kind: "app"; readonly app: App; readonly scopes: ReadonlyArray<string> }
