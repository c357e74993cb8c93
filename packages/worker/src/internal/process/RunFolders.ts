/**
 * The folders in which programs run, also those of a worker that was killed.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import * as Tree from "./Tree.ts"
import * as Child from "./Child.ts"
import * as Descendants from "./Descendants.ts"
import * as Orphans from "./Orphans.ts"
import * as Routine from "../outcome/Routine.ts"

/** Removes a folder, also where its program took the right to write away from folders; resolves to whether it is gone. */
export const remove = Effect.fnUntraced(
  function* (folder: string) {
    const fs = yield* FileSystem.FileSystem
    const removed = fs.remove(folder, { recursive: true, force: true })
    yield* Effect.catch(removed, () => Effect.andThen(Effect.ignore(Tree.unseal(folder)), removed))
    return true
  },
  (effect, folder) =>
    Effect.catch(effect, ({ message }) =>
      Effect.logWarning("the folder of a run cannot be removed", message).pipe(
        Effect.annotateLogs({ folder }),
        Effect.as(false)
      )
    )
)

/** Ends the processes that ran in the folders below this one. */
export const endLeftovers = Effect.fnUntraced(function* (parent: string) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* Effect.orElseSucceed(fs.readDirectory(parent), (): ReadonlyArray<string> => [])
  const folders = names.map((name) => join(parent, name))
  for (const folder of folders) {
    const leader = yield* Orphans.running(Child.fileOf(folder))
    const descendants = Descendants.make(folder)
    if (leader !== null) yield* descendants.add(leader.pid)
    yield* descendants.end
  }
  return folders
})

/** Ends the processes and removes the folders that a worker left behind when it was killed. */
export const clearLeftovers = Effect.fnUntraced(function* (runs: string) {
  for (const folder of yield* endLeftovers(runs)) {
    if (!(yield* remove(folder))) continue
    yield* Effect.annotateLogs(Routine.log("removed folders left by a killed worker"), { folder })
  }
})
