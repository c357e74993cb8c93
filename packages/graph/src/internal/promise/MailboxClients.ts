/** Folders of mailboxes, their changes and what is attached to messages, as functions with promises. */
import * as Attachments from "../../Attachments.ts"
import type { MailboxAddress } from "../../Mailbox.ts"
import * as MailDelta from "../../MailDelta.ts"
import * as MailFolders from "../../MailFolders.ts"
import type { MailFolder } from "../../model/MailFolder.ts"
import type { Attachment } from "../../model/Message.ts"
import type { Selection } from "../requests/Options.ts"
import {
  attachmentOf,
  type AttachmentSource,
  type MailboxRef,
  type MailFolderRef,
  type MessageRef
} from "./MailClients.ts"
import type { CallOptions, Members } from "./Members.ts"
import type { Listener } from "./TransferClients.ts"

/** An attachment: its id, or what the service gave. */
export type AttachmentRef = Attachments.AttachmentAddress

/** Where a look for changes of a folder begins. */
export interface MailDeltaOptions extends Omit<MailDelta.MailDeltaOptions, "from"> {
  /** The `link` of the last look. Default: all that is there comes. `latest`: nothing but a link for the next look. */
  readonly from?: string | undefined
}

/** What changed in a folder of a mailbox. */
export interface MailDeltaClient {
  /**
   * All changes of one look, each message once.
   * @example
   * const { items, link } = await graph.mailDelta.changes(mailbox, {
   *   folder: "inbox",
   *   changeType: "created"
   * })
   */
  readonly changes: (
    mailbox: MailboxRef,
    delta?: MailDeltaOptions,
    options?: CallOptions
  ) => Promise<MailDelta.MailChanges>
  /**
   * The changes as pages, to be applied in order.
   * @example
   * for await (const { items, link } of graph.mailDelta.stream(mailbox))
   *   console.log(items.length, link)
   */
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
  /**
   * The folders of the highest level, or those in a folder.
   * @example
   * for await (const folder of graph.mailFolders.stream(mailbox, { in: "inbox" }))
   *   console.log(folder.displayName)
   */
  readonly stream: (
    mailbox: MailboxRef,
    list?: MailFolders.MailFolderListOptions,
    options?: CallOptions
  ) => AsyncIterable<MailFolder>
  /**
   * A folder; rejects with `NotFound`.
   * @example const folder = await graph.mailFolders.get(mailbox, { path: "inbox/done" })
   */
  readonly get: (
    mailbox: MailboxRef,
    folder: MailFolderRef,
    select?: Selection<MailFolder>,
    options?: CallOptions
  ) => Promise<MailFolder>
  /**
   * Creates a folder; rejects with `NameAlreadyExists`.
   * @example await graph.mailFolders.create(mailbox, "done", { in: "inbox" })
   */
  readonly create: (
    mailbox: MailboxRef,
    name: string,
    create?: { readonly in?: MailFolderRef | undefined },
    options?: CallOptions
  ) => Promise<MailFolder>
  /**
   * The folder of a path as `inbox/done`, created with those above it where they are missing.
   * @example const folder = await graph.mailFolders.ensure(mailbox, "inbox/2030/done")
   */
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
  /**
   * What is attached to a message, without its bytes.
   * @example
   * for await (const { name } of graph.attachments.stream(mailbox, message))
   *   console.log(name)
   */
  readonly stream: (mailbox: MailboxRef, message: MessageRef, options?: CallOptions) => AsyncIterable<Attachment>
  /**
   * An attachment without its bytes.
   * @example const { size } = await graph.attachments.get(mailbox, message, id)
   */
  readonly get: (
    mailbox: MailboxRef,
    message: MessageRef,
    attachment: AttachmentRef,
    options?: CallOptions
  ) => Promise<Attachment>
  /**
   * The bytes of an attachment as they arrive; a broken connection is resumed.
   * @example
   * for await (const bytes of graph.attachments.contents(mailbox, message, id))
   *   console.log(bytes.length)
   */
  readonly contents: (
    mailbox: MailboxRef,
    message: MessageRef,
    attachment: AttachmentRef,
    options?: CallOptions
  ) => AsyncIterable<Uint8Array>
  /**
   * The whole contents of an attachment that fits into memory.
   * @example const bytes = await graph.attachments.bytes(mailbox, message, id)
   */
  readonly bytes: (
    mailbox: MailboxRef,
    message: MessageRef,
    attachment: AttachmentRef,
    options?: CallOptions
  ) => Promise<Uint8Array>
  /**
   * Attaches a file to a message that is not sent yet.
   * @example
   * await graph.attachments.add(mailbox, message, {
   *   name: "notes.txt",
   *   content: new Blob(["Hello"])
   * })
   */
  readonly add: (
    mailbox: MailboxRef,
    message: MessageRef,
    attachment: AttachmentSource,
    attach?: AttachOptions,
    options?: CallOptions
  ) => Promise<Attachment>
  /**
   * Takes an attachment off a message.
   * @example await graph.attachments.remove(mailbox, message, id)
   */
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
