/**
 * Messages on their way out: in one request, or as a draft that gets its attachments first.
 */
import * as Effect from "effect/Effect"
import type { Graph } from "../../Graph.ts"
import { GraphError, NotSent, transient } from "../../GraphError.ts"
import type { MailboxAddress } from "../../Mailbox.ts"
import { Message } from "../../model/Message.ts"
import { path } from "../../Path.ts"
import type { TransferError } from "../../TransferError.ts"
import { sourceOf } from "../files/Sources.ts"
import { json, refused, unit, unsent } from "../requests/Call.ts"
import { operationOf } from "../requests/Operation.ts"
import { attach, attachmentProblem, inline } from "./AttachmentUpload.ts"
import { messageJson, type NewMessage, recipientProblem } from "./Outgoing.ts"
import { type MessageAddress, messagePath, preferring } from "./Requests.ts"

const one = json(Message)

/** Bytes of a request, with room for what stands around the message: the service takes 4 MB. */
const mostRequestBytes = 4_000_000

/** Whether the message goes in one request, its attachments in base64. */
const fitsInOne = (message: NewMessage): boolean => {
  const text = new TextEncoder().encode(JSON.stringify(messageJson(message))).length
  const sizes = (message.attachments ?? []).map(({ content, name }) => sourceOf(content, name).size)
  return sizes.reduce((sum, size) => sum + Math.ceil(size / 3) * 4 + 500, text) <= mostRequestBytes
}

const check = Effect.fnUntraced(function* (mailbox: MailboxAddress, message: NewMessage, problem: string | null) {
  const found =
    problem ?? (message.attachments ?? []).map(attachmentProblem).find((problem) => problem !== null) ?? null
  if (found !== null) return yield* refused(unsent("POST", mailbox.path.shown, yield* operationOf(null)), found)
})

const remove = (mailbox: MailboxAddress, draft: MessageAddress) =>
  unit({ method: "DELETE", path: messagePath(mailbox, draft), headers: preferring(mailbox) })

/** Creates a draft with its attachments; one that does not get them is removed. */
export const createDraft = Effect.fnUntraced(function* (
  mailbox: MailboxAddress,
  message: NewMessage
): Effect.fn.Return<Message, GraphError | TransferError, Graph> {
  yield* check(mailbox, message, null)
  const draft = yield* one({
    method: "POST",
    path: path`${mailbox.path}/messages`,
    headers: preferring(mailbox),
    json: messageJson(message),
    // Nobody gets a draft.
    repeatable: true
  })
  const before = new Set<string>()
  const attachAll = Effect.forEach(
    message.attachments ?? [],
    (attachment) =>
      Effect.map(attach(mailbox, draft, attachment, {}, before), ({ id }) => {
        before.add(id)
      }),
    { discard: true }
  )
  yield* Effect.onError(attachAll, () => Effect.ignore(remove(mailbox, draft)))
  return draft
})

/** Sends a draft. It is not sent again when no answer came. */
export const sendDraft = (mailbox: MailboxAddress, draft: MessageAddress) =>
  unit({ method: "POST", path: path`${messagePath(mailbox, draft)}/send`, headers: preferring(mailbox) })

/** What fails before the mail is sent is known to have sent none. */
const beforeSending = (error: GraphError): GraphError => {
  if (transient(error)?.acted !== "maybe") return error
  const { codes, message } = error.reason
  return new GraphError({
    reason: new NotSent({ codes, message: `the mail was not sent: ${message}` }),
    request: error.request
  })
}

const throughDraft = Effect.fnUntraced(function* (mailbox: MailboxAddress, message: NewMessage) {
  const draft = yield* createDraft(mailbox, message).pipe(
    Effect.mapError((error) => (error._tag === "GraphError" ? beforeSending(error) : error))
  )
  yield* sendDraft(mailbox, draft).pipe(
    // One that may have been sent is the only trace of that.
    Effect.tapError((error) =>
      transient(error)?.acted === "maybe" ? Effect.void : Effect.ignore(remove(mailbox, draft))
    )
  )
})

/** Sends a message. */
export const sendNew = Effect.fnUntraced(function* (mailbox: MailboxAddress, message: NewMessage, save: boolean) {
  yield* check(mailbox, message, recipientProblem(message))
  if (!fitsInOne(message)) return yield* throughDraft(mailbox, message)
  const attachments = yield* Effect.forEach(message.attachments ?? [], inline)
  yield* unit({
    method: "POST",
    path: path`${mailbox.path}/sendMail`,
    json: { message: { ...messageJson(message), attachments }, saveToSentItems: save ? undefined : false },
    timed: attachments.length === 0 ? undefined : false
  })
})
