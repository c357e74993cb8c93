/**
 * Workers of the workspace.
 */
import * as Effect from "effect/Effect"
import * as contract from "./contract/Workers.ts"
import { inWorkspace } from "./internal/Workspace.ts"

export type { LinkToken } from "./contract/Workers.ts"

const call = { createLinkToken: inWorkspace(contract.createLinkToken) }

/** Makes a token with which one worker links itself; valid for one hour unless `expiresAt` (ISO 8601) says otherwise. */
export const createLinkToken = Effect.fn("Workers.createLinkToken")((options: { readonly expiresAt?: string } = {}) =>
  call.createLinkToken({ payload: options.expiresAt === undefined ? {} : { expires_at: options.expiresAt } })
)
