/** Who makes the request of an endpoint of the workspace: a person, or a key. */
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import { callerOf } from "./Permissions.ts"
import { ApiKeys } from "../store/access/ApiKeys.ts"

export const make = Effect.map(ApiKeys, ({ nameOf }) =>
  Effect.gen(function* () {
    const principal = yield* CurrentPrincipal
    if (principal._tag === "User") return { type: "user", id: principal.user.id, name: principal.name } as const
    const { id } = callerOf(principal)
    return { type: "api_key", id, name: (yield* nameOf(principal.workspaceId, id)) ?? "" } as const
  })
)
