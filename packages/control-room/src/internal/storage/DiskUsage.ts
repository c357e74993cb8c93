/** How full the disk of the data folder is. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { statfs } from "node:fs/promises"

/** In percent, rounded down; null where there is no disk, or it cannot be read. */
export const DiskUsage = Context.Reference<Effect.Effect<number | null>>("@signalbox/control-room/storage/DiskUsage", {
  defaultValue: () => Effect.succeed(null)
})

/** Of the disk that a folder is on: what is not available to this program counts as used. */
export const ofFolder = (folder: string): Effect.Effect<number | null> =>
  Effect.match(
    Effect.tryPromise(() => statfs(folder)),
    {
      onSuccess: ({ bavail, blocks }) => (blocks === 0 ? null : Math.floor((1 - bavail / blocks) * 100)),
      onFailure: () => null
    }
  )
