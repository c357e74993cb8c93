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
      was.paused ? "The room gives out work and sends events again" : "The room was not paused"
    )
  })
).pipe(
  Command.withDescription(
    "Resumes a room that was restored from a backup: from then on it gives out work and sends events. First stop the room that the backup is of, or both do the same work"
  ),
  Command.withExamples([
    { command: "signalbox resume --data restored", description: "The room of that folder, which runs" }
  ])
)
