/** Says when a call waits and is sent again, and gives it up after a time. */
import * as Drive from "@signalbox/graph/Drive"
import * as Drives from "@signalbox/graph/Drives"
import { ClientEvents } from "@signalbox/graph/Events"
import * as Effect from "effect/Effect"

export const main = Effect.fnUntraced(function* (path: string, millis: number) {
  const told: Array<string> = []
  const last = yield* Drives.item(Drive.me, { path }).pipe(
    Effect.map(({ name }) => name),
    Effect.timeoutOrElse({
      duration: millis,
      orElse: () => Effect.succeed("given up")
    }),
    Effect.provideService(ClientEvents, {
      onPause: ({ operation, why }) => told.push(`${operation} waits: ${why}`),
      onRetry: ({ attempt, status }) =>
        told.push(`attempt ${attempt} after ${status}`)
    })
  )
  return [...told, last]
})
