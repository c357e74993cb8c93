/**
 * Disables accounts that sign in with a provider alone and have not for a long time: who has left is no longer let in by the provider, and
 * the keys that they own must not outlive them. On every node, at its start and every hour.
 */
import type { UserId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { steady } from "../background/BackgroundTask.ts"
import { Accounts } from "../store/access/Accounts.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { Identities } from "../store/access/Identities.ts"
import { Memberships } from "../store/access/Memberships.ts"
import { AuditEntries } from "../store/audit/AuditEntries.ts"
import { Database } from "../store/database/Database.ts"
import { RoomState } from "../store/room/RoomState.ts"

const defaultAge: Duration.Input = "30 days"

export class StaleAccounts extends Context.Service<
  StaleAccounts,
  {
    /** Disables the accounts whose time is over now. */
    readonly tick: Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/StaleAccounts") {
  /** `age`: how long an account may be without a sign-in. */
  static readonly layer = (age = defaultAge) =>
    Layer.effect(
      StaleAccounts,
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const audit = yield* AuditEntries
        const identities = yield* Identities
        const memberships = yield* Memberships
        const sessions = yield* AccountSessions
        const { millis, transaction } = yield* Database
        const { whenRunning } = yield* RoomState
        const lifetime = Duration.toMillis(Duration.fromInputUnsafe(age))

        /** The last who can let others in stays, in the room and in each workspace. */
        const isLast = Effect.fnUntraced(function* (id: UserId) {
          const account = yield* accounts.find(id)
          if (account?.manages_room === true && (yield* accounts.otherManagers(id)) === 0) return true
          return (yield* memberships.onlyIn(id, "admin")).length > 0
        })

        const disable = Effect.fnUntraced(function* (id: UserId) {
          yield* accounts.update(id, { disabled: true })
          yield* sessions.voidLink(id)
          yield* sessions.end(id, { except: null })
          const account = yield* accounts.find(id)
          for (const { workspace } of yield* memberships.of(id)) {
            yield* audit.write({
              workspaceId: workspace.id,
              actor: { type: "system", id: null },
              action: "updateUser",
              resource: { type: "user", id, name: account?.login ?? null },
              before: { disabled: false },
              after: { disabled: true }
            })
          }
          yield* Effect.logWarning(
            "an account was disabled, since it has not signed in with its provider for too long"
          ).pipe(Effect.annotateLogs({ account: id }))
        })

        const tick = Effect.gen(function* () {
          const since = new Date((yield* millis) - lifetime).toISOString()
          if ((yield* identities.stale(since)).length === 0) return
          yield* accounts.lock
          // Again, now that nobody else changes accounts.
          let disabled = 0
          for (const id of yield* identities.stale(since)) {
            if (yield* isLast(id)) continue
            disabled++
            yield* disable(id)
          }
          if (disabled > 0) yield* memberships.changed
        }).pipe(transaction, whenRunning, Effect.withSpan("StaleAccounts.tick"))

        return StaleAccounts.of({ tick })
      })
    )

  static readonly layerTicking = Layer.effectDiscard(
    Effect.gen(function* () {
      const { tick } = yield* StaleAccounts
      yield* tick.pipe(
        steady("disabling accounts that sign in no more"),
        Effect.repeat(Schedule.spaced("1 hour")),
        Effect.forkScoped
      )
    })
  )
}
