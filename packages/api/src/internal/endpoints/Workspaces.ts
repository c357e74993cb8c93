/**
 * Workspaces: the top-level container, owned by an organization.
 */
import * as Schema from "effect/Schema"
import { ApiKeyCreated } from "./ApiKeys.ts"
import { Name } from "../../contract/Common.ts"
import { WorkspaceId } from "../../contract/Ids.ts"
import { ForbiddenResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

const fields = {
  id: WorkspaceId,
  name: Schema.String,
  organization: Schema.Struct({ id: Schema.String, name: Schema.String })
}

export class Workspace extends Struct<Workspace>("Workspace")(fields) {}

/** A new workspace with its first key, whose text is shown only here. */
export class WorkspaceCreated extends Struct<WorkspaceCreated>("WorkspaceCreated")({
  ...fields,
  api_key: ApiKeyCreated
}) {}

export const get = /* @__PURE__ */ Endpoint.get("getWorkspace", "/workspaces/:workspace_id", () => ({
  params: { workspace_id: WorkspaceId },
  success: Workspace,
  error: NotFoundResponse
}))

export const create = /* @__PURE__ */ Endpoint.post("createWorkspace", "/workspaces", () => ({
  extension: true,
  payload: Schema.Struct({ name: Name }),
  success: WorkspaceCreated,
  error: [InvalidRequestResponse, ForbiddenResponse]
}))
