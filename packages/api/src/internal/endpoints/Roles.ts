/** Roles of the members of a workspace: sets of permissions. An extension. */
import * as Schema from "effect/Schema"
import { Permission } from "./Permissions.ts"
import { OpenEnum } from "../../contract/Common.ts"
import { WorkspaceId } from "../../contract/Ids.ts"
import {
  ConflictResponse,
  ForbiddenResponse,
  InvalidRequestResponse,
  NotFoundResponse
} from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/** The name of a role, unique in the workspace: 1 to 63 letters, digits and `. _ -`. */
export const RoleName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, {
    message: "Expected a name of at most 63 letters, digits and . _ - that begins with a letter or digit"
  })
)

export class Role extends Struct<Role>("Role")({
  name: Schema.String,
  permissions: Schema.Array(OpenEnum(Permission.literals)),
  /** Whether every workspace has it; it cannot be changed. */
  built_in: Schema.Boolean
}) {}

const path = "/workspaces/:workspace_id/roles"
const one = `${path}/:role_name` as const
/** Of a role that exists, or by the rules of `RoleName`. */
const params = { workspace_id: WorkspaceId, role_name: Schema.String }
const permissions = Schema.Array(Permission).check(Schema.isBetweenLength(1, 100))

export const list = /* @__PURE__ */ Endpoint.get("getRoles", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  success: Schema.Struct({ data: Schema.Array(Role) })
}))

export const put = /* @__PURE__ */ Endpoint.post("putRole", one, () => ({
  extension: true,
  params,
  payload: Schema.Struct({ permissions }),
  success: Role,
  error: [InvalidRequestResponse, ConflictResponse, ForbiddenResponse]
}))

export const remove = /* @__PURE__ */ Endpoint.delete("deleteRole", one, () => ({
  extension: true,
  params,
  success: Schema.Struct({ name: Schema.String, deleted: Schema.Literal(true) }),
  error: [NotFoundResponse, ConflictResponse, ForbiddenResponse]
}))
