/**
 * Drafts, and what sends them: as they are, as replies, as forwards.
 */
import * as Effect from "effect/Effect"
import type { Address } from "./Attachments.ts"
import * as Composing from "./Composing.ts"
import * as MailFailures from "./MailFailures.ts"
import * as MessageViews from "./MessageViews.ts"
import * as Failure from "../model/Failure.ts"
import type { Mailbox, MailFolder } from "../model/Mail.ts"
import { created, type GraphRequest, type Methods, objectOf, type Reply } from "../requests/GraphRequest.ts"
import * as Mailboxes from "../world/Mailboxes.ts"

const accepted: Reply = { status: 202 }

/** Makes a draft in a folder. */
export const createIn = Effect.fnUntraced(function* (mailbox: Mailbox, folder: MailFolder, request: GraphRequest) {
  const draft = yield* Composing.draft(mailbox, yield* request.json, request.now)
  const message = Mailboxes.add(mailbox, folder, draft, request.now)
  return created(MessageViews.view(request)(message))
})

/** Sends a draft: it becomes the copy among what was sent, under the id that stays. */
const sendDraft = Effect.fnUntraced(function* ({ mailbox, message }: Address, { now }: GraphRequest) {
  if (message.properties["isDraft"] !== true) return yield* MailFailures.invalidRequest("The message is no draft.")
  yield* Composing.deliver({ ...message, receivedAt: now }, now)
  message.properties = { ...message.properties, isDraft: false, isRead: true }
  message.sentAt = now
  message.receivedAt = now
  Mailboxes.move(mailbox, message, Mailboxes.known(mailbox, "sentitems"), now)
  return accepted
})

const sendNew = Effect.fnUntraced(function* (
  mailbox: Mailbox,
  draft: Mailboxes.NewMessage,
  now: number,
  isSaved: boolean
) {
  const sent = Mailboxes.add(mailbox, Mailboxes.known(mailbox, "outbox"), draft, now)
  yield* Composing.deliver({ ...sent, receivedAt: now }, now).pipe(
    Effect.onError(() => Effect.sync(() => Mailboxes.remove(mailbox, sent, now)))
  )
  if (!isSaved) return Mailboxes.remove(mailbox, sent, now)
  sent.properties = { ...sent.properties, isDraft: false }
  Mailboxes.move(mailbox, sent, Mailboxes.known(mailbox, "sentitems"), now)
})

const sendMail = Effect.fnUntraced(function* (mailbox: Mailbox, request: GraphRequest) {
  if ((request.headers["content-type"] ?? "").startsWith("text/plain")) {
    return yield* Failure.notServed("The sandbox does not send MIME.")
  }
  const body = yield* request.json
  if (body["message"] === undefined) return yield* MailFailures.invalidRequest("'message' must be given.")
  const draft = yield* Composing.draft(mailbox, objectOf(body["message"]), request.now)
  yield* sendNew(mailbox, draft, request.now, String(body["saveToSentItems"] ?? true) !== "false")
  return accepted
})

export const send: Methods<Mailbox> = { POST: sendMail }

/** The body of an answer: the comment before what is answered. */
const withComment = (comment: unknown, body: unknown) => {
  const { content, contentType } = objectOf(body)
  const text = typeof comment === "string" ? comment : ""
  return { contentType: contentType ?? "text", content: `${text}\n\n${String(content ?? "")}` }
}

const answerOf = Effect.fnUntraced(function* (
  { mailbox, message }: Address,
  kind: "reply" | "replyAll" | "forward",
  request: GraphRequest
) {
  const body = yield* request.json
  const { conversationId, ...begun } = Composing.answer(mailbox, message, kind)
  const to = body["toRecipients"] === undefined ? {} : { toRecipients: body["toRecipients"] }
  const given = { ...begun, body: withComment(body["comment"], begun.body), ...to, ...objectOf(body["message"]) }
  const draft = yield* Composing.draft(mailbox, given, request.now)
  const forwarded = kind === "forward" ? Mailboxes.attachmentsFor(mailbox, message) : []
  return {
    ...draft,
    properties: { ...draft.properties, conversationId },
    attachments: [...draft.attachments, ...forwarded]
  }
})

const answering = (kind: "reply" | "replyAll" | "forward"): Methods<Address> => ({
  POST: Effect.fnUntraced(function* (address, request) {
    yield* sendNew(address.mailbox, yield* answerOf(address, kind, request), request.now, true)
    return accepted
  })
})

const drafting = (kind: "reply" | "replyAll" | "forward"): Methods<Address> => ({
  POST: Effect.fnUntraced(function* (address, request) {
    const { mailbox } = address
    const draft = yield* answerOf(address, kind, request)
    const made = Mailboxes.add(mailbox, Mailboxes.known(mailbox, "drafts"), draft, request.now)
    return created(MessageViews.view(request)(made))
  })
})

/** What can be done with a message, by its name in lower case. */
export const actions: Readonly<Record<string, Methods<Address>>> = {
  send: { POST: sendDraft },
  reply: answering("reply"),
  replyall: answering("replyAll"),
  forward: answering("forward"),
  createreply: drafting("reply"),
  createreplyall: drafting("replyAll"),
  createforward: drafting("forward")
}
