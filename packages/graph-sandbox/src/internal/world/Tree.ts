/**
 * The items of a drive, and each change to them. All of it is synchronous; a refusal is a `Failure` that is returned, not
 * thrown.
 */
import * as Result from "effect/Result"
import * as ChangeLog from "./ChangeLog.ts"
import * as Failure from "../model/Failure.ts"
import * as Ids from "../model/Ids.ts"
import type { Blob, Drive, Identity, Item, RemoteItem } from "../model/Model.ts"
import * as Names from "./Names.ts"

/** What to do where the name is taken. */
export type Conflict = "fail" | "replace" | "rename"

export const isConflict = (value: unknown): value is Conflict =>
  value === "fail" || value === "replace" || value === "rename"

/** Who changes something, and when. */
export interface Change {
  readonly by: Identity
  readonly at: number
}

const key = (name: string) => name.toLowerCase()

export const child = (folder: Item, name: string): Item | undefined => folder.children.get(key(name))

/** The item below another one; `undefined` where the path leads nowhere. */
export const at = (from: Item, path: ReadonlyArray<string>): Item | undefined =>
  path.reduce<Item | undefined>((item, name) => (item === undefined ? undefined : child(item, name)), from)

/** Names from the root to it. */
export const pathOf = (item: Item): ReadonlyArray<string> =>
  item.parent === null ? [] : [...pathOf(item.parent), item.name]

export const isBelow = (item: Item, folder: Item): boolean =>
  item === folder || (item.parent !== null && isBelow(item.parent, folder))

/** All that lies below, parents first. */
export function* descendants(folder: Item): Generator<Item> {
  for (const item of folder.children.values()) {
    yield item
    yield* descendants(item)
  }
}

/** Characters of a path, decoded, that the service takes: from the library on, without its host. */
const maxPath = 400

const pathLength = ({ webUrl }: Drive, names: ReadonlyArray<string>) => {
  const { pathname } = new URL(webUrl)
  const decoded = Result.getOrElse(
    Result.try(() => decodeURIComponent(pathname)),
    () => pathname
  )
  return [decoded.slice(1), ...names].join("/").length
}

/** Why an item cannot get this path below another one: a name that cannot be used, or too many characters. */
export const checkPath = (from: Item, names: ReadonlyArray<string>): Result.Result<void, Failure.Failure> => {
  for (const name of names) {
    const checked = Names.check(name)
    if (Result.isFailure(checked)) return Result.fail(checked.failure)
  }
  if (pathLength(from.drive, [...pathOf(from), ...names]) <= maxPath) return Result.void
  const message = `The path of the item, with the names of all its folders, is longer than ${maxPath} characters.`
  return Result.fail(Failure.invalidRequest(message, "pathIsTooLong"))
}

/** Like `checkPath`, for an item that goes to a folder with all below. */
const checkPaths = (item: Item, to: { readonly folder: Item; readonly name: string }) => {
  const depth = pathOf(item).length
  const longest = [...descendants(item)]
    .map((below) => pathOf(below).slice(depth))
    .reduce((a, b) => (b.join("/").length > a.join("/").length ? b : a), [])
  return checkPath(to.folder, [to.name, ...longest])
}

/** `Report 1.txt` for `Report.txt`, or the first number that is free. */
const freeName = (folder: Item, name: string, isFile: boolean): string => {
  const dot = isFile ? name.lastIndexOf(".") : -1
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""]
  for (let n = 1; ; n++) {
    const candidate = `${stem} ${n}${extension}`
    if (child(folder, candidate) === undefined) return candidate
  }
}

const note = (item: Item, at: number, gone?: Item) =>
  ChangeLog.note(item.drive.changes, item.id, { at, listItem: item.listItem, gone })

/** The item has changed: it, and the folders above it, get new tags. */
const touch = (item: Item, change: Change) => {
  item.tag++
  item.modifiedAt = change.at
  item.modifiedBy = change.by
  note(item, change.at)
  for (let above = item.parent; above !== null; above = above.parent) {
    above.contentTag++
    above.modifiedAt = Math.max(above.modifiedAt, change.at)
    note(above, change.at)
  }
}

const grow = (from: Item | null, bytes: number) => {
  for (let item = from; item !== null; item = item.parent) item.size += bytes
}

interface NewItem {
  readonly name: string
  readonly kind: Item["kind"]
  readonly blob?: Blob | null
  readonly remote?: RemoteItem | undefined
}

const make = (
  drive: Drive,
  parent: Item | null,
  { blob = null, kind, name, remote }: NewItem,
  change: Change
): Item => {
  const of = `${drive.id}/${drive.changes.last}/${drive.items.size}/${name}`
  return {
    id: Ids.item(of),
    guid: Ids.uuid(of).toUpperCase(),
    drive,
    parent,
    name,
    description: null,
    kind,
    blob,
    remote: remote ?? null,
    children: new Map(),
    size: blob?.size ?? 0,
    createdAt: change.at,
    createdBy: change.by,
    modifiedAt: change.at,
    modifiedBy: change.by,
    fileSystem: {},
    tag: 0,
    contentTag: 1,
    versions: [],
    version: 1,
    permissions: new Map(),
    specialFolder: null,
    checkedOut: null,
    listItem: String(drive.nextListItem++),
    fields: {}
  }
}

/** An empty drive. */
export const drive = (
  given: Omit<Drive, "items" | "root" | "changes" | "id" | "nextListItem"> & { readonly of: string },
  change: Change
): Drive => {
  const { of, ...properties } = given
  const items = new Map<string, Item>()
  const empty: { root?: Item } & Omit<Drive, "root"> = {
    ...properties,
    id: Ids.drive(of),
    items,
    changes: ChangeLog.make(),
    nextListItem: 0
  }
  // The root needs its drive and the drive its root: the one is made first, and is whole once the other is there.
  const whole = empty as Drive
  const root = make(whole, null, { name: "root", kind: "folder" }, change)
  empty.root = root
  items.set(root.id, root)
  note(root, change.at)
  return whole
}

/** Puts a new item in a folder. A file that replaces another keeps its id, tags and versions. */
export const add = (
  folder: Item,
  item: NewItem,
  conflict: Conflict,
  change: Change
): Result.Result<{ readonly item: Item; readonly created: boolean }, Failure.Failure> => {
  const checked = checkPath(folder, [item.name])
  if (Result.isFailure(checked)) return Result.fail(checked.failure)
  if (folder.kind !== "folder") return Result.fail(Failure.invalidRequest("The parent is not a folder."))
  const there = child(folder, item.name)
  if (there !== undefined && conflict === "fail") return Result.fail(Failure.nameAlreadyExists())
  if (there !== undefined && conflict === "replace") {
    if (there.kind !== item.kind) return Result.fail(Failure.nameAlreadyExists())
    if (item.blob !== undefined && item.blob !== null) write(there, item.blob, change)
    return Result.succeed({ item: there, created: false })
  }
  const name = there === undefined ? item.name : freeName(folder, item.name, item.kind === "file")
  const made = make(folder.drive, folder, { ...item, name }, change)
  folder.children.set(key(name), made)
  folder.drive.items.set(made.id, made)
  grow(folder, made.size)
  touch(made, change)
  return Result.succeed({ item: made, created: true })
}

/** New contents for a file; what it held before is a version, unless these `amend` it. */
export const write = (item: Item, blob: Blob, change: Change, amend = false): void => {
  if (item.blob !== null) {
    const { modifiedAt, modifiedBy } = item
    if (!amend) item.versions.push({ id: `${item.version++}.0`, blob: item.blob, modifiedAt, modifiedBy })
    grow(item, blob.size - item.blob.size)
  }
  item.blob = blob
  item.contentTag++
  touch(item, change)
}

/** The folders of a path; those that are missing are made. */
export const folders = (
  from: Item,
  path: ReadonlyArray<string>,
  change: Change
): Result.Result<Item, Failure.Failure> =>
  path.reduce<Result.Result<Item, Failure.Failure>>(
    (folder, name) =>
      Result.flatMap(folder, (folder) => {
        const there = child(folder, name)
        if (there !== undefined) return Result.succeed(there)
        return Result.map(add(folder, { name, kind: "folder" }, "fail", change), ({ item }) => item)
      }),
    Result.succeed(from)
  )

const detach = (item: Item) => {
  item.parent?.children.delete(key(item.name))
  grow(item.parent, -item.size)
}

/** Another name, another folder or both. */
export const move = (
  item: Item,
  to: { readonly folder: Item; readonly name: string },
  conflict: Conflict,
  change: Change
): Result.Result<Item, Failure.Failure> => {
  const checked = checkPaths(item, to)
  if (Result.isFailure(checked)) return Result.fail(checked.failure)
  if (to.folder.kind !== "folder") return Result.fail(Failure.invalidRequest("The parent is not a folder."))
  if (to.folder.drive !== item.drive) {
    return Result.fail(Failure.invalidRequest("An item cannot be moved to another drive. Copy it and delete it here."))
  }
  if (isBelow(to.folder, item)) return Result.fail(Failure.invalidRequest("A folder cannot be moved into itself."))
  const there = child(to.folder, to.name)
  if (there !== undefined && there !== item && conflict === "fail") return Result.fail(Failure.nameAlreadyExists())
  if (there !== undefined && there !== item && conflict === "replace") remove(there, change)
  const name =
    there !== undefined && there !== item && conflict === "rename"
      ? freeName(to.folder, to.name, item.kind === "file")
      : to.name
  detach(item)
  item.name = name
  item.parent = to.folder
  to.folder.children.set(key(name), item)
  grow(to.folder, item.size)
  touch(item, change)
  return Result.succeed(item)
}

/** The same contents elsewhere, with all below. */
export const copy = (
  item: Item,
  to: { readonly folder: Item; readonly name: string },
  conflict: Conflict,
  change: Change
): Result.Result<Item, Failure.Failure> => {
  if (isBelow(to.folder, item)) return Result.fail(Failure.invalidRequest("A folder cannot be copied into itself."))
  const checked = checkPaths(item, to)
  if (Result.isFailure(checked)) return Result.fail(checked.failure)
  const { blob, kind, remote } = item
  const added = add(to.folder, { name: to.name, kind, blob, remote: remote ?? undefined }, conflict, change)
  return Result.flatMap(added, ({ item: made }) => {
    for (const below of item.children.values()) {
      const copied = copy(below, { folder: made, name: below.name }, "replace", change)
      if (Result.isFailure(copied)) return Result.fail(copied.failure)
    }
    return Result.succeed(made)
  })
}

/** It and all below are gone. */
export const remove = (item: Item, change: Change): void => {
  for (const gone of [item, ...descendants(item)]) {
    item.drive.items.delete(gone.id)
    note(gone, change.at, gone)
  }
  const { parent } = item
  detach(item)
  if (parent !== null) touch(parent, change)
}

/** Something about it has changed, but not its contents, name or place. */
export const changed = touch
