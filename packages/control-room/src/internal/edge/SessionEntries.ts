/** Entries of the audit for sessions of the console that are opened. */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { AuditEntries } from "../store/audit/AuditEntries.ts"
import * as Tokens from "../vault/Tokens.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { ResponseHeaders } from "./ResponseHeaders.ts"

export const make = Effect.gen(function* () {
  const audit = yield* AuditEntries
  const clients = yield* ClientAddress
  /** In the transaction that opens the session; `token`: its text. */
  return Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    workspaceId: WorkspaceId,
    actor: { readonly type: "api_key" | "user"; readonly id: string },
    token: string
  ) {
    const headers = yield* ResponseHeaders
    yield* audit.write({
      workspaceId,
      actor,
      origin: {
        sessionId: Tokens.parse(token)?.id ?? null,
        address: clients.address(request),
        requestId: headers["x-request-id"] ?? null
      },
      action: "openSession",
      resource: { type: actor.type, id: actor.id, name: null },
      before: null,
      after: null
    })
  })
})
