/** The audit of a workspace: who changed what, from where. An extension. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { extension } from "./Documentation.ts"
import { WorkspaceId } from "./Ids.ts"
import { InvalidRequestResponse } from "./Responses.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Audit.ts"

export * from "../internal/endpoints/Audit.ts"

/** Extension. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the entries of the audit, newest first"
).annotate(RequiredPermission, "Audit.read_audit")

/** Extension: the number and the MAC of the last entry, to be stored elsewhere. */
export const head: EndpointOf<typeof declared.head> = endpoint(declared.head, "Get the end of the audit").annotate(
  RequiredPermission,
  "Audit.read_audit"
)

/** Extension: the entries with their numbers and MACs, oldest first, one JSON object a line. */
export const exportEntries = HttpApiEndpoint.get("exportAudit", "/workspaces/:workspace_id/audit/export", {
  params: { workspace_id: WorkspaceId },
  query: declared.auditFilter,
  success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "application/x-ndjson" })),
  error: InvalidRequestResponse
})
  .annotate(RequiredPermission, "Audit.read_audit")
  .annotate(Audited, entry("audit"))
  .annotateMerge(extension("Export the audit"))

export const Audit: Group<"audit", typeof list | typeof head | typeof exportEntries, WorkspaceAuthorization> =
  /* @__PURE__ */ HttpApiGroup.make("audit").add(list, head, exportEntries).middleware(WorkspaceAuthorization)
