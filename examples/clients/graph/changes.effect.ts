/** What changed in a drive since the program ran last. Where it stopped is kept in a file. */
import * as Delta from "@signalbox/graph/Delta"
import * as Drive from "@signalbox/graph/Drive"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"

export const main = Effect.fnUntraced(function* (stateFile: string) {
  const fs = yield* FileSystem.FileSystem
  const from = (yield* fs.exists(stateFile))
    ? Delta.DeltaLink.make(yield* fs.readFileString(stateFile))
    : undefined
  const { items, link } = yield* Delta.changes(Drive.me, { from })
  const lines = items.map(({ deleted, id, name }) =>
    deleted === undefined ? name : `${id} has gone`
  )
  if (link !== null) yield* fs.writeFileString(stateFile, link)
  return lines
})
