/** Tickets for the console over HTTP. */
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Endpoints from "../edge/Endpoints.ts"
import { forbidden } from "../edge/Failures.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { ConsoleSessions } from "../store/access/ConsoleSessions.ts"

/** Long enough for a browser to start. */
const defaultSeconds = 60

export const layer = Endpoints.group(
  "consoleTickets",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* ConsoleSessions
    const publicUrl = yield* PublicUrl
    return handlers.handleAll({
      createConsoleTicket: Effect.fnUntraced(function* ({ params, payload }) {
        const principal = yield* CurrentPrincipal
        if (principal._tag !== "ApiKey") return yield* forbidden("tickets of the console are created with a key")
        // Or a session would make its own successors, and never end.
        if (principal.sessionId !== null) {
          return yield* forbidden("tickets of the console are created with a key, not in a session of the console")
        }
        const lifetime = Duration.seconds(payload.lifetime_seconds ?? defaultSeconds)
        const { expiresAt, ticket } = yield* sessions.createTicket(params.workspace_id, principal.keyId, lifetime)
        return {
          ticket: Redacted.make(ticket),
          url: Redacted.make(`${publicUrl}/console/#ticket=${ticket}`),
          expires_at: expiresAt
        }
      })
    })
  })
)
