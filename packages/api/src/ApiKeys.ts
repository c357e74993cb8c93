/**
 * Keys of the workspace. An extension of the hosted service's interface.
 */
import * as Effect from "effect/Effect"
import type { Deleted, Page } from "./contract/Common.ts"
import type { InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/ApiKeys.ts"
import type { Permission } from "./contract/Authorization.ts"
import type { ApiKeyId, UserId } from "./contract/Ids.ts"
import { page, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { ListOptions } from "./ListOptions.ts"

export type { ApiKey, ApiKeyCreated } from "./contract/ApiKeys.ts"
export type { Permission } from "./contract/Authorization.ts"

const call = {
  list: returning<Page<contract.ApiKey>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.ApiKeyCreated, InvalidRequest | NotFound>()(inWorkspace(contract.create)),
  update: returning<contract.ApiKey, InvalidRequest | NotFound>()(inWorkspace(contract.update)),
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

/** Of a new key: the user who owns it (default: none, it is the workspace's), and until when it may be used. */
export interface KeyOptions {
  readonly owner?: { readonly id: UserId } | null
  readonly expires_at?: string
}

/** Creates a key; `key` is shown only here. It cannot have a permission that the caller's own key lacks. */
export const create = Effect.fn("ApiKeys.create")(
  (name: string, permissions: ReadonlyArray<Permission>, options: KeyOptions = {}) =>
    call.create({ payload: { name, permissions, ...options } })
)

/**
 * Hands a key over to a user whose role has all its permissions; null: to the workspace. A key never can do more than its owner, and is
 * deleted with them.
 */
export const setOwner = Effect.fn("ApiKeys.setOwner")((key: ApiKeyId, owner: UserId | null) =>
  call.update({ params: { api_key_id: key }, payload: { owner: owner === null ? null : { id: owner } } })
)

/** Revokes a key. Irreversible. */
export const remove = Effect.fn("ApiKeys.remove")((key: ApiKeyId) => call.remove({ params: { api_key_id: key } }))
