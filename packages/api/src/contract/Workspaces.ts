/**
 * Workspaces: the top-level container, owned by an organization.
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { WorkspaceAuthorization } from "./Authorization.ts"
import { summary } from "./Documentation.ts"
import { WorkspaceId } from "./Ids.ts"
import { NotFoundResponse } from "./Responses.ts"

export const Workspace = Schema.Struct({
  id: WorkspaceId,
  name: Schema.String,
  organization: Schema.Struct({ id: Schema.String, name: Schema.String })
}).annotate({ identifier: "Workspace" })
export interface Workspace extends Schema.Schema.Type<typeof Workspace> {}

/** `GET /workspaces/{workspace_id}`: any valid key of the workspace will do. */
export const get = HttpApiEndpoint.get("getWorkspace", "/workspaces/:workspace_id", {
  params: { workspace_id: WorkspaceId },
  success: Workspace,
  error: NotFoundResponse
}).annotateMerge(summary("Get the workspace"))

export const Workspaces = HttpApiGroup.make("workspaces").add(get).middleware(WorkspaceAuthorization)
