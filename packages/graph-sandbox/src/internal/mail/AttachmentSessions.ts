/**
 * Large attachments: sessions that the graph opens, and whose fragments go to the host of files.
 */
import * as Effect from "effect/Effect"
import * as Attachments from "./Attachments.ts"
import * as MailFailures from "./MailFailures.ts"
import {
  created,
  context,
  type GraphRequest,
  type Methods,
  nameOf,
  objectOf,
  textOf
} from "../requests/GraphRequest.ts"
import * as Mailboxes from "../world/Mailboxes.ts"
import { type AttachmentSession, expectedRanges, Transfers } from "../world/Transfers.ts"
import * as QuickXorHash from "../world/QuickXorHash.ts"
import { World } from "../world/World.ts"

/** Bytes: what is smaller goes in one request. */
const least = 3 * 1024 * 1024
const most = 150 * 1024 * 1024

const open = Effect.fnUntraced(function* ({ mailbox, message }: Attachments.Address, request: GraphRequest) {
  const { blobs } = yield* World
  const transfers = yield* Transfers
  const body = yield* request.json
  const item = objectOf(body["AttachmentItem"] ?? body["attachmentItem"])
  const size = Number(item["size"])
  if (String(item["attachmentType"]).toLowerCase() !== "file" || !Number.isSafeInteger(size)) {
    return yield* MailFailures.invalidRequest("'AttachmentItem' must have 'attachmentType' (file), 'name' and 'size'.")
  }
  if (size < least) return yield* MailFailures.attachmentTooSmall()
  if (size > most) return yield* MailFailures.messageTooLarge()
  const session = transfers.openAttachment({
    mailbox,
    message,
    name: yield* nameOf(item, "name"),
    contentType: (yield* textOf(item, "contentType")) ?? null,
    contentId: (yield* textOf(item, "contentId")) ?? null,
    isInline: item["isInline"] === true,
    size,
    path: blobs.newPath(),
    now: request.now
  })
  return created({
    "@odata.context": context(request, "microsoft.graph.uploadSession"),
    uploadUrl: transfers.attachmentUrl(session),
    expirationDateTime: new Date(session.expiresAt).toISOString(),
    nextExpectedRanges: ["0-"]
  })
})

export const create: Methods<Attachments.Address> = { POST: open }

/** A session as clients see it: the address of each next byte, without a dash. */
export const status = (session: AttachmentSession) => ({
  ExpirationDateTime: new Date(session.expiresAt).toISOString(),
  nextExpectedRanges: expectedRanges(session).map((range) => range.replace(/-$/, ""))
})

/** All bytes are there: the file is attached. */
export const commit = Effect.fnUntraced(function* (session: AttachmentSession, now: number) {
  const transfers = yield* Transfers
  const { contentId, contentType, hash, isInline, mailbox, message, name, path, size } = session
  if (!mailbox.messages.has(message.id)) return yield* MailFailures.notFound()
  const id = Mailboxes.attachmentId(mailbox)
  const blob = { size, hash: QuickXorHash.digest(hash, size), source: path }
  const own = { id, kind: "file", name, contentType, isInline, contentId, blob, link: null, modifiedAt: now } as const
  Attachments.attach(message, own, now)
  transfers.attachments.delete(session.id)
  const address = `/api/v2.0/Users('${mailbox.owner.id}')/Messages('${message.regularId}')/Attachments('${id}')`
  return `${transfers.origin}${address}`
})
