/** Folders that a program is given, looked at before it depends on them. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as PlatformError from "effect/PlatformError"
import { execFile } from "node:child_process"
import { existsSync, statfsSync } from "node:fs"
import { dirname, resolve } from "node:path"

const unusable = (folder: string, description: string) =>
  PlatformError.systemError({
    _tag: "BadResource",
    module: "FileSystem",
    method: "makeDirectory",
    pathOrDescriptor: folder,
    description
  })

/** Of procfs, in which Node creates a folder for ever. */
const procfs = 0x9fa0

/** Looks a path up in another process, since a thread that waits for a dead mount keeps its own process from ending. */
const lookUp = (folder: string) =>
  Effect.callback<void>((resume) => {
    const child = execFile("stat", ["--", folder], () => resume(Effect.void))
    return Effect.sync(() => {
      child.kill("SIGKILL")
      child.unref()
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.destroy()
    })
  })

/**
 * Fails within a second when a folder, which need not exist yet, can never be used: it lies on a mount that does not answer, or in
 * `/proc`. Whether it can be written shows when that is done.
 *
 * ```ts
 * import * as Folder from "@signalbox/transport/Folder"
 *
 * export const usable = Folder.check(".signalbox")
 * ```
 */
export const check = Effect.fn("Folder.check")(function* (folder: string) {
  if (process.platform === "win32") return
  const path = resolve(folder)
  const answer = yield* Effect.timeoutOption(lookUp(path), "900 millis")
  if (Option.isNone(answer)) {
    return yield* unusable(path, "its disk or network mount does not respond; mount it again, or choose another folder")
  }
  const within = Effect.sync(() => {
    let there = path
    while (!existsSync(there)) there = dirname(there)
    return { there, type: statfsSync(there).type }
  })
  const { there, type } = yield* within
  if (type === procfs) return yield* unusable(path, `${there} does not allow folders; choose another folder`)
})
