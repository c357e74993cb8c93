/** Downloads a folder with all below it. Run it again, and only what is missing comes. */
import * as Drive from "@signalbox/graph/Drive"
import * as Files from "@signalbox/graph/Files"
import * as Effect from "effect/Effect"

export const main = (folder: string, to: string) =>
  Files.downloadFolder(Drive.me, { path: folder }, { to }).pipe(
    Effect.catchTag("FolderIncomplete", ({ report }) => Effect.succeed(report)),
    Effect.map(({ failures, files, present }) => ({
      files,
      present,
      failed: failures.map(({ path }) => path)
    }))
  )
