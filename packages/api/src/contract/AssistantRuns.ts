/** Assistant runs: a person runs an assistant on a machine, which reports on it. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry, noEntry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/AssistantRuns.ts"

export * from "../internal/endpoints/AssistantRuns.ts"

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get an assistant run").annotate(
  RequiredPermission,
  "Assistants.read_assistants"
)

/** Runs of one assistant, or of all in the workspace. */
export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List assistant runs, newest first"
).annotate(RequiredPermission, "Assistants.read_assistants")

/** Extension: starts a run, which the caller executes. An assistant whose package has no content is a 409. */
export const start: EndpointOf<typeof declared.start> = endpoint(declared.start, "Start a run of an assistant")
  .annotate(RequiredPermission, "Assistants.run_assistants")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("assistant_run"))

/** Extension: keeps a run alive. An ended run is a 409: stop the task. */
export const heartbeat: EndpointOf<typeof declared.heartbeat> = endpoint(
  declared.heartbeat,
  "Keep an assistant run alive"
)
  .annotate(RequiredPermission, "Assistants.run_assistants")
  .annotate(Audited, noEntry("it changes nothing but when the assistant was last heard of"))

/** Extension: completes a run; `error` null: success. Repeating it changes nothing, another result is a 409. */
export const complete: EndpointOf<typeof declared.complete> = endpoint(declared.complete, "End an assistant run")
  .annotate(RequiredPermission, "Assistants.run_assistants")
  .annotate(Audited, entry("assistant_run"))

export const AssistantRuns: Group<
  "assistantRuns",
  typeof get | typeof list | typeof start | typeof heartbeat | typeof complete,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("assistantRuns")
  .add(get, list, start, heartbeat, complete)
  .middleware(WorkspaceAuthorization)
