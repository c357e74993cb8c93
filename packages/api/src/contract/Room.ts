/** The room as a whole, with all of its workspaces. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Room.ts"

export * from "../internal/endpoints/Room.ts"

/** Extension: whether the room is paused, and its nodes. Any valid key. */
export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get the state of the room")

/** Extension: ends the pause of a restored room, for all of its workspaces; does nothing in a room that runs. */
export const resume: EndpointOf<typeof declared.resume> = endpoint(declared.resume, "Resume a restored room")
  .annotate(RequiredPermission, "Room.manage")
  .annotate(Audited, entry("room"))

export const RoomGroup: Group<"room", typeof get | typeof resume, WorkspaceAuthorization> =
  /* @__PURE__ */ HttpApiGroup.make("room").add(get, resume).middleware(WorkspaceAuthorization)
