/**
 * Step runs: what happened on the workers.
 */
import * as Effect from "effect/Effect"
import type { ProcessRunId, StepRunId } from "./contract/Ids.ts"
import * as contract from "./contract/StepRuns.ts"
import { inWorkspace, pages } from "./internal/Workspace.ts"

export type { StepRun, StepRunEvent, StepRunState } from "./contract/StepRuns.ts"

const call = {
  get: inWorkspace(contract.get),
  list: inWorkspace(contract.list),
  listEvents: inWorkspace(contract.listEvents)
}

export const get = Effect.fn("StepRuns.get")((stepRun: StepRunId) => call.get({ params: { step_run_id: stepRun } }))

/** One page of the step runs of a run, newest first. */
export const list = Effect.fn("StepRuns.list")((run: ProcessRunId, options: { readonly limit?: number } = {}, cursor?: string) =>
  call.list({ query: { process_run_id: run, ...options, ...(cursor === undefined ? {} : { cursor }) } })
)

/** All step runs of a run, newest first. */
export const stream = (run: ProcessRunId, options: { readonly limit?: number } = {}) =>
  pages((cursor) => list(run, options, cursor))

/** What happened to a step run, oldest first. */
export const events = (stepRun: StepRunId) =>
  pages((cursor) =>
    call.listEvents({ params: { step_run_id: stepRun }, query: cursor === undefined ? {} : { cursor } })
  )
