/**
 * Processes: named definitions made of steps.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Processes.ts"

export * from "../internal/endpoints/Processes.ts"

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a process").annotate(
  RequiredPermission,
  "Processes.read_processes"
)

export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the processes, newest first"
).annotate(RequiredPermission, "Processes.read_processes")

/** Extension: creates a process. The name is unique in the workspace. */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create a process")
  .annotate(RequiredPermission, "Processes.write_processes")
  .annotate(Audited, entry("process"))

/**
 * Extension: replaces the definition. A step whose name does not change keeps its id; runs keep the steps they started
 * with. With a `revision`, a definition that was changed since it was read is a 409.
 */
export const update: EndpointOf<typeof declared.update> = endpoint(
  declared.update,
  "Replace the definition of a process"
)
  .annotate(RequiredPermission, "Processes.write_processes")
  .annotate(Audited, entry("process"))

/** Extension: the whole definition. */
export const getDefinition: EndpointOf<typeof declared.getDefinition> = endpoint(
  declared.getDefinition,
  "Get the definition of a process"
).annotate(RequiredPermission, "Processes.read_processes")

/** Extension: what waits for limits of a process, and what they count now; at most 100 values, those that wait longest. */
export const getLimits: EndpointOf<typeof declared.getLimits> = endpoint(
  declared.getLimits,
  "List what waits for the limits of a process"
).annotate(RequiredPermission, "Processes.read_work_items")

/** Extension. Irreversible. A process with a live run or waiting items is a 409. */
export const remove: EndpointOf<typeof declared.remove> = endpoint(declared.remove, "Delete a process")
  .annotate(RequiredPermission, "Processes.write_processes")
  .annotate(Audited, entry("process"))

export const Processes: Group<
  "processes",
  typeof get | typeof list | typeof create | typeof update | typeof getDefinition | typeof getLimits | typeof remove,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("processes")
  .add(get, list, create, update, getDefinition, getLimits, remove)
  .middleware(WorkspaceAuthorization)
