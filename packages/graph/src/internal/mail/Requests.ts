/**
 * What requests of mailboxes have in common: which ids and which bodies are wanted, and where folders and messages are.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Graph } from "../../Graph.ts"
import { GraphError, NotFound } from "../../GraphError.ts"
import type { BodyType, FolderAddress, MailboxAddress, WellKnownFolder } from "../../Mailbox.ts"
import { MailFolder } from "../../model/MailFolder.ts"
import { odataText, path, type Path } from "../../Path.ts"
import { list, refused, unsent } from "../requests/Call.ts"
import { operationOf } from "../requests/Operation.ts"

/** A message by its id, or as the service gave it. */
export type MessageAddress = string | { readonly id: string }

export const idOf = (thing: MessageAddress): string => (typeof thing === "string" ? thing : thing.id)

export const messagePath = (mailbox: MailboxAddress, message: MessageAddress): Path =>
  path`${mailbox.path}/messages/${idOf(message)}`

/** What the service is asked to prefer. */
export const preferring = (
  mailbox: MailboxAddress,
  options: { readonly body?: BodyType | undefined; readonly pageSize?: number | undefined } = {}
): Readonly<Record<string, string>> => {
  const wishes = [
    mailbox.immutableIds ? 'IdType="ImmutableId"' : undefined,
    options.body === undefined ? undefined : `outlook.body-content-type="${options.body}"`,
    options.pageSize === undefined ? undefined : `odata.maxpagesize=${options.pageSize}`
  ].filter((wish) => wish !== undefined)
  return defined({ Prefer: wishes.length === 0 ? undefined : wishes.join(", ") })
}

const wellKnown: ReadonlySet<string> = new Set<WellKnownFolder>([
  "archive",
  "conversationhistory",
  "deleteditems",
  "drafts",
  "inbox",
  "junkemail",
  "msgfolderroot",
  "outbox",
  "sentitems"
])

/** The names of a path of folders. */
export const namesOf = (folder: string): ReadonlyArray<string> => folder.split("/").filter((name) => name !== "")

const folders = list(MailFolder)

/** The folder of a name below another, or on the highest level. */
export const childNamed = (mailbox: MailboxAddress, parent: string | null, name: string) =>
  folders({
    path:
      parent === null ? path`${mailbox.path}/mailFolders` : path`${mailbox.path}/mailFolders/${parent}/childFolders`,
    query: { $filter: `displayName eq ${odataText(name)}`, $top: 2 }
  }).pipe(Stream.runHead)

/** The folders that a path begins with and that are there, and the names that are not. */
export const resolve = Effect.fnUntraced(function* (mailbox: MailboxAddress, names: ReadonlyArray<string>) {
  const [first = "", ...rest] = names
  const isKnown = wellKnown.has(first.toLowerCase())
  let id: string | null = isKnown ? first.toLowerCase() : null
  const left = isKnown ? rest : [...names]
  for (;;) {
    const name = left[0]
    if (name === undefined) return { id, missing: left }
    const found = yield* childNamed(mailbox, id, name)
    if (found._tag === "None") return { id, missing: left }
    id = found.value.id
    left.shift()
  }
})

const refusedPath = (mailbox: MailboxAddress, message: string) =>
  Effect.flatMap(operationOf(null), (operation) =>
    Effect.fail(refused(unsent("GET", `${mailbox.path.shown}/mailFolders`, operation), message))
  )

/** The id of a folder, or its well-known name, which the service takes in its place. */
export const folderId = (mailbox: MailboxAddress, folder: FolderAddress): Effect.Effect<string, GraphError, Graph> =>
  Effect.gen(function* () {
    if (typeof folder === "string") return folder
    if ("id" in folder) return folder.id
    const names = namesOf(folder.path)
    if (names.length === 0) return yield* refusedPath(mailbox, "the path of the folder is empty")
    const { id, missing } = yield* resolve(mailbox, names)
    if (id !== null && missing.length === 0) return id
    const message = `no folder has the name ${missing[0] ?? ""}, in the path ${folder.path}`
    const request = unsent("GET", `${mailbox.path.shown}/mailFolders`, yield* operationOf(null))
    return yield* new GraphError({ reason: new NotFound({ codes: [], message }), request })
  })

export const folderPath = (mailbox: MailboxAddress, folder: FolderAddress) =>
  Effect.map(folderId(mailbox, folder), (id) => path`${mailbox.path}/mailFolders/${id}`)
