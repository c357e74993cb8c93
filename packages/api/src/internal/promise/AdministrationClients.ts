/** What a workspace has besides processes, as functions with promises. */
import type * as Duration from "effect/Duration"
import type { Deleted } from "../../contract/Common.ts"
import type { ApiKeyId, AssetId, SecretName } from "../../contract/Ids.ts"
import * as ApiKeys from "../../ApiKeys.ts"
import * as Assets from "../../Assets.ts"
import * as Audit from "../../Audit.ts"
import * as Changes from "../../Changes.ts"
import * as ConsoleTickets from "../../ConsoleTickets.ts"
import * as Room from "../../Room.ts"
import * as Secrets from "../../Secrets.ts"
import * as Workspaces from "../../Workspaces.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { AwaitOptions, ListOptions, NamedListOptions, NamedSize, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"
import type { ProgressOptions, UploadSource } from "./WorkClients.ts"

/** How the content of an asset is uploaded. */
export interface AssetUploadOptions extends ProgressOptions {
  /** Default `application/octet-stream`. */
  readonly contentType?: string | undefined
}

/** How to wait for the end of an upload. */
export interface AwaitUploadOptions extends AwaitOptions<Assets.AssetUpload> {}

/** An upload of the content of an asset: pending, completed or failed. */
export interface AssetUploadPromise extends ApiPromise<Assets.AssetUpload> {}

/** Assets: named values of any content type. An asset is referred to by its id, or by `name:` and its name. */
export interface AssetsClient {
  /** Returns an asset, by its id or by `name:` and its name. */
  readonly get: (asset: string, options?: CallOptions) => ApiPromise<Assets.Asset>
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.assets.list({ name: "prices" })
   */
  readonly list: (page?: NamedListOptions, options?: CallOptions) => ApiPromise<ListPage<Assets.AssetSummary>>
  /**
   * All assets, newest first.
   * @example for await (const { name } of room.assets.stream()) console.log(name)
   */
  readonly stream: (page?: NamedSize, options?: CallOptions) => AsyncIterable<Assets.AssetSummary>
  /** Creates an asset without content; rejects with `Conflict` when the name is in use. */
  readonly create: (name: string, options?: CallOptions) => ApiPromise<Assets.Asset>
  /** Deletes an asset. Irreversible. */
  readonly remove: (asset: string, options?: CallOptions) => ApiPromise<void>
  /** Returns an upload: pending, completed or failed. */
  readonly getUpload: (asset: string, upload: string, options?: CallOptions) => AssetUploadPromise
  /**
   * Waits until an upload is `completed`; rejects with `AssetUploadFailed` when it failed.
   * @example await room.assets.awaitUpload(asset, upload, { timeout: "1 minute" })
   */
  readonly awaitUpload: (
    asset: string,
    upload: string,
    wait?: AwaitUploadOptions,
    options?: CallOptions
  ) => AssetUploadPromise
  /**
   * Uploads the content of an asset. The old content remains until the service has all of it.
   * @example await room.assets.upload(asset, new File(["[1, 2]"], "prices.json"))
   */
  readonly upload: (
    asset: string,
    source: UploadSource,
    upload?: AssetUploadOptions,
    options?: CallOptions
  ) => ApiPromise<void>
  /**
   * Creates the asset if none has this name, and uploads its content. Safe to repeat.
   * @example await room.assets.put("prices", new File(["[1, 2]"], "prices.json"))
   */
  readonly put: (
    name: string,
    source: UploadSource,
    upload?: AssetUploadOptions,
    options?: CallOptions
  ) => ApiPromise<AssetId>
  /**
   * The content of an asset as it arrives; nothing for an asset without content.
   * @example for await (const bytes of room.assets.download(asset)) console.log(bytes)
   */
  readonly download: (asset: string, options?: CallOptions) => AsyncIterable<Uint8Array>
}

export const assets = /* @__PURE__ */ members<AssetsClient>(Assets, {
  get: 1,
  list: 1,
  stream: 1,
  create: 1,
  remove: 1,
  getUpload: 2,
  awaitUpload: 3,
  upload: 3,
  put: 3,
  download: 1
})

/** The items of a secret, and how it is described. */
export interface SecretContent extends Secrets.Content {}

/** Items that are added or replaced, and names of those that are deleted. */
export interface SecretChange extends Secrets.Content {
  readonly remove?: ReadonlyArray<string> | undefined
}

/** A secret that is gone. */
export interface DeletedSecret {
  readonly name: SecretName
  readonly deleted: true
}

/** Secrets of the vault: names, those of items, and descriptions can be read, values only written. */
export interface SecretsClient {
  /** Returns a secret with the names of its items, without their values. */
  readonly get: (name: string, options?: CallOptions) => ApiPromise<Secrets.SecretWithItemNames>
  /**
   * Returns one page of up to 1,000 secrets, newest first.
   * @example const { data } = await room.secrets.list({ name: "mailbox" })
   */
  readonly list: (page?: Omit<NamedListOptions, "limit">, options?: CallOptions) => ApiPromise<ListPage<Secrets.Secret>>
  /**
   * All secrets, newest first, without their items.
   * @example for await (const { name } of room.secrets.stream()) console.log(name)
   */
  readonly stream: (page?: Pick<NamedListOptions, "name">, options?: CallOptions) => AsyncIterable<Secrets.Secret>
  /**
   * Creates a secret; rejects with `Conflict` when the name is in use.
   * @example await room.secrets.create("mailbox", { items: { user: "a", password: "b" } })
   */
  readonly create: (name: string, content: SecretContent, options?: CallOptions) => ApiPromise<Secrets.Secret>
  /**
   * Replaces all items of a secret.
   * @example await room.secrets.update("mailbox", { items: { password: "c" } })
   */
  readonly update: (name: string, content: SecretContent, options?: CallOptions) => ApiPromise<Secrets.Secret>
  /**
   * Adds items to a secret or replaces their values, and keeps all others; names in `remove` are deleted.
   * @example await room.secrets.setItems("mailbox", { items: {}, remove: ["user"] })
   */
  readonly setItems: (name: string, change: SecretChange, options?: CallOptions) => ApiPromise<Secrets.Secret>
  /**
   * Creates the secret, or replaces the items of the one with its name. Safe to repeat.
   * @example await room.secrets.put("mailbox", { items: { user: "a", password: "b" } })
   */
  readonly put: (name: string, content: SecretContent, options?: CallOptions) => ApiPromise<Secrets.Secret>
  /** Deletes a secret. Irreversible. */
  readonly remove: (name: string, options?: CallOptions) => ApiPromise<DeletedSecret>
}

export const secrets = /* @__PURE__ */ members<SecretsClient>(Secrets, {
  get: 1,
  list: 1,
  stream: 1,
  create: 2,
  update: 2,
  setItems: 2,
  put: 2,
  remove: 1
})

/** What a key may do, such as `Processes.read_runs`. */
export interface Permissions extends ReadonlyArray<ApiKeys.Permission> {}

/** Who owns a new key, and until when it may be used. */
export interface NewKey {
  readonly owner?: { readonly id: string } | null
  readonly expires_at?: string
}

/** Keys of the workspace. */
export interface ApiKeysClient {
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.apiKeys.list({ limit: 50 })
   */
  readonly list: (page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<ApiKeys.ApiKey>>
  /**
   * All keys, newest first.
   * @example for await (const { name } of room.apiKeys.stream()) console.log(name)
   */
  readonly stream: (page?: Size, options?: CallOptions) => AsyncIterable<ApiKeys.ApiKey>
  /**
   * Creates a key; `key` is shown only here. It cannot have a permission that the caller's own key lacks.
   * @example const { key } = await room.apiKeys.create("ci", ["Processes.read_runs"])
   */
  readonly create: (
    name: string,
    permissions: Permissions,
    of?: NewKey,
    options?: CallOptions
  ) => ApiPromise<ApiKeys.ApiKeyCreated>
  /**
   * Hands a key over to a user whose role has all its permissions; null: to the workspace.
   * @example await room.apiKeys.setOwner(key, null)
   */
  readonly setOwner: (key: string, owner: string | null, options?: CallOptions) => ApiPromise<ApiKeys.ApiKey>
  /** Revokes a key. Irreversible. */
  readonly remove: (key: string, options?: CallOptions) => ApiPromise<Deleted<ApiKeyId>>
}

export const apiKeys = /* @__PURE__ */ members<ApiKeysClient>(ApiKeys, {
  list: 1,
  stream: 1,
  create: 3,
  setOwner: 2,
  remove: 1
})

/** Which entries of the audit, and which page of them. */
export interface AuditPageFilter extends Audit.PageFilter {}

/** Which entries of the audit. */
export interface AuditFilter extends Audit.Filter {}

/** Who changed what. */
export interface AuditClient {
  /**
   * Returns one page, newest first.
   * @example const { data } = await room.audit.list({ resourceType: "process" })
   */
  readonly list: (page?: AuditPageFilter, options?: CallOptions) => ApiPromise<ListPage<Audit.AuditEntry>>
  /**
   * All entries that match, newest first.
   * @example for await (const { action } of room.audit.stream()) console.log(action)
   */
  readonly stream: (filter?: AuditFilter, options?: CallOptions) => AsyncIterable<Audit.AuditEntry>
  /** Returns the end of the chain, to be stored elsewhere: it shows later that nothing was cut off. */
  readonly head: (options?: CallOptions) => ApiPromise<Audit.AuditHead>
}

export const audit = /* @__PURE__ */ members<AuditClient>(Audit, { list: 1, stream: 1, head: 0 })

/** The workspace that the client is connected to. */
export interface WorkspacesClient {
  /** Returns the workspace. Needs any valid key of the workspace. */
  readonly get: (options?: CallOptions) => ApiPromise<Workspaces.Workspace>
  /** Creates another workspace, with a first key that is shown only here. */
  readonly create: (name: string, options?: CallOptions) => ApiPromise<Workspaces.WorkspaceCreated>
}

export const workspaces = /* @__PURE__ */ members<WorkspacesClient>(Workspaces, { get: 0, create: 1 })

/** The control room as a whole. */
export interface RoomClient {
  /** Returns whether the room is paused. Needs any valid key. */
  readonly get: (options?: CallOptions) => ApiPromise<Room.Room>
  /** Ends the pause of a room that was restored from a backup, for all of its workspaces. */
  readonly resume: (options?: CallOptions) => ApiPromise<Room.Room>
}

export const room = /* @__PURE__ */ members<RoomClient>(Room, { get: 0, resume: 0 })

/** Hints of what changes in a workspace. */
export interface ChangesClient {
  /**
   * A hint when something changes that the key may read; the first has the topic `reset`.
   * @example for await (const { topic } of room.changes.stream()) console.log(topic)
   */
  readonly stream: (
    from?: { readonly after?: number | undefined },
    options?: CallOptions
  ) => AsyncIterable<Changes.Change>
}

export const changes = /* @__PURE__ */ members<ChangesClient>(Changes, { stream: 1 })

/** Tickets that open a session of the console in a browser. */
export interface ConsoleTicketsClient {
  /**
   * Creates a ticket for one session, valid for 60 seconds unless `lifetime` says otherwise.
   * @example const ticket = await room.consoleTickets.create({ lifetime: "30 seconds" })
   */
  readonly create: (
    ticket?: { readonly lifetime?: Duration.Input | undefined },
    options?: CallOptions
  ) => ApiPromise<ConsoleTickets.ConsoleTicket>
}

export const consoleTickets = /* @__PURE__ */ members<ConsoleTicketsClient>(ConsoleTickets, { create: 1 })
