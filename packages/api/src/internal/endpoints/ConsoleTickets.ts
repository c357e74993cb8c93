/** Tickets for the console. An extension: the console of the hosted service is a website of its own. */
import * as Schema from "effect/Schema"
import { Timestamp } from "../../contract/Common.ts"
import { WorkspaceId } from "../../contract/Ids.ts"
import { ForbiddenResponse, InvalidRequestResponse } from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

/** A ticket; it opens one session of the console. */
export class ConsoleTicket extends Struct<ConsoleTicket>("ConsoleTicket")({
  ticket: Schema.RedactedFromValue(Schema.String),
  /** The console with the ticket in its fragment, which browsers do not send. */
  url: Schema.RedactedFromValue(Schema.String),
  expires_at: Timestamp
}) {}

export const create = /* @__PURE__ */ Endpoint.post(
  "createConsoleTicket",
  "/workspaces/:workspace_id/console-tickets",
  () => ({
    extension: true,
    params: { workspace_id: WorkspaceId },
    payload: Schema.Struct({
      /** How long the ticket is valid, 10 to 600 seconds; default 60. */
      lifetime_seconds: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 10, maximum: 600 })))
    }),
    success: ConsoleTicket,
    error: [InvalidRequestResponse, ForbiddenResponse]
  })
)
