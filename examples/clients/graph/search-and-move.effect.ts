/** Searches a drive and moves the files that are found into a folder. */
import * as Drive from "@signalbox/graph/Drive"
import * as Drives from "@signalbox/graph/Drives"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

export const main = Effect.fnUntraced(function* (text: string, target: string) {
  const folder = yield* Drives.ensureFolder(Drive.me, target)
  return yield* Drives.search(Drive.me, text, { within: Drive.root }).pipe(
    Stream.filter(
      (item) =>
        item.file !== undefined && item.parentReference?.id !== folder.id
    ),
    Stream.mapEffect((item) =>
      Drives.move(Drive.me, item, { to: { folder }, conflict: "rename" })
    ),
    Stream.map(({ name }) => name ?? ""),
    Stream.runCollect
  )
})
