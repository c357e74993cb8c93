/**
 * Messages of a mailbox: read, searched, marked, moved, sent. What is attached to them is in `Attachments`, what changed in
 * `MailDelta`, folders in `MailFolders`, messages that are not sent yet in `Drafts`.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { type Address, messageJson, type NewMessage } from "./internal/mail/Outgoing.ts"
import { folderId, folderPath, type MessageAddress, messagePath, preferring } from "./internal/mail/Requests.ts"
import { sendNew } from "./internal/mail/Sending.ts"
import { json, list, refused, unit, unsent } from "./internal/requests/Call.ts"
import { type ListOptions, listQuery, type Selection, selection } from "./internal/requests/Options.ts"
import type { BodyType, FolderAddress, MailboxAddress } from "./Mailbox.ts"
import { Message } from "./model/Message.ts"
import { path } from "./Path.ts"

export type { Address, Content, NewAttachment, NewMessage } from "./internal/mail/Outgoing.ts"
export type { MessageAddress } from "./internal/mail/Requests.ts"
export { Message, MessageId } from "./model/Message.ts"

const one = json(Message)
const many = list(Message)

/** Which fields of a message come, and in which form its body. */
export interface MessageOptions extends Selection<Message> {
  /** Default `html`. */
  readonly body?: BodyType | undefined
}

export interface MessageListOptions extends ListOptions<Message>, Pick<MessageOptions, "body"> {
  /** Default: messages of all folders, also deleted ones. */
  readonly folder?: FolderAddress | undefined
}

const listIn = (
  mailbox: MailboxAddress,
  folder: FolderAddress | undefined,
  options: Pick<MessageListOptions, "body">,
  query: Readonly<Record<string, string | number | boolean | undefined>>
): Stream.Stream<Message, GraphError, Graph> => {
  const headers = preferring(mailbox, { body: options.body })
  if (folder === undefined) return many({ path: path`${mailbox.path}/messages`, headers, query })
  return Stream.unwrap(
    Effect.map(folderPath(mailbox, folder), (found) => many({ path: path`${found}/messages`, headers, query }))
  )
}

/**
 * Messages of a folder, or of the whole mailbox, over all pages, the newest first unless `orderBy` says otherwise. A filter with an
 * order must begin with the fields of the order, else the service refuses it as `InefficientFilter` (its page "List messages").
 *
 * ```ts
 * import * as Mail from "@signalbox/graph/Mail"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 *
 * export const invoices = Mail.stream(Mailbox.me, {
 *   folder: "inbox",
 *   filter: "receivedDateTime ge 2030-01-01T00:00:00Z and hasAttachments eq true",
 *   orderBy: "receivedDateTime",
 *   select: ["subject", "from", "internetMessageId"]
 * })
 * ```
 */
export const stream = (
  mailbox: MailboxAddress,
  options: MessageListOptions = {}
): Stream.Stream<Message, GraphError, Graph> => {
  const { body, folder, ...asked } = options
  return Stream.withSpan(listIn(mailbox, folder, { body }, listQuery({ pageSize: 50, ...asked })), "Mail.stream")
}

export interface MessageSearchOptions extends MessageOptions {
  /** Default: messages of all folders. */
  readonly folder?: FolderAddress | undefined
  readonly pageSize?: number | undefined
}

/**
 * Messages that a query finds in sender, subject and body, or in the fields that it names: `from:joan AND hasAttachments:true`
 * (the service's page "Use the $search query parameter" lists them). At most 1,000 come, those sent last first. The index of the
 * service may be minutes behind: watch a folder with `MailDelta`.
 *
 * ```ts
 * import * as Mail from "@signalbox/graph/Mail"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 *
 * export const orders = Mail.search(
 *   Mailbox.me,
 *   'subject:order AND attachment:"Order 42.pdf"'
 * )
 * ```
 */
export const search = (
  mailbox: MailboxAddress,
  query: string,
  options: MessageSearchOptions = {}
): Stream.Stream<Message, GraphError, Graph> => {
  const { body, folder, ...asked } = options
  if (query.trim() === "") {
    const request = unsent("GET", `${mailbox.path.shown}/messages`, "Mail.search")
    return Stream.fail(refused(request, "the text to search for is empty"))
  }
  const quoted = `"${query.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`
  const found = listIn(mailbox, folder, { body }, { ...listQuery({ pageSize: 50, ...asked }), $search: quoted })
  return Stream.withSpan(found, "Mail.search")
}

/**
 * A message by its id; fails with `NotFound`.
 *
 * ```ts
 * import * as Mail from "@signalbox/graph/Mail"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 *
 * export const text = (id: string) =>
 *   Mail.get(Mailbox.me, id, { body: "text", select: ["subject", "body"] })
 * ```
 */
export const get = Effect.fn("Mail.get")(
  (mailbox: MailboxAddress, message: MessageAddress, options: MessageOptions = {}) =>
    one({
      path: messagePath(mailbox, message),
      headers: preferring(mailbox, options),
      query: { $select: selection(options.select) }
    })
)

/** What of a message is changed; what is left out stays. */
export interface MessageChanges {
  readonly isRead?: boolean | undefined
  readonly flag?: "flagged" | "complete" | "notFlagged" | undefined
  /** All of them: names that people see in Outlook. */
  readonly categories?: ReadonlyArray<string> | undefined
  readonly importance?: "low" | "normal" | "high" | undefined
}

/**
 * Marks a message: as read or unread, with a flag, with categories. Safe to repeat.
 *
 * ```ts
 * import * as Mail from "@signalbox/graph/Mail"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 *
 * export const taken = (id: string) =>
 *   Mail.update(Mailbox.me, id, { isRead: true, categories: ["Robot"] })
 * ```
 */
export const update = Effect.fn("Mail.update")(
  (mailbox: MailboxAddress, message: MessageAddress, { flag, ...changes }: MessageChanges) =>
    one({
      method: "PATCH",
      path: messagePath(mailbox, message),
      headers: preferring(mailbox),
      json: { ...changes, flag: flag === undefined ? undefined : { flagStatus: flag } },
      // The values are what they are after the second time.
      repeatable: true
    })
)

/** `repeatable`: after a lost answer the id is still that of the message, and it is where it is to be. */
const toFolder = (action: "copy" | "move", repeatable: (mailbox: MailboxAddress) => boolean) =>
  Effect.fnUntraced(function* (mailbox: MailboxAddress, message: MessageAddress, folder: FolderAddress) {
    return yield* one({
      method: "POST",
      path: path`${messagePath(mailbox, message)}/${action}`,
      headers: preferring(mailbox),
      json: { destinationId: yield* folderId(mailbox, folder) },
      repeatable: repeatable(mailbox)
    })
  })

const moveTo = toFolder("move", ({ immutableIds }) => immutableIds)
const copyTo = toFolder("copy", () => false)

/**
 * Moves a message to a folder and returns it. It keeps its id, so that moving it is safe to repeat; without `immutableIds` of the
 * mailbox it gets another one.
 *
 * ```ts
 * import * as Mail from "@signalbox/graph/Mail"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 *
 * export const done = (id: string) =>
 *   Mail.move(Mailbox.me, id, { path: "inbox/done" })
 * ```
 */
export const move = Effect.fn("Mail.move")((mailbox: MailboxAddress, message: MessageAddress, folder: FolderAddress) =>
  moveTo(mailbox, message, folder)
)

/** Copies a message into a folder and returns the copy. */
export const copy = Effect.fn("Mail.copy")((mailbox: MailboxAddress, message: MessageAddress, folder: FolderAddress) =>
  copyTo(mailbox, message, folder)
)

/** Deletes a message into the folder of deleted items; one that is there already is gone. */
export const remove = Effect.fn("Mail.remove")((mailbox: MailboxAddress, message: MessageAddress) =>
  unit({ method: "DELETE", path: messagePath(mailbox, message), headers: preferring(mailbox) })
)

/** Deletes a message past the folder of deleted items. */
export const removePermanently = Effect.fn("Mail.removePermanently")(
  (mailbox: MailboxAddress, message: MessageAddress) =>
    unit({
      method: "POST",
      path: path`${messagePath(mailbox, message)}/permanentDelete`,
      headers: preferring(mailbox)
    })
)

/**
 * Sends a message: in one request, or, with attachments beyond 3 MB in all, as a draft that gets them first. It is never sent a
 * second time: when no answer comes, it fails as `Unreachable`, `Timeout` or `Unavailable`, and the mail may be on its way. What
 * fails before the mail is sent says so (`NotSent`). A program that must know sends a draft (`Drafts`), and looks what became of it.
 *
 * ```ts
 * import * as Mail from "@signalbox/graph/Mail"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 *
 * export const report = (content: Uint8Array) =>
 *   Mail.send(Mailbox.of({ user: "robots@contoso.example" }), {
 *     to: ["ann@contoso.example", { name: "Bo", address: "bo@contoso.example" }],
 *     subject: "Report",
 *     body: { html: "<p>As every month.</p>" },
 *     attachments: [{ name: "May.pdf", contentType: "application/pdf", content }]
 *   })
 * ```
 */
export const send = Effect.fn("Mail.send")(
  (
    mailbox: MailboxAddress,
    message: NewMessage,
    options: {
      /** Whether it is kept among what was sent. Default true; one that goes as a draft is kept in any case. */
      readonly save?: boolean | undefined
    } = {}
  ) => sendNew(mailbox, message, options.save ?? true)
)

/** Replies to who sent a message; with `all` to all who got it. Like `send` it is never repeated. */
export const reply = Effect.fn("Mail.reply")(
  (
    mailbox: MailboxAddress,
    message: MessageAddress,
    comment: string,
    options: { readonly all?: boolean | undefined } = {}
  ) =>
    unit({
      method: "POST",
      path: path`${messagePath(mailbox, message)}/${options.all === true ? "replyAll" : "reply"}`,
      headers: preferring(mailbox),
      json: { comment }
    })
)

/** Forwards a message with its attachments. Like `send` it is never repeated. */
export const forward = Effect.fn("Mail.forward")(
  (mailbox: MailboxAddress, message: MessageAddress, to: Address | ReadonlyArray<Address>, comment = "") =>
    unit({
      method: "POST",
      path: path`${messagePath(mailbox, message)}/forward`,
      headers: preferring(mailbox),
      json: { comment, toRecipients: messageJson({ to }).toRecipients }
    })
)
