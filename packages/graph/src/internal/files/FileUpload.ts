/**
 * One file of a folder that is uploaded: sent if the service does not have it, and never twice.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type DriveAddress, itemPath } from "../../Drive.ts"
import * as Drives from "../../Drives.ts"
import type { Graph } from "../../Graph.ts"
import { GraphError, NameAlreadyExists } from "../../GraphError.ts"
import type { DriveItem } from "../../model/Drive.ts"
import { Changed, LocalFailed, NotAFile, type TransferError, transferError } from "../../TransferError.ts"
import * as Uploads from "../../Uploads.ts"
import { unsent } from "../requests/Call.ts"
import { operationOf } from "../requests/Operation.ts"
import { isWhole, localFailed } from "./LocalFile.ts"
import type { LocalEntry } from "./LocalFolder.ts"
import * as RemoteFolder from "./RemoteFolder.ts"
import type { UploadStates } from "./UploadStates.ts"

export interface FileUploadOptions {
  readonly conflict: Drives.Conflict
  readonly verify: boolean | undefined
  readonly times: boolean
  readonly fragmentBytes: number | undefined
  readonly states: UploadStates | undefined
}

/** Where files of one folder go. */
export interface Place {
  readonly folder: DriveItem
  readonly siblings: RemoteFolder.Siblings
  /** Of the local folder. */
  readonly names: ReadonlySet<string>
}

export type Outcome =
  | { readonly _tag: "Present"; readonly bytes: number; readonly item: DriveItem }
  | { readonly _tag: "Sent"; readonly bytes: number; readonly item: Uploads.Uploaded }

/** Up to this size a file is read as a whole before it is sent. */
const smallBytes = 4 * 1024 * 1024
/** How often an upload begins anew because the local file has changed. */
const mostBeginnings = 3

const changed = (path: string) =>
  transferError(new Changed({ message: `${path} changed while it was uploaded; nothing of it was stored` }))

/** What a local file looks like from outside. */
const look = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.mapError(fs.lstat(path), localFailed("read", path))
  if (info.type !== "File") {
    return yield* transferError(new LocalFailed({ path, message: `${path} is no file any more` }))
  }
  return { size: Number(info.size), modified: Option.getOrNull(info.mtime)?.getTime() ?? null }
})
type Look = Effect.Success<ReturnType<typeof look>>

const checkUnchanged = (path: string, before: Look) =>
  Effect.flatMap(look(path), ({ modified, size }) =>
    size === before.size && modified === before.modified ? Effect.void : Effect.fail(changed(path))
  )

/** The bytes of one state of the file: what has changed meanwhile fails before the service has all of it. */
const sourceOf = Effect.fnUntraced(function* (
  path: string,
  seen: Look
): Effect.fn.Return<Uploads.UploadSource, TransferError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const { size } = seen
  const check = Effect.provideService(checkUnchanged(path, seen), FileSystem.FileSystem, fs)
  if (size <= smallBytes) {
    const bytes = yield* Effect.mapError(fs.readFile(path), localFailed("read", path))
    yield* check
    return bytes.length === size ? bytes : yield* changed(path)
  }
  const from = (offset: number) =>
    fs
      .stream(path, { offset, bytesToRead: size - offset, chunkSize: 256 * 1024 })
      .pipe(Stream.mapError(localFailed("read", path)), Stream.concat(Stream.fromEffectDrain(check)))
  return { size, from }
})

const isFile = (item: DriveItem) => ((item.remoteItem ?? item).file ?? null) !== null

/** The file, if it is there already: under its name or, as the policy says, another one that the service chose. */
const alreadyThere = Effect.fnUntraced(function* (
  { localPath, name }: LocalEntry,
  { names, siblings }: Place,
  found: DriveItem,
  conflict: Drives.Conflict
) {
  const others = conflict === "rename" ? siblings.renamed(name) : []
  for (const item of [found, ...others.filter((other) => !names.has(other.name ?? ""))]) {
    if (yield* isWhole(localPath, item)) return item
  }
  return undefined
})

/** How a file is uploaded beside or over what has its name. */
const planOf = (found: DriveItem | undefined, policy: Drives.Conflict) => {
  // With `fail`, and with the tag that was read, the service takes a repeated upload for a conflict and does not store it again.
  if (found === undefined) return { conflict: "fail", over: undefined, ifMatch: undefined } as const
  if (policy === "rename") return { conflict: "rename", over: undefined, ifMatch: undefined } as const
  // The tag of a shortcut is not that of what it leads to.
  const ifMatch = (found.remoteItem ?? null) === null ? (found.eTag ?? undefined) : undefined
  return { conflict: "replace", over: found, ifMatch } as const
}

/** How the session of a large file is resumed and stored. */
const sessionOf = (states: UploadStates | undefined, key: string, seen: Look) =>
  states === undefined || seen.size <= smallBytes
    ? undefined
    : {
        resume: states.find(key, seen),
        keep: (state: Uploads.UploadState) => states.keep(key, seen, state)
      }

const attempt = Effect.fnUntraced(function* (
  drive: DriveAddress,
  entry: LocalEntry,
  place: Place,
  options: FileUploadOptions
): Effect.fn.Return<Outcome, RemoteFolder.TransferFailure, Graph | FileSystem.FileSystem> {
  const { localPath, name } = entry
  const seen = yield* look(localPath)
  const found = place.siblings.find(name)
  const address = RemoteFolder.below(place.folder, name)
  const key = itemPath(drive, address).encoded
  if (found !== undefined) {
    if (!isFile(found)) {
      return yield* transferError(
        new NotAFile({ is: "other", message: "something that is no file has this name" }),
        name
      )
    }
    const there = yield* alreadyThere(entry, place, found, options.conflict)
    if (there !== undefined && options.states !== undefined) yield* options.states.forget(key)
    if (there !== undefined) return { _tag: "Present", bytes: seen.size, item: there }
    if (options.conflict === "fail") {
      const message = "a file with other contents has this name: upload it with conflict: replace or rename"
      const request = unsent("PUT", itemPath(drive, address).shown, yield* operationOf(null))
      return yield* new GraphError({ reason: new NameAlreadyExists({ codes: [], message }), request })
    }
  }
  const { conflict, ifMatch, over } = planOf(found, options.conflict)
  const lastModifiedDateTime =
    options.times && seen.modified !== null ? new Date(seen.modified).toISOString() : undefined
  const session = sessionOf(options.states, key, seen)
  const item = yield* Uploads.upload(drive, over ?? address, yield* sourceOf(localPath, seen), {
    conflict,
    ifMatch,
    verify: options.verify,
    fragmentBytes: options.fragmentBytes,
    fileSystemInfo: lastModifiedDateTime === undefined ? undefined : { lastModifiedDateTime },
    resume: session?.resume,
    keep: session?.keep
  })
  if (options.states !== undefined) yield* options.states.forget(key)
  return { _tag: "Sent", bytes: seen.size, item }
})

/** Whether the service refused it because of what has its name now, or had it when an answer was lost. */
const isOvertaken = (error: RemoteFolder.TransferFailure): boolean =>
  error._tag === "GraphError" &&
  error.request.attempts > 0 &&
  ["NameAlreadyExists", "PreconditionFailed"].includes(error.reason._tag)

const isWorthAnother = (error: RemoteFolder.TransferFailure, attempts: number): boolean =>
  RemoteFolder.isTransient(error) ||
  isOvertaken(error) ||
  (error._tag === "TransferError" && error.reason._tag === "Changed" && attempts < mostBeginnings)

/** What has the name of a file by now. */
const siblingsNow = (drive: DriveAddress, { folder }: Place, name: string, conflict: Drives.Conflict) =>
  conflict === "rename"
    ? RemoteFolder.list(drive, folder)
    : Drives.item(drive, RemoteFolder.below(folder, name)).pipe(
        Effect.map((item) => RemoteFolder.siblingsOf([{ ...item, name }])),
        Effect.catchReason("GraphError", "NotFound", () => Effect.succeed(RemoteFolder.siblingsOf([])))
      )

/** Uploads a file unless it is there. Before each further attempt the service is asked what it has. */
export const send = (drive: DriveAddress, entry: LocalEntry, place: Place, options: FileUploadOptions) =>
  Effect.suspend(() => {
    // What is there after a lost answer is what was sent before.
    let mayBeSent = false
    const further = Effect.fnUntraced(function* () {
      const siblings = yield* siblingsNow(drive, place, entry.name, options.conflict)
      const outcome = yield* attempt(drive, entry, { ...place, siblings }, options)
      if (outcome._tag === "Sent" || !mayBeSent) return outcome
      const item: Uploads.Uploaded = { ...outcome.item, difference: null }
      return { _tag: "Sent", bytes: outcome.bytes, item } as const
    })
    return RemoteFolder.persistently(
      (attempts) => (attempts === 1 ? attempt(drive, entry, place, options) : further()),
      (error, attempts) => {
        mayBeSent ||= RemoteFolder.isTransient(error)
        return isWorthAnother(error, attempts)
      }
    )
  })
