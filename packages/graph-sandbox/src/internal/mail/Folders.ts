/**
 * Folders of a mailbox, as requests read, make, rename and delete them.
 */
import * as Effect from "effect/Effect"
import * as MailFailures from "./MailFailures.ts"
import * as MessageViews from "./MessageViews.ts"
import type { Mailbox, MailFolder } from "../model/Mail.ts"
import { created, type GraphRequest, type Methods, nameOf, noContent } from "../requests/GraphRequest.ts"
import * as Pages from "../requests/Pages.ts"
import * as Mailboxes from "../world/Mailboxes.ts"

/** A folder, and the mailbox that it is in. */
export interface InMailbox {
  readonly mailbox: Mailbox
  readonly folder: MailFolder
}

export const named = (mailbox: Mailbox, key: string) => {
  const folder = Mailboxes.folder(mailbox, key)
  return folder === undefined ? Effect.fail(MailFailures.notFound()) : Effect.succeed(folder)
}

const list = ({ folder, mailbox }: InMailbox, request: GraphRequest) =>
  Pages.page(request, {
    of: MessageViews.context(mailbox, "mailFolders"),
    rows: Mailboxes.children(mailbox, folder),
    view: MessageViews.folder(mailbox),
    size: 10,
    max: 1000
  })

const freeName = Effect.fnUntraced(function* (mailbox: Mailbox, parent: MailFolder, request: GraphRequest) {
  const name = yield* nameOf(yield* request.json, "displayName")
  if (Mailboxes.childNamed(mailbox, parent, name) !== undefined) return yield* MailFailures.folderExists()
  return name
})

const make = Effect.fnUntraced(function* ({ folder, mailbox }: InMailbox, request: GraphRequest) {
  const made = Mailboxes.addFolder(mailbox, folder, yield* freeName(mailbox, folder, request))
  return created(MessageViews.folder(mailbox)(made))
})

/** The folders in a folder. */
export const children: Methods<InMailbox> = { GET: list, POST: make }

const get = ({ folder, mailbox }: InMailbox, request: GraphRequest) =>
  Effect.succeed(Pages.one(request, MessageViews.context(mailbox, "mailFolders"), MessageViews.folder(mailbox)(folder)))

const rename = Effect.fnUntraced(function* ({ folder, mailbox }: InMailbox, request: GraphRequest) {
  folder.displayName = yield* freeName(mailbox, folder.parent ?? mailbox.root, request)
  return yield* get({ folder, mailbox }, request)
})

const remove = Effect.fnUntraced(function* ({ folder, mailbox }: InMailbox, { now }: GraphRequest) {
  if (folder.wellKnown !== null) return yield* MailFailures.distinguished()
  Mailboxes.removeFolder(mailbox, folder, now)
  return noContent
})

export const one: Methods<InMailbox> = { GET: get, PATCH: rename, DELETE: remove }
