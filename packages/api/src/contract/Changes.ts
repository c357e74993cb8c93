/** Hints that something changed, as a stream. An extension: the hosted service has to be polled. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { WorkspaceAuthorization } from "./Authorization.ts"
import { extension } from "./Documentation.ts"
import { WorkspaceId } from "./Ids.ts"
import { InvalidRequestResponse } from "./Responses.ts"
import type { Group } from "../internal/endpoints/HttpApi.ts"

export * from "../internal/endpoints/Changes.ts"

/** Extension. */
export const watch = HttpApiEndpoint.get("watchChanges", "/workspaces/:workspace_id/changes", {
  params: { workspace_id: WorkspaceId },
  query: { after: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))) },
  headers: { "last-event-id": Schema.optional(Schema.String) },
  success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
  error: InvalidRequestResponse
}).annotateMerge(extension("Watch what changes"))

export const Changes: Group<"changes", typeof watch, WorkspaceAuthorization> = /* @__PURE__ */ HttpApiGroup.make(
  "changes"
)
  .add(watch)
  .middleware(WorkspaceAuthorization)
