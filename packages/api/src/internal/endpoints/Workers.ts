/**
 * Workers: the machines that execute step runs, and how one is linked to a workspace.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import {
  Deleted,
  labelPattern,
  Name,
  namedListQuery,
  OpenEnum,
  NamedRef,
  Page,
  Ref,
  Timestamp,
  TimestampInput
} from "../../contract/Common.ts"
import { ProcessId, ProcessRunId, StepRunId, WorkerGroupId, WorkerId, WorkspaceId } from "../../contract/Ids.ts"
import { paused } from "./Pauses.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/** A token with which one worker links itself; `link_token` is shown only here. */
export class LinkToken extends Struct<LinkToken>("LinkToken")({
  id: Schema.String,
  expires_at: Timestamp,
  link_token: Schema.String
}) {}

export const createLinkToken = /* @__PURE__ */ Endpoint.post(
  "createWorkerLinkToken",
  "/workspaces/:workspace_id/workers/link-tokens",
  () => ({
    extension: true,
    params: { workspace_id: WorkspaceId },
    payload: [Schema.Struct({ expires_at: Schema.optionalKey(TimestampInput) }), Schema.Undefined],
    success: LinkToken,
    error: InvalidRequestResponse
  })
)

export const workerStates = ["offline", "idle", "busy"] as const
export type WorkerState = (typeof workerStates)[number]

/** A step run that a worker is processing. */
export class StepRunInHand extends Struct<StepRunInHand>()({
  id: StepRunId,
  /** The name of its step. */
  step: Schema.String,
  process_run: Ref(ProcessRunId)
}) {}

/**
 * `offline`: no heartbeat for 10 seconds; `busy`: processing at least one step run. All but `id`, `name` and `state` are
 * extensions: a worker that is `draining` leases nothing more, and ends when its step runs have ended; `step_runs` are those
 * that it is processing.
 */
export class Worker extends Struct<Worker>("Worker")({
  id: WorkerId,
  name: Schema.String,
  state: OpenEnum(workerStates),
  labels: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  draining: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  paused,
  /** Its newest heartbeat. */
  last_seen_at: Schema.NullOr(Timestamp).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  worker_groups: Schema.Array(NamedRef(WorkerGroupId)).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  step_runs: Schema.Array(StepRunInHand).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
}) {}

const params = { workspace_id: WorkspaceId, worker_id: WorkerId }

export const get = /* @__PURE__ */ Endpoint.get("getWorker", "/workspaces/:workspace_id/workers/:worker_id", () => ({
  params,
  success: Worker,
  error: NotFoundResponse
}))

export const list = /* @__PURE__ */ Endpoint.get("listWorkers", "/workspaces/:workspace_id/workers", () => ({
  params: { workspace_id: WorkspaceId },
  query: {
    ...namedListQuery,
    /** Extension: only the members of this group. */
    worker_group_id: Schema.optional(WorkerGroupId)
  },
  success: Page(Worker),
  error: InvalidRequestResponse
}))

export const update = /* @__PURE__ */ Endpoint.post(
  "updateWorker",
  "/workspaces/:workspace_id/workers/:worker_id",
  () => ({
    params,
    payload: Schema.Struct({ name: Schema.optionalKey(Name) }),
    success: Worker,
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)

export const remove = /* @__PURE__ */ Endpoint.delete(
  "deleteWorker",
  "/workspaces/:workspace_id/workers/:worker_id",
  () => ({
    params,
    success: Deleted(WorkerId),
    error: [NotFoundResponse, ConflictResponse]
  })
)

export const drain = /* @__PURE__ */ Endpoint.post(
  "drainWorker",
  "/workspaces/:workspace_id/workers/:worker_id/drain",
  () => ({ extension: true, params, success: Worker, error: NotFoundResponse })
)

/**
 * How many step runs want a worker now, for what starts and stops workers. `waiting` ones have none yet; those that something
 * paused holds back are not counted. `assigned` ones have one. `total` is both: with workers that take one step run at a time,
 * the number of workers that have work.
 */
export class QueueDepth extends Struct<QueueDepth>("QueueDepth")({
  waiting: Schema.Int,
  assigned: Schema.Int,
  total: Schema.Int
}) {}

/** Labels separated by commas, or nothing. */
const labelList = Schema.String.check(
  Schema.isPattern(new RegExp(`^(${labelPattern}(,${labelPattern}){0,31})?$`), {
    message: "Expected at most 32 labels separated by commas, such as gpu,eu; or nothing, for step runs without labels"
  })
)

export const queueDepth = /* @__PURE__ */ Endpoint.get(
  "getQueueDepth",
  "/workspaces/:workspace_id/queue-depth",
  () => ({
    extension: true,
    params: { workspace_id: WorkspaceId },
    query: {
      process_id: Schema.optional(ProcessId.annotate({ description: "Only those of this process" })),
      worker_group_id: Schema.optional(
        Schema.Union([Schema.Literal(""), WorkerGroupId]).annotate({
          description: "Only those that are bound to this worker group; empty: to none"
        })
      ),
      labels: Schema.optional(
        labelList.annotate({
          description: "Only those that ask for exactly these labels, separated by commas; empty: for none"
        })
      )
    },
    success: QueueDepth,
    error: [InvalidRequestResponse, NotFoundResponse]
  })
)
