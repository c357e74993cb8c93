/**
 * Work items: units of input and output data of processes, JSON and files.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry, itemEntry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { ExtensionKeys } from "./Documentation.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { newOrderFields } from "./Order.ts"
import { SentAsStored } from "./Responses.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/WorkItems.ts"

export * from "../internal/endpoints/WorkItems.ts"

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get a work item with payload and files")
  .annotate(RequiredPermission, "Processes.read_work_items")
  .annotate(SentAsStored, true)

export const list: EndpointOf<typeof declared.list> = endpoint(declared.list, "List work items, newest first")
  .annotate(RequiredPermission, "Processes.read_work_items")
  .annotate(SentAsStored, true)

/**
 * Extensions: the order of the item, and a `reference`, which one open item of a process may have: new, pending, in
 * progress or failed. With `when_reference_exists: "join"` the open item is returned as it is.
 */
export const create: EndpointOf<typeof declared.create> = endpoint(
  declared.create,
  "Create a work item in the queue of a process"
)
  .annotate(RequiredPermission, "Processes.write_work_items")
  .annotate(SentAsStored, true)
  .annotate(ExtensionKeys, [...Object.keys(newOrderFields), "reference"])
  .annotate(Audited, itemEntry)

/**
 * Extension: makes up to 1,000 work items, all or none; their ids in the order of the payloads. `references` has one for
 * each payload, null for none; with `when_reference_exists: "join"` the id is that of the open item that has it.
 */
export const createMany: EndpointOf<typeof declared.createMany> = endpoint(
  declared.createMany,
  "Create many work items in the queue of a process"
)
  .annotate(RequiredPermission, "Processes.write_work_items")
  .annotate(Audited, itemEntry)

/** Creates the form with which one file is uploaded. A file of the same name is replaced. */
export const createFile: EndpointOf<typeof declared.createFile> = endpoint(
  declared.createFile,
  "Get the form with which a file is attached to a work item"
)
  .annotate(RequiredPermission, "Processes.write_work_items")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, itemEntry)

/** Extension: with `previous_payload` it is a conflict when the item has another payload by then. */
export const updatePayload: EndpointOf<typeof declared.updatePayload> = endpoint(
  declared.updatePayload,
  "Replace the payload of a work item"
)
  .annotate(RequiredPermission, "Processes.write_work_items")
  .annotate(ExtensionKeys, ["previous_payload"])
  .annotate(Audited, itemEntry)

/**
 * Extension: the values of secret fields of a payload, by pointers of `masked`. It is an entry of the audit, without the values. Keys with
 * the permission read them without it.
 */
export const reveal: EndpointOf<typeof declared.reveal> = endpoint(
  declared.reveal,
  "Return secret fields of the payload of a work item"
)
  .annotate(RequiredPermission, "Processes.read_sensitive")
  .annotate(ReturnsCredential, true)
  .annotate(Audited, { ...entry("work_item"), isOfRequest: true })

/** One operation on 1 to 10,000 items, all or none. */
export const batch: EndpointOf<typeof declared.batch> = endpoint(
  declared.batch,
  "Retry, delete or settle work items, all or none"
)
  .annotate(RequiredPermission, "Processes.write_work_items")
  .annotate(Audited, entry("work_item"))

/** Extension: the last hours (default 24, at most 168), oldest first; the last of them is the current one. */
export const throughput: EndpointOf<typeof declared.throughput> = endpoint(
  declared.throughput,
  "Count the work items of each hour by what has become of them"
).annotate(RequiredPermission, "Processes.read_work_items")

export const WorkItems: Group<
  "workItems",
  | typeof get
  | typeof list
  | typeof create
  | typeof createMany
  | typeof createFile
  | typeof updatePayload
  | typeof reveal
  | typeof batch
  | typeof throughput,
  WorkspaceAuthorization
> = /* @__PURE__ */ HttpApiGroup.make("workItems")
  .add(get, list, create, createMany, createFile, updatePayload, reveal, batch, throughput)
  .middleware(WorkspaceAuthorization)
