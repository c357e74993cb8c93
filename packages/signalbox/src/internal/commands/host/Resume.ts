/** `signalbox resume`: ends the pause of a restored room. */
import * as Room from "@signalbox/api/Room"
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import { connected, connectionFlags, print } from "../../connection/Connection.ts"

export const resume = Command.make(
  "resume",
  connectionFlags,
  Effect.fnUntraced(function* ({ data, json }) {
    const { room, was } = yield* connected(data)(Effect.all({ was: Room.get, room: Room.resume }))
    yield* print(json, room, () =>
      was.paused ? "The room is resumed: it assigns work and sends events" : "The room was not paused"
    )
  })
).pipe(
  Command.withDescription(
    "Resumes a room that was restored from a backup: it assigns work and sends events again. First stop the original room, or both do the same work"
  ),
  Command.withExamples([
    { command: "signalbox resume --data restored", description: "Resume the running room of this folder" }
  ])
)
