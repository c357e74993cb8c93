/**
 * Messages as programs write them, and as the service takes them.
 */
import type { UploadSource } from "../files/Sources.ts"

/** An address, or one with the name of its owner. */
export type Address = string | { readonly name?: string | undefined; readonly address: string }

/** Text, or a page. */
export type Content = string | { readonly html: string }

/** A file to attach, of at most 150 MB. */
export interface NewAttachment {
  readonly name: string
  readonly content: UploadSource
  /** Such as `application/pdf`. */
  readonly contentType?: string | undefined
  /** What the body calls it, as `<img src="cid:logo">`; it is then shown in the body. */
  readonly contentId?: string | undefined
}

/** A message to write. */
export interface NewMessage {
  readonly to?: Address | ReadonlyArray<Address> | undefined
  readonly cc?: Address | ReadonlyArray<Address> | undefined
  readonly bcc?: Address | ReadonlyArray<Address> | undefined
  readonly replyTo?: Address | ReadonlyArray<Address> | undefined
  /** Another mailbox that the account may send for. Default: whose mailbox it is. */
  readonly from?: Address | undefined
  readonly subject?: string | undefined
  readonly body?: Content | undefined
  readonly importance?: "low" | "normal" | "high" | undefined
  readonly categories?: ReadonlyArray<string> | undefined
  /** Headers of one's own; their names begin with `x-`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly attachments?: ReadonlyArray<NewAttachment> | undefined
}

const isList = (given: Address | ReadonlyArray<Address>): given is ReadonlyArray<Address> => Array.isArray(given)

const recipient = (given: Address) => ({
  emailAddress: typeof given === "string" ? { address: given } : { name: given.name, address: given.address }
})

const recipients = (given: Address | ReadonlyArray<Address> | undefined) =>
  given === undefined ? undefined : (isList(given) ? given : [given]).map(recipient)

export const bodyOf = (content: Content | undefined) => {
  if (content === undefined) return undefined
  return typeof content === "string" ? { contentType: "text", content } : { contentType: "html", content: content.html }
}

/** The message, but its attachments. */
export const messageJson = ({
  bcc,
  body,
  categories,
  cc,
  from,
  headers,
  importance,
  replyTo,
  subject,
  to
}: NewMessage) => ({
  subject,
  body: bodyOf(body),
  toRecipients: recipients(to),
  ccRecipients: recipients(cc),
  bccRecipients: recipients(bcc),
  replyTo: recipients(replyTo),
  from: from === undefined ? undefined : recipient(from),
  importance,
  categories,
  internetMessageHeaders:
    headers === undefined ? undefined : Object.entries(headers).map(([name, value]) => ({ name, value }))
})

/** Why nobody would get a message; null: somebody would. */
export const recipientProblem = (message: NewMessage): string | null => {
  const { bccRecipients = [], ccRecipients = [], toRecipients = [] } = messageJson(message)
  return bccRecipients.length + ccRecipients.length + toRecipients.length > 0
    ? null
    : "to: name somebody who gets the message, in to, cc or bcc"
}
