/** The room as a whole over HTTP: whether it is paused, its end of a pause, and its nodes. */
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as Endpoints from "../edge/Endpoints.ts"
import { callerOf } from "../edge/Permissions.ts"
import { Nodes } from "../store/room/Nodes.ts"
import { RoomState } from "../store/room/RoomState.ts"

export const layer = Endpoints.group(
  "room",
  Effect.fnUntraced(function* (handlers) {
    const room = yield* RoomState
    const nodes = yield* Nodes
    const view = Effect.zipWith(room.resumed, nodes.list, (resumed, all) => ({
      paused: resumed === null,
      resumed_at: resumed?.at ?? null,
      resumed_by: resumed === null || resumed.by === null ? null : { id: resumed.by },
      nodes: all
    }))
    return handlers.handleAll({
      getRoom: () => view,
      resumeRoom: Effect.fnUntraced(function* () {
        yield* room.resume(callerOf(yield* CurrentPrincipal).id)
        return yield* view
      })
    })
  })
)
