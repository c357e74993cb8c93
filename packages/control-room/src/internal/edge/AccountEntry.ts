/** A person signs in, however: their session, and that they came in the audit of the room and of each workspace of theirs. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { Account } from "../store/access/Accounts.ts"
import { Memberships } from "../store/access/Memberships.ts"
import { roomChain } from "../store/audit/AuditEntries.ts"
import { Database } from "../store/database/Database.ts"
import * as SessionEntries from "./SessionEntries.ts"
import { type From, SignIn } from "./SignIn.ts"

export class AccountEntry extends Context.Service<
  AccountEntry,
  {
    /** Opens a session of the account; returns its text. */
    readonly enter: (
      request: HttpServerRequest.HttpServerRequest,
      account: Account,
      from: From
    ) => Effect.Effect<string>
  }
>()("@signalbox/control-room/edge/AccountEntry") {
  static readonly layer = Layer.effect(
    AccountEntry,
    Effect.gen(function* () {
      const memberships = yield* Memberships
      const signIn = yield* SignIn
      const { transaction } = yield* Database
      const { opened } = yield* SessionEntries.make
      return AccountEntry.of({
        enter: Effect.fnUntraced(function* (request, { id }, from) {
          const text = yield* signIn.enter(id, from)
          const workspaces = (yield* memberships.of(id)).map(({ workspace }) => workspace.id)
          for (const chain of [roomChain, ...workspaces]) yield* opened(request, chain, { type: "user", id }, text)
          return text
        }, transaction)
      })
    })
  )
}
