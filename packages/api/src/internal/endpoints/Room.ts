/** The room as a whole, with all of its workspaces. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { OpenEnum } from "../../contract/Common.ts"
import { WorkspaceId } from "../../contract/Ids.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/** What nodes can be: one that gives no sign of life for 15 seconds is `offline`. */
export const roomNodeStates = ["online", "offline"] as const

/** A process that serves the room. A room on Postgres can have any number, one on SQLite has one. */
export class RoomNode extends Struct<RoomNode>("RoomNode")({
  id: Schema.String,
  /** The host name of its machine or container. */
  name: Schema.String,
  /** The version of Signalbox that it runs. */
  version: Schema.String,
  /** `offline`: it was killed, or cannot reach the database. It is listed for a day, or until one of its name runs. */
  state: OpenEnum(roomNodeStates),
  last_seen_at: Schema.String
}) {}

export class Room extends Struct<Room>("Room")({
  /**
   * Whether it was restored from a backup and not resumed since: no step run is leased, no timer, retention or
   * repository runs, nothing is delivered. Everything can be read and changed.
   */
  paused: Schema.Boolean,
  resumed_at: Schema.NullOr(Schema.String),
  /** The key that resumed it. */
  resumed_by: Schema.NullOr(Schema.Struct({ id: Schema.String })),
  /** By name; empty from a room that is older than them. */
  nodes: Schema.Array(RoomNode).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
}) {}

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
