/** Process runs: a process that runs on one or more work items. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { Audited, entry } from "./Auditing.ts"
import { IntegrationAuthorization, RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { ExtensionKeys, MembersOfBody, summary } from "./Documentation.ts"
import { ProcessId, WorkspaceId } from "./Ids.ts"
import { ConflictResponse, InvalidRequestResponse, NotFoundResponse, PayloadTooLargeResponse } from "./Responses.ts"
import { endpoint, type EndpointOf } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/ProcessRuns.ts"
import { Started, StartRequest } from "../internal/endpoints/ProcessRuns.ts"

export * from "../internal/endpoints/ProcessRuns.ts"

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a process run").annotate(
  RequiredPermission,
  "Processes.read_processes"
)

export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List process runs, newest first"
).annotate(RequiredPermission, "Processes.read_runs")

export const stop: EndpointOf<typeof declared.stop> = endpoint(declared.stop, "Stop a process run")
  .annotate(RequiredPermission, "Processes.trigger_processes")
  .annotate(Audited, entry("process_run"))

/** Extension: as cheap for a run of many items as for one of few. */
export const getSteps: EndpointOf<typeof declared.getSteps> = endpoint(
  declared.getSteps,
  "Get the steps of a run with the numbers of their items"
).annotate(RequiredPermission, "Processes.read_runs")

/** Irreversible. Only an ended run can be deleted. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete an ended process run")
  .annotate(RequiredPermission, "Processes.trigger_processes")
  .annotate(Audited, entry("process_run"))

/**
 * Extension: starts a new run of the same process, as it is now, with the same inputs: the items of the first step of the
 * old run that still exist, with their payloads and files as they are now. 409 when the old run has not ended, or none of
 * them exist.
 */
export const startAgain: EndpointOf<typeof declared.startAgain> = endpoint(
  declared.startAgain,
  "Start a new run with the inputs of an ended one"
)
  .annotate(RequiredPermission, "Processes.trigger_processes")
  .annotate(Audited, entry("process_run"))

const [, , , withDefault] = StartRequest.members
const withItems = 'work_item_ids with "type": "with_work_item_ids"'
const withNewItems = 'payloads with "type": "with_payloads"'

/** What to write for a member that the start of a run does not have. */
const remedyOfStart = (name: string) =>
  /item|^ids?$/i.test(name)
    ? `write ${withItems}`
    : /payload|input/i.test(name)
      ? `write ${withNewItems}, or "type": "with_inputs" for the items of the queue`
      : `write ${withItems}, or ${withNewItems}, or leave it out`

export const start: EndpointOf<typeof declared.start> = endpoint(declared.start, "Start a process run")
  .annotate(RequiredPermission, "Processes.trigger_processes")
  .annotate(ExtensionKeys, ["priority"])
  .annotate(MembersOfBody, { known: Object.keys(withDefault.fields), remedy: remedyOfStart })
  .annotate(Audited, entry("process_run"))

/**
 * Starts a run for callers that control neither headers nor body: the bare key is in the query, and the whole body is
 * the payload of the one work item. With `with_handshake=asana` a request that carries `X-Hook-Secret` starts nothing;
 * the response has that header and `{"started": false}`.
 */
export const startFromIntegration = HttpApiEndpoint.post(
  "startProcessRunFromIntegration",
  "/workspaces/:workspace_id/processes/:process_id/process-runs-integrations",
  {
    params: { workspace_id: WorkspaceId, process_id: ProcessId },
    query: { with_handshake: Schema.optional(Schema.Literal("asana")) },
    headers: { "x-hook-secret": Schema.optional(Schema.String) },
    payload: [Schema.Json, Schema.Undefined],
    success: HttpApiSchema.WithHeaders(Started, { "x-hook-secret": Schema.optional(Schema.String) }),
    error: [InvalidRequestResponse, NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  }
)
  .annotate(RequiredPermission, "Processes.trigger_processes")
  .annotateMerge(summary("Start a process run from an integration"))
  .annotate(Audited, entry("process_run"))

export const ProcessRuns = /* @__PURE__ */ HttpApiGroup.make("processRuns")
  .add(get, getSteps, list, start, startAgain, stop, remove)
  .middleware(WorkspaceAuthorization)
  .add(startFromIntegration.middleware(IntegrationAuthorization))
