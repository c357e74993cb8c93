/**
 * API keys over HTTP. A key that manages keys may revoke any key of its workspace, including itself, so that a leaked
 * key can always be revoked by whatever key is at hand.
 */
import { CurrentPrincipal, Permission } from "@signalbox/api/contract/Authorization"
import type { UserId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Actor from "../edge/Actor.ts"
import * as Standing from "../edge/Standing.ts"
import { Accounts } from "../store/access/Accounts.ts"
import { ApiKeys } from "../store/access/ApiKeys.ts"
import { Memberships } from "../store/access/Memberships.ts"
import { Database } from "../store/database/Database.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { forbidden, invalidRequest, notFound, orNotFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"

const isPermission = Schema.is(Permission)

export const layer = Endpoints.group(
  "apiKeys",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* ApiKeys
    const actor = yield* Actor.make
    const accounts = yield* Accounts
    const memberships = yield* Memberships
    const { millis, transaction } = yield* Database
    const { page } = yield* Pagination

    const expiryIn = Effect.fnUntraced(function* (given: string | undefined) {
      if (given === undefined) return null
      const time = Date.parse(given)
      if (time <= (yield* millis)) return yield* invalidRequest("expires_at: Expected a time in the future")
      return new Date(time).toISOString()
    })

    /** Nobody owns a key that can do more than they can. */
    const ownerIn = Effect.fnUntraced(function* (
      workspace: WorkspaceId,
      owner: UserId | null,
      permissions: ReadonlyArray<Permission>
    ) {
      if (owner === null) return null
      yield* accounts.lock
      const member = yield* memberships.find(workspace, owner)
      if (member === null) return yield* notFound("user", owner, "owner.id")
      if (member.disabled) return yield* invalidRequest(`owner.id: ${member.login} is disabled and may not sign in`)
      const held = (yield* memberships.permissionsOfRole(workspace, member.role)) ?? new Set()
      const lacking = permissions.filter((permission) => !held.has(permission))
      if (lacking.length === 0) return owner
      return yield* invalidRequest(`owner.id: the role ${member.role} of ${member.login} lacks ${lacking.join(", ")}`)
    })
    return handlers.handleAll({
      listApiKeys: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createApiKey: Effect.fnUntraced(function* ({ params, payload }) {
        const maker = yield* CurrentPrincipal
        const isOlder = maker._tag === "ApiKey" && (yield* store.predatesAccounts(maker.keyId))
        const missing = payload.permissions.filter((permission) => !Standing.mayGrant(maker, permission, isOlder))
        if (missing.length > 0) {
          const [who, this_] = maker._tag === "User" ? ["you", "you lack"] : ["a key", "this one lacks"]
          return yield* forbidden(
            `permissions: ${who} can grant only permissions that ${who === "you" ? "you have" : "it has"}, and ${this_} ${[...new Set(missing)].join(", ")}`
          )
        }
        const expiresAt = yield* expiryIn(payload.expires_at)
        // A person's key ends with them, unless they say otherwise.
        const owner = yield* ownerIn(
          params.workspace_id,
          payload.owner === undefined ? (maker._tag === "User" ? maker.user.id : null) : (payload.owner?.id ?? null),
          payload.permissions
        )
        const { key, view } = yield* store.create(params.workspace_id, payload.name, payload.permissions, {
          owner,
          expiresAt,
          createdBy: yield* actor
        })
        return { ...view, key: Redacted.make(key) }
      }, transaction),
      updateApiKey: Effect.fnUntraced(function* ({ params, payload }) {
        const found = yield* orNotFound(
          "API key",
          params.api_key_id,
          store.find(params.workspace_id, params.api_key_id)
        )
        const permissions = found.permissions.filter(isPermission)
        yield* Standing.covers(yield* CurrentPrincipal, permissions, `the key ${found.name} would be handed over`)
        const owner = yield* ownerIn(params.workspace_id, payload.owner?.id ?? null, permissions)
        yield* store.setOwner(found.id, owner)
        return {
          ...found,
          owner: payload.owner === null ? null : ((yield* store.find(params.workspace_id, found.id))?.owner ?? null)
        }
      }, transaction),
      deleteApiKey: Effect.fnUntraced(function* ({ params }) {
        if (!(yield* store.remove(params.workspace_id, params.api_key_id))) {
          return yield* notFound("API key", params.api_key_id)
        }
        return { id: params.api_key_id, deleted: true } as const
      })
    })
  })
)
