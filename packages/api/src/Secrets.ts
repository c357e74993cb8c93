/**
 * Secrets of the vault: names, those of items, and descriptions can be read, values only written. No value is ever in an error, a log or
 * a span.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import { SecretName } from "./contract/Ids.ts"
import type { Page } from "./contract/Common.ts"
import type { Conflict, InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/Secrets.ts"
import type { NamedListOptions } from "./ListOptions.ts"
import { names, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, pages, returning } from "./internal/calls/Workspace.ts"

export type { Secret, SecretWithItemNames } from "./contract/Secrets.ts"

const call = {
  get: returning<contract.SecretWithItemNames, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.Secret>, InvalidRequest>()(inWorkspace(contract.list)),
  create: returning<contract.Secret, Conflict | InvalidRequest>()(inWorkspace(contract.create)),
  update: returning<contract.Secret, InvalidRequest | NotFound>()(inWorkspace(contract.update)),
  setItems: returning<contract.Secret, InvalidRequest | NotFound>()(inWorkspace(contract.setItems)),
  remove: inWorkspace(contract.remove)
}

/** The items of a secret: any JSON, or a text that is redacted. */
export type Items = Readonly<Record<string, Schema.Json | Redacted.Redacted>>

export interface Content {
  readonly items: Items
  /** Absent: none for a new secret, unchanged for an existing one. */
  readonly description?: string | null | undefined
  /**
   * Names of servers, such as `git.example.com`, to which the room itself may send it: as the credentials of a repository, or the
   * password of a mail server. Absent: none for a new secret, unchanged for an existing one.
   */
  readonly hosts?: ReadonlyArray<string> | undefined
}

/** Items that are added or replaced, and names of items that are deleted. */
export interface ItemChanges extends Content {
  readonly remove?: ReadonlyArray<string> | undefined
}

const content = names<Content>("member", { items: 1, description: 1, hosts: 1 })
const itemChanges = names<ItemChanges>("member", { items: 1, description: 1, hosts: 1, remove: 1 })

const payload = ({ description, hosts, items }: Content) => ({
  items: Redacted.make(
    Object.fromEntries(
      Object.entries(items).map(([name, item]) => [name, Redacted.isRedacted(item) ? Redacted.value(item) : item])
    )
  ),
  ...defined({ description, hosts })
})

/**
 * Returns a secret with the names of its items, without their values. An extension. Fails with `NotFound` when the secret does
 * not exist.
 *
 * ```ts
 * import * as Secrets from "@signalbox/api/Secrets"
 * import * as Effect from "effect/Effect"
 *
 * export const names = Effect.map(
 *   Secrets.get("shop"),
 *   ({ item_names }) => item_names
 * )
 * ```
 */
export const get = Effect.fn("Secrets.get")((name: string) =>
  call.get({ params: { secret_name: SecretName.make(name) } })
)

const listed = names<Omit<NamedListOptions, "limit">>("option", { name: 1, cursor: 1 })
const streamed = names<Pick<NamedListOptions, "name">>("option", { name: 1 })

/**
 * Returns one page of up to 1,000 secrets, newest first.
 *
 * ```ts
 * import * as Secrets from "@signalbox/api/Secrets"
 *
 * export const named = Secrets.list({ name: "shop" })
 * ```
 */
export const list = Effect.fn("Secrets.list")(
  (options: Omit<NamedListOptions, "limit"> = {}) => call.list({ query: options }),
  refusing("secrets.list", { 0: listed })
)

/** Emits all secrets, newest first, without their items. */
export const stream = (options: Pick<NamedListOptions, "name"> = {}) =>
  pages((cursor) => list({ ...options, cursor })).pipe(refusingStream("secrets.stream", streamed, options))

/**
 * Creates a secret; fails with `Conflict` when the name is in use. A name has letters, digits and underscores.
 *
 * ```ts
 * import type * as Redacted from "effect/Redacted"
 * import * as Secrets from "@signalbox/api/Secrets"
 *
 * export const store = (password: Redacted.Redacted) =>
 *   Secrets.create("shop", {
 *     items: { user: "robot", password },
 *     description: "the shop's back office"
 *   })
 * ```
 */
export const create = Effect.fn("Secrets.create")(
  (name: string, content: Content) => call.create({ payload: { name: SecretName.make(name), ...payload(content) } }),
  refusing("secrets.create", { 1: content })
)

/** Replaces all items of a secret. */
export const update = Effect.fn("Secrets.update")(
  (name: string, content: Content) =>
    call.update({ params: { secret_name: SecretName.make(name) }, payload: payload(content) }),
  refusing("secrets.update", { 1: content })
)

/**
 * Adds items to a secret or replaces their values, and keeps all others; names in `remove` are deleted. An extension. Fails with `NotFound` when the secret does not exist.
 *
 * ```ts
 * import type * as Redacted from "effect/Redacted"
 * import * as Secrets from "@signalbox/api/Secrets"
 *
 * export const rotate = (password: Redacted.Redacted) =>
 *   Secrets.setItems("shop", { items: { password } })
 * ```
 */
export const setItems = Effect.fn("Secrets.setItems")(
  (name: string, { remove, ...content }: ItemChanges) =>
    call.setItems({
      params: { secret_name: SecretName.make(name) },
      payload: { ...payload(content), ...defined({ remove }) }
    }),
  refusing("secrets.setItems", { 1: itemChanges })
)

/** Creates the secret, or replaces the items of the one with its name. Safe to repeat. */
export const put = Effect.fn("Secrets.put")(
  (name: string, content: Content) =>
    update(name, content).pipe(Effect.catchTag("NotFound", () => create(name, content))),
  refusing("secrets.put", { 1: content })
)

/** Deletes a secret. Irreversible. */
export const remove = Effect.fn("Secrets.remove")((name: string) =>
  call.remove({ params: { secret_name: SecretName.make(name) } })
)
