/**
 * What is attached to a message: listed, and as bytes. Local files are in `Files`.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { contents as resumed } from "./internal/files/Contents.ts"
import { attach, attached, type AttachOptions, properties } from "./internal/mail/AttachmentUpload.ts"
import type { NewAttachment } from "./internal/mail/Outgoing.ts"
import { type MessageAddress, messagePath, preferring } from "./internal/mail/Requests.ts"
import { json, refused, unit, unsent } from "./internal/requests/Call.ts"
import type { MailboxAddress } from "./Mailbox.ts"
import { Attachment } from "./model/Message.ts"
import { path, type Path } from "./Path.ts"
import { NotAFile, type TransferError, transferError } from "./TransferError.ts"

export type { AttachOptions } from "./internal/mail/AttachmentUpload.ts"
export type { NewAttachment } from "./internal/mail/Outgoing.ts"
export { Attachment, AttachmentId } from "./model/Message.ts"

const one = json(Attachment)

/** An attachment by its id, or as the service gave it. */
export type AttachmentAddress = string | Attachment

const attachmentPath = (mailbox: MailboxAddress, message: MessageAddress, attachment: AttachmentAddress): Path =>
  path`${messagePath(mailbox, message)}/attachments/${typeof attachment === "string" ? attachment : attachment.id}`

/** What an attachment is: a file, an item (a message, an event, a contact), or a link to a file in a drive. Null: not known. */
export const kindOf = (attachment: Attachment): "file" | "item" | "reference" | null => {
  const kind = /^#?microsoft\.graph\.(file|item|reference)Attachment$/i.exec(attachment["@odata.type"] ?? "")?.[1]
  return kind === "file" || kind === "item" || kind === "reference" ? kind : null
}

/**
 * What is attached to a message, without its bytes.
 *
 * ```ts
 * import * as Attachments from "@signalbox/graph/Attachments"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import * as Stream from "effect/Stream"
 *
 * export const files = (message: string) =>
 *   Attachments.stream(Mailbox.me, message).pipe(
 *     Stream.filter(
 *       (attachment) =>
 *         Attachments.kindOf(attachment) === "file" && !attachment.isInline
 *     )
 *   )
 * ```
 */
export const stream = (
  mailbox: MailboxAddress,
  message: MessageAddress
): Stream.Stream<Attachment, GraphError, Graph> => Stream.withSpan(attached(mailbox, message), "Attachments.stream")

/** An attachment without its bytes; fails with `NotFound`. */
export const get = Effect.fn("Attachments.get")(
  (mailbox: MailboxAddress, message: MessageAddress, attachment: AttachmentAddress) =>
    one({
      path: attachmentPath(mailbox, message, attachment),
      headers: preferring(mailbox),
      query: { $select: properties }
    })
)

/** Why there are no bytes; null: there may be. */
const notAFile = (attachment: AttachmentAddress): TransferError | null =>
  typeof attachment !== "string" && kindOf(attachment) === "reference"
    ? transferError(
        new NotAFile({ is: "other", message: "this is a link to a file in a drive: download it from there" }),
        attachment.name
      )
    : null

/**
 * The bytes of a file as they arrive; of an item its text as a mail (`.eml`), an event (`.ics`) or a contact (`.vcf`). A link to a
 * file fails as `NotAFile`. A connection that breaks is taken up where it broke.
 *
 * ```ts
 * import * as Attachments from "@signalbox/graph/Attachments"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import * as Stream from "effect/Stream"
 *
 * export const lines = (message: string, attachment: string) =>
 *   Attachments.contents(Mailbox.me, message, attachment).pipe(
 *     Stream.decodeText,
 *     Stream.splitLines
 *   )
 * ```
 */
export const contents = (
  mailbox: MailboxAddress,
  message: MessageAddress,
  attachment: AttachmentAddress
): Stream.Stream<Uint8Array, GraphError | TransferError, Graph> => {
  const problem = notAFile(attachment)
  if (problem !== null) return Stream.fail(problem)
  const value = path`${attachmentPath(mailbox, message, attachment)}/$value`
  const address =
    value.problem === null
      ? Effect.map(Graph, ({ baseUrl }) => Redacted.make(`${baseUrl}/v1.0${value.encoded}`))
      : Effect.fail(refused(unsent("GET", value.shown, "Attachments.contents"), value.problem))
  const name = typeof attachment === "string" ? null : (attachment.name ?? null)
  return Stream.withSpan(
    resumed({ name, first: address, fresh: address, offset: 0, authorize: true }),
    "Attachments.contents"
  )
}

/** The whole contents of an attachment that fits into memory. */
export const bytes = Effect.fn("Attachments.bytes")(
  (mailbox: MailboxAddress, message: MessageAddress, attachment: AttachmentAddress) =>
    Stream.mkUint8Array(contents(mailbox, message, attachment))
)

/**
 * Attaches a file to a message that is not sent yet: below 3 MB in one request, up to 150 MB in fragments. After a lost answer the
 * service is asked what it has; a shared mailbox may refuse large files with delegated permissions (`Forbidden`, a known issue of
 * the service).
 *
 * ```ts
 * import * as Attachments from "@signalbox/graph/Attachments"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 *
 * export const add = (draft: string, content: Uint8Array) =>
 *   Attachments.add(Mailbox.me, draft, { name: "Report.pdf", content })
 * ```
 */
export const add = Effect.fn("Attachments.add")(
  (mailbox: MailboxAddress, message: MessageAddress, attachment: NewAttachment, options: AttachOptions = {}) =>
    attach(mailbox, message, attachment, options)
)

/** Takes an attachment off a message. Safe to repeat. */
export const remove = Effect.fn("Attachments.remove")(
  (mailbox: MailboxAddress, message: MessageAddress, attachment: AttachmentAddress) =>
    unit({ method: "DELETE", path: attachmentPath(mailbox, message, attachment), headers: preferring(mailbox) })
)
