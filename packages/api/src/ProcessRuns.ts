/**
 * Process runs: start, watch and stop them.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ProcessId, ProcessRunId, WorkItemId } from "./contract/Ids.ts"
import type { Accepted, Deleted, Page } from "./contract/Common.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./contract/ProcessRuns.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { type AwaitOptions, awaitUntil } from "./internal/calls/AwaitUntil.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"

export type { AwaitOptions } from "./internal/calls/AwaitUntil.ts"
export type {
  Callback,
  ProcessRun,
  ProcessRunAction,
  ProcessRunState,
  RunStep,
  Started
} from "./contract/ProcessRuns.ts"

const call = {
  get: returning<contract.ProcessRun, NotFound>()(inWorkspace(contract.get)),
  getSteps: returning<{ readonly data: ReadonlyArray<contract.RunStep> }, NotFound>()(inWorkspace(contract.getSteps)),
  list: returning<Page<contract.ProcessRun>, InvalidRequest>()(inWorkspace(contract.list)),
  start: returning<contract.Started, Conflict | InvalidRequest | NotFound>()(inWorkspace(contract.start)),
  startAgain: returning<{ readonly started: true; readonly id: ProcessRunId }, Conflict | NotFound>()(
    inWorkspace(contract.startAgain)
  ),
  stop: returning<Accepted, InvalidRequest | NotFound>()(inWorkspace(contract.stop)),
  remove: returning<Deleted<ProcessRunId>, Conflict | NotFound>()(inWorkspace(contract.remove))
}

export interface Filter {
  readonly process?: ProcessId | undefined
  readonly state?: contract.ProcessRunState | undefined
  /** Extension: runs created at this time or later; ISO 8601 with a zone. */
  readonly createdAfter?: string | undefined
  /** Extension: runs created before this time. */
  readonly createdBefore?: string | undefined
  /** Items per page, 1 to 500. */
  readonly limit?: number | undefined
}

export const get = Effect.fn("ProcessRuns.get")((run: ProcessRunId) => call.get({ params: { process_run_id: run } }))

/**
 * Returns the steps of a run in their order, each with the numbers of its items by state, and why it waits. An extension of the
 * hosted service's interface.
 */
export const steps = Effect.fn("ProcessRuns.steps")((run: ProcessRunId) =>
  Effect.map(call.getSteps({ params: { process_run_id: run } }), ({ data }) => data)
)

/** Returns one page, newest first. */
export const list = Effect.fn("ProcessRuns.list")((filter: Filter = {}, cursor?: string) =>
  call.list({
    query: {
      process_id: filter.process,
      state: filter.state,
      created_after: filter.createdAfter,
      created_before: filter.createdBefore,
      limit: filter.limit,
      cursor
    }
  })
)

/** Emits all runs that match, newest first. */
export const stream = (filter: Filter = {}) => pages((cursor) => list(filter, cursor))

/** The input of a run; without any, the default work item of the process, else one empty item. */
export type StartInput =
  | { readonly payloads: ReadonlyArray<(typeof contract.StartInput.members)[0]["Type"]["payloads"][number]> }
  | { readonly workItems: ReadonlyArray<WorkItemId> }
  | { readonly inputs: true }

const startPayload = (input: StartInput | undefined): contract.StartInput => {
  if (input === undefined) return {}
  if ("payloads" in input) return { type: "with_payloads", payloads: input.payloads }
  if ("workItems" in input) return { type: "with_work_item_ids", work_item_ids: input.workItems }
  return { type: "with_inputs" }
}

/** The receiver of the events of a run; verify deliveries with `verify` of `Webhooks`. */
export interface CallbackOptions {
  readonly url: string
  /** Signs the deliveries. */
  readonly secret: string | Redacted.Redacted
  readonly events: ReadonlyArray<contract.ProcessRunAction>
}

/** Starts a run. `started` is false only for a start with the waiting inputs when none wait. */
export const start = Effect.fn("ProcessRuns.start")((
  process: ProcessId,
  input?: StartInput,
  options: {
    readonly callback?: CallbackOptions | undefined
    /** −100 to 100, default 0: of its items that have none of their own. An extension of the hosted service's interface. */
    readonly priority?: number | undefined
  } = {}
) => {
  const { callback, priority } = options
  return call.start({
    params: { process_id: process },
    payload: {
      ...startPayload(input),
      ...defined({
        priority,
        callback: callback && {
          url: callback.url,
          secret: typeof callback.secret === "string" ? Redacted.make(callback.secret) : callback.secret,
          callback_events: callback.events
        }
      })
    }
  })
})

/**
 * Returns the address for callers that start runs but control no headers, such as a webhook of another product: the
 * body that it posts is the payload of the one work item. The key is part of the address, so use a separate key with
 * `Processes.trigger_processes` only. `handshake` responds to that product's proof of ownership.
 */
export const integrationUrl = (
  process: ProcessId,
  options: { readonly key: string | Redacted.Redacted; readonly handshake?: "asana" | undefined }
): Effect.Effect<Redacted.Redacted, never, ControlRoom> =>
  Effect.map(ControlRoom, (room) => {
    const query = new URLSearchParams({
      token: typeof options.key === "string" ? options.key : Redacted.value(options.key),
      ...defined({ with_handshake: options.handshake })
    })
    const path = `/workspaces/${room.workspaceId}/processes/${encodeURIComponent(process)}/process-runs-integrations`
    return Redacted.make(`${room.baseUrl}${path}?${query}`)
  })

/**
 * Starts a new run of the same process, as it is now, with the inputs of an ended run: the items of its first step that
 * still exist, with their payloads and files as they are now. Returns the id of the new run. An extension of the hosted
 * service's interface.
 */
export const startAgain = Effect.fn("ProcessRuns.startAgain")((run: ProcessRunId) =>
  Effect.map(call.startAgain({ params: { process_run_id: run } }), ({ id }) => id)
)

/** Stops a run; `accepted` is false when it had already ended. */
export const stop = Effect.fn("ProcessRuns.stop")(
  (
    run: ProcessRunId,
    options: {
      /** Waiting items become `done` instead of `failed`. */
      readonly remainingAsDone?: boolean
      /** Running step runs are terminated instead of finishing their item. */
      readonly terminate?: boolean
      readonly reason?: string | undefined
    } = {}
  ) =>
    call.stop({
      params: { process_run_id: run },
      payload: {
        set_remaining_work_items_as_done: options.remainingAsDone ?? false,
        terminate_ongoing_activity_runs: options.terminate ?? false,
        ...defined({ reason: options.reason })
      }
    })
)

/** Deletes an ended run. Irreversible. */
export const remove = Effect.fn("ProcessRuns.remove")((run: ProcessRunId) =>
  call.remove({ params: { process_run_id: run } })
)

/** Whether the run has ended. An `unresolved` run has failed items that a person must settle. */
export const hasEnded = (run: contract.ProcessRun): boolean => run.state === "completed" || run.state === "unresolved"

/** Waits until a run has ended (`completed` or `unresolved`). */
export const awaitEnd = Effect.fn("ProcessRuns.awaitEnd")(
  (run: ProcessRunId, options: AwaitOptions<contract.ProcessRun> = {}) =>
    awaitUntil(get(run), hasEnded, { path: `/process-runs/${run}`, unfinished: "the run did not end" }, options)
)
