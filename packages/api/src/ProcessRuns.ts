/**
 * Process runs: start, watch and stop them.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ProcessId, ProcessRunId, WorkItemId } from "./contract/Ids.ts"
import * as contract from "./contract/ProcessRuns.ts"
import { ControlRoomError, Timeout } from "./ControlRoomError.ts"
import { inWorkspace, pages } from "./internal/Workspace.ts"

export type { ProcessRun, ProcessRunState, Started } from "./contract/ProcessRuns.ts"

const call = {
  get: inWorkspace(contract.get),
  list: inWorkspace(contract.list),
  start: inWorkspace(contract.start),
  stop: inWorkspace(contract.stop),
  remove: inWorkspace(contract.remove)
}

export interface Filter {
  readonly process?: ProcessId
  readonly state?: contract.ProcessRunState
  /** Items per page, 1 to 500. */
  readonly limit?: number
}

export const get = Effect.fn("ProcessRuns.get")((run: ProcessRunId) => call.get({ params: { process_run_id: run } }))

/** One page, newest first. */
export const list = Effect.fn("ProcessRuns.list")((filter: Filter = {}, cursor?: string) =>
  call.list({
    query: {
      ...(filter.process === undefined ? {} : { process_id: filter.process }),
      ...(filter.state === undefined ? {} : { state: filter.state }),
      ...(filter.limit === undefined ? {} : { limit: filter.limit }),
      ...(cursor === undefined ? {} : { cursor })
    }
  })
)

/** All runs that match, newest first. */
export const stream = (filter: Filter = {}) => pages((cursor) => list(filter, cursor))

/** What a run starts with; without any, the default work item of the process, else one empty item. */
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

/** Starts a run. `started` is false only for a start with the waiting inputs when none wait. */
export const start = Effect.fn("ProcessRuns.start")((process: ProcessId, input?: StartInput) =>
  call.start({ params: { process_id: process }, payload: startPayload(input) })
)

/** Stops a run; `accepted` is false when it had ended already. */
export const stop = Effect.fn("ProcessRuns.stop")(
  (
    run: ProcessRunId,
    options: {
      /** Waiting items become `done` instead of `failed`. */
      readonly remainingAsDone?: boolean
      /** What runs is terminated instead of finishing its item. */
      readonly terminate?: boolean
      readonly reason?: string
    } = {}
  ) =>
    call.stop({
      params: { process_run_id: run },
      payload: {
        set_remaining_work_items_as_done: options.remainingAsDone ?? false,
        terminate_ongoing_activity_runs: options.terminate ?? false,
        ...(options.reason === undefined ? {} : { reason: options.reason })
      }
    })
)

/** Deletes an ended run. Irreversible. */
export const remove = Effect.fn("ProcessRuns.remove")((run: ProcessRunId) =>
  call.remove({ params: { process_run_id: run } })
)

/** Whether nothing of the run is under way any more. An `unresolved` run has failed items that somebody must settle. */
export const hasEnded = (run: contract.ProcessRun): boolean => run.state === "completed" || run.state === "unresolved"

export interface AwaitOptions {
  /** Fails with `ControlRoomError` (`Timeout`) after this; default: waits as long as it takes. */
  readonly timeout?: Duration.Input
  /** The longest pause between two looks; default 5 seconds. The first looks are closer together. */
  readonly pollInterval?: Duration.Input
  /** Gets the run at every look. */
  readonly onPoll?: (run: contract.ProcessRun) => Effect.Effect<void>
}

/** Waits until a run has ended (`completed` or `unresolved`). */
export const awaitEnd = Effect.fn("ProcessRuns.awaitEnd")(function* (run: ProcessRunId, options: AwaitOptions = {}) {
  const longest = Duration.toMillis(options.pollInterval ?? "5 seconds")
  const poll = Effect.gen(function* () {
    for (let pause = Math.min(50, longest); ; pause = Math.min(pause * 1.5, longest)) {
      const current = yield* get(run)
      if (options.onPoll !== undefined) yield* options.onPoll(current)
      if (hasEnded(current)) return current
      yield* Effect.sleep(pause)
    }
  })
  const timeout = options.timeout
  if (timeout === undefined) return yield* poll
  const millis = Duration.toMillis(timeout)
  return yield* Effect.timeoutOrElse(poll, {
    duration: timeout,
    orElse: () =>
      Effect.fail(
        new ControlRoomError({
          reason: new Timeout({ message: `the run did not end within ${millis} ms`, afterMillis: millis }),
          request: { method: "GET", path: `/process-runs/${run}`, attempts: 1, requestId: null }
        })
      )
  })
})
