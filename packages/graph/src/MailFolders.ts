/**
 * Folders of a mailbox.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { childNamed, folderId, folderPath, namesOf, resolve } from "./internal/mail/Requests.ts"
import { json, list } from "./internal/requests/Call.ts"
import { type ListOptions, listQuery, type Selection, selection } from "./internal/requests/Options.ts"
import type { FolderAddress, MailboxAddress } from "./Mailbox.ts"
import { MailFolder } from "./model/MailFolder.ts"
import { path } from "./Path.ts"

export { MailFolder, MailFolderId } from "./model/MailFolder.ts"

const one = json(MailFolder)
const many = list(MailFolder)

export interface MailFolderListOptions extends ListOptions<MailFolder> {
  /** The folder whose children come. Default: those of the highest level. */
  readonly in?: FolderAddress | undefined
  /** Also folders that people do not see. */
  readonly hidden?: boolean | undefined
}

/**
 * The folders of the highest level, or those in a folder.
 *
 * ```ts
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import * as MailFolders from "@signalbox/graph/MailFolders"
 *
 * export const below = MailFolders.stream(Mailbox.me, { in: "inbox" })
 * ```
 */
export const stream = (
  mailbox: MailboxAddress,
  options: MailFolderListOptions = {}
): Stream.Stream<MailFolder, GraphError, Graph> => {
  const { hidden, in: parent, ...asked } = options
  const query = { ...listQuery({ pageSize: 100, ...asked }), includeHiddenFolders: hidden }
  const all =
    parent === undefined
      ? many({ path: path`${mailbox.path}/mailFolders`, query })
      : Stream.unwrap(
          Effect.map(folderPath(mailbox, parent), (folder) => many({ path: path`${folder}/childFolders`, query }))
        )
  return Stream.withSpan(all, "MailFolders.stream")
}

/**
 * A folder; fails with `NotFound`. With `{ path }` each name on the way is one request.
 *
 * ```ts
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import * as MailFolders from "@signalbox/graph/MailFolders"
 *
 * export const done = MailFolders.get(Mailbox.me, { path: "inbox/done" })
 * ```
 */
export const get = Effect.fn("MailFolders.get")(function* (
  mailbox: MailboxAddress,
  folder: FolderAddress,
  options: Selection<MailFolder> = {}
) {
  return yield* one({
    path: yield* folderPath(mailbox, folder),
    query: { $select: selection(options.select) }
  })
})

const make = (mailbox: MailboxAddress, parent: string | null, name: string) =>
  one({
    method: "POST",
    path:
      parent === null ? path`${mailbox.path}/mailFolders` : path`${mailbox.path}/mailFolders/${parent}/childFolders`,
    json: { displayName: name }
  })

/** Creates a folder on the highest level, or in another; a taken name fails as `NameAlreadyExists`. */
export const create = Effect.fn("MailFolders.create")(function* (
  mailbox: MailboxAddress,
  name: string,
  options: { readonly in?: FolderAddress | undefined } = {}
) {
  return yield* make(mailbox, options.in === undefined ? null : yield* folderId(mailbox, options.in), name)
})

/**
 * The folder of a path, created with the folders above it where they are missing. Several programs may do so at once.
 *
 * ```ts
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import * as MailFolders from "@signalbox/graph/MailFolders"
 *
 * export const done = MailFolders.ensure(Mailbox.me, "inbox/2030/done")
 * ```
 */
export const ensure = Effect.fn("MailFolders.ensure")(function* (mailbox: MailboxAddress, folder: string) {
  const names = namesOf(folder)
  const { id, missing } = yield* resolve(mailbox, names)
  let parent = id
  for (const name of missing) {
    const above: string | null = parent
    const made: MailFolder = yield* make(mailbox, above, name).pipe(
      Effect.catchReason("GraphError", "NameAlreadyExists", (_, error) =>
        Effect.flatMap(childNamed(mailbox, above, name), (found) =>
          found._tag === "Some" ? Effect.succeed(found.value) : Effect.fail(error)
        )
      )
    )
    parent = made.id
  }
  return yield* get(mailbox, parent === null ? { path: folder } : { id: parent })
})
