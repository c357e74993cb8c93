/**
 * Messages that are written and not sent yet. A draft has an id, so that a program can find out whether it was sent.
 */
import * as Effect from "effect/Effect"
import { type Address, bodyOf, type Content, messageJson, type NewMessage } from "./internal/mail/Outgoing.ts"
import { type MessageAddress, messagePath, preferring } from "./internal/mail/Requests.ts"
import { createDraft, sendDraft } from "./internal/mail/Sending.ts"
import { json } from "./internal/requests/Call.ts"
import type { MailboxAddress } from "./Mailbox.ts"
import { Message } from "./model/Message.ts"
import { path } from "./Path.ts"

const one = json(Message)

/**
 * Creates a draft with its attachments, of up to 150 MB each; one that does not get them is removed. After a lost answer there may
 * be a second draft, which nobody gets.
 *
 * ```ts
 * import * as Drafts from "@signalbox/graph/Drafts"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 *
 * export const draft = (content: Uint8Array) =>
 *   Drafts.create(Mailbox.me, {
 *     to: "ann@contoso.example",
 *     subject: "Scans",
 *     attachments: [{ name: "Scans.zip", content }]
 *   })
 * ```
 */
export const create = Effect.fn("Drafts.create")((mailbox: MailboxAddress, message: NewMessage) =>
  createDraft(mailbox, message)
)

/** Changes a draft; what is left out stays. Safe to repeat. */
export const update = Effect.fn("Drafts.update")(
  (mailbox: MailboxAddress, draft: MessageAddress, changes: Omit<NewMessage, "attachments">) =>
    one({
      method: "PATCH",
      path: messagePath(mailbox, draft),
      headers: preferring(mailbox),
      json: messageJson(changes),
      repeatable: true
    })
)

/**
 * Sends a draft. When no answer comes it is not sent again, and fails as `Unreachable`, `Timeout` or `Unavailable`: ask `isSent`
 * after a while, and send it again if it is still a draft.
 *
 * ```ts
 * import * as Drafts from "@signalbox/graph/Drafts"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import * as Effect from "effect/Effect"
 *
 * export const send = (draft: string) =>
 *   Drafts.send(Mailbox.me, draft).pipe(
 *     Effect.catchReason("GraphError", "Unreachable", (_, error) =>
 *       Effect.flatMap(
 *         Effect.delay(Drafts.isSent(Mailbox.me, draft), "1 minute"),
 *         (sent) => (sent ? Effect.void : Effect.fail(error))
 *       )
 *     )
 *   )
 * ```
 */
export const send = Effect.fn("Drafts.send")((mailbox: MailboxAddress, draft: MessageAddress) =>
  sendDraft(mailbox, draft)
)

/**
 * Whether a draft was sent: its immutable id is then that of the message among what was sent, which may take a while. A draft that
 * was deleted fails as `NotFound`, as does one by an id that is not immutable once it is sent.
 */
export const isSent = Effect.fn("Drafts.isSent")((mailbox: MailboxAddress, draft: MessageAddress) =>
  Effect.map(
    one({ path: messagePath(mailbox, draft), headers: preferring(mailbox), query: { $select: "id,isDraft" } }),
    ({ isDraft }) => isDraft === false
  )
)

/** Creates a reply to who sent a message, or to `all` who got it, as a draft. */
export const reply = Effect.fn("Drafts.reply")(
  (
    mailbox: MailboxAddress,
    message: MessageAddress,
    options: { readonly all?: boolean | undefined; readonly body?: Content | undefined } = {}
  ) =>
    one({
      method: "POST",
      path: path`${messagePath(mailbox, message)}/${options.all === true ? "createReplyAll" : "createReply"}`,
      headers: preferring(mailbox),
      json: options.body === undefined ? {} : { message: { body: bodyOf(options.body) } }
    })
)

/** Creates a draft that forwards a message with its attachments. */
export const forward = Effect.fn("Drafts.forward")(
  (mailbox: MailboxAddress, message: MessageAddress, to: Address | ReadonlyArray<Address>) =>
    one({
      method: "POST",
      path: path`${messagePath(mailbox, message)}/createForward`,
      headers: preferring(mailbox),
      json: { toRecipients: messageJson({ to }).toRecipients }
    })
)
