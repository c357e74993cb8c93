/**
 * Mails of the seed, and those that a test delivers, as messages of a mailbox.
 */
import * as Effect from "effect/Effect"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import type { Mail, MailAttachment as SeedAttachment } from "../../Seed.ts"
import type { MailAttachment, Mailbox } from "../model/Mail.ts"
import type { Blob, Properties, User } from "../model/Model.ts"
import type { Blobs } from "./Blobs.ts"
import * as Mailboxes from "./Mailboxes.ts"

/** A mail of a test that cannot be. */
export class MailError extends Schema.TaggedError<MailError>()("MailError", { message: Schema.String }) {}

export interface Recipient {
  readonly emailAddress: { readonly name: string; readonly address: string }
}

/** The person who has an address. */
export const personAt = (users: ReadonlyMap<string, User>, address: string): User | undefined => {
  const wanted = address.toLowerCase()
  return [...users.values()].find(
    ({ mail, userPrincipalName }) =>
      userPrincipalName.toLowerCase() === wanted || (typeof mail === "string" && mail.toLowerCase() === wanted)
  )
}

/** A person as mails name them. */
export const recipientOf = ({ displayName, mail, userPrincipalName }: User): Recipient => ({
  emailAddress: { name: displayName, address: typeof mail === "string" ? mail : userPrincipalName }
})

/** From `ann@contoso.test`, or `Ann Lee <ann@contoso.test>`. */
const recipient = (users: ReadonlyMap<string, User>, text: string): Recipient => {
  const [, name = "", address = text] = /^\s*(.*?)\s*<([^>]*)>\s*$/.exec(text) ?? []
  const person = personAt(users, address)
  return { emailAddress: { name: name === "" ? (person?.displayName ?? address) : name, address } }
}

/** What a message has where nothing else is said. */
export const defaults: Properties = {
  subject: "",
  body: { contentType: "text", content: "" },
  importance: "normal",
  categories: [],
  flag: { flagStatus: "notFlagged" },
  isRead: false,
  isDraft: false,
  isDeliveryReceiptRequested: null,
  isReadReceiptRequested: false,
  inferenceClassification: "focused",
  sender: null,
  from: null,
  toRecipients: [],
  ccRecipients: [],
  bccRecipients: [],
  replyTo: [],
  internetMessageHeaders: []
}

const bytesOf = (content: string | Uint8Array) =>
  typeof content === "string" ? new TextEncoder().encode(content) : content

/** The bytes of an attachment, and what it is. */
const partsOf = (
  blobs: Blobs,
  content: typeof SeedAttachment.Type.content
): Effect.Effect<Pick<MailAttachment, "kind" | "blob" | "link">, PlatformError> => {
  const file = (blob: Blob) => ({ kind: "file", blob, link: null }) as const
  if (typeof content === "string" || content instanceof Uint8Array) {
    return Effect.succeed(file(blobs.ofBytes(bytesOf(content))))
  }
  if ("base64" in content) return Effect.succeed(file(blobs.ofBytes(Buffer.from(content.base64, "base64"))))
  if ("file" in content) return Effect.map(blobs.ofFile(content.file), file)
  if ("item" in content) {
    return Effect.succeed({ kind: "item", blob: blobs.ofBytes(bytesOf(content.item)), link: null })
  }
  return Effect.succeed({ kind: "reference", blob: null, link: content.link })
}

/** Puts a mail into a mailbox. */
export const deliver = Effect.fnUntraced(function* (
  world: { readonly users: ReadonlyMap<string, User>; readonly blobs: Blobs },
  mailbox: Mailbox,
  mail: Mail,
  now: number
) {
  const { blobs, users } = world
  if (Number.isNaN(Date.parse(mail.receivedDateTime ?? "2030-01-01"))) {
    return yield* new MailError({ message: `receivedDateTime: '${mail.receivedDateTime}' is no time of ISO 8601` })
  }
  const receivedAt = mail.receivedDateTime === undefined ? now : Date.parse(mail.receivedDateTime)
  const all = (texts: ReadonlyArray<string> = []) => texts.map((text) => recipient(users, text))
  const from = recipient(users, mail.from ?? "someone@example.test")
  const to = mail.to === undefined ? [recipientOf(mailbox.owner)] : all(mail.to)
  const attachments: Array<MailAttachment> = []
  for (const { content, contentId, contentType, isInline, name } of mail.attachments ?? []) {
    attachments.push({
      ...(yield* partsOf(blobs, content)),
      id: Mailboxes.attachmentId(mailbox),
      name,
      contentType: contentType ?? null,
      isInline: isInline ?? false,
      contentId: contentId ?? null,
      modifiedAt: receivedAt
    })
  }
  const { body = "", headers = {} } = mail
  const properties: Properties = {
    ...defaults,
    subject: mail.subject ?? "",
    body:
      typeof body === "string" ? { contentType: "text", content: body } : { contentType: "html", content: body.html },
    from,
    sender: from,
    toRecipients: to,
    ccRecipients: all(mail.cc),
    isRead: mail.isRead ?? false,
    importance: mail.importance ?? "normal",
    categories: mail.categories ?? [],
    internetMessageHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })),
    internetMessageId: mail.internetMessageId
  }
  const folder = Mailboxes.folderAt(mailbox, mail.folder ?? "inbox")
  return Mailboxes.add(mailbox, folder, { properties, attachments, receivedAt }, receivedAt)
})
