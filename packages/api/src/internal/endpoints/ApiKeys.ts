/** Keys of the workspace. An extension: keys of the hosted service are managed in a console. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Permission } from "./Permissions.ts"
import { Deleted, listQuery, Name, OpenEnum, Page, Timestamp, TimestampInput } from "../../contract/Common.ts"
import { ApiKeyId, UserId, WorkspaceId } from "../../contract/Ids.ts"
import { ForbiddenResponse, InvalidRequestResponse, NotFoundResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/** A user, or a key. */
export class KeyAuthor extends Struct<KeyAuthor>()({
  type: OpenEnum(["api_key", "user"]),
  id: Schema.String,
  name: Schema.String
}) {}

const fields = {
  id: ApiKeyId,
  name: Schema.String,
  permissions: Schema.Array(OpenEnum(Permission.literals)),
  created_at: Timestamp,
  /** Who created it; null: a command on the room's machine, or a room of an older version. The name is that of then. */
  created_by: Schema.NullOr(KeyAuthor).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** The user with whom the key ends, and who it never can do more than; null: of the workspace. */
  owner: Schema.NullOr(Schema.Struct({ id: UserId, login: Schema.String })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(null))
  ),
  /** From then on it is refused; null: never. */
  expires_at: Schema.NullOr(Timestamp).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** To the minute; null: never used, or not since the room was updated. */
  last_used_at: Schema.NullOr(Timestamp).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}

/** A key without the key itself. */
export class ApiKey extends Struct<ApiKey>("ApiKey")(fields) {}

/** A new key; `key` is shown only here. */
export class ApiKeyCreated extends Struct<ApiKeyCreated>("ApiKeyCreated")({
  ...fields,
  key: Schema.RedactedFromValue(Schema.String)
}) {}

export const list = /* @__PURE__ */ Endpoint.get("listApiKeys", "/workspaces/:workspace_id/api-keys", () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  query: listQuery,
  success: Page(ApiKey),
  error: InvalidRequestResponse
}))

export const create = /* @__PURE__ */ Endpoint.post("createApiKey", "/workspaces/:workspace_id/api-keys", () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({
    name: Name,
    permissions: Schema.Array(Permission).check(Schema.isBetweenLength(1, 100)),
    owner: Schema.optionalKey(Schema.NullOr(Schema.Struct({ id: UserId }))),
    expires_at: Schema.optionalKey(TimestampInput)
  }),
  success: ApiKeyCreated,
  error: [InvalidRequestResponse, ForbiddenResponse, NotFoundResponse]
}))

export const update = /* @__PURE__ */ Endpoint.post(
  "updateApiKey",
  "/workspaces/:workspace_id/api-keys/:api_key_id",
  () => ({
    extension: true,
    params: { workspace_id: WorkspaceId, api_key_id: ApiKeyId },
    payload: Schema.Struct({ owner: Schema.NullOr(Schema.Struct({ id: UserId })) }),
    success: ApiKey,
    error: [InvalidRequestResponse, NotFoundResponse, ForbiddenResponse]
  })
)

export const remove = /* @__PURE__ */ Endpoint.delete(
  "deleteApiKey",
  "/workspaces/:workspace_id/api-keys/:api_key_id",
  () => ({
    extension: true,
    params: { workspace_id: WorkspaceId, api_key_id: ApiKeyId },
    success: Deleted(ApiKeyId),
    error: NotFoundResponse
  })
)
