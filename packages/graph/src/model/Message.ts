/**
 * Messages of a mailbox, and what is attached to them.
 */
import * as Schema from "effect/Schema"
import { maybe } from "./Common.ts"

const text = maybe(Schema.String)
const texts = maybe(Schema.Array(Schema.String))
const flag = maybe(Schema.Boolean)

/** Identifies a message in its mailbox. An immutable one stays the same when the message is moved to another folder. */
export const MessageId = Schema.String.pipe(Schema.brand("MessageId"))
export type MessageId = typeof MessageId.Type

export const AttachmentId = Schema.String.pipe(Schema.brand("AttachmentId"))
export type AttachmentId = typeof AttachmentId.Type

export class EmailAddress extends Schema.Opaque<EmailAddress>()(Schema.Struct({ name: text, address: text })) {}

export class Recipient extends Schema.Opaque<Recipient>()(Schema.Struct({ emailAddress: maybe(EmailAddress) })) {}

/** `contentType`: `text` or `html`. */
export class ItemBody extends Schema.Opaque<ItemBody>()(Schema.Struct({ contentType: text, content: text })) {}

/** A time without its zone, and the zone, such as `UTC`. */
export class ZonedTime extends Schema.Opaque<ZonedTime>()(
  Schema.Struct({ dateTime: Schema.optionalKey(Schema.String), timeZone: text })
) {}

/** `flagStatus`: `notFlagged`, `flagged` or `complete`. */
export class FollowupFlag extends Schema.Opaque<FollowupFlag>()(
  Schema.Struct({
    flagStatus: text,
    startDateTime: maybe(ZonedTime),
    dueDateTime: maybe(ZonedTime),
    completedDateTime: maybe(ZonedTime)
  })
) {}

export class InternetMessageHeader extends Schema.Opaque<InternetMessageHeader>()(
  Schema.Struct({ name: text, value: text })
) {}

/** What is attached to a message: a file, an item (another message, an event, a contact), or a link to a file in a drive. */
export class Attachment extends Schema.Opaque<Attachment>()(
  Schema.Struct({
    id: AttachmentId,
    /** `#microsoft.graph.fileAttachment`, `…itemAttachment` or `…referenceAttachment`. */
    "@odata.type": Schema.optionalKey(Schema.String),
    name: text,
    contentType: text,
    /** Bytes as the mailbox stores them: more than the file has. */
    size: Schema.optionalKey(Schema.Finite),
    /** It is shown in the body, such as a picture of a signature. */
    isInline: Schema.optionalKey(Schema.Boolean),
    lastModifiedDateTime: text,
    contentId: text
  })
) {}

export class Message extends Schema.Opaque<Message>()(
  Schema.Struct({
    id: MessageId,
    "@odata.etag": Schema.optionalKey(Schema.String),
    /** In changes: the message has left the folder. `reason`: `deleted`, also when it was moved to another folder. */
    "@removed": Schema.optionalKey(Schema.Struct({ reason: Schema.optionalKey(Schema.String) })),
    subject: text,
    body: maybe(ItemBody),
    /** The first 255 characters of the body, as text. */
    bodyPreview: text,
    from: maybe(Recipient),
    /** Who sent it; another than `from` where one sends on behalf of another. */
    sender: maybe(Recipient),
    toRecipients: maybe(Schema.Array(Recipient)),
    ccRecipients: maybe(Schema.Array(Recipient)),
    bccRecipients: maybe(Schema.Array(Recipient)),
    replyTo: maybe(Schema.Array(Recipient)),
    receivedDateTime: text,
    sentDateTime: text,
    createdDateTime: text,
    lastModifiedDateTime: text,
    /** The `Message-ID` of the mail itself, the same in every mailbox: what a program remembers that takes each mail once. */
    internetMessageId: text,
    conversationId: text,
    parentFolderId: text,
    /** Inline attachments do not count. */
    hasAttachments: flag,
    /** `low`, `normal` or `high`. */
    importance: text,
    isRead: flag,
    isDraft: flag,
    isReadReceiptRequested: flag,
    flag: maybe(FollowupFlag),
    categories: texts,
    changeKey: text,
    /** `focused` or `other`. */
    inferenceClassification: text,
    webLink: text,
    /** Only when it is selected. */
    internetMessageHeaders: maybe(Schema.Array(InternetMessageHeader))
  })
) {}
