/** Failures: failed work items in groups of those that failed alike. An extension. */
import * as Schema from "effect/Schema"
import { listQuery, NamedRef, OpenEnum, Page, Ref, Text, Timestamp, TimestampInput } from "../../contract/Common.ts"
import { FailureId, ProcessId, ProcessRunId, StepId, WorkItemId, WorkspaceId } from "../../contract/Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import { exceptionTypes } from "./WorkItems.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export const failureStates = ["open", "muted", "resolved"] as const
export type FailureState = (typeof failureStates)[number]

/**
 * A group of work items that failed alike: in the same step, with the same type and code, and with messages that differ
 * in numbers, ids and quoted paths only.
 */
export class Failure extends Struct<Failure>("Failure")({
  /** The fingerprint of the group: the same whenever items fail like this again. */
  id: FailureId,
  process: NamedRef(ProcessId),
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
}) {}

const params = { workspace_id: WorkspaceId, failure_id: FailureId }

export const list = /* @__PURE__ */ Endpoint.get("listFailures", "/workspaces/:workspace_id/failures", () => ({
  extension: true,
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
}))

export const get = /* @__PURE__ */ Endpoint.get("getFailure", "/workspaces/:workspace_id/failures/:failure_id", () => ({
  extension: true,
  params,
  success: Failure,
  error: NotFoundResponse
}))

export const update = /* @__PURE__ */ Endpoint.post(
  "updateFailure",
  "/workspaces/:workspace_id/failures/:failure_id",
  () => ({
    extension: true,
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
)
