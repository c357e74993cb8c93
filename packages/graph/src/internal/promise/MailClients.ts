/** Mailboxes, as functions with promises. */
import * as Attachments from "../../Attachments.ts"
import * as Drafts from "../../Drafts.ts"
import * as Mail from "../../Mail.ts"
import type { FolderAddress, MailboxAddress } from "../../Mailbox.ts"
import * as MailDelta from "../../MailDelta.ts"
import * as MailFolders from "../../MailFolders.ts"
import type { MailFolder } from "../../model/MailFolder.ts"
import type { Attachment, Message } from "../../model/Message.ts"
import type { Selection } from "../requests/Options.ts"
import type { CallOptions, Members } from "./Members.ts"
import { type Listener, type Source, sourceOf } from "./TransferClients.ts"

/** A mailbox: `myMailbox`, or `mailboxOf({ user })`, which a shared one is, too. */
export interface MailboxRef extends MailboxAddress {}

/** A folder: a well-known one as `"inbox"`, `{ path }`, `{ id }`, or what the service gave. */
export type MailFolderRef = FolderAddress

/** A message: its id, or what the service gave. */
export type MessageRef = Mail.MessageAddress

/** An attachment: its id, or what the service gave. */
export type AttachmentRef = Attachments.AttachmentAddress

/** A file to attach: bytes, a `File` or a `Blob`, or what `files.attachment(path)` made. */
export interface AttachmentSource extends Omit<Mail.NewAttachment, "content"> {
  readonly content: Source
}

/** A message to write. */
export interface OutgoingMessage extends Omit<Mail.NewMessage, "attachments"> {
  readonly attachments?: ReadonlyArray<AttachmentSource> | undefined
}

const attachmentOf = ({ content, ...attachment }: AttachmentSource): Mail.NewAttachment => ({
  ...attachment,
  content: sourceOf(content)
})

const messageOf = ({ attachments, ...message }: OutgoingMessage): Mail.NewMessage => ({
  ...message,
  attachments: attachments?.map(attachmentOf)
})

/** Messages of a mailbox. */
export interface MailClient {
  /** Messages of a folder or of the whole mailbox, over all pages, the newest first. */
  readonly stream: (
    mailbox: MailboxRef,
    list?: Mail.MessageListOptions,
    options?: CallOptions
  ) => AsyncIterable<Message>
  /** Messages that a query finds, as `from:joan AND hasAttachments:true`. */
  readonly search: (
    mailbox: MailboxRef,
    query: string,
    search?: Mail.MessageSearchOptions,
    options?: CallOptions
  ) => AsyncIterable<Message>
  /** A message; rejects with `NotFound`. */
  readonly get: (
    mailbox: MailboxRef,
    message: MessageRef,
    select?: Mail.MessageOptions,
    options?: CallOptions
  ) => Promise<Message>
  /** Marks a message: as read, with a flag, with categories. */
  readonly update: (
    mailbox: MailboxRef,
    message: MessageRef,
    changes: Mail.MessageChanges,
    options?: CallOptions
  ) => Promise<Message>
  /** Moves a message to a folder; it keeps its id. */
  readonly move: (
    mailbox: MailboxRef,
    message: MessageRef,
    folder: MailFolderRef,
    options?: CallOptions
  ) => Promise<Message>
  /** Copies a message into a folder, and returns the copy. */
  readonly copy: (
    mailbox: MailboxRef,
    message: MessageRef,
    folder: MailFolderRef,
    options?: CallOptions
  ) => Promise<Message>
  /** Deletes a message into the folder of deleted items. */
  readonly remove: (mailbox: MailboxRef, message: MessageRef, options?: CallOptions) => Promise<void>
  /** Sends a message, with attachments of up to 150 MB each. It is never sent a second time. */
  readonly send: (
    mailbox: MailboxRef,
    message: OutgoingMessage,
    send?: { readonly save?: boolean | undefined },
    options?: CallOptions
  ) => Promise<void>
  /** Replies to who sent a message, or to `all` who got it. */
  readonly reply: (
    mailbox: MailboxRef,
    message: MessageRef,
    comment: string,
    reply?: { readonly all?: boolean | undefined },
    options?: CallOptions
  ) => Promise<void>
  /** Forwards a message with its attachments. */
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
  /** Creates a draft with its attachments. */
  readonly create: (mailbox: MailboxRef, message: OutgoingMessage, options?: CallOptions) => Promise<Message>
  /** Changes a draft; what is left out stays. */
  readonly update: (
    mailbox: MailboxRef,
    draft: MessageRef,
    changes: Omit<Mail.NewMessage, "attachments">,
    options?: CallOptions
  ) => Promise<Message>
  /** Sends a draft, once. */
  readonly send: (mailbox: MailboxRef, draft: MessageRef, options?: CallOptions) => Promise<void>
  /** Whether a draft was sent, also when no answer came to `send`. */
  readonly isSent: (mailbox: MailboxRef, draft: MessageRef, options?: CallOptions) => Promise<boolean>
  /** Creates a reply as a draft. */
  readonly reply: (
    mailbox: MailboxRef,
    message: MessageRef,
    reply?: { readonly all?: boolean | undefined; readonly body?: Mail.Content | undefined },
    options?: CallOptions
  ) => Promise<Message>
  /** Creates a draft that forwards a message. */
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

/** Where a look for changes of a folder begins. */
export interface MailDeltaOptions extends Omit<MailDelta.MailDeltaOptions, "from"> {
  /** The `link` of the last look. Default: all that is there comes. `latest`: nothing but a link for the next look. */
  readonly from?: string | undefined
}

/** What changed in a folder of a mailbox. */
export interface MailDeltaClient {
  /** All changes of one look, each message once. */
  readonly changes: (
    mailbox: MailboxRef,
    delta?: MailDeltaOptions,
    options?: CallOptions
  ) => Promise<MailDelta.MailChanges>
  /** The changes as pages, to be applied in order. */
  readonly stream: (
    mailbox: MailboxRef,
    delta?: MailDeltaOptions,
    options?: CallOptions
  ) => AsyncIterable<MailDelta.MailDeltaPage>
}

export const mailDelta: Members<MailDeltaClient> = {
  changes: { of: MailDelta.changes, parameters: 2 },
  stream: { of: MailDelta.stream, parameters: 2 }
}

/** Folders of a mailbox. */
export interface MailFoldersClient {
  /** The folders of the highest level, or those in a folder. */
  readonly stream: (
    mailbox: MailboxRef,
    list?: MailFolders.MailFolderListOptions,
    options?: CallOptions
  ) => AsyncIterable<MailFolder>
  /** A folder; rejects with `NotFound`. */
  readonly get: (
    mailbox: MailboxRef,
    folder: MailFolderRef,
    select?: Selection<MailFolder>,
    options?: CallOptions
  ) => Promise<MailFolder>
  /** Creates a folder; rejects with `NameAlreadyExists`. */
  readonly create: (
    mailbox: MailboxRef,
    name: string,
    create?: { readonly in?: MailFolderRef | undefined },
    options?: CallOptions
  ) => Promise<MailFolder>
  /** The folder of a path as `inbox/done`, created with those above it where they are missing. */
  readonly ensure: (mailbox: MailboxRef, folder: string, options?: CallOptions) => Promise<MailFolder>
}

export const mailFolders: Members<MailFoldersClient> = {
  stream: { of: MailFolders.stream, parameters: 2 },
  get: { of: MailFolders.get, parameters: 3 },
  create: { of: MailFolders.create, parameters: 3 },
  ensure: { of: MailFolders.ensure, parameters: 2 }
}

/** How a file is attached. */
export interface AttachOptions {
  /** Called as bytes of a large file are acknowledged. What it throws or rejects with ends the upload. */
  readonly onProgress?: Listener<{ readonly sent: number; readonly total: number }> | undefined
}

/** What is attached to messages. */
export interface AttachmentsClient {
  /** What is attached to a message, without its bytes. */
  readonly stream: (mailbox: MailboxRef, message: MessageRef, options?: CallOptions) => AsyncIterable<Attachment>
  /** An attachment without its bytes. */
  readonly get: (
    mailbox: MailboxRef,
    message: MessageRef,
    attachment: AttachmentRef,
    options?: CallOptions
  ) => Promise<Attachment>
  /** The bytes of an attachment as they arrive; a broken connection is resumed. */
  readonly contents: (
    mailbox: MailboxRef,
    message: MessageRef,
    attachment: AttachmentRef,
    options?: CallOptions
  ) => AsyncIterable<Uint8Array>
  /** The whole contents of an attachment that fits into memory. */
  readonly bytes: (
    mailbox: MailboxRef,
    message: MessageRef,
    attachment: AttachmentRef,
    options?: CallOptions
  ) => Promise<Uint8Array>
  /** Attaches a file to a message that is not sent yet. */
  readonly add: (
    mailbox: MailboxRef,
    message: MessageRef,
    attachment: AttachmentSource,
    attach?: AttachOptions,
    options?: CallOptions
  ) => Promise<Attachment>
  /** Takes an attachment off a message. */
  readonly remove: (
    mailbox: MailboxRef,
    message: MessageRef,
    attachment: AttachmentRef,
    options?: CallOptions
  ) => Promise<void>
}

export const attachments: Members<AttachmentsClient> = {
  stream: { of: Attachments.stream, parameters: 2 },
  get: { of: Attachments.get, parameters: 3 },
  contents: { of: Attachments.contents, parameters: 3 },
  bytes: { of: Attachments.bytes, parameters: 3 },
  add: {
    of: (
      mailbox: MailboxAddress,
      message: MessageRef,
      attachment: AttachmentSource,
      options: Attachments.AttachOptions | undefined
    ) => Attachments.add(mailbox, message, attachmentOf(attachment), options),
    parameters: 4
  },
  remove: { of: Attachments.remove, parameters: 3 }
}
