/**
 * Process runs: start, watch and stop them.
 */
import { defined } from "@signalbox/transport/Defined"
import { checkNames } from "@signalbox/transport/OptionError"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ProcessId, ProcessRunId, WorkItemId } from "./contract/Ids.ts"
import type { Accepted, Deleted, Page } from "./contract/Common.ts"
import type { Conflict, ControlRoomError, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/ProcessRuns.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { type AwaitOptions, awaitUntil } from "./internal/calls/AwaitUntil.ts"
import { names, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import { json } from "./internal/payloads/Json.ts"
import { writer } from "./internal/payloads/Schemas.ts"
import type { List, ListOptions } from "./ListOptions.ts"
import type { Jsonable, WithSchema } from "./Payload.ts"
import type { AnySchema, TypeOf } from "./StandardSchema.ts"

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

/** Which runs, and which page of them. */
export interface PageFilter extends Filter, ListOptions {}

const filterNames = { process: 1, state: 1, createdAfter: 1, createdBefore: 1, limit: 1 } as const
const streamed = names<Filter>("filter", filterNames)
const listed = names<PageFilter>("filter", { ...filterNames, cursor: 1 })

/**
 * Returns one page, newest first.
 *
 * ```ts
 * import * as ProcessRuns from "@signalbox/api/ProcessRuns"
 *
 * export const nextPage = (next: string) =>
 *   ProcessRuns.list({ state: "unresolved", cursor: next })
 * ```
 */
export const list: List<PageFilter, contract.ProcessRun, InvalidRequest> = Effect.fn("ProcessRuns.list")(
  (filter: PageFilter = {}, cursor?: string) =>
    call.list({
      query: {
        process_id: filter.process,
        state: filter.state,
        created_after: filter.createdAfter,
        created_before: filter.createdBefore,
        limit: filter.limit,
        cursor: cursor ?? filter.cursor
      }
    }),
  refusing("processRuns.list", { 0: listed })
)

/**
 * Emits all runs that match, newest first.
 *
 * ```ts
 * import * as ProcessRuns from "@signalbox/api/ProcessRuns"
 * import * as Stream from "effect/Stream"
 *
 * export const unresolved = Stream.runCount(
 *   ProcessRuns.stream({ state: "unresolved" })
 * )
 * ```
 */
export const stream = (filter: Filter = {}) =>
  pages((cursor) => list({ ...filter, cursor })).pipe(refusingStream("processRuns.stream", streamed, filter))

/** The input of a run: payloads of new items, items of the queue, or all that wait there. */
export type StartInput =
  | { readonly payloads: ReadonlyArray<Jsonable> }
  | { readonly workItems: ReadonlyArray<WorkItemId> }
  | { readonly inputs: true }

/** Payloads of new items, as code has them, and the schema by which they are sent. */
export interface TypedPayloads<S extends AnySchema> extends WithSchema<S> {
  readonly payloads: ReadonlyArray<TypeOf<S>>
}

type AnyInput = StartInput | TypedPayloads<AnySchema>

const startInput = names<AnyInput>("member", { payloads: 1, workItems: 1, inputs: 1, schema: 1 })

/** Returns the input as it is sent, or fails where a payload is none. */
const startPayload = Effect.fnUntraced(function* (
  input: AnyInput | undefined
): Effect.fn.Return<contract.StartInput, InvalidRequest> {
  if (input === undefined) return {}
  if ("workItems" in input) return { type: "with_work_item_ids", work_item_ids: input.workItems }
  if (!("payloads" in input)) return { type: "with_inputs" }
  const write = "schema" in input ? writer(input.schema) : undefined
  const payloads = yield* Effect.forEach(input.payloads, (payload, index) =>
    json("processRuns.start", payload, `payloads.${index}`, write)
  )
  return { type: "with_payloads", payloads }
})

/** The receiver of the events of a run; verify deliveries with `verify` of `Webhooks`. */
export interface CallbackOptions {
  readonly url: string
  /** Signs the deliveries. */
  readonly secret: string | Redacted.Redacted
  readonly events: ReadonlyArray<contract.ProcessRunAction>
}

const callbackNames = names<CallbackOptions>("member", { url: 1, secret: 1, events: 1 })

/** How a run is started. */
export interface StartOptions {
  readonly callback?: CallbackOptions | undefined
  /** −100 to 100, default 0: of its items that have none of their own. An extension of the hosted service's interface. */
  readonly priority?: number | undefined
}

const startOptions = names<StartOptions>("option", { callback: 1, priority: 1 }, { callback: callbackNames })

/** How a run is started, with payloads of a schema or with any. */
export interface Start {
  <S extends AnySchema>(
    process: ProcessId,
    input: TypedPayloads<S>,
    options?: StartOptions
  ): Effect.Effect<contract.Started, Conflict | InvalidRequest | NotFound | ControlRoomError, ControlRoom>
  (
    process: ProcessId,
    input?: StartInput,
    options?: StartOptions
  ): Effect.Effect<contract.Started, Conflict | InvalidRequest | NotFound | ControlRoomError, ControlRoom>
}

/**
 * Starts a run; without input, with the default work item of the process, else one empty item. `started` is false only for a start with
 * the waiting inputs when none wait. With a `schema` the payloads are of its type, and are encoded by it. Fails with `InvalidRequest`
 * that has the path of a payload that cannot be sent.
 *
 * ```ts
 * import type { ProcessId } from "@signalbox/api/contract/Ids"
 * import * as ProcessRuns from "@signalbox/api/ProcessRuns"
 * import * as Schema from "effect/Schema"
 *
 * const schema = Schema.Struct({ due: Schema.Date })
 *
 * export const remind = (process: ProcessId, due: Date) =>
 *   ProcessRuns.start(process, { payloads: [{ due }], schema })
 * ```
 */
export const start: Start = Effect.fn("ProcessRuns.start")(
  function* (process: ProcessId, input?: AnyInput, options: StartOptions = {}) {
    const { callback, priority } = options
    return yield* call.start({
      params: { process_id: process },
      payload: {
        ...(yield* startPayload(input)),
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
  },
  refusing("processRuns.start", { 1: startInput, 2: startOptions })
)

/** The key of an address, and what proves ownership to its caller. */
export interface IntegrationOptions {
  readonly key: string | Redacted.Redacted
  readonly handshake?: "asana" | undefined
}

const integrationOptions = names<IntegrationOptions>("option", { key: 1, handshake: 1 })

/**
 * Returns the address for callers that start runs but control no headers, such as a webhook of another product: the
 * body that it posts is the payload of the one work item. The key is part of the address, so use a separate key with
 * `Processes.trigger_processes` only. `handshake` responds to that product's proof of ownership.
 */
export const integrationUrl = (
  process: ProcessId,
  options: IntegrationOptions
): Effect.Effect<Redacted.Redacted, never, ControlRoom> =>
  Effect.map(ControlRoom, (room) => {
    checkNames("processRuns.integrationUrl", options, integrationOptions.names)
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

/** How a run is stopped. */
export interface StopOptions {
  /** Waiting items become `done` instead of `failed`. */
  readonly remainingAsDone?: boolean | undefined
  /** Running step runs are terminated instead of finishing their item. */
  readonly terminate?: boolean | undefined
  readonly reason?: string | undefined
}

const stopOptions = names<StopOptions>("option", { remainingAsDone: 1, terminate: 1, reason: 1 })

/**
 * Stops a run; `accepted` is false when it had already ended.
 *
 * ```ts
 * import type { ProcessRunId } from "@signalbox/api/contract/Ids"
 * import * as ProcessRuns from "@signalbox/api/ProcessRuns"
 *
 * export const stopNow = (run: ProcessRunId) =>
 *   ProcessRuns.stop(run, { terminate: true, reason: "wrong month" })
 * ```
 */
export const stop = Effect.fn("ProcessRuns.stop")(
  (run: ProcessRunId, options: StopOptions = {}) =>
    call.stop({
      params: { process_run_id: run },
      payload: {
        set_remaining_work_items_as_done: options.remainingAsDone ?? false,
        terminate_ongoing_activity_runs: options.terminate ?? false,
        ...defined({ reason: options.reason })
      }
    }),
  refusing("processRuns.stop", { 1: stopOptions })
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
    awaitUntil(
      get(run),
      hasEnded,
      { of: "processRuns.awaitEnd", path: `/process-runs/${run}`, unfinished: "the run did not end" },
      options
    )
)
