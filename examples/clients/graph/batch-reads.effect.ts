/** Twenty people in one request. One who does not exist is a result, too. */
import * as Batch from "@signalbox/graph/Batch"
import { User } from "@signalbox/graph/model/User"
import { path } from "@signalbox/graph/Path"
import * as Effect from "effect/Effect"

export const main = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const results = yield* Batch.all(names, (name) =>
    Batch.part(User, { path: path`/users/${name}` })
  )
  return names.filter((_, index) => results[index]?._tag !== "Success")
})
