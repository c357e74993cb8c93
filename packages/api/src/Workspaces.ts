/**
 * The workspace that the client is connected to.
 */
import * as Effect from "effect/Effect"
import type { InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/Workspaces.ts"
import { inWorkspace, returning } from "./internal/calls/Workspace.ts"

export type { Workspace, WorkspaceCreated } from "./contract/Workspaces.ts"

/** Returns the workspace. Needs any valid key of the workspace. */
export const get = returning<contract.Workspace, NotFound>()(inWorkspace(contract.get))({})

const call = { create: returning<contract.WorkspaceCreated, InvalidRequest>()(inWorkspace(contract.create)) }

/**
 * Creates another workspace, with a first key that is shown only here. An extension of the hosted service's interface,
 * which a service may refuse.
 */
export const create = Effect.fn("Workspaces.create")((name: string) => call.create({ payload: { name } }))
