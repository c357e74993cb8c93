/** Outputs of process runs: what the last step created. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { SentAsStored } from "./Responses.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Outputs.ts"

export * from "../internal/endpoints/Outputs.ts"

/** Oldest first. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the outputs of a process run, oldest first"
)
  .annotate(RequiredPermission, "Processes.read_work_items")
  .annotate(SentAsStored, true)

export const Outputs: Group<"outputs", typeof list, WorkspaceAuthorization> = /* @__PURE__ */ HttpApiGroup.make(
  "outputs"
)
  .add(list)
  .middleware(WorkspaceAuthorization)
