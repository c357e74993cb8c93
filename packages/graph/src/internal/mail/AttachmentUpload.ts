/**
 * Files onto a message that is not sent yet: small ones in one request, others in fragments through a session. The service's page
 * "Attach large files to Outlook messages or events" has its rules.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Base64 from "effect/encoding/Base64"
import type { Graph } from "../../Graph.ts"
import { type GraphError, transient } from "../../GraphError.ts"
import type { MailboxAddress } from "../../Mailbox.ts"
import { UploadSession } from "../../model/Drive.ts"
import { Attachment } from "../../model/Message.ts"
import { path } from "../../Path.ts"
import { type TransferError, transferError, UploadLost } from "../../TransferError.ts"
import * as Reader from "../files/Reader.ts"
import { sizeProblem, sourceOf } from "../files/Sources.ts"
import * as Session from "../files/UploadSession.ts"
import { json, list, refused, unsent } from "../requests/Call.ts"
import { operationOf } from "../requests/Operation.ts"
import type { Sent } from "../requests/Transport.ts"
import type { NewAttachment } from "./Outgoing.ts"
import { type MessageAddress, messagePath, preferring } from "./Requests.ts"

/** Without the contents, which would come in base64. */
export const properties = "id,name,contentType,size,isInline,lastModifiedDateTime"

/** Bytes: up to here a file goes in one request, in base64. */
export const simpleBytes = 3_000_000
/** Bytes: a session that the service finds too small for one is not below this. */
const mostSimpleBytes = 3 * 1024 * 1024
export const mostBytes = 150 * 1024 * 1024
const fragmentBytes = 12 * 327_680
/** How often a lost session is replaced. */
const mostSessions = 3

const one = json(Attachment)
const many = list(Attachment)
const session = json(UploadSession)

export interface AttachOptions {
  /** Called as bytes of a large file are acknowledged. */
  readonly onProgress?: ((progress: Session.Progress) => Effect.Effect<void>) | undefined
}

/** Why a file cannot be attached; null: it can. */
export const attachmentProblem = ({ content, name }: NewAttachment): string | null => {
  const source = sourceOf(content, name)
  if (name.trim() === "") return "name: an attachment needs a name"
  const limit = `attachment ${name}: ${source.size} bytes are more than the ${mostBytes} that the service takes`
  return sizeProblem(source) ?? (source.size > mostBytes ? limit : null)
}

/** The file as it stands in a request. */
export const inline = Effect.fnUntraced(function* ({ content, contentId, contentType, name }: NewAttachment) {
  const source = sourceOf(content, name)
  const bytes = yield* Effect.scoped(
    Effect.flatMap(Reader.make(source), (reader) =>
      source.size === 0 ? Effect.succeed(new Uint8Array()) : reader.read(0, source.size)
    )
  )
  return {
    "@odata.type": "#microsoft.graph.fileAttachment",
    name,
    contentType,
    contentId,
    isInline: contentId === undefined ? undefined : true,
    contentBytes: Base64.encode(bytes)
  }
})

/** A file, and the message that it goes onto. */
interface Job {
  readonly mailbox: MailboxAddress
  readonly message: MessageAddress
  readonly attachment: NewAttachment
  /** Ids of what is attached already. */
  readonly before: ReadonlySet<string>
}

const pathOf = ({ mailbox, message }: Pick<Job, "mailbox" | "message">) =>
  path`${messagePath(mailbox, message)}/attachments`

export const attached = (mailbox: MailboxAddress, message: MessageAddress) =>
  many({ path: pathOf({ mailbox, message }), headers: preferring(mailbox), query: { $select: properties } })

/** What was attached although no answer came. */
const foundAfterwards = ({ attachment, before, mailbox, message }: Job) =>
  Effect.map(Stream.runCollect(attached(mailbox, message)), (all) =>
    all.find(({ id, name }) => name === attachment.name && !before.has(id))
  )

const mayBeThere = (error: GraphError): boolean => transient(error)?.acted === "maybe"

const simple = Effect.fnUntraced(function* (job: Job) {
  const body = yield* inline(job.attachment)
  const send = one({ method: "POST", path: pathOf(job), headers: preferring(job.mailbox), json: body, timed: false })
  return yield* Effect.catchIf(send, mayBeThere, () =>
    Effect.flatMap(foundAfterwards(job), (found) => (found === undefined ? send : Effect.succeed(found)))
  )
})

const openSession = (job: Job, size: number) => {
  const { contentId, contentType, name } = job.attachment
  const isInline = contentId === undefined ? undefined : true
  return session({
    method: "POST",
    path: path`${pathOf(job)}/createUploadSession`,
    headers: preferring(job.mailbox),
    json: { AttachmentItem: { attachmentType: "file", name, size, contentType, contentId, isInline } },
    // The service drops an unused session.
    repeatable: true
  })
}

/** A mailbox accepts a fragment with 200, and the last one with 201 and the address of the attachment. */
const ofMailbox = (sent: Sent<string>): Effect.Effect<Session.Received<string | null>, GraphError> => {
  if (sent.status !== 201) return Effect.map(Session.statusOf(sent), (next) => ({ next }))
  const id = /Attachments\('([^']+)'\)/i.exec(sent.headers["location"] ?? "")?.[1]
  return Effect.succeed({ item: id === undefined ? null : decodeURIComponent(id) })
}

/** The session was asked what it has, and does not say it. */
const isUnasked = (error: GraphError | TransferError): error is GraphError =>
  error._tag === "GraphError" && error.request.method === "GET" && transient(error) === null

const inFragments = Effect.fnUntraced(function* (
  job: Job,
  source: Reader.Source,
  { onProgress }: AttachOptions
): Effect.fn.Return<Attachment, GraphError | TransferError, Graph | Scope.Scope> {
  const { size } = source
  const { name } = job.attachment
  const reader = yield* Reader.make(source)
  for (let sessions = 1; ; sessions++) {
    const { uploadUrl } = yield* openSession(job, size)
    const options = { url: uploadUrl, name, size, fragmentBytes, onProgress, read: ofMailbox }
    const outcome = yield* Session.transfer(options, reader, [{ from: 0, to: size }]).pipe(
      // That a session can be asked what it has is not documented for mailboxes: one that cannot be is as good as lost.
      Effect.catchIf(isUnasked, () => Effect.succeed({ _tag: "Lost", complete: true } as const)),
      Effect.onError(() => Effect.ignore(Session.cancel(uploadUrl)))
    )
    if (outcome._tag === "Done" && outcome.item !== null) {
      return yield* one({
        path: path`${pathOf(job)}/${outcome.item}`,
        headers: preferring(job.mailbox),
        query: { $select: properties }
      })
    }
    const found = outcome._tag === "Done" || outcome.complete ? yield* foundAfterwards(job) : undefined
    if (found !== undefined) return found
    if (sessions >= mostSessions) {
      const message = `the service lost ${sessions} sessions of this upload; nothing was attached`
      return yield* transferError(new UploadLost({ message }), name)
    }
  }
}, Effect.scoped)

const isTooSmall = ({ reason }: GraphError): boolean =>
  "codes" in reason && reason.codes.includes("ErrorAttachmentSizeShouldNotBeLessThanMinimumSize")

/** Attaches a file; `before` is what the message has already. */
export const attach = Effect.fnUntraced(function* (
  mailbox: MailboxAddress,
  message: MessageAddress,
  attachment: NewAttachment,
  options: AttachOptions = {},
  before?: ReadonlySet<string>
): Effect.fn.Return<Attachment, GraphError | TransferError, Graph> {
  const problem = attachmentProblem(attachment)
  if (problem !== null) {
    const request = unsent("POST", pathOf({ mailbox, message }).shown, yield* operationOf(null))
    return yield* refused(request, problem)
  }
  const source = sourceOf(attachment.content, attachment.name)
  const there = before ?? new Set((yield* Stream.runCollect(attached(mailbox, message))).map(({ id }) => id))
  const job: Job = { mailbox, message, attachment, before: there }
  if (source.size < simpleBytes) return yield* simple(job)
  return yield* inFragments(job, source, options).pipe(
    Effect.catchIf(
      (error) => error._tag === "GraphError" && source.size < mostSimpleBytes && isTooSmall(error),
      () => simple(job)
    )
  )
})
