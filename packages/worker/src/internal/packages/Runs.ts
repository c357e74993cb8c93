/**
 * Folders in which programs ran whose worker was killed.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import * as Child from "./Child.ts"
import * as Descendants from "./Descendants.ts"
import * as Leftovers from "./Leftovers.ts"

/** Ends the processes that ran in the folders below this one. */
export const endLeftovers = Effect.fnUntraced(function* (parent: string) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* Effect.orElseSucceed(fs.readDirectory(parent), (): ReadonlyArray<string> => [])
  const folders = names.map((name) => join(parent, name))
  for (const folder of folders) {
    const leader = yield* Leftovers.running(Child.fileOf(folder))
    const descendants = Descendants.make(folder)
    if (leader !== null) yield* descendants.add(leader.pid)
    yield* descendants.end
  }
  return folders
})

/** Ends the processes and removes the folders that a worker left behind when it was killed. */
export const clearLeftovers = Effect.fnUntraced(function* (runs: string) {
  const fs = yield* FileSystem.FileSystem
  for (const folder of yield* endLeftovers(runs)) {
    yield* Effect.ignore(fs.remove(folder, { recursive: true, force: true }))
    yield* Effect.annotateLogs(Effect.logInfo("removed what a killed worker left behind"), { folder })
  }
})
