/**
 * Mailboxes, as requests see them: what follows a user in an address.
 */
import * as Effect from "effect/Effect"
import * as Attachments from "./Attachments.ts"
import * as AttachmentSessions from "./AttachmentSessions.ts"
import * as Composing from "./Composing.ts"
import * as Folders from "./Folders.ts"
import * as MailFailures from "./MailFailures.ts"
import * as MessageQueries from "./MessageQueries.ts"
import * as MessageViews from "./MessageViews.ts"
import * as Sending from "./Sending.ts"
import * as Failure from "../model/Failure.ts"
import type { Mailbox, MailFolder } from "../model/Mail.ts"
import type { User } from "../model/Model.ts"
import type { Segment } from "../requests/Address.ts"
import {
  type Answer,
  created,
  dispatch,
  type GraphRequest,
  type Methods,
  noContent,
  relation,
  textOf
} from "../requests/GraphRequest.ts"
import * as Pages from "../requests/Pages.ts"
import * as Mailboxes from "../world/Mailboxes.ts"
import { World } from "../world/World.ts"

type Address = Attachments.Address

/** Bytes of a request. */
const mostBytes = 4 * 1024 * 1024

/** Requests of one app to one mailbox at a time. */
const mostAtOnce = 4

const get = ({ mailbox, message }: Address, request: GraphRequest) =>
  request.options.has("expand")
    ? Effect.fail(Failure.notServed("The sandbox does not expand messages."))
    : Effect.succeed(Pages.one(request, MessageViews.context(mailbox, "messages"), MessageViews.view(request)(message)))

const patch = Effect.fnUntraced(function* (address: Address, request: GraphRequest) {
  const { message } = address
  const changes = yield* Composing.changes(message, yield* request.json)
  message.properties = { ...message.properties, ...changes }
  Mailboxes.changed(message, request.now)
  return yield* get(address, request)
})

const remove = ({ mailbox, message }: Address, { now }: GraphRequest) =>
  Effect.sync(() => {
    const deleted = Mailboxes.known(mailbox, "deleteditems")
    if (message.folder === deleted) Mailboxes.remove(mailbox, message, now)
    else Mailboxes.move(mailbox, message, deleted, now)
    return noContent
  })

const destination = Effect.fnUntraced(function* ({ mailbox }: Address, request: GraphRequest) {
  const id = yield* textOf(yield* request.json, "destinationId")
  if (id === undefined) return yield* MailFailures.invalidRequest("'destinationId' must be given.")
  return yield* Folders.named(mailbox, id)
})

const move = Effect.fnUntraced(function* (address: Address, request: GraphRequest) {
  Mailboxes.move(address.mailbox, address.message, yield* destination(address, request), request.now)
  return created(MessageViews.view(request)(address.message))
})

const copy = Effect.fnUntraced(function* (address: Address, request: GraphRequest) {
  const { mailbox, message } = address
  const copied = Mailboxes.copy(mailbox, message, yield* destination(address, request), request.now)
  return created(MessageViews.view(request)(copied))
})

const removePermanently = ({ mailbox, message }: Address, { now }: GraphRequest) =>
  Effect.sync(() => {
    Mailboxes.remove(mailbox, message, now)
    return noContent
  })

const one: Methods<Address> = { GET: get, PATCH: patch, DELETE: remove }

const actions: Readonly<Record<string, Methods<Address>>> = {
  ...Sending.actions,
  move: { POST: move },
  copy: { POST: copy },
  permanentdelete: { POST: removePermanently }
}

/** What follows `messages`, of the whole mailbox or of a folder. */
const messages = Effect.fnUntraced(function* (
  mailbox: Mailbox,
  folder: MailFolder | null,
  [key, segment, ...rest]: ReadonlyArray<Segment>,
  request: GraphRequest
) {
  if (key === undefined) {
    const methods: Methods<Mailbox> = {
      GET: () => MessageQueries.list(mailbox, folder, request),
      POST: () => Sending.createIn(mailbox, folder ?? Mailboxes.known(mailbox, "drafts"), request)
    }
    return yield* dispatch(methods, mailbox, request)
  }
  if (key.text.toLowerCase() === "delta") {
    if (folder === null) {
      return yield* Failure.badRequest("Change tracking is not supported against 'microsoft.graph.message'.")
    }
    return yield* dispatch({ GET: () => MessageQueries.delta(folder, key, request) }, mailbox, request)
  }
  const message = mailbox.messages.get(key.text)
  if (message === undefined || (folder !== null && message.folder !== folder)) return yield* MailFailures.notFound()
  const address: Address = { mailbox, message }
  switch (segment?.text.toLowerCase()) {
    case undefined:
      return yield* dispatch(one, address, request)
    case "attachments":
      return yield* Attachments.route(address, rest, request, AttachmentSessions.create)
    case "$value":
    case "extensions":
    case "mentions":
      return yield* Failure.notServed(`The sandbox does not serve '${segment?.text ?? ""}' of messages.`)
    default:
      return yield* relation(actions, segment?.text ?? "", address, request)
  }
})

/** What follows `mailFolders` or `childFolders`. */
const folders = (
  mailbox: Mailbox,
  parent: MailFolder,
  [key, segment, ...rest]: ReadonlyArray<Segment>,
  request: GraphRequest
): Answer =>
  Effect.gen(function* () {
    if (key === undefined) return yield* dispatch(Folders.children, { mailbox, folder: parent }, request)
    if (key.text.toLowerCase() === "delta") {
      return yield* Failure.notServed("The sandbox does not serve changes of folders, only of messages.")
    }
    const folder = yield* Folders.named(mailbox, key.text)
    switch (segment?.text.toLowerCase()) {
      case undefined:
        return yield* dispatch(Folders.one, { mailbox, folder }, request)
      case "childfolders":
        return yield* folders(mailbox, folder, rest, request)
      case "messages":
        return yield* messages(mailbox, folder, rest, request)
      case "messagerules":
      case "move":
      case "copy":
        return yield* Failure.notServed(`The sandbox does not serve '${segment?.text ?? ""}' of mail folders.`)
      default:
        return yield* Failure.unknownSegment(segment?.text ?? "")
    }
  })

const route = Effect.fnUntraced(function* (
  mailbox: Mailbox,
  [first, ...rest]: ReadonlyArray<Segment>,
  request: GraphRequest
) {
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) return yield* MailFailures.tooLarge()
  switch (first?.text.toLowerCase()) {
    case "messages":
      return yield* messages(mailbox, null, rest, request)
    case "sendmail":
      return yield* dispatch(Sending.send, mailbox, request)
    default:
      return yield* folders(mailbox, mailbox.root, rest, request)
  }
})

/** The words of an address that lead into a mailbox, in lower case. */
export const isOf = (segment: Segment | undefined): boolean =>
  ["mailfolders", "messages", "sendmail"].includes(segment?.text.toLowerCase() ?? "")

/** Answers what follows a user in an address, unless the app asks too much of the mailbox at once. */
export const of = Effect.fnUntraced(function* (user: User, rest: ReadonlyArray<Segment>, request: GraphRequest) {
  const { busyMailboxes, mailboxes } = yield* World
  const mailbox = mailboxes.get(user.id)
  if (mailbox === undefined) return yield* MailFailures.notFound()
  const key = `${request.principal.app.clientId} ${user.id}`
  const others = busyMailboxes.get(key) ?? 0
  if (others >= mostAtOnce) return yield* MailFailures.concurrency
  return yield* Effect.acquireUseRelease(
    Effect.sync(() => busyMailboxes.set(key, others + 1)),
    () => route(mailbox, rest, request),
    () => Effect.sync(() => busyMailboxes.set(key, (busyMailboxes.get(key) ?? 1) - 1))
  )
})
