/** Keys of the workspace. An extension: keys of the hosted service are managed in a console. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { Permission, RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { Deleted, listQuery, Name, OpenEnum, Page, Timestamp } from "./Common.ts"
import { extension } from "./Documentation.ts"
import { ApiKeyId, WorkspaceId } from "./Ids.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { ForbiddenResponse, InvalidRequestResponse, NotFoundResponse } from "./Responses.ts"

const fields = {
  id: ApiKeyId,
  name: Schema.String,
  permissions: Schema.Array(OpenEnum(Permission.literals)),
  created_at: Timestamp
}

/** A key without the key itself. */
export const ApiKey = Schema.Struct(fields).annotate({ identifier: "ApiKey" })
export interface ApiKey extends Schema.Schema.Type<typeof ApiKey> {}

/** A new key; `key` is shown only here. */
export const ApiKeyCreated = Schema.Struct({ ...fields, key: Schema.RedactedFromValue(Schema.String) }).annotate({
  identifier: "ApiKeyCreated"
})
export interface ApiKeyCreated extends Schema.Schema.Type<typeof ApiKeyCreated> {}

/** Extension. */
export const list = HttpApiEndpoint.get("listApiKeys", "/workspaces/:workspace_id/api-keys", {
  params: { workspace_id: WorkspaceId },
  query: listQuery,
  success: Page(ApiKey),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Workspace.manage_api_keys")
  .annotateMerge(extension("List the API keys, newest first"))

/**
 * Extension. A permission that the caller's own key lacks is a 403, except `Vault.read_secret_values`, which every key
 * that manages keys may grant.
 */
export const create = HttpApiEndpoint.post("createApiKey", "/workspaces/:workspace_id/api-keys", {
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({
    name: Name,
    permissions: Schema.Array(Permission).check(Schema.isBetweenLength(1, 100))
  }),
  success: ApiKeyCreated,
  error: [InvalidRequestResponse, ForbiddenResponse]
})
  .annotate(RequiredPermission, "Workspace.manage_api_keys")
  .annotate(ReturnsCredential, true)
  .annotateMerge(extension("Create an API key"))

/** Extension. The key is refused from then on. Irreversible. */
export const remove = HttpApiEndpoint.delete("deleteApiKey", "/workspaces/:workspace_id/api-keys/:api_key_id", {
  params: { workspace_id: WorkspaceId, api_key_id: ApiKeyId },
  success: Deleted(ApiKeyId),
  error: NotFoundResponse
})
  .annotate(RequiredPermission, "Workspace.manage_api_keys")
  .annotateMerge(extension("Revoke an API key"))

export const ApiKeys = /* @__PURE__ */ HttpApiGroup.make("apiKeys")
  .add(list, create, remove)
  .middleware(WorkspaceAuthorization)
