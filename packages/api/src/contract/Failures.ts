/** Failures: failed work items in groups of those that failed alike. An extension. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { listQuery, OpenEnum, Page, Ref, Text, Timestamp, TimestampInput } from "./Common.ts"
import { extension } from "./Documentation.ts"
import { FailureId, ProcessId, ProcessRunId, StepId, WorkItemId, WorkspaceId } from "./Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"
import { exceptionTypes } from "./WorkItems.ts"

export const failureStates = ["open", "muted", "resolved"] as const
export type FailureState = (typeof failureStates)[number]

/**
 * A group of work items that failed alike: in the same step, with the same type and code, and with messages that differ
 * in numbers, ids and quoted paths only.
 */
export const Failure = Schema.Struct({
  /** The fingerprint of the group: the same whenever items fail like this again. */
  id: FailureId,
  process: Schema.Struct({ id: ProcessId, name: Schema.String }),
  /** `name` is null when the process has no such step any more. */
  step: Schema.NullOr(Schema.Struct({ id: StepId, name: Schema.NullOr(Schema.String) })),
  type: OpenEnum(exceptionTypes),
  code: Schema.String,
  /** With `#` for each number, id and quoted path; at most 500 characters. */
  message: Schema.String,
  /** When an item failed like this for the first time. */
  created_at: Timestamp,
  /** A muted group raises no alerts. A resolved one has no failed items, and is open again when an item fails like it. */
  state: OpenEnum(failureStates),
  /** Null: until it is opened again. */
  muted_until: Schema.NullOr(Timestamp),
  note: Schema.NullOr(Schema.String),
  assignee: Schema.NullOr(Schema.String),
  /** Items that are failed now. */
  count: Schema.Int,
  /** When the first and the last of these failed; null when there are none. */
  first_failed_at: Schema.NullOr(Timestamp),
  last_failed_at: Schema.NullOr(Timestamp),
  /** Up to five of these with their runs; the one that failed last comes first. */
  work_items: Schema.Array(Schema.Struct({ id: WorkItemId, process_run: Schema.NullOr(Ref(ProcessRunId)) }))
}).annotate({ identifier: "Failure" })
export interface Failure extends Schema.Schema.Type<typeof Failure> {}

const params = { workspace_id: WorkspaceId, failure_id: FailureId }

/**
 * Groups with failed items; with `state=resolved` those that were resolved. The one that failed last comes first, to ten
 * seconds; a group that fails again while pages are walked moves to their beginning.
 */
export const list = HttpApiEndpoint.get("listFailures", "/workspaces/:workspace_id/failures", {
  params: { workspace_id: WorkspaceId },
  query: {
    ...listQuery,
    process_id: Schema.optional(ProcessId),
    step_id: Schema.optional(StepId),
    type: Schema.optional(Schema.Literals(exceptionTypes)),
    code: Schema.optional(Schema.String),
    state: Schema.optional(Schema.Literals(failureStates))
  },
  success: Page(Failure),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Failures.read_failures")
  .annotateMerge(extension("List groups of similar failures"))

/** Without failed items a group is deleted 90 days after its last change, unless it is muted. */
export const get = HttpApiEndpoint.get("getFailure", "/workspaces/:workspace_id/failures/:failure_id", {
  params,
  success: Failure,
  error: NotFoundResponse
})
  .annotate(RequiredPermission, "Failures.read_failures")
  .annotateMerge(extension("Get a group of failures"))

/**
 * Changes the given fields. `muted`: with `muted_until`, or until it is opened. `resolved`: 409 while the group has failed
 * items.
 */
export const update = HttpApiEndpoint.post("updateFailure", "/workspaces/:workspace_id/failures/:failure_id", {
  params,
  payload: Schema.Struct({
    state: Schema.optionalKey(Schema.Literals(failureStates)),
    muted_until: Schema.optionalKey(Schema.NullOr(TimestampInput)),
    note: Schema.optionalKey(Schema.NullOr(Text.check(Schema.isMaxLength(4000)))),
    assignee: Schema.optionalKey(Schema.NullOr(Text.check(Schema.isMaxLength(255))))
  }),
  success: Failure,
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
})
  .annotate(RequiredPermission, "Failures.write_failures")
  .annotateMerge(extension("Mute, resolve or open a group of failures, or set its note and assignee"))

export const Failures = /* @__PURE__ */ HttpApiGroup.make("failures")
  .add(list, get, update)
  .middleware(WorkspaceAuthorization)
