/**
 * What a mailbox holds while the sandbox runs.
 */
import type { Blob, Changes, Properties, User } from "./Model.ts"

export interface MailAttachment {
  readonly id: string
  readonly kind: "file" | "item" | "reference"
  readonly name: string
  readonly contentType: string | null
  readonly isInline: boolean
  readonly contentId: string | null
  /** The bytes of a file, or the text of an item; null for a link. */
  readonly blob: Blob | null
  readonly link: string | null
  readonly modifiedAt: number
}

export interface MailMessage {
  /** It stays when the message is moved. */
  readonly id: string
  /** It does not. */
  regularId: string
  folder: MailFolder
  /** As the wire shows them, but what follows from other members. */
  properties: Properties
  attachments: ReadonlyArray<MailAttachment>
  readonly createdAt: number
  sentAt: number
  receivedAt: number
  modifiedAt: number
  /** How often it was changed. */
  version: number
}

export interface MailFolder {
  readonly id: string
  /** As `inbox`; null: a folder that somebody made. */
  readonly wellKnown: string | null
  displayName: string
  readonly parent: MailFolder | null
  readonly messages: Map<string, MailMessage>
  /** By the ids that stay. */
  readonly changes: Changes<MailMessage>
  /** The change by which a message came in, and the id that it had when it left. */
  readonly arrivals: Map<string, number>
  readonly departures: Map<string, string>
}

export interface Mailbox {
  readonly owner: User
  readonly folders: Map<string, MailFolder>
  /** By both ids. */
  readonly messages: Map<string, MailMessage>
  readonly root: MailFolder
  /** The number of the next thing in it. */
  next: number
}
