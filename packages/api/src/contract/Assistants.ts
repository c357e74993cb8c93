/**
 * Assistants: named bindings to a task of a task package, for people to run.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { listQuery, Name, Page, Timestamp } from "./Common.ts"
import { summary } from "./Documentation.ts"
import { AssistantId, TaskPackageId, WorkspaceId } from "./Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"

export const Assistant = Schema.Struct({
  id: AssistantId,
  name: Schema.String,
  task: Schema.Struct({ name: Schema.String, package_id: TaskPackageId }),
  created_at: Timestamp
}).annotate({ identifier: "Assistant" })
export interface Assistant extends Schema.Schema.Type<typeof Assistant> {}

export const get = HttpApiEndpoint.get("getAssistant", "/workspaces/:workspace_id/assistants/:assistant_id", {
  params: { workspace_id: WorkspaceId, assistant_id: AssistantId },
  success: Assistant,
  error: NotFoundResponse
})
  .annotate(RequiredPermission, "Assistants.read_assistants")
  .annotateMerge(summary("Get an assistant"))

export const list = HttpApiEndpoint.get("listAssistants", "/workspaces/:workspace_id/assistants", {
  params: { workspace_id: WorkspaceId },
  query: listQuery,
  success: Page(Assistant),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Assistants.read_assistants")
  .annotateMerge(summary("List the assistants, newest first"))

/** The name is unique in the workspace; a package that does not exist is a 404. */
export const create = HttpApiEndpoint.post("createAssistant", "/workspaces/:workspace_id/assistants", {
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({ name: Name, task: Schema.Struct({ name: Name, package_id: TaskPackageId }) }),
  success: Schema.Struct({ id: AssistantId, name: Schema.String }),
  error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse]
})
  .annotate(RequiredPermission, "Assistants.write_assistants")
  .annotateMerge(summary("Create an assistant"))

export const Assistants = /* @__PURE__ */ HttpApiGroup.make("assistants")
  .add(get, list, create)
  .middleware(WorkspaceAuthorization)
