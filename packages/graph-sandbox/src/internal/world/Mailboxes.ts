/**
 * Mailboxes: their folders, and each change of their messages.
 */
import { createHash } from "node:crypto"
import type { MailAttachment, Mailbox, MailFolder, MailMessage } from "../model/Mail.ts"
import type { Properties, User } from "../model/Model.ts"
import * as ChangeLog from "./ChangeLog.ts"

/** Folders that every mailbox has, by their well-known names. */
const names: Readonly<Record<string, string>> = {
  inbox: "Inbox",
  drafts: "Drafts",
  sentitems: "Sent Items",
  deleteditems: "Deleted Items",
  archive: "Archive",
  junkemail: "Junk Email",
  outbox: "Outbox",
  conversationhistory: "Conversation History"
}

/** An id of this kind, made from what it names. */
const idOf = (prefix: string, mailbox: User, number: number) =>
  `${prefix}${createHash("sha256").update(`${prefix} ${mailbox.id} ${number}`).digest("base64url").slice(0, 40)}=`

const immutable = "AAkALgAA"
const regular = "AAMkADAw"

const newFolder = (
  owner: User,
  number: number,
  given: Pick<MailFolder, "wellKnown" | "displayName" | "parent">
): MailFolder => ({
  ...given,
  id: idOf("AQMkADYA", owner, number),
  messages: new Map(),
  changes: ChangeLog.make(),
  arrivals: new Map(),
  departures: new Map()
})

export const make = (owner: User): Mailbox => {
  const root = newFolder(owner, 0, {
    wellKnown: "msgfolderroot",
    displayName: "Top of Information Store",
    parent: null
  })
  const mailbox: Mailbox = { owner, folders: new Map([[root.id, root]]), messages: new Map(), root, next: 1 }
  for (const [wellKnown, displayName] of Object.entries(names)) {
    const folder = newFolder(owner, mailbox.next++, { wellKnown, displayName, parent: root })
    mailbox.folders.set(folder.id, folder)
  }
  return mailbox
}

/** A folder by its id or its well-known name. */
export const folder = (mailbox: Mailbox, key: string): MailFolder | undefined =>
  mailbox.folders.get(key) ?? [...mailbox.folders.values()].find(({ wellKnown }) => wellKnown === key.toLowerCase())

/** A folder that every mailbox has. */
export const known = (mailbox: Mailbox, name: string): MailFolder => folder(mailbox, name) ?? mailbox.root

export const children = (mailbox: Mailbox, parent: MailFolder): ReadonlyArray<MailFolder> =>
  [...mailbox.folders.values()].filter((folder) => folder.parent === parent)

export const childNamed = (mailbox: Mailbox, parent: MailFolder, name: string): MailFolder | undefined =>
  children(mailbox, parent).find(({ displayName }) => displayName.toLowerCase() === name.toLowerCase())

export const addFolder = (mailbox: Mailbox, parent: MailFolder, displayName: string): MailFolder => {
  const made = newFolder(mailbox.owner, mailbox.next++, { wellKnown: null, displayName, parent })
  mailbox.folders.set(made.id, made)
  return made
}

/** The folder of a path, as `inbox/done`; what is missing is made. */
export const folderAt = (mailbox: Mailbox, path: string): MailFolder =>
  path
    .split("/")
    .filter((name) => name !== "")
    .reduce(
      (parent, name, at) =>
        (at === 0 ? folder(mailbox, name) : undefined) ??
        childNamed(mailbox, parent, name) ??
        addFolder(mailbox, parent, name),
      mailbox.root
    )

const note = (folder: MailFolder, id: string, at: number, gone?: MailMessage) =>
  ChangeLog.note(folder.changes, id, { at, listItem: null, gone })

const enter = (message: MailMessage, folder: MailFolder, at: number) => {
  message.folder = folder
  folder.messages.set(message.id, message)
  note(folder, message.id, at)
  folder.arrivals.set(message.id, folder.changes.last)
}

const leave = (message: MailMessage, at: number) => {
  const { folder, id, regularId } = message
  folder.messages.delete(id)
  folder.departures.set(id, regularId)
  note(folder, id, at, message)
}

/** What a new message is made of. */
export interface NewMessage {
  readonly properties: Properties
  readonly attachments: ReadonlyArray<MailAttachment>
  readonly receivedAt: number
}

const number = (mailbox: Mailbox) => mailbox.next++

export const attachmentId = (mailbox: Mailbox): string => idOf("AAMkATT", mailbox.owner, number(mailbox))

export const add = (mailbox: Mailbox, folder: MailFolder, given: NewMessage, at: number): MailMessage => {
  const number = mailbox.next++
  const { attachments, properties, receivedAt } = given
  const message: MailMessage = {
    id: idOf(immutable, mailbox.owner, number),
    regularId: idOf(regular, mailbox.owner, number),
    folder,
    properties: {
      ...properties,
      conversationId: properties["conversationId"] ?? idOf("AAQkADAw", mailbox.owner, number),
      internetMessageId:
        properties["internetMessageId"] ?? `<${idOf("", mailbox.owner, number).slice(0, 24)}@sandbox.test>`
    },
    attachments,
    createdAt: at,
    sentAt: receivedAt,
    receivedAt,
    modifiedAt: at,
    version: 1
  }
  mailbox.messages.set(message.id, message)
  mailbox.messages.set(message.regularId, message)
  enter(message, folder, at)
  return message
}

/** Notes that a message was changed in its place. */
export const changed = (message: MailMessage, at: number): void => {
  message.modifiedAt = at
  message.version++
  note(message.folder, message.id, at)
}

/** Another folder: the id that does not stay is another one, too. */
export const move = (mailbox: Mailbox, message: MailMessage, to: MailFolder, at: number): void => {
  if (message.folder === to) return
  leave(message, at)
  mailbox.messages.delete(message.regularId)
  message.regularId = idOf(regular, mailbox.owner, number(mailbox))
  mailbox.messages.set(message.regularId, message)
  message.modifiedAt = at
  message.version++
  enter(message, to, at)
}

/** A message is gone for good. */
export const remove = (mailbox: Mailbox, message: MailMessage, at: number): void => {
  leave(message, at)
  mailbox.messages.delete(message.id)
  mailbox.messages.delete(message.regularId)
}

/** A folder with all that is in it is gone for good. */
export const removeFolder = (mailbox: Mailbox, folder: MailFolder, at: number): void => {
  for (const below of children(mailbox, folder)) removeFolder(mailbox, below, at)
  for (const message of folder.messages.values()) remove(mailbox, message, at)
  mailbox.folders.delete(folder.id)
}

/** What is attached to a message, for another one of this mailbox. */
export const attachmentsFor = (mailbox: Mailbox, { attachments }: Pick<MailMessage, "attachments">) =>
  attachments.map((attachment) => ({ ...attachment, id: attachmentId(mailbox) }))

/** The message elsewhere, once more. */
export const copy = (mailbox: Mailbox, message: MailMessage, to: MailFolder, at: number): MailMessage => {
  const { properties, receivedAt } = message
  return add(mailbox, to, { properties, attachments: attachmentsFor(mailbox, message), receivedAt }, at)
}
