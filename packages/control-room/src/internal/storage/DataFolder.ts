/** The folder of everything that the service stores on disk. */
import * as Folder from "@signalbox/transport/Folder"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { join } from "node:path"

/** Revokes the access of everyone but the owner; the group keeps its access if the folder is shared. */
const restrict = Effect.fnUntraced(function* (folder: string, shared: boolean) {
  const fs = yield* FileSystem.FileSystem
  const { mode } = yield* fs.stat(folder)
  const allowed = mode & (shared ? 0o770 : 0o700)
  if (allowed === (mode & 0o777)) return
  yield* Effect.catch(fs.chmod(folder, allowed), ({ message }) =>
    Effect.logWarning(`others can read ${folder}, and its mode cannot be changed (${message}): run chmod as its owner`)
  )
})

/**
 * Creates the folder and the one for bytes in it, for their owner alone (0700); existing ones lose the access of
 * others. `shared`: nodes may run as several users of one group, which keeps its access. Returns the folder for bytes.
 */
export const prepare = Effect.fnUntraced(function* (folder: string, shared: boolean) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = path.join(folder, "files")
  yield* Folder.check(folder)
  yield* fs.makeDirectory(files, { recursive: true, mode: shared ? 0o770 : 0o700 })
  yield* restrict(folder, shared)
  yield* restrict(files, shared)
  return files
})

/** Where a restore writes; it is there until the restore has ended. */
export const restoring = (folder: string) => join(folder, "restoring")
