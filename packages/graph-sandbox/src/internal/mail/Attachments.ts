/**
 * What is attached to a message, as requests read, add and take it off.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Schema from "effect/Schema"
import * as MailFailures from "./MailFailures.ts"
import * as MessageViews from "./MessageViews.ts"
import type { MailAttachment, Mailbox, MailMessage } from "../model/Mail.ts"
import * as Failure from "../model/Failure.ts"
import type { Segment } from "../requests/Address.ts"
import { created, dispatch, type GraphRequest, type Methods, noContent, textOf } from "../requests/GraphRequest.ts"
import * as Pages from "../requests/Pages.ts"
import * as Mailboxes from "../world/Mailboxes.ts"
import { World } from "../world/World.ts"

export interface Address {
  readonly mailbox: Mailbox
  readonly message: MailMessage
}

interface AttachmentAddress extends Address {
  readonly attachment: MailAttachment
}

/** Bytes that an attachment in one request may have. */
const most = 3 * 1024 * 1024

const bytesOf = Effect.fnUntraced(function* ({ blob, kind }: MailAttachment) {
  const { blobs } = yield* World
  if (blob === null || kind !== "file") return null
  return yield* Stream.mkUint8Array(Stream.orDie(blobs.read(blob, 0, blob.size)))
})

/** Whether the contents are asked for, which come in base64. */
const wantsBytes = ({ options }: GraphRequest) => {
  const select = options.get("select")
  return select === undefined || /(?:^|[,/\s])contentBytes\b/i.test(select)
}

const shown = Effect.fnUntraced(function* (request: GraphRequest, attachment: MailAttachment) {
  return MessageViews.attachment(attachment, wantsBytes(request) ? yield* bytesOf(attachment) : null)
})

const of = ({ mailbox, message }: Address) =>
  MessageViews.context(mailbox, `messages('${encodeURIComponent(message.regularId)}')/attachments`)

const list = Effect.fnUntraced(function* (address: Address, request: GraphRequest) {
  const rows = yield* Effect.forEach(address.message.attachments, (attachment) => shown(request, attachment))
  return yield* Pages.page(request, { of: of(address), rows, view: (row) => row, size: 100, max: 1000 })
})

const decodeBytes = Schema.decodeUnknownOption(Schema.Uint8ArrayFromBase64)

/** A file as a body gives it. */
export const fromBody = Effect.fnUntraced(function* (
  mailbox: Mailbox,
  body: Readonly<Record<string, unknown>>,
  now: number
) {
  const { blobs } = yield* World
  const type = yield* textOf(body, "@odata.type")
  const name = yield* textOf(body, "name")
  if (type !== undefined && !/^#?microsoft\.graph\.fileAttachment$/i.test(type)) {
    return yield* Failure.notServed(`The sandbox does not attach '${type}'.`)
  }
  const bytes = decodeBytes(body["contentBytes"])
  if (name === undefined || Option.isNone(bytes)) {
    return yield* MailFailures.invalidRequest("A file attachment must have 'name' and 'contentBytes' in base64.")
  }
  if (bytes.value.length > most) return yield* MailFailures.tooLarge()
  const attachment: MailAttachment = {
    id: Mailboxes.attachmentId(mailbox),
    kind: "file",
    name,
    contentType: (yield* textOf(body, "contentType")) ?? "application/octet-stream",
    isInline: body["isInline"] === true,
    contentId: (yield* textOf(body, "contentId")) ?? null,
    blob: blobs.ofBytes(bytes.value),
    link: null,
    modifiedAt: now
  }
  return attachment
})

/** Attaches it, and shows it. */
export const attach = (message: MailMessage, attachment: MailAttachment, now: number): void => {
  message.attachments = [...message.attachments, attachment]
  Mailboxes.changed(message, now)
}

const add = Effect.fnUntraced(function* ({ mailbox, message }: Address, request: GraphRequest) {
  const attachment = yield* fromBody(mailbox, yield* request.json, request.now)
  attach(message, attachment, request.now)
  return created(yield* shown(request, attachment))
})

const get = Effect.fnUntraced(function* (address: AttachmentAddress, request: GraphRequest) {
  return Pages.one(request, of(address), yield* shown(request, address.attachment))
})

const remove = Effect.fnUntraced(function* ({ attachment, message }: AttachmentAddress, { now }: GraphRequest) {
  message.attachments = message.attachments.filter(({ id }) => id !== attachment.id)
  yield* Effect.sync(() => Mailboxes.changed(message, now))
  return noContent
})

const value = Effect.fnUntraced(function* ({ attachment }: AttachmentAddress, _: GraphRequest) {
  const { blobs } = yield* World
  const { blob, contentType, kind } = attachment
  if (blob === null) return yield* Failure.methodNotAllowed()
  const type = kind === "item" ? "message/rfc822" : (contentType ?? "application/octet-stream")
  return { status: 200, contents: { stream: blobs.read(blob, 0, blob.size), length: blob.size, type } }
})

const all: Methods<Address> = { GET: list, POST: add }
const one: Methods<AttachmentAddress> = { GET: get, DELETE: remove }

/** What follows `attachments` in an address. */
export const route = Effect.fnUntraced(function* (
  address: Address,
  [key, last]: ReadonlyArray<Segment>,
  request: GraphRequest,
  createSession: Methods<Address>
) {
  if (key === undefined) return yield* dispatch(all, address, request)
  if (key.text.toLowerCase() === "createuploadsession") return yield* dispatch(createSession, address, request)
  const attachment = address.message.attachments.find(({ id }) => id === key.text)
  if (attachment === undefined) return yield* MailFailures.notFound()
  const found = { ...address, attachment }
  if (last === undefined) return yield* dispatch(one, found, request)
  if (last.text.toLowerCase() !== "$value") return yield* Failure.unknownSegment(last.text)
  return yield* dispatch({ GET: value }, found, request)
})
