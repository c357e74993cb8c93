/**
 * Channels of alerts: where their messages go, and addresses that are called each minute while the service runs. An
 * extension of the hosted service's interface.
 */
import * as Effect from "effect/Effect"
import type { Deleted, Page } from "./contract/Common.ts"
import type { AlertChannelId } from "./contract/Ids.ts"
import * as contract from "./internal/endpoints/AlertChannels.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import { page, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"
import type { ListOptions } from "./ListOptions.ts"

export type {
  AlertChannel,
  AlertChannelCreated,
  AlertChannelDefinition,
  AlertChannelSettings,
  AlertChannelType
} from "./contract/AlertChannels.ts"

type Refusal = Conflict | InvalidRequest | NotFound

const call = {
  get: returning<contract.AlertChannel, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.AlertChannel>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.AlertChannelCreated, Refusal>()(inWorkspace(contract.create)),
  update: returning<contract.AlertChannelCreated, Refusal>()(inWorkspace(contract.update)),
  rotateSecret: returning<contract.AlertChannelCreated, Conflict | NotFound>()(inWorkspace(contract.rotateSecret)),
  remove: returning<Deleted<AlertChannelId>, Conflict | NotFound>()(inWorkspace(contract.remove))
}

/** Returns a channel, without its secrets. */
export const get = Effect.fn("AlertChannels.get")((channel: AlertChannelId) =>
  call.get({ params: { channel_id: channel } })
)

/** Returns one page, newest first. */
export const list = Effect.fn("AlertChannels.list")(
  (options: ListOptions = {}) => call.list({ query: options }),
  refusing("alertChannels.list", { 0: page })
)

/** Emits all channels, newest first. */
export const stream = (options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("alertChannels.stream", pageSize, options))

/**
 * Creates a channel. `secret` of the result is the secret of a `webhook`, redacted; it is returned only here. Fails with
 * `InvalidRequest` that names the field, and with `Conflict` when the name is in use.
 *
 * ```ts
 * import * as AlertChannels from "@signalbox/api/AlertChannels"
 * import type * as Redacted from "effect/Redacted"
 *
 * export const operations = (password: Redacted.Redacted) =>
 *   AlertChannels.create({
 *     name: "operations",
 *     settings: {
 *       type: "email",
 *       host: "smtp.example.com",
 *       port: 587,
 *       from: "robots@example.com",
 *       to: ["operations@example.com"],
 *       username: "robots",
 *       password
 *     }
 *   })
 * ```
 */
export const create = Effect.fn("AlertChannels.create")(
  (definition: contract.AlertChannelDefinition) => call.create({ payload: definition }),
  refusing("alertChannels.create", { 0: contract.AlertChannelDefinition })
)

/**
 * Replaces the settings of a channel. A password that is left out stays while server, security and user name do; a
 * webhook keeps its secret.
 */
export const update = Effect.fn("AlertChannels.update")(
  (channel: AlertChannelId, definition: contract.AlertChannelDefinition) =>
    call.update({ params: { channel_id: channel }, payload: definition }),
  refusing("alertChannels.update", { 1: contract.AlertChannelDefinition })
)

/**
 * Gives a `webhook` a new secret, and returns it, redacted; for 24 hours messages are signed with the old one too. Fails
 * with `Conflict` for a channel of another type.
 */
export const rotateSecret = Effect.fn("AlertChannels.rotateSecret")((channel: AlertChannelId) =>
  call.rotateSecret({ params: { channel_id: channel } })
)

/** Deletes a channel. Fails with `Conflict` while an alert sends to it. */
export const remove = Effect.fn("AlertChannels.remove")((channel: AlertChannelId) =>
  call.remove({ params: { channel_id: channel } })
)
