/** The room as a whole over HTTP: whether it is paused, and its end of a pause. */
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as Endpoints from "../edge/Endpoints.ts"
import { RoomState } from "../store/room/RoomState.ts"

export const layer = Endpoints.group(
  "room",
  Effect.fnUntraced(function* (handlers) {
    const room = yield* RoomState
    const view = Effect.map(room.resumed, (resumed) => ({
      paused: resumed === null,
      resumed_at: resumed?.at ?? null,
      resumed_by: resumed === null || resumed.by === null ? null : { id: resumed.by }
    }))
    return handlers.handleAll({
      getRoom: () => view,
      resumeRoom: Effect.fnUntraced(function* () {
        const principal = yield* CurrentPrincipal
        yield* room.resume(principal._tag === "ApiKey" ? principal.keyId : principal._tag)
        return yield* view
      })
    })
  })
)
