/**
 * Permissions by helper names.
 */
import { endpoints } from "./Cloud.ts"

const helpers = {
  basic: ["offline_access", "User.Read"],
  mailbox: ["Mail.Read"],
  mailbox_shared: ["Mail.Read.Shared"],
  message_send: ["Mail.Send"],
  message_send_shared: ["Mail.Send.Shared"],
  message_all: ["Mail.ReadWrite", "Mail.Send"],
  message_all_shared: ["Mail.ReadWrite.Shared", "Mail.Send.Shared"],
  address_book: ["Contacts.Read"],
  address_book_shared: ["Contacts.Read.Shared"],
  address_book_all: ["Contacts.ReadWrite"],
  address_book_all_shared: ["Contacts.ReadWrite.Shared"],
  calendar: ["Calendars.Read"],
  calendar_shared: ["Calendars.Read.Shared"],
  calendar_all: ["Calendars.ReadWrite"],
  calendar_shared_all: ["Calendars.ReadWrite.Shared"],
  users: ["User.ReadBasic.All"],
  drive: ["Files.Read.All"],
  drive_all: ["Files.ReadWrite.All"],
  site: ["Sites.Read.All"],
  site_dl: ["Sites.ReadWrite.All"],
  settings_all: ["MailboxSettings.ReadWrite"],
  tasks: ["Tasks.Read"],
  tasks_all: ["Tasks.ReadWrite"],
  presence: ["Presence.Read"]
} as const

export type ScopeHelper = keyof typeof helpers

/** All helper names, in the order in which their scopes come. */
export const scopeHelpers = Object.keys(helpers) as ReadonlyArray<ScopeHelper> // the keys of a constant that nobody extends

/** These belong to the identity provider, not to the API. */
const unprefixed: ReadonlySet<string> = new Set(["offline_access", "openid", "profile", "email"])

const table: Readonly<Record<string, ReadonlyArray<string>>> = helpers

/**
 * The scopes of some helpers, without duplicates and in a stable order; `basic` is always among them. A name that is no helper
 * is taken as a scope and stays as it is. No names: the scopes of all helpers.
 *
 * ```ts
 * import { getScopes } from "@signalbox/graph/Scopes"
 *
 * export const scopes = getScopes(["drive_all", "Sites.Manage.All"])
 * ```
 */
export const getScopes = (
  names: ReadonlyArray<ScopeHelper | (string & {})> = [],
  /** The API that the scopes are for, when it is not that of the global cloud. */
  graphOrigin: string = endpoints.global.graph
): ReadonlyArray<string> => {
  const asked = new Set(names.map((name) => name.toLowerCase()))
  const known = scopeHelpers.filter((name) => name === "basic" || names.length === 0 || asked.has(name))
  const own = names.filter((name) => !Object.hasOwn(table, name.toLowerCase()))
  const full = (scope: string) => (unprefixed.has(scope) ? scope : `${graphOrigin}/${scope}`)
  return [...new Set([...known.flatMap((name) => helpers[name].map(full)), ...own])]
}
