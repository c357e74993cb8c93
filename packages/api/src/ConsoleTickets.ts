/**
 * Tickets that open a session of the console in a browser. An extension of the hosted service's interface.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { InvalidRequest } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/ConsoleTickets.ts"
import { names, refusing } from "./internal/calls/Known.ts"
import { inWorkspace, returning } from "./internal/calls/Workspace.ts"

export type { ConsoleTicket } from "./contract/ConsoleTickets.ts"

const call = { create: returning<contract.ConsoleTicket, InvalidRequest>()(inWorkspace(contract.create)) }

/** How long a ticket is valid. */
export interface TicketOptions {
  /** 10 seconds to 10 minutes, default 1 minute. */
  readonly lifetime?: Duration.Input | undefined
}

/**
 * Creates a ticket for one session, which has the permissions of the caller's key and ends with it. It is valid for 60 seconds
 * unless `lifetime` says otherwise: from 10 seconds to 10 minutes. Fails with `Forbidden` for the token of a run.
 *
 * ```ts
 * import * as ConsoleTickets from "@signalbox/api/ConsoleTickets"
 * import * as Console from "effect/Console"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * export const program = Effect.gen(function* () {
 *   const { url } = yield* ConsoleTickets.create({ lifetime: "5 minutes" })
 *   yield* Console.log(Redacted.value(url))
 * })
 * ```
 */
export const create = Effect.fn("ConsoleTickets.create")(
  ({ lifetime = "1 minute" }: TicketOptions = {}) =>
    call.create({ payload: { lifetime_seconds: Math.round(Duration.toSeconds(lifetime)) } }),
  refusing("consoleTickets.create", { 0: names<TicketOptions>("option", { lifetime: 1 }) })
)
