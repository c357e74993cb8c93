/** Outputs of process runs: what the last step created. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { listQuery, Page, Ref, Timestamp } from "./Common.ts"
import { summary } from "./Documentation.ts"
import { File } from "./Files.ts"
import { ProcessId, ProcessRunId, WorkItemId, WorkspaceId } from "./Ids.ts"
import { InvalidRequestResponse, NotFoundResponse, SentAsStored } from "./Responses.ts"

export const Output = Schema.Struct({
  id: WorkItemId,
  created_at: Timestamp,
  process: Ref(ProcessId),
  process_run: Ref(ProcessRunId),
  payload: Schema.NullOr(Schema.Json),
  files: Schema.Array(File)
}).annotate({ identifier: "Output" })
export interface Output extends Schema.Schema.Type<typeof Output> {}

/** Oldest first. */
export const list = HttpApiEndpoint.get("listOutputs", "/workspaces/:workspace_id/outputs", {
  params: { workspace_id: WorkspaceId },
  query: { ...listQuery, process_run_id: ProcessRunId },
  success: Page(Output),
  error: [InvalidRequestResponse, NotFoundResponse]
})
  .annotate(RequiredPermission, "Processes.read_work_items")
  .annotate(SentAsStored, true)
  .annotateMerge(summary("List the outputs of a process run, oldest first"))

export const Outputs = /* @__PURE__ */ HttpApiGroup.make("outputs").add(list).middleware(WorkspaceAuthorization)
