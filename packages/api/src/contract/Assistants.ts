/**
 * Assistants: named bindings to a task of a task package, for people to run.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { RequiredPermission, WorkspaceAuthorization } from "./Authorization.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/Assistants.ts"

export * from "../internal/endpoints/Assistants.ts"

export const get: EndpointOf<typeof declared.get> = endpoint(declared.get, "Get an assistant").annotate(
  RequiredPermission,
  "Assistants.read_assistants"
)

export const list: EndpointOf<typeof declared.list> = endpoint(
  declared.list,
  "List the assistants, newest first"
).annotate(RequiredPermission, "Assistants.read_assistants")

/** The name is unique in the workspace; a package that does not exist is a 404. */
export const create: EndpointOf<typeof declared.create> = endpoint(declared.create, "Create an assistant")
  .annotate(RequiredPermission, "Assistants.write_assistants")
  .annotate(Audited, entry("assistant"))

export const Assistants: Group<"assistants", typeof get | typeof list | typeof create, WorkspaceAuthorization> =
  /* @__PURE__ */ HttpApiGroup.make("assistants").add(get, list, create).middleware(WorkspaceAuthorization)
