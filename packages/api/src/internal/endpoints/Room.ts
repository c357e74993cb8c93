/** The room as a whole, with all of its workspaces. */
import * as Schema from "effect/Schema"
import { WorkspaceId } from "../../contract/Ids.ts"
import * as Endpoint from "./Endpoint.ts"

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

export const get = /* @__PURE__ */ Endpoint.get("getRoom", "/workspaces/:workspace_id/room", () => ({
  extension: true,
  params,
  success: Room
}))

export const resume = /* @__PURE__ */ Endpoint.post("resumeRoom", "/workspaces/:workspace_id/room/resume", () => ({
  extension: true,
  params,
  success: Room
}))
