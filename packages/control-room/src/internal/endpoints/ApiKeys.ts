/**
 * API keys over HTTP. A key that manages keys may revoke any key of its workspace, including itself, so that a leaked
 * key can always be revoked by whatever key is at hand.
 */
import { CurrentPrincipal, type Permission } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { ApiKeys } from "../store/access/ApiKeys.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { forbidden, notFound } from "../edge/Failures.ts"
import { Pagination } from "../edge/Pagination.ts"

/**
 * Every key that manages keys may grant it: the first key of a workspace lacks it, so no key could have it otherwise.
 */
const grantableByAll: Permission = "Vault.read_secret_values"

export const layer = Endpoints.group(
  "apiKeys",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* ApiKeys
    const { page } = yield* Pagination
    return handlers.handleAll({
      listApiKeys: ({ params, query, request }) =>
        page(request, query, (from) => store.list(params.workspace_id, from), Effect.succeed),
      createApiKey: Effect.fnUntraced(function* ({ params, payload }) {
        const maker = yield* CurrentPrincipal
        const own = maker._tag === "ApiKey" ? maker.permissions : new Set<Permission>()
        const missing = payload.permissions.filter(
          (permission) => permission !== grantableByAll && !own.has(permission)
        )
        if (missing.length > 0) {
          return yield* forbidden(
            `permissions: a key can grant only permissions that it has, and this one lacks ${[...new Set(missing)].join(", ")}`
          )
        }
        const { key, view } = yield* store.create(params.workspace_id, payload.name, payload.permissions)
        return { ...view, key: Redacted.make(key) }
      }),
      deleteApiKey: Effect.fnUntraced(function* ({ params }) {
        if (!(yield* store.remove(params.workspace_id, params.api_key_id))) {
          return yield* notFound("API key", params.api_key_id)
        }
        return { id: params.api_key_id, deleted: true } as const
      })
    })
  })
)
