/**
 * What changed in a folder of a mailbox since it was looked at last: mail that arrived, was marked, was moved or deleted.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Graph } from "./Graph.ts"
import type { GraphError } from "./GraphError.ts"
import { folderPath, preferring } from "./internal/mail/Requests.ts"
import { pages } from "./internal/requests/Call.ts"
import {
  type ChangesPage,
  collect,
  type CollectedChanges,
  type DeltaLink,
  follow
} from "./internal/requests/Changes.ts"
import { type Selection, selection } from "./internal/requests/Options.ts"
import type { BodyType, FolderAddress, MailboxAddress } from "./Mailbox.ts"
import { Message } from "./model/Message.ts"
import { path } from "./Path.ts"

export { DeltaLink } from "./internal/requests/Changes.ts"

/** Some changes, in order: a message may come again, and then as it is now. One that has left the folder has `@removed`. */
export interface MailDeltaPage extends ChangesPage<Message> {}

export interface MailDeltaOptions extends Selection<Message> {
  /**
   * Where the last look ended. Default: all that is there comes. `latest`: nothing comes but a link for the next look; the service
   * has no short way to it, so each page of the folder is read.
   */
  readonly from?: DeltaLink | "latest" | undefined
  /** The folder to watch, not those in it. Default `inbox`. */
  readonly folder?: FolderAddress | undefined
  /** Only messages that came into the folder, were changed, or left it. The service keeps it in the link. */
  readonly changeType?: "created" | "updated" | "deleted" | undefined
  /** In which form bodies come. Default `html`. */
  readonly body?: BodyType | undefined
  /** How many messages a page has at most. Default 50. */
  readonly pageSize?: number | undefined
}

const deltaPages = pages(Message)

/** The link alone. */
const withoutItems = (page: MailDeltaPage): MailDeltaPage => ({ ...page, items: [] })

/**
 * The changes of a folder as pages, to be applied in order. `select`, `changeType` and the folder are part of the link: with `from`
 * they have no effect.
 *
 * ```ts
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import * as MailDelta from "@signalbox/graph/MailDelta"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * export const follow = (from: MailDelta.DeltaLink) =>
 *   Stream.runForEach(MailDelta.stream(Mailbox.me, { from }), (page) =>
 *     Effect.forEach(page.items, (message) =>
 *       Effect.log(message["@removed"] === undefined ? "there" : "gone")
 *     )
 *   )
 * ```
 */
export const stream = (
  mailbox: MailboxAddress,
  options: MailDeltaOptions = {}
): Stream.Stream<MailDeltaPage, GraphError, Graph> => {
  const { body, changeType, folder = "inbox", from, pageSize = 50, select } = options
  const headers = preferring(mailbox, { body, pageSize })
  const query = { $select: selection(select), changeType }
  const all = Stream.unwrap(
    // A link knows its folder.
    Effect.map(folderPath(mailbox, from === undefined || from === "latest" ? folder : "inbox"), (found) =>
      follow(
        deltaPages,
        "MailDelta.stream",
        { path: path`${found}/messages/delta`, headers, query },
        from === "latest" ? undefined : from
      )
    )
  ).pipe(Stream.withSpan("MailDelta.stream"))
  return from === "latest"
    ? Stream.map(
        Stream.filter(all, ({ link }) => link !== null),
        withoutItems
      )
    : all
}

/** All changes of one look. */
export interface MailChanges extends CollectedChanges<Message> {}

/**
 * All changes in one array; each message once, with its last state. For a folder whose changes fit into memory.
 *
 * ```ts
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import * as MailDelta from "@signalbox/graph/MailDelta"
 *
 * const invoices = Mailbox.of({ user: "invoices@contoso.example" })
 * export const arrived = (from: MailDelta.DeltaLink | undefined) =>
 *   MailDelta.changes(invoices, { from, changeType: "created" })
 * ```
 */
export const changes = Effect.fn("MailDelta.changes")(
  (mailbox: MailboxAddress, options: MailDeltaOptions = {}): Effect.Effect<MailChanges, GraphError, Graph> =>
    collect(stream(mailbox, options))
)
