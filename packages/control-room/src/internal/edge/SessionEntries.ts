/** Entries of the audit for sessions of the console that are opened, and for what people change of their own account. */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { Fields } from "../engine/AuditChanges.ts"
import type { Account } from "../store/access/Accounts.ts"
import { AuditEntries, roomChain } from "../store/audit/AuditEntries.ts"
import * as Tokens from "../vault/Tokens.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { ResponseHeaders } from "./ResponseHeaders.ts"

export const make = Effect.gen(function* () {
  const audit = yield* AuditEntries
  const clients = yield* ClientAddress
  const originOf = Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    sessionId: string | null
  ) {
    const headers = yield* ResponseHeaders
    return { sessionId, address: clients.address(request), requestId: headers["x-request-id"] ?? null }
  })
  return {
    /** In the transaction that opens the session; `token`: its text. */
    opened: Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      workspaceId: WorkspaceId | typeof roomChain,
      actor: { readonly type: "api_key" | "user"; readonly id: string },
      token: string
    ) {
      yield* audit.write({
        workspaceId,
        actor,
        origin: yield* originOf(request, Tokens.parse(token)?.id ?? null),
        action: "openSession",
        resource: { type: actor.type, id: actor.id, name: null },
        before: null,
        after: null
      })
    }),
    /** In the transaction of what somebody changes of their own account. */
    changed: Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      { id, login }: Pick<Account, "id" | "login">,
      sessionId: string | null,
      action: string,
      after: Fields | null = null
    ) {
      yield* audit.write({
        workspaceId: roomChain,
        actor: { type: "user", id },
        origin: yield* originOf(request, sessionId),
        action,
        resource: { type: "user", id, name: login },
        before: null,
        after
      })
    })
  }
})
