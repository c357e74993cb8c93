/**
 * Drives, and the files and folders in them. What goes in and out of files is in `Uploads`, `Downloads` and `Files`.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type DriveAddress, entryPath, type ItemAddress, itemPath } from "./Drive.ts"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { json, list, refuse, request, unit } from "./internal/requests/Call.ts"
import { awaitJob } from "./internal/files/Job.ts"
import { type ListOptions, listQuery, type Selection, selection } from "./internal/requests/Options.ts"
import { asText } from "./internal/requests/Transport.ts"
import type { ItemReference } from "./model/Common.ts"
import { Drive, DriveItem, DriveItemVersion } from "./model/Drive.ts"
import { literal, path, type Path } from "./Path.ts"
import { NotAFolder, type TransferError, transferError } from "./TransferError.ts"

export { Drive, DriveItem, DriveItemVersion, RemoteItem } from "./model/Drive.ts"

const oneDrive = json(Drive)
const manyDrives = list(Drive)
const one = json(DriveItem)
const many = list(DriveItem)
const manyVersions = list(DriveItemVersion)

/** What becomes of an item whose name is taken: the call fails as `NameAlreadyExists`, or one of the two is renamed or replaced. */
export type Conflict = "fail" | "replace" | "rename"

/** With the `eTag` that was read, a call fails as `PreconditionFailed` when the item has changed since. */
export interface IfMatch {
  readonly ifMatch?: string | undefined
}

const matching = (options: IfMatch): Readonly<Record<string, string>> =>
  options.ifMatch === undefined ? {} : { "If-Match": options.ifMatch }

const at = (drive: DriveAddress, item: ItemAddress, relation?: string | Path) => ({
  path: itemPath(drive, item, relation),
  headers: drive.headers
})

/** A drive: who owns it, how full it is. */
export const get = Effect.fn("Drives.get")((drive: DriveAddress, options: Selection<Drive> = {}) =>
  oneDrive({ path: drive.path, query: { $select: selection(options.select) } })
)

type Owner = { readonly user: string } | { readonly group: string } | { readonly site: string }

/** All drives of the signed-in account, or of a user, a group or a site. */
export const stream = (owner?: Owner): Stream.Stream<Drive, GraphError, Graph> =>
  Stream.withSpan(manyDrives({ path: drivesOf(owner) }), "Drives.stream")

const drivesOf = (owner: Owner | undefined): Path => {
  if (owner === undefined) return path`/me/drives`
  if ("user" in owner) return path`/users/${owner.user}/drives`
  if ("group" in owner) return path`/groups/${owner.group}/drives`
  return path`/sites/${owner.site}/drives`
}

/**
 * A file or a folder; fails with `NotFound`.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Drives from "@signalbox/graph/Drives"
 *
 * export const report = Drives.item(Drive.me, {
 *   path: "/Reports/50% done #1.xlsx"
 * })
 * ```
 */
export const item = Effect.fn("Drives.item")(
  (drive: DriveAddress, item: ItemAddress, options: Selection<DriveItem> = {}) =>
    one({ ...at(drive, item), query: { $select: selection(options.select) } })
)

/** What is in a folder, over all pages. */
export const children = (
  drive: DriveAddress,
  folder: ItemAddress,
  options: ListOptions<DriveItem> = {}
): Stream.Stream<DriveItem, GraphError, Graph> =>
  many({ ...at(drive, folder, "children"), query: listQuery({ pageSize: 999, ...options }) }).pipe(
    Stream.withSpan("Drives.children")
  )

/**
 * Items that a text is in: in their names, their metadata or their contents. Without `within` the whole drive is searched and
 * what others share with the account; `Drive.root` leaves out what is shared. The index of the service is minutes behind, and
 * its hits are sparse: sizes may be missing.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Drives from "@signalbox/graph/Drives"
 *
 * export const letters = Drives.search(Drive.me, "O'Brien & co", {
 *   within: { path: "/Letters" }
 * })
 * ```
 */
export const search = (
  drive: DriveAddress,
  text: string,
  options: ListOptions<DriveItem> & { readonly within?: ItemAddress | undefined } = {}
): Stream.Stream<DriveItem, GraphError, Graph> => {
  const { within, ...asked } = options
  const relation = path`search(q=${literal(text)})`
  const target = within === undefined ? path`${drive.path}/${relation}` : itemPath(drive, within, relation)
  const found =
    text.trim() === ""
      ? Stream.fromEffect(refuse("GET", target.shown, "the text to search for is empty"))
      : many({ path: target, headers: drive.headers, query: listQuery({ pageSize: 999, ...asked }) })
  return Stream.withSpan(found, "Drives.search")
}

/** Makes a folder in a folder; a taken name fails as `NameAlreadyExists` unless `conflict` says otherwise. */
export const createFolder = Effect.fn("Drives.createFolder")(
  (
    drive: DriveAddress,
    parent: ItemAddress,
    name: string,
    options: { readonly conflict?: Conflict | undefined } = {}
  ) =>
    one({
      ...at(drive, parent, "children"),
      method: "POST",
      json: { name, folder: {}, "@microsoft.graph.conflictBehavior": options.conflict ?? "fail" }
    })
)

const orFolder = (found: DriveItem): Effect.Effect<DriveItem, TransferError> =>
  ((found.remoteItem ?? found).folder ?? null) === null
    ? Effect.fail(transferError(new NotAFolder({ message: "something that is no folder has this name" }), found.name))
    : Effect.succeed(found)

/**
 * The folder of a path, made with all folders above it where they are missing. Several may do so at once.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Drives from "@signalbox/graph/Drives"
 *
 * export const folder = Drives.ensureFolder(Drive.me, "/Reports/2030/May")
 * ```
 */
export const ensureFolder = Effect.fn("Drives.ensureFolder")(function* (drive: DriveAddress, folder: string) {
  const names = folder.split(/[/\\]/).filter((name) => name !== "")
  const pathOf = (depth: number) => ({ path: `/${names.slice(0, depth).join("/")}` })
  const find = (depth: number) => Effect.flatMap(item(drive, pathOf(depth)), orFolder)
  /** From the deepest folder that is there, downwards. */
  const ensure = (depth: number): Effect.Effect<DriveItem, GraphError | TransferError, Graph> =>
    Effect.catchReason(find(depth), "GraphError", "NotFound", (_, error) => {
      const name = names[depth - 1]
      return name === undefined
        ? Effect.fail(error)
        : Effect.flatMap(ensure(depth - 1), (parent) => createFolder(drive, parent, name)).pipe(
            Effect.catchReason("GraphError", "NameAlreadyExists", () => find(depth))
          )
    })
  return yield* ensure(names.length)
})

/** Where something goes: a folder, in another drive when that is named. */
export interface Target {
  readonly folder: ItemAddress
  readonly drive?: DriveAddress | undefined
}

const referenceTo = Effect.fnUntraced(function* (drive: DriveAddress, { folder, drive: other }: Target) {
  const found = yield* orFolder(yield* item(other ?? drive, folder))
  const { id, parentReference } = found.remoteItem ?? found
  return { driveId: parentReference?.driveId, id } satisfies { [K in keyof ItemReference]?: unknown }
})

const patch = (drive: DriveAddress, item: ItemAddress, json: unknown, options: IfMatch) =>
  one({
    method: "PATCH",
    path: entryPath(drive, item),
    headers: { ...drive.headers, ...matching(options) },
    json,
    // To the same place and name a second time changes nothing.
    repeatable: true
  })

/**
 * Moves and renames an item; a shortcut itself, not what it leads to.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Drives from "@signalbox/graph/Drives"
 *
 * export const archived = Drives.move(
 *   Drive.me,
 *   { path: "/Inbox/a.pdf" },
 *   { to: { folder: { path: "/Archive" } }, name: "b.pdf" }
 * )
 * ```
 */
export const move = Effect.fn("Drives.move")(function* (
  drive: DriveAddress,
  item: ItemAddress,
  options: IfMatch & {
    readonly to?: Target | undefined
    readonly name?: string | undefined
    readonly conflict?: Conflict | undefined
  }
) {
  const changes = {
    parentReference: options.to === undefined ? undefined : yield* referenceTo(drive, options.to),
    name: options.name,
    "@microsoft.graph.conflictBehavior": options.conflict ?? "fail"
  }
  return yield* patch(drive, item, changes, options)
})

/** Times of a file as its owner sees them, ISO 8601. */
export interface Times {
  readonly createdDateTime?: string | undefined
  readonly lastModifiedDateTime?: string | undefined
}

/** Changes the description or the times of an item. */
export const update = Effect.fn("Drives.update")(
  (
    drive: DriveAddress,
    item: ItemAddress,
    changes: { readonly description?: string | undefined; readonly fileSystemInfo?: Times | undefined },
    options: IfMatch = {}
  ) => patch(drive, item, changes, options)
)

/** Deletes an item with all that is in it, into the recycle bin; of a shortcut the shortcut alone. Safe to repeat. */
export const remove = Effect.fn("Drives.remove")((drive: DriveAddress, item: ItemAddress, options: IfMatch = {}) =>
  unit({ method: "DELETE", path: entryPath(drive, item), headers: { ...drive.headers, ...matching(options) } })
)

/**
 * Copies an item with all that is in it, waits until the service is done, and returns the copy. Without `to` it stays in its
 * folder, and needs another name.
 *
 * ```ts
 * import * as Drive from "@signalbox/graph/Drive"
 * import * as Drives from "@signalbox/graph/Drives"
 *
 * export const fromTemplate = Drives.copy(
 *   Drive.of({ site: "contoso.sharepoint.com" }),
 *   { path: "/Templates/Case" },
 *   {
 *     to: { folder: { path: "/Cases" } },
 *     name: "Case 42"
 *   }
 * )
 * ```
 */
export const copy = Effect.fn("Drives.copy")(function* (
  drive: DriveAddress,
  source: ItemAddress,
  options: {
    readonly to?: Target | undefined
    readonly name?: string | undefined
    readonly conflict?: Conflict | undefined
  }
) {
  const to = options.to === undefined ? undefined : yield* referenceTo(drive, options.to)
  const from = to === undefined ? yield* item(drive, source) : undefined
  const sent = yield* request(
    {
      ...at(drive, source, "copy"),
      method: "POST",
      query: { "@microsoft.graph.conflictBehavior": options.conflict },
      json: {
        parentReference: to,
        name: options.name
      },
      follow: false
    },
    asText
  )
  const id = yield* awaitJob(sent, options.name ?? from?.name)
  return yield* item(drive, { id, parentReference: { driveId: to?.driveId ?? from?.parentReference?.driveId ?? null } })
})

/** The files of a drive that were used last. */
export const recent = (drive: DriveAddress): Stream.Stream<DriveItem, GraphError, Graph> =>
  many({ path: path`${drive.path}/recent` }).pipe(Stream.withSpan("Drives.recent"))

/** What others share with the owner of a drive. `external`: also what comes from other organisations. */
export const sharedWithMe = (
  drive: DriveAddress,
  options: { readonly external?: boolean | undefined } = {}
): Stream.Stream<DriveItem, GraphError, Graph> =>
  many({ path: path`${drive.path}/sharedWithMe`, query: { allowexternal: options.external } }).pipe(
    Stream.withSpan("Drives.sharedWithMe")
  )

/** The versions of a file, the newest first. */
export const versions = (drive: DriveAddress, item: ItemAddress): Stream.Stream<DriveItemVersion, GraphError, Graph> =>
  manyVersions(at(drive, item, "versions")).pipe(Stream.withSpan("Drives.versions"))

/** Makes an older version the newest one. */
export const restoreVersion = Effect.fn("Drives.restoreVersion")(
  (drive: DriveAddress, item: ItemAddress, version: string) =>
    unit({ ...at(drive, item, path`versions/${version}/restoreVersion`), method: "POST" })
)
