/** Says what the client does while a call waits. `SIGNALBOX_DEBUG=client` says all of it, without a change of the program. */
import { ClientEvents } from "@signalbox/api/Events"
import * as Workspaces from "@signalbox/api/Workspaces"
import * as Effect from "effect/Effect"

export const main = (log: (line: string) => void) =>
  Workspaces.get.pipe(
    Effect.map(({ name }) => name),
    Effect.provideService(ClientEvents, {
      onRetry: ({ attempt, operation, pauseMillis, status }) =>
        log(`${operation}: ${status}, attempt ${attempt} in ${pauseMillis} ms`),
      onPause: ({ operation, why }) => log(`${operation}: waits for ${why}`)
    })
  )
