/**
 * Which mailbox, and which folder in it: addresses are plain values, and nothing is sent to make one.
 */
import { path, type Path } from "./Path.ts"

/** A mailbox. */
export interface MailboxAddress {
  readonly _tag: "MailboxAddress"
  readonly path: Path
  /** Ids of messages stay the same when these are moved. */
  readonly immutableIds: boolean
}

export interface MailboxOptions {
  /**
   * Whether ids of messages stay the same when these are moved to another folder. Default true. Ids of both kinds are accepted by
   * the service, but are not equal: say false for a program that has stored the others.
   */
  readonly immutableIds?: boolean | undefined
}

/** The mailbox of the account that is signed in. */
export const me: MailboxAddress = { _tag: "MailboxAddress", path: path`/me`, immutableIds: true }

/**
 * The mailbox of a user, by id or address. A shared mailbox is one of a user, too. An app that acts as itself names each mailbox
 * so.
 *
 * ```ts
 * import * as Mail from "@signalbox/graph/Mail"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 *
 * const invoices = Mailbox.of({ user: "invoices@contoso.example" })
 * export const unread = Mail.stream(invoices, {
 *   folder: "inbox",
 *   filter: "isRead eq false"
 * })
 * ```
 */
export const of = (owner: { readonly user: string }, options: MailboxOptions = {}): MailboxAddress => ({
  _tag: "MailboxAddress",
  path: path`/users/${owner.user}`,
  immutableIds: options.immutableIds ?? true
})

/** Folders that every mailbox has, whatever they are called in its language. */
export type WellKnownFolder =
  | "archive"
  | "conversationhistory"
  | "deleteditems"
  | "drafts"
  | "inbox"
  | "junkemail"
  | "msgfolderroot"
  | "outbox"
  | "sentitems"

/**
 * Which folder: a well-known one, one by its id (or as the service gave it), or one by the names that people see, as
 * `{ path: "inbox/done" }`. The first name may be a well-known one.
 */
export type FolderAddress = WellKnownFolder | { readonly id: string } | { readonly path: string }

/** How bodies come: `html` (the default of the service), or as the text of it. */
export type BodyType = "text" | "html"
