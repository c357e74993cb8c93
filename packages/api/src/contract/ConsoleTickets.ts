/** Tickets for the console. An extension: the console of the hosted service is a website of its own. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { WorkspaceAuthorization } from "./Authorization.ts"
import { Timestamp } from "./Common.ts"
import { extension } from "./Documentation.ts"
import { WorkspaceId } from "./Ids.ts"
import { ReturnsCredential } from "./IdempotencyKeys.ts"
import { ForbiddenResponse, InvalidRequestResponse } from "./Responses.ts"

/** A ticket; it opens one session of the console. */
export const ConsoleTicket = Schema.Struct({
  ticket: Schema.RedactedFromValue(Schema.String),
  /** The console with the ticket in its fragment, which browsers do not send. */
  url: Schema.RedactedFromValue(Schema.String),
  expires_at: Timestamp
}).annotate({ identifier: "ConsoleTicket" })
export interface ConsoleTicket extends Schema.Schema.Type<typeof ConsoleTicket> {}

/** Extension. The session has the permissions of the caller's key, and ends with it. */
export const create = HttpApiEndpoint.post("createConsoleTicket", "/workspaces/:workspace_id/console-tickets", {
  params: { workspace_id: WorkspaceId },
  payload: Schema.Struct({
    /** How long the ticket is valid, 10 to 600 seconds; default 60. */
    lifetime_seconds: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 10, maximum: 600 })))
  }),
  success: ConsoleTicket,
  error: [InvalidRequestResponse, ForbiddenResponse]
})
  .annotate(ReturnsCredential, true)
  .annotateMerge(extension("Create a ticket that opens a session of the console"))

export const ConsoleTickets = HttpApiGroup.make("consoleTickets").add(create).middleware(WorkspaceAuthorization)
