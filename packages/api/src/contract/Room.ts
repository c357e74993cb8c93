/** The room as a whole, with all of its workspaces. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { extension } from "./Documentation.ts"
import { WorkspaceId } from "./Ids.ts"

export const Room = Schema.Struct({
  /**
   * Whether it was restored from a backup and not resumed since: no step run is leased, no timer, retention or
   * repository runs, nothing is delivered. Everything can be read and changed.
   */
  paused: Schema.Boolean,
  resumed_at: Schema.NullOr(Schema.String),
  /** The key that resumed it. */
  resumed_by: Schema.NullOr(Schema.Struct({ id: Schema.String }))
}).annotate({ identifier: "Room" })
export interface Room extends Schema.Schema.Type<typeof Room> {}

const params = { workspace_id: WorkspaceId }

/** Extension: whether the room is paused. Any valid key. */
export const get = HttpApiEndpoint.get("getRoom", "/workspaces/:workspace_id/room", {
  params,
  success: Room
}).annotateMerge(extension("Get the state of the room"))

/** Extension: ends the pause of a restored room, for all of its workspaces; does nothing in a room that runs. */
export const resume = HttpApiEndpoint.post("resumeRoom", "/workspaces/:workspace_id/room/resume", {
  params,
  success: Room
})
  .annotate(RequiredPermission, "Room.manage")
  .annotateMerge(extension("Resume a restored room"))

export const RoomGroup = /* @__PURE__ */ HttpApiGroup.make("room").add(get, resume).middleware(WorkspaceAuthorization)
