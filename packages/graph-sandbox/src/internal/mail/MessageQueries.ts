/**
 * Messages of a folder or a mailbox: pages of them, what a search finds, and what has changed.
 */
import * as Effect from "effect/Effect"
import * as Failure from "../model/Failure.ts"
import * as MailFailures from "./MailFailures.ts"
import * as MessageSearch from "./MessageSearch.ts"
import * as MessageViews from "./MessageViews.ts"
import type { Mailbox, MailFolder, MailMessage } from "../model/Mail.ts"
import type { Segment } from "../requests/Address.ts"
import * as Changes from "../requests/Changes.ts"
import * as Filter from "../requests/Filter.ts"
import type { GraphRequest } from "../requests/GraphRequest.ts"
import * as Pages from "../requests/Pages.ts"
import { defaults } from "../world/Mails.ts"
import { Transfers } from "../world/Transfers.ts"

/** The properties of a message, in lower case. */
const known = new Set(
  [
    ...Object.keys(defaults),
    "attachments bodyPreview categories changeKey conversationId conversationIndex createdDateTime hasAttachments id",
    "internetMessageId lastModifiedDateTime parentFolderId receivedDateTime sentDateTime uniqueBody webLink"
  ]
    .join(" ")
    .toLowerCase()
    .split(" ")
)

const checkNames = (names: ReadonlyArray<string>) => {
  const unknown = names.find((name) => !known.has((name.split("/")[0] ?? "").toLowerCase()))
  return unknown === undefined
    ? Effect.void
    : Effect.fail(Failure.badRequest(`Could not find a property named '${unknown}' on type 'microsoft.graph.message'.`))
}

/** What a query may name, and which parts of one go together. */
const check = Effect.fnUntraced(function* ({ options }: GraphRequest) {
  const filter = options.get("filter")
  const orderby = options.get("orderby")
  if (options.has("expand")) return yield* Failure.notServed("The sandbox does not expand messages.")
  if (options.has("search") && filter !== undefined) {
    return yield* Failure.make(
      400,
      "SearchWithFilter",
      ""
    )("The query parameter '$filter' is not supported with '$search'.")
  }
  if (options.has("search") && orderby !== undefined) {
    return yield* Failure.make(
      400,
      "SearchWithOrderBy",
      ""
    )("The query parameter '$orderBy' is not supported with '$search'.")
  }
  const select = options.get("select")
  if (select !== undefined) yield* checkNames(select.split(",").map((name) => name.trim()))
  const order = orderby === undefined ? [] : Filter.parseOrder(orderby).properties
  const filtered = filter === undefined ? [] : (yield* Effect.fromResult(Filter.parse(filter))).properties
  yield* checkNames([...order, ...filtered])
  // What is ordered must come first in the filter, in the same order.
  const distinct = [...new Set(filtered.map((name) => name.toLowerCase()))]
  if (filter !== undefined && order.some((name, at) => distinct[at] !== name.toLowerCase())) {
    return yield* MailFailures.inefficient()
  }
})

/** Those received last come first. */
const latestFirst = (messages: Iterable<MailMessage>) => [...messages].sort((a, b) => b.receivedAt - a.receivedAt)

/** Each message of a mailbox, which is known by two ids, once. */
const everyOf = ({ messages }: Mailbox) => new Set(messages.values())

/** What a search finds: the index is behind. */
const found = Effect.fnUntraced(function* (search: string, all: ReadonlyArray<MailMessage>, now: number) {
  const { settings } = yield* Transfers
  const isFound = yield* Effect.fromResult(MessageSearch.parse(search))
  const seconds = settings.mailSearchSeconds
  // A seed may have mails of a time to come.
  const isIndexed = ({ createdAt }: MailMessage) => seconds === 0 || createdAt <= now - seconds * 1000
  return all.filter((message) => isIndexed(message) && isFound(message)).slice(0, 1000)
})

export const list = Effect.fnUntraced(function* (mailbox: Mailbox, folder: MailFolder | null, request: GraphRequest) {
  yield* check(request)
  const search = request.options.get("search")
  const all = latestFirst(folder === null ? everyOf(mailbox) : folder.messages.values())
  const rows = search === undefined ? all : yield* found(search, all, request.now)
  const of = folder === null ? "messages" : `mailFolders('${folder.id}')/messages`
  return yield* Pages.page(request, {
    of: MessageViews.context(mailbox, of),
    rows,
    view: MessageViews.view(request),
    whole: (message) => MessageViews.whole(request, message),
    size: 10,
    max: 1000
  })
})

const changeTypes = new Set(["created", "updated", "deleted"])

/** The filter that a delta takes: messages received since a time. */
const sinceOf = Effect.fnUntraced(function* ({ options }: GraphRequest) {
  const filter = options.get("filter")
  if (options.has("search")) return yield* Failure.badRequest("'$search' is not supported with change tracking.")
  if (filter === undefined) return () => true
  if (!/^\s*receivedDateTime\s+(?:ge|gt)\s+\S+\s*$/i.test(filter)) {
    return yield* Failure.badRequest("The only filters of a delta are 'receivedDateTime ge' and 'receivedDateTime gt'.")
  }
  return (yield* Effect.fromResult(Filter.parse(filter))).test
})

export const delta = Effect.fnUntraced(function* (folder: MailFolder, segment: Segment, request: GraphRequest) {
  const changeType = request.options.get("changeType")?.toLowerCase()
  if (changeType !== undefined && !changeTypes.has(changeType)) {
    return yield* Failure.badRequest(`'${changeType}' is no change type: created, updated or deleted.`)
  }
  const select = request.options.get("select")
  if (select !== undefined) yield* checkNames(select.split(",").map((name) => name.trim()))
  const isWanted = yield* sinceOf(request)
  const show = MessageViews.view(request)
  const typed = { "@odata.type": "#microsoft.graph.message" }
  return yield* Changes.page(request, segment, {
    of: "Collection(message)",
    id: folder.id,
    changes: folder.changes,
    options: { next: "$skiptoken", delta: "$deltatoken" },
    view: (id, start) => {
      const message = folder.messages.get(id)
      if (message === undefined || changeType === "deleted") return undefined
      const isNew = (folder.arrivals.get(id) ?? 0) > start
      // The first round tells what is there, whatever is wanted later.
      if (start > 0 && changeType !== undefined && isNew !== (changeType === "created")) return undefined
      return isWanted(MessageViews.whole(request, message)) ? { ...typed, ...show(message) } : undefined
    },
    gone: (id) =>
      changeType === undefined || changeType === "deleted"
        ? { ...typed, id: MessageViews.formerId(request, folder, id), "@removed": { reason: "deleted" } }
        : undefined
  })
})
