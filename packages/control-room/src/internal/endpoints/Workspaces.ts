/**
 * Workspaces over HTTP. A key that manages keys may create another workspace: it starts empty, and that key gives no
 * access to it.
 */
import { CurrentPrincipal, firstKeyPermissions } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { ApiKeys } from "../store/access/ApiKeys.ts"
import { Database } from "../store/database/Database.ts"
import { Workspaces } from "../store/access/Workspaces.ts"
import * as Actor from "../edge/Actor.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { forbidden, orNotFound } from "../edge/Failures.ts"

/** `mayCreate`: whether further workspaces may be created over HTTP. */
export const layer = (mayCreate: boolean) =>
  Endpoints.group(
    "workspaces",
    Effect.fnUntraced(function* (handlers) {
      const store = yield* Workspaces
      const apiKeys = yield* ApiKeys
      const actor = yield* Actor.make
      const { transaction } = yield* Database
      return handlers.handleAll({
        getWorkspace: ({ params }) => orNotFound("workspace", params.workspace_id, store.get(params.workspace_id)),
        createWorkspace: Effect.fnUntraced(function* ({ payload }) {
          if (!mayCreate) {
            return yield* forbidden("this control room does not allow new workspaces; ask its operator for one")
          }
          const own = yield* store.get((yield* CurrentPrincipal).workspaceId)
          const workspace = yield* store.create(payload.name, own?.organization)
          const { key, view } = yield* apiKeys.create(workspace.id, "first key", firstKeyPermissions, {
            createdBy: yield* actor
          })
          return { ...workspace, api_key: { ...view, key: Redacted.make(key) } }
        }, transaction)
      })
    })
  )
