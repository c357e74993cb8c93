/**
 * The workspace that the client is connected to.
 */
import * as contract from "./contract/Workspaces.ts"
import { inWorkspace } from "./internal/Workspace.ts"

export type { Workspace } from "./contract/Workspaces.ts"

/** The workspace itself. Any valid key of the workspace will do. */
export const get = inWorkspace(contract.get)({})
