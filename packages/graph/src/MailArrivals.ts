/**
 * Messages that arrive in a folder of a mailbox, as a source of `Arrivals`: each is handed over at least once, over restarts.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Hex from "effect/encoding/Hex"
import type { Found, Look, Source } from "./Arrivals.ts"
import type { FolderAddress, MailboxAddress, WellKnownFolder } from "./Mailbox.ts"
import * as MailDelta from "./MailDelta.ts"
import type { Message } from "./model/Message.ts"
import { path, type Path } from "./Path.ts"

/** Which messages arrive, and what of them comes. */
export interface MessagesOptions {
  /** The folder, not those in it. Default `inbox`. */
  readonly folder?: FolderAddress | undefined
  /** Fields that come besides `subject`, `from`, `receivedDateTime`, `internetMessageId` and `hasAttachments`. */
  readonly select?: ReadonlyArray<keyof Message & string> | undefined
}

const fields = ["subject", "from", "receivedDateTime", "internetMessageId", "hasAttachments", "isDraft"] as const

/** What is longer, or has other characters, is hashed. */
const asItIs = /^[\x21-\x7e]{1,200}$/

const keyOf = (text: string): Effect.Effect<string> =>
  asItIs.test(text)
    ? Effect.succeed(text)
    : Effect.map(
        Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
        (digest) => `sha256:${Hex.encode(new Uint8Array(digest))}`
      )

const foundOf = (item: Message): Effect.Effect<Found<Message>> =>
  Effect.map(keyOf(item.internetMessageId ?? item.id), (key) => ({ id: item.id, version: "", key, item }))

/**
 * Messages that arrive in a folder: received, or moved there. Drafts do not count. The key is the `internetMessageId`, the same in every
 * mailbox: a message that comes into two mailboxes is one arrival for whoever makes something of its key. For an app, or a person who may
 * read it, a shared mailbox is that of a user.
 *
 * ```ts
 * import * as Arrivals from "@signalbox/graph/Arrivals"
 * import * as MailArrivals from "@signalbox/graph/MailArrivals"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 * import * as Effect from "effect/Effect"
 *
 * const invoices = Mailbox.of({ user: "invoices@contoso.example" })
 *
 * export const watch = Arrivals.follow(
 *   MailArrivals.messages(invoices),
 *   ({ item, key }) => Effect.log(key, item.subject)
 * )
 * ```
 */
export const messages = (mailbox: MailboxAddress, options: MessagesOptions = {}): Source<Message> => {
  const { folder = "inbox", select = [] } = options
  return {
    name: `messages in ${mailbox.path.shown}, ${typeof folder === "string" ? folder : JSON.stringify(folder)}`,
    look: (from) =>
      Stream.mapEffect(
        MailDelta.stream(mailbox, {
          folder,
          select: [...new Set([...fields, ...select])],
          from: from === null ? undefined : MailDelta.DeltaLink.make(from)
        }),
        ({ items, link, restarted }): Effect.Effect<Look<Message>> => {
          const there = items.filter((item) => item["@removed"] === undefined && item.isDraft !== true)
          const gone = items.filter((item) => item["@removed"] !== undefined).map(({ id }) => id)
          return Effect.map(Effect.forEach(there, foundOf), (found) => ({ found, gone, link, restarted }))
        }
      )
  }
}

/**
 * The messages of a folder as they are subscribed to; with `changeTypes: ["created"]` only new ones are told.
 *
 * ```ts
 * import * as MailArrivals from "@signalbox/graph/MailArrivals"
 * import * as Mailbox from "@signalbox/graph/Mailbox"
 *
 * // "/me/mailFolders('inbox')/messages"
 * export const resource = MailArrivals.resource(Mailbox.me)
 * ```
 */
export const resource = (mailbox: MailboxAddress, folder: WellKnownFolder | { readonly id: string } = "inbox"): Path =>
  path`${mailbox.path}/mailFolders('${typeof folder === "string" ? folder : folder.id}')/messages`
