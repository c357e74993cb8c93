/**
 * All that is in a local folder, before anything of it is sent.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { TransferError } from "../../TransferError.ts"
import { keyOf, pathRefusalOf, refusalOf } from "./DriveNames.ts"
import { localFailed } from "./LocalFile.ts"

/** A file, or what a folder is called. `path`: below the folder that is uploaded, as `/A/b.txt`. */
export interface LocalEntry {
  readonly name: string
  readonly path: string
  readonly localPath: string
}

export interface LocalFolder extends LocalEntry {
  readonly files: ReadonlyArray<LocalEntry>
  readonly folders: ReadonlyArray<LocalFolder>
}

/** What was found besides: names that the service does not take, what is neither file nor folder, and what cannot be read. */
interface Aside {
  readonly refused: Array<{ readonly path: string; readonly why: string }>
  readonly left: Array<string>
  readonly failures: Array<{ readonly path: string; readonly error: TransferError }>
}

/** Names of one folder that the service takes for one. */
const collisions = (names: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const firsts = new Map<string, string>()
  const found = new Map<string, string>()
  for (const name of names) {
    const first = firsts.get(keyOf(name))
    if (first === undefined) firsts.set(keyOf(name), name)
    else found.set(name, first)
  }
  return found
}

const readFolder = Effect.fnUntraced(function* (
  entry: LocalEntry,
  aside: Aside
): Effect.fn.Return<LocalFolder, TransferError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const found = yield* Effect.mapError(
    fs.readDirectoryEntries(entry.localPath),
    localFailed("read the folder", entry.localPath)
  )
  const entries = found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const files: Array<LocalEntry> = []
  const folders: Array<LocalFolder> = []
  const taken: Array<string> = []
  for (const { name, type: listed } of entries) {
    const here = { name, path: `${entry.path}/${name.toWellFormed()}`, localPath: paths.join(entry.localPath, name) }
    const isCertain = listed !== "Unknown" && !name.includes("\ufffd")
    const info = isCertain ? Option.none() : yield* Effect.option(fs.lstat(here.localPath))
    // Bytes that are no Unicode are listed with a sign in their place, under which nothing is there.
    if (!isCertain && Option.isNone(info)) {
      aside.refused.push({ path: here.path, why: "it has broken Unicode" })
      continue
    }
    const type = Option.match(info, { onNone: () => listed, onSome: (info) => info.type })
    if (type !== "File" && type !== "Directory") {
      aside.left.push(here.path)
      continue
    }
    taken.push(name)
    const why = refusalOf(name) ?? pathRefusalOf(here.path)
    if (why !== null) aside.refused.push({ path: here.path, why })
    if (type === "File") {
      files.push(here)
      continue
    }
    const below = yield* Effect.result(readFolder(here, aside))
    if (below._tag === "Success") folders.push(below.success)
    else aside.failures.push({ path: here.path, error: below.failure })
  }
  for (const [name, first] of collisions(taken)) {
    aside.refused.push({ path: `${entry.path}/${name.toWellFormed()}`, why: `the service takes it for ${first}` })
  }
  return { ...entry, files, folders }
})

/** Reads a folder with its subfolders. Links are not followed. */
export const read = Effect.fnUntraced(function* (localPath: string) {
  const aside: Aside = { refused: [], left: [], failures: [] }
  const folder = yield* readFolder({ name: "", path: "", localPath }, aside)
  return { folder, ...aside }
})
