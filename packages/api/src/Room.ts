/**
 * The control room as a whole. Extensions of the hosted service's interface.
 */
import * as contract from "./internal/endpoints/Room.ts"
import { inWorkspace, returning } from "./internal/calls/Workspace.ts"

export type { Room, RoomNode } from "./internal/endpoints/Room.ts"

/** Returns whether the room is paused, and its nodes with their versions. Needs any valid key. */
export const get = returning<contract.Room>()(inWorkspace(contract.get))({})

/**
 * Ends the pause of a room that was restored from a backup, for all of its workspaces; does nothing when it runs. First make
 * sure that the room of the backup no longer acts.
 *
 * ```ts
 * import * as Room from "@signalbox/api/Room"
 * import * as Effect from "effect/Effect"
 *
 * export const resumed = Effect.gen(function* () {
 *   const { paused } = yield* Room.get
 *   return paused ? yield* Room.resume : null
 * })
 * ```
 */
export const resume = returning<contract.Room>()(inWorkspace(contract.resume))({})
