/** Outputs of process runs: what the last step created. */
import * as Effect from "effect/Effect"
import type { ProcessRunId } from "./contract/Ids.ts"
import type { Page } from "./contract/Common.ts"
import type { InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./contract/Outputs.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"

export type { Output } from "./contract/Outputs.ts"

const call = { list: returning<Page<contract.Output>, InvalidRequest | NotFound>()(inWorkspace(contract.list)) }

/** Returns one page, oldest first. */
export const list = Effect.fn("Outputs.list")(
  (run: ProcessRunId, options: { readonly limit?: number | undefined } = {}, cursor?: string) =>
    call.list({ query: { process_run_id: run, ...options, cursor } })
)

/**
 * Emits all outputs of a run, oldest first, a page at a time. `outputs` of `@signalbox/api/Process` emits those of a process as
 * code, decoded.
 */
export const stream = (run: ProcessRunId, options: { readonly limit?: number | undefined } = {}) =>
  pages((cursor) => list(run, options, cursor))
