/**
 * Workers: the machines that execute step runs, and how one is linked to a workspace.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import {
  Deleted,
  labelPattern,
  Name,
  namedListQuery,
  OpenEnum,
  Page,
  Ref,
  Timestamp,
  TimestampInput
} from "./Common.ts"
import { extension, summary } from "./Documentation.ts"
import { ProcessId, ProcessRunId, StepRunId, WorkerGroupId, WorkerId, WorkspaceId } from "./Ids.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { paused } from "./Pauses.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"

/** A token with which one worker links itself; `link_token` is shown only here. */
export const LinkToken = Schema.Struct({
  id: Schema.String,
  expires_at: Timestamp,
  link_token: Schema.String
}).annotate({ identifier: "LinkToken" })
export interface LinkToken extends Schema.Schema.Type<typeof LinkToken> {}

/** Extension: creates a link token. Without `expires_at` it is valid for one hour. */
export const createLinkToken = HttpApiEndpoint.post(
  "createWorkerLinkToken",
  "/workspaces/:workspace_id/workers/link-tokens",
  {
    params: { workspace_id: WorkspaceId },
    payload: [Schema.Struct({ expires_at: Schema.optionalKey(TimestampInput) }), Schema.Undefined],
    success: LinkToken,
    error: InvalidRequestResponse
  }
)
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotate(ReturnsCredential, true)
  .annotateMerge(extension("Create a token with which one worker links itself"))

export const workerStates = ["offline", "idle", "busy"] as const
export type WorkerState = (typeof workerStates)[number]

/** A step run that a worker is processing. */
export const StepRunInHand = Schema.Struct({
  id: StepRunId,
  /** The name of its step. */
  step: Schema.String,
  process_run: Ref(ProcessRunId)
})
export interface StepRunInHand extends Schema.Schema.Type<typeof StepRunInHand> {}

/**
 * `offline`: no heartbeat for 10 seconds; `busy`: processing at least one step run. All but `id`, `name` and `state` are
 * extensions: a worker that is `draining` leases nothing more, and ends when its step runs have ended; `step_runs` are those
 * that it is processing.
 */
export const Worker = Schema.Struct({
  id: WorkerId,
  name: Schema.String,
  state: OpenEnum(workerStates),
  labels: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  draining: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  paused,
  /** Its newest heartbeat. */
  last_seen_at: Schema.NullOr(Timestamp).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  worker_groups: Schema.Array(Schema.Struct({ id: WorkerGroupId, name: Schema.String })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed([]))
  ),
  step_runs: Schema.Array(StepRunInHand).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
}).annotate({ identifier: "Worker" })
export interface Worker extends Schema.Schema.Type<typeof Worker> {}

const params = { workspace_id: WorkspaceId, worker_id: WorkerId }

export const get = HttpApiEndpoint.get("getWorker", "/workspaces/:workspace_id/workers/:worker_id", {
  params,
  success: Worker,
  error: NotFoundResponse
})
  .annotate(RequiredPermission, "Workers.read_workers")
  .annotateMerge(summary("Get a worker"))

export const list = HttpApiEndpoint.get("listWorkers", "/workspaces/:workspace_id/workers", {
  params: { workspace_id: WorkspaceId },
  query: {
    ...namedListQuery,
    /** Extension: only the members of this group. */
    worker_group_id: Schema.optional(WorkerGroupId)
  },
  success: Page(Worker),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Workers.read_workers")
  .annotateMerge(summary("List the workers, newest first"))

/** Only present fields are changed. Names of workers need not be unique. */
export const update = HttpApiEndpoint.post("updateWorker", "/workspaces/:workspace_id/workers/:worker_id", {
  params,
  payload: Schema.Struct({ name: Schema.optionalKey(Name) }),
  success: Worker,
  error: [InvalidRequestResponse, NotFoundResponse]
})
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotateMerge(summary("Rename a worker"))

/** Irreversible; its token is then refused. A worker that holds a lease is a 409. */
export const remove = HttpApiEndpoint.delete("deleteWorker", "/workspaces/:workspace_id/workers/:worker_id", {
  params,
  success: Deleted(WorkerId),
  error: [NotFoundResponse, ConflictResponse]
})
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotateMerge(summary("Delete a worker"))

/**
 * Extension: the worker leases nothing more, finishes its step runs and ends. It leases again when it is started the next
 * time. Repeating it changes nothing.
 */
export const drain = HttpApiEndpoint.post("drainWorker", "/workspaces/:workspace_id/workers/:worker_id/drain", {
  params,
  success: Worker,
  error: NotFoundResponse
})
  .annotate(RequiredPermission, "Workers.write_workers")
  .annotateMerge(extension("Let a worker finish its step runs and end"))

/**
 * How many step runs want a worker now, for what starts and stops workers. `waiting` ones have none yet; those that something
 * paused holds back are not counted. `assigned` ones have one. `total` is both: with workers that take one step run at a time,
 * the number of workers that have work.
 */
export const QueueDepth = Schema.Struct({
  waiting: Schema.Int,
  assigned: Schema.Int,
  total: Schema.Int
}).annotate({ identifier: "QueueDepth" })
export interface QueueDepth extends Schema.Schema.Type<typeof QueueDepth> {}

/** Labels separated by commas, or nothing. */
const labelList = Schema.String.check(
  Schema.isPattern(new RegExp(`^(${labelPattern}(,${labelPattern}){0,31})?$`), {
    message: "Expected at most 32 labels separated by commas, such as gpu,eu; or nothing, for step runs without labels"
  })
)

/** Extension: each step run is counted for exactly one group, or none, and for exactly one set of labels. */
export const queueDepth = HttpApiEndpoint.get("getQueueDepth", "/workspaces/:workspace_id/queue-depth", {
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
  .annotate(RequiredPermission, "Workers.read_workers")
  .annotateMerge(extension("Count the step runs that want a worker"))

export const Workers = /* @__PURE__ */ HttpApiGroup.make("workers")
  .add(get, list, update, remove, drain, createLinkToken, queueDepth)
  .middleware(WorkspaceAuthorization)
