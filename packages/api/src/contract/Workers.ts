/**
 * Workers: how they are linked to a workspace. (Reading and changing workers and groups comes with their resource.)
 */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { Timestamp } from "./Common.ts"
import { WorkspaceId } from "./Ids.ts"
import { InvalidRequestResponse } from "./Responses.ts"

/** A token with which one worker links itself; `link_token` is shown only here. */
export const LinkToken = Schema.Struct({ id: Schema.String, expires_at: Timestamp, link_token: Schema.String })
export interface LinkToken extends Schema.Schema.Type<typeof LinkToken> {}

/** Extension: makes a link token. Without `expires_at` it is valid for one hour. */
export const createLinkToken = HttpApiEndpoint.post("createWorkerLinkToken", "/workspaces/:workspace_id/workers/link-tokens", {
  params: { workspace_id: WorkspaceId },
  payload: [
    Schema.Struct({
      expires_at: Schema.optionalKey(
        Timestamp.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/))
      )
    }),
    Schema.Undefined
  ],
  success: LinkToken,
  error: InvalidRequestResponse
}).annotate(RequiredPermission, "Workers.write_workers")

export const Workers = HttpApiGroup.make("workers")
  .add(createLinkToken)
  .middleware(WorkspaceAuthorization)
