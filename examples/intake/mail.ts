/**
 * A mail arrives in a mailbox, such as a shared one for invoices: it becomes a work item with its attachments, and a run with it
 * starts. Each mail once, over restarts. The mailbox stays as it is: nothing is marked or moved.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ControlRoom from "@signalbox/api/node"
import * as Attachments from "@signalbox/graph/Attachments"
import * as Mail from "@signalbox/graph/Mail"
import * as MailArrivals from "@signalbox/graph/MailArrivals"
import * as Mailbox from "@signalbox/graph/Mailbox"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Connection from "../graph/connection.ts"
import * as Intake from "./intake.ts"

/** Characters of the body that are a part of the payload. */
const longestBody = 100_000

/** A name that the room takes, and that no file before it has. */
const nameFor = (
  { name }: Attachments.Attachment,
  taken: ReadonlySet<string>
) => {
  const safe = (name ?? "").replace(/[/\\\p{Cc}\p{Cs}]/gu, "_").slice(0, 200)
  const wanted = /^\.{0,2}$/.test(safe) ? "attachment" : safe
  const named = (n: number) => (n === 1 ? wanted : `${n} ${wanted}`)
  let n = 1
  while (taken.has(named(n))) n++
  return named(n)
}

/** Files, and mails that were attached; links to files in drives and pictures in the text are left out. */
const filesOf = Effect.fnUntraced(function* (
  mailbox: Mailbox.MailboxAddress,
  message: Mail.Message
) {
  const attachments = yield* Stream.runCollect(
    Attachments.stream(mailbox, message)
  )
  const files = new Map<string, Uint8Array>()
  for (const attachment of attachments) {
    if (attachment.isInline === true) continue
    if (Attachments.kindOf(attachment) === "reference") continue
    const name = nameFor(attachment, new Set(files.keys()))
    files.set(name, yield* Attachments.bytes(mailbox, message, attachment))
  }
  return [...files].map(([name, bytes]) => ({ name, bytes }))
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
    function* (message: Mail.Message) {
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
        files: yield* filesOf(mailbox, message)
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
    handle: ({ item, key }) => Intake.take(process, key, () => prepare(item))
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
