/** Downloads a file into a folder. A connection that breaks is resumed where it broke, and the hash is compared. */
import * as Drive from "@signalbox/graph/Drive"
import * as Files from "@signalbox/graph/Files"
import * as Effect from "effect/Effect"

export const main = (path: string, to: string) =>
  Effect.map(
    Files.download(Drive.me, { path }, { to }),
    (downloaded) => downloaded.path
  )
