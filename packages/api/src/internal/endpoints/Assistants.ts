/**
 * Assistants: named bindings to a task of a task package, for people to run.
 */
import * as Schema from "effect/Schema"
import { listQuery, Name, NamedRef, Page, Timestamp } from "../../contract/Common.ts"
import { AssistantId, TaskPackageId, WorkspaceId } from "../../contract/Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export class Assistant extends Struct<Assistant>("Assistant")({
  id: AssistantId,
  name: Schema.String,
  task: Schema.Struct({ name: Schema.String, package_id: TaskPackageId }),
  created_at: Timestamp
}) {}

export const get = /* @__PURE__ */ Endpoint.get(
  "getAssistant",
  "/workspaces/:workspace_id/assistants/:assistant_id",
  () => ({
    params: { workspace_id: WorkspaceId, assistant_id: AssistantId },
    success: Assistant,
    error: NotFoundResponse
  })
)

export const list = /* @__PURE__ */ Endpoint.get("listAssistants", "/workspaces/:workspace_id/assistants", () => ({
  params: { workspace_id: WorkspaceId },
  query: listQuery,
  success: Page(Assistant),
  error: InvalidRequestResponse
}))

export const create = /* @__PURE__ */ Endpoint.post("createAssistant", "/workspaces/:workspace_id/assistants", () => ({
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({ name: Name, task: Schema.Struct({ name: Name, package_id: TaskPackageId }) }),
  success: NamedRef(AssistantId),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
}))
