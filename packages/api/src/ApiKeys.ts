/**
 * Keys of the workspace. An extension of the hosted service's interface.
 */
import * as Effect from "effect/Effect"
import type { Deleted, Page } from "./contract/Common.ts"
import type { InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/ApiKeys.ts"
import type { Permission } from "./contract/Authorization.ts"
import type { ApiKeyId } from "./contract/Ids.ts"
import { page, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { ListOptions } from "./ListOptions.ts"

export type { ApiKey, ApiKeyCreated } from "./contract/ApiKeys.ts"
export type { Permission } from "./contract/Authorization.ts"

const call = {
  list: returning<Page<contract.ApiKey>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.ApiKeyCreated, InvalidRequest>()(inWorkspace(contract.create)),
  remove: returning<Deleted<ApiKeyId>, NotFound>()(inWorkspace(contract.remove))
}

/** Returns one page, newest first. */
export const list = Effect.fn("ApiKeys.list")(
  (options: ListOptions = {}) => call.list({ query: options }),
  refusing("apiKeys.list", { 0: page })
)

/** Emits all keys, newest first. */
export const stream = (options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("apiKeys.stream", pageSize, options))

/** Creates a key; `key` is shown only here. It cannot have a permission that the caller's own key lacks. */
export const create = Effect.fn("ApiKeys.create")((name: string, permissions: ReadonlyArray<Permission>) =>
  call.create({ payload: { name, permissions } })
)

/** Revokes a key. Irreversible. */
export const remove = Effect.fn("ApiKeys.remove")((key: ApiKeyId) => call.remove({ params: { api_key_id: key } }))
