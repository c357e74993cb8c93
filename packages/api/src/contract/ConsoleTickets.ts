/** Tickets for the console. An extension: the console of the hosted service is a website of its own. */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, entry } from "./Auditing.ts"
import { WorkspaceAuthorization } from "./Authorization.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { endpoint, type EndpointOf, type Group } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/ConsoleTickets.ts"

export * from "../internal/endpoints/ConsoleTickets.ts"

/** Extension. The session has the permissions of the caller's key, and ends with it. */
export const create: EndpointOf<typeof declared.create> = endpoint(
  declared.create,
  "Create a ticket that opens a session of the console"
)
  .annotate(ReturnsCredential, true)
  .annotate(Audited, entry("console_ticket"))

export const ConsoleTickets: Group<"consoleTickets", typeof create, WorkspaceAuthorization> = HttpApiGroup.make(
  "consoleTickets"
)
  .add(create)
  .middleware(WorkspaceAuthorization)
