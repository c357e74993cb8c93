/**
 * A mail arrives in a mailbox, such as a shared one for invoices: it becomes a work item with its attachments, and a run with it
 * starts. Each mail once, over restarts. The mailbox stays as it is: nothing is marked or moved.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ControlRoom from "@signalbox/api/node"
import * as Attachments from "@signalbox/graph/Attachments"
import * as Files from "@signalbox/graph/Files"
import * as Mail from "@signalbox/graph/Mail"
import * as MailArrivals from "@signalbox/graph/MailArrivals"
import * as Mailbox from "@signalbox/graph/Mailbox"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { basename, join } from "node:path"
import * as Connection from "../graph/connection.ts"
import * as Intake from "./intake.ts"

/** Characters of the body that are a part of the payload. */
const longestBody = 100_000

/** The room takes no names with these. */
const oddName = /[\\\p{Cc}]/u

/** Attached files, and attached mails as text; links to files in drives, and pictures in the text, are left out. */
const filesOf = Effect.fnUntraced(function* (
  mailbox: Mailbox.MailboxAddress,
  message: Mail.Message,
  to: string
) {
  if (message.hasAttachments === false) return []
  const fs = yield* FileSystem.FileSystem
  const files = yield* Files.downloadAttachments(mailbox, message, { to })
  const paths = yield* Effect.forEach(files, ({ path }, n) => {
    if (!oddName.test(basename(path))) return Effect.succeed(path)
    const plain = join(to, `attachment ${n + 1}`)
    return Effect.as(fs.rename(path, plain), plain)
  })
  const items = yield* Attachments.stream(mailbox, message).pipe(
    Stream.filter((one) => Attachments.kindOf(one) === "item"),
    Stream.runCollect
  )
  const mails = yield* Effect.forEach(items, (item, n) =>
    Effect.map(Attachments.bytes(mailbox, message, item), (bytes) => ({
      name: `attached ${n + 1}.eml`,
      bytes
    }))
  )
  return [...paths, ...mails]
})

const program = Effect.gen(function* () {
  yield* Connection.signInFor("mailbox", "mailbox_shared")
  const address = yield* Config.option(
    Config.String("SIGNALBOX_INTAKE_MAILBOX")
  )
  const mailbox = Option.isSome(address)
    ? Mailbox.of({ user: address.value })
    : Mailbox.me
  const process = yield* Intake.processFor("incoming mail")

  const prepare = Effect.fnUntraced(
    function* (message: Mail.Message, to: string) {
      const { body } = yield* Mail.get(mailbox, message, {
        body: "text",
        select: ["body"]
      })
      return {
        payload: {
          subject: message.subject ?? "",
          from: message.from?.emailAddress?.address ?? null,
          receivedAt: message.receivedDateTime ?? null,
          messageId: message.internetMessageId ?? null,
          text: (body?.content ?? "").slice(0, longestBody)
        },
        files: yield* filesOf(mailbox, message, to)
      }
    },
    // Deleted before it was taken.
    Effect.catchReason("GraphError", "NotFound", () => Effect.succeed(null))
  )

  yield* Intake.run({
    source: MailArrivals.messages(mailbox),
    watched: {
      resource: MailArrivals.resource(mailbox),
      changeTypes: ["created"]
    },
    nameOf: ({ subject }: Mail.Message) => subject ?? "",
    handle: ({ item, key }) =>
      Intake.take(process, key, (to) => prepare(item, to))
  })
})

program.pipe(
  Effect.provide(
    Layer.mergeAll(
      ControlRoom.layerConfig,
      Connection.layer,
      Layer.provideMerge(Intake.state("mail"), NodeServices.layer)
    )
  ),
  NodeRuntime.runMain
)
