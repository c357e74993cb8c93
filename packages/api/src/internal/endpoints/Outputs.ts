/** Outputs of process runs: what the last step created. */
import * as Schema from "effect/Schema"
import { listQuery, Page, Ref, Timestamp } from "../../contract/Common.ts"
import { File } from "../../contract/Files.ts"
import { ProcessId, ProcessRunId, WorkItemId, WorkspaceId } from "../../contract/Ids.ts"
import { InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import { masked } from "./SecretFields.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export class Output extends Struct<Output>("Output")({
  id: WorkItemId,
  created_at: Timestamp,
  process: Ref(ProcessId),
  process_run: Ref(ProcessRunId),
  payload: Schema.NullOr(Schema.Json),
  /** Extension: as in `WorkItem`. */
  masked,
  files: Schema.Array(File)
}) {}

export const list = /* @__PURE__ */ Endpoint.get("listOutputs", "/workspaces/:workspace_id/outputs", () => ({
  params: { workspace_id: WorkspaceId },
  query: { ...listQuery, process_run_id: ProcessRunId },
  success: Page(Output),
  error: [InvalidRequestResponse, NotFoundResponse]
}))
