/** Messages of mailboxes, as functions with promises. */
import * as Drafts from "../../Drafts.ts"
import * as Mail from "../../Mail.ts"
import type { FolderAddress, MailboxAddress } from "../../Mailbox.ts"
import type { Message } from "../../model/Message.ts"
import type { CallOptions, Members } from "./Members.ts"
import { type Source, sourceOf } from "./TransferClients.ts"

/** A mailbox: `myMailbox`, or `mailboxOf({ user })`, which a shared one is, too. */
export interface MailboxRef extends MailboxAddress {}

/** A folder: a well-known one as `"inbox"`, `{ path }`, `{ id }`, or what the service gave. */
export type MailFolderRef = FolderAddress

/** A message: its id, or what the service gave. */
export type MessageRef = Mail.MessageAddress

/** A file to attach: bytes, a `File` or a `Blob`, or what `files.attachment(path)` made. */
export interface AttachmentSource extends Omit<Mail.NewAttachment, "content"> {
  readonly content: Source
}

/** A message to write. */
export interface OutgoingMessage extends Omit<Mail.NewMessage, "attachments"> {
  readonly attachments?: ReadonlyArray<AttachmentSource> | undefined
}

export const attachmentOf = ({ content, ...attachment }: AttachmentSource): Mail.NewAttachment => ({
  ...attachment,
  content: sourceOf(content)
})

const messageOf = ({ attachments, ...message }: OutgoingMessage): Mail.NewMessage => ({
  ...message,
  attachments: attachments?.map(attachmentOf)
})

/** Messages of a mailbox. */
export interface MailClient {
  /**
   * Messages of a folder or of the whole mailbox, over all pages, the newest first.
   * @example
   * for await (const { subject } of graph.mail.stream(mailbox, { folder: "inbox" }))
   *   console.log(subject)
   */
  readonly stream: (
    mailbox: MailboxRef,
    list?: Mail.MessageListOptions,
    options?: CallOptions
  ) => AsyncIterable<Message>
  /**
   * Messages that a query finds, as `from:joan AND hasAttachments:true`.
   * @example
   * for await (const { subject } of graph.mail.search(mailbox, "from:joan"))
   *   console.log(subject)
   */
  readonly search: (
    mailbox: MailboxRef,
    query: string,
    search?: Mail.MessageSearchOptions,
    options?: CallOptions
  ) => AsyncIterable<Message>
  /**
   * A message; rejects with `NotFound`.
   * @example const { body } = await graph.mail.get(mailbox, message, { body: "text" })
   */
  readonly get: (
    mailbox: MailboxRef,
    message: MessageRef,
    select?: Mail.MessageOptions,
    options?: CallOptions
  ) => Promise<Message>
  /**
   * Marks a message: as read, with a flag, with categories.
   * @example await graph.mail.update(mailbox, message, { isRead: true })
   */
  readonly update: (
    mailbox: MailboxRef,
    message: MessageRef,
    changes: Mail.MessageChanges,
    options?: CallOptions
  ) => Promise<Message>
  /**
   * Moves a message to a folder; it keeps its id.
   * @example await graph.mail.move(mailbox, message, { path: "inbox/done" })
   */
  readonly move: (
    mailbox: MailboxRef,
    message: MessageRef,
    folder: MailFolderRef,
    options?: CallOptions
  ) => Promise<Message>
  /**
   * Copies a message into a folder, and returns the copy.
   * @example const copied = await graph.mail.copy(mailbox, message, "archive")
   */
  readonly copy: (
    mailbox: MailboxRef,
    message: MessageRef,
    folder: MailFolderRef,
    options?: CallOptions
  ) => Promise<Message>
  /**
   * Deletes a message into the folder of deleted items.
   * @example await graph.mail.remove(mailbox, message)
   */
  readonly remove: (mailbox: MailboxRef, message: MessageRef, options?: CallOptions) => Promise<void>
  /**
   * Deletes a message past the folder of deleted items.
   * @example await graph.mail.removePermanently(mailbox, message)
   */
  readonly removePermanently: (mailbox: MailboxRef, message: MessageRef, options?: CallOptions) => Promise<void>
  /**
   * Sends a message, with attachments of up to 150 MB each. It is never sent a second time.
   * @example
   * await graph.mail.send(mailbox, {
   *   to: "ann@contoso.example",
   *   subject: "Report",
   *   attachments: [await graph.files.attachment("./out/may.pdf")]
   * })
   */
  readonly send: (
    mailbox: MailboxRef,
    message: OutgoingMessage,
    send?: { readonly save?: boolean | undefined },
    options?: CallOptions
  ) => Promise<void>
  /**
   * Replies to who sent a message, or to `all` who got it.
   * @example await graph.mail.reply(mailbox, message, "Thank you.", { all: true })
   */
  readonly reply: (
    mailbox: MailboxRef,
    message: MessageRef,
    comment: string,
    reply?: { readonly all?: boolean | undefined },
    options?: CallOptions
  ) => Promise<void>
  /**
   * Forwards a message with its attachments.
   * @example await graph.mail.forward(mailbox, message, "ann@contoso.example")
   */
  readonly forward: (
    mailbox: MailboxRef,
    message: MessageRef,
    to: Mail.Address | ReadonlyArray<Mail.Address>,
    comment?: string,
    options?: CallOptions
  ) => Promise<void>
}

export const mail: Members<MailClient> = {
  stream: { of: Mail.stream, parameters: 2 },
  search: { of: Mail.search, parameters: 3 },
  get: { of: Mail.get, parameters: 3 },
  update: { of: Mail.update, parameters: 3 },
  move: { of: Mail.move, parameters: 3 },
  copy: { of: Mail.copy, parameters: 3 },
  remove: { of: Mail.remove, parameters: 2 },
  removePermanently: { of: Mail.removePermanently, parameters: 2 },
  send: {
    of: (mailbox: MailboxAddress, message: OutgoingMessage, options: { readonly save?: boolean } | undefined) =>
      Mail.send(mailbox, messageOf(message), options),
    parameters: 3
  },
  reply: { of: Mail.reply, parameters: 4 },
  forward: { of: Mail.forward, parameters: 4 }
}

/** Messages that are written and not sent yet. */
export interface DraftsClient {
  /**
   * Creates a draft with its attachments.
   * @example const draft = await graph.drafts.create(mailbox, { subject: "Report" })
   */
  readonly create: (mailbox: MailboxRef, message: OutgoingMessage, options?: CallOptions) => Promise<Message>
  /**
   * Changes a draft; what is left out stays.
   * @example await graph.drafts.update(mailbox, message, { to: "ann@contoso.example" })
   */
  readonly update: (
    mailbox: MailboxRef,
    draft: MessageRef,
    changes: Omit<Mail.NewMessage, "attachments">,
    options?: CallOptions
  ) => Promise<Message>
  /**
   * Sends a draft, once.
   * @example await graph.drafts.send(mailbox, message)
   */
  readonly send: (mailbox: MailboxRef, draft: MessageRef, options?: CallOptions) => Promise<void>
  /**
   * Whether a draft was sent, also when no answer came to `send`.
   * @example const sent = await graph.drafts.isSent(mailbox, message)
   */
  readonly isSent: (mailbox: MailboxRef, draft: MessageRef, options?: CallOptions) => Promise<boolean>
  /**
   * Creates a reply as a draft.
   * @example const draft = await graph.drafts.reply(mailbox, message, { all: true })
   */
  readonly reply: (
    mailbox: MailboxRef,
    message: MessageRef,
    reply?: { readonly all?: boolean | undefined; readonly body?: Mail.Content | undefined },
    options?: CallOptions
  ) => Promise<Message>
  /**
   * Creates a draft that forwards a message.
   * @example
   * const to = { name: "Ann", address: "ann@contoso.example" }
   * const draft = await graph.drafts.forward(mailbox, message, to)
   */
  readonly forward: (
    mailbox: MailboxRef,
    message: MessageRef,
    to: Mail.Address | ReadonlyArray<Mail.Address>,
    options?: CallOptions
  ) => Promise<Message>
}

export const drafts: Members<DraftsClient> = {
  create: {
    of: (mailbox: MailboxAddress, message: OutgoingMessage) => Drafts.create(mailbox, messageOf(message)),
    parameters: 2
  },
  update: { of: Drafts.update, parameters: 3 },
  send: { of: Drafts.send, parameters: 2 },
  isSent: { of: Drafts.isSent, parameters: 2 },
  reply: { of: Drafts.reply, parameters: 3 },
  forward: { of: Drafts.forward, parameters: 3 }
}
