/**
 * Mail, against the sandbox.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Seed } from "@signalbox/graph-sandbox/Seed"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Attachments from "../src/Attachments.ts"
import * as Batch from "../src/Batch.ts"
import * as Mail from "../src/Mail.ts"
import * as Mailbox from "../src/Mailbox.ts"
import * as MailDelta from "../src/MailDelta.ts"
import * as MailFolders from "../src/MailFolders.ts"
import { asked, faults, GraphSandbox, inSandbox, type Needs, someBytes } from "./support/Sandbox.ts"

const pdf = someBytes(200_000)

const seed: Seed = {
  users: [
    { userPrincipalName: "ann@contoso.test", displayName: "Ann Lee", mail: "ann@contoso.test" },
    {
      userPrincipalName: "invoices@contoso.test",
      displayName: "Invoices",
      mail: "invoices@contoso.test",
      mailbox: {
        folders: ["inbox/done"],
        mails: [
          {
            from: "Joan <joan@partner.test>",
            subject: "Invoice 41",
            body: { html: "<p>Please pay &amp; confirm.</p>" },
            receivedDateTime: "2030-01-01T10:00:00Z",
            internetMessageId: "<41@partner.test>",
            headers: { "X-Order": "7" },
            attachments: [
              { name: "Invoice #41.pdf", contentType: "application/pdf", content: pdf },
              { name: "logo.png", isInline: true, contentId: "logo", content: "a picture" },
              { name: "Order", content: { item: "From: ann@contoso.test\r\n\r\nAn order." } },
              { name: "Terms.docx", content: { link: "https://contoso.sharepoint.test/Terms.docx" } }
            ]
          },
          {
            from: "bo@partner.test",
            subject: "Lunch?",
            receivedDateTime: "2030-01-02T10:00:00Z",
            isRead: true,
            importance: "high"
          }
        ]
      }
    }
  ]
}

const invoices = Mailbox.of({ user: "invoices@contoso.test" })

const run = <A, E>(effect: Effect.Effect<A, E, Needs>) => inSandbox(effect, { seed })

const subjects = Effect.fnUntraced(function* (options: Mail.MessageListOptions = {}) {
  const all = yield* Stream.runCollect(Mail.stream(invoices, { select: ["subject"], ...options }))
  return all.map(({ subject }) => subject)
})

const first = Effect.fnUntraced(function* (filter: string, options: Mail.MessageListOptions = {}) {
  const [found] = yield* Stream.runCollect(Mail.stream(invoices, { filter, ...options }))
  return found ?? (yield* Effect.die("no message"))
})

const invoice = first("internetMessageId eq '<41@partner.test>'")

const deliver = (subject: string) =>
  Effect.flatMap(GraphSandbox, (sandbox) => sandbox.deliver("invoices@contoso.test", { subject }))

describe("messages", () => {
  it.live("are listed the newest first, filtered and ordered, over all pages", () =>
    run(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* subjects({ folder: "inbox", pageSize: 1 }), ["Lunch?", "Invoice 41"])
        assert.deepStrictEqual(yield* subjects({ orderBy: "receivedDateTime" }), ["Invoice 41", "Lunch?"])
        assert.deepStrictEqual(yield* subjects({ filter: "isRead eq false" }), ["Invoice 41"])
        assert.deepStrictEqual(yield* subjects({ filter: "from/emailAddress/address eq 'bo@partner.test'" }), [
          "Lunch?"
        ])
        assert.deepStrictEqual(yield* subjects({ filter: "receivedDateTime ge 2030-01-02T00:00:00Z" }), ["Lunch?"])
        assert.deepStrictEqual(yield* subjects({ folder: { path: "Inbox/Done" } }), [])
      })
    )
  )

  it.live("with a filter whose order it does not begin with are refused", () =>
    run(
      Effect.gen(function* () {
        const options = { orderBy: "receivedDateTime", select: ["subject"] } as const
        const error = yield* Effect.flip(subjects({ ...options, filter: "isRead eq false" }))
        assert.deepStrictEqual([error.reason._tag, error.code], ["InvalidRequest", "InefficientFilter"])
        const filter = "receivedDateTime ge 2030-01-01T00:00:00Z and isRead eq false"
        assert.deepStrictEqual(yield* subjects({ ...options, filter }), ["Invoice 41"])
      })
    )
  )

  it.live("have what intakes need, and their bodies in the form that is asked for", () =>
    run(
      Effect.gen(function* () {
        const { id } = yield* invoice
        const found = yield* Mail.get(invoices, id, { body: "text" })
        assert.strictEqual(found.internetMessageId, "<41@partner.test>")
        assert.deepStrictEqual(found.from?.emailAddress, { name: "Joan", address: "joan@partner.test" })
        assert.deepStrictEqual(found.toRecipients?.[0]?.emailAddress?.address, "invoices@contoso.test")
        assert.deepStrictEqual(found.body, { contentType: "text", content: "Please pay & confirm." })
        assert.strictEqual(found.hasAttachments, true)
        const { body, internetMessageHeaders } = yield* Mail.get(invoices, id, {
          select: ["body", "internetMessageHeaders"]
        })
        assert.strictEqual(body?.content, "<p>Please pay &amp; confirm.</p>")
        assert.deepStrictEqual(internetMessageHeaders, [{ name: "X-Order", value: "7" }])
      })
    )
  )

  it.live("are found by words and fields, and a query that cannot be is refused", () =>
    run(
      Effect.gen(function* () {
        const search = (query: string) =>
          Effect.map(Stream.runCollect(Mail.search(invoices, query, { select: ["subject"] })), (all) =>
            all.map(({ subject }) => subject)
          )
        assert.deepStrictEqual(yield* search("confirm"), ["Invoice 41"])
        assert.deepStrictEqual(yield* search("from:joan AND hasAttachments:true"), ["Invoice 41"])
        assert.deepStrictEqual(yield* search('attachment:"Invoice #41.pdf"'), ["Invoice 41"])
        assert.deepStrictEqual(yield* search("subject:lunch OR subject:invoice"), ["Lunch?", "Invoice 41"])
        assert.deepStrictEqual(yield* search("importance:high"), ["Lunch?"])
        for (const wrong of ["colour:red", "(a", " "]) {
          assert.strictEqual((yield* Effect.flip(search(wrong))).reason._tag, "InvalidRequest")
        }
      })
    )
  )

  it.live("are marked as read, with a flag and with categories", () =>
    run(
      Effect.gen(function* () {
        const { id } = yield* invoice
        yield* Mail.update(invoices, id, { isRead: true, flag: "complete", categories: ["Robot"] })
        const { categories, flag, isRead, subject } = yield* Mail.get(invoices, id)
        assert.deepStrictEqual(
          [subject, isRead, flag?.flagStatus, categories],
          ["Invoice 41", true, "complete", ["Robot"]]
        )
      })
    )
  )

  it.live("keep their id when they are moved, unless the other ids are wanted", () =>
    run(
      Effect.gen(function* () {
        const message = yield* invoice
        const moved = yield* Mail.move(invoices, message, { path: "inbox/done" })
        assert.strictEqual(moved.id, message.id)
        assert.deepStrictEqual(yield* subjects({ folder: "inbox" }), ["Lunch?"])
        assert.deepStrictEqual(yield* subjects({ folder: { path: "inbox/done" } }), ["Invoice 41"])
        const regular = Mailbox.of({ user: "invoices@contoso.test" }, { immutableIds: false })
        const [before] = yield* Stream.runCollect(Mail.stream(regular, { folder: "inbox" }))
        const after = yield* Mail.move(regular, before ?? "", "archive")
        assert.notStrictEqual(after.id, before?.id)
        const error = yield* Effect.flip(Mail.get(regular, before ?? ""))
        assert.deepStrictEqual([error.reason._tag, error.code], ["NotFound", "ErrorItemNotFound"])
      })
    )
  )

  it.live("are marked and read in batches, with what is attached to them", () =>
    run(
      Effect.gen(function* () {
        const message = yield* invoice
        const [file] = yield* Stream.runCollect(Attachments.stream(invoices, message))
        yield* faults()
        const [bytes, changed] = yield* Batch.collect(
          Effect.all(
            [
              Attachments.bytes(invoices, message, file ?? ""),
              Mail.update(invoices, message, { isRead: true }),
              Mail.move(invoices, message, "archive")
            ],
            { concurrency: "unbounded" }
          )
        )
        assert.deepStrictEqual(bytes, pdf)
        assert.deepStrictEqual([changed.id, changed.isRead], [message.id, true])
        const requests = (yield* asked).filter(({ batched }) => !batched)
        assert.deepStrictEqual(
          requests.map(({ url }) => url),
          ["/v1.0/$batch"]
        )
      })
    )
  )

  it.live("are moved once when the answer is lost", () =>
    run(
      Effect.gen(function* () {
        const { id } = yield* invoice
        yield* faults({ fault: "drop", when: "after", path: "/move$", times: 1 })
        assert.strictEqual((yield* Mail.move(invoices, id, "archive")).id, id)
        assert.deepStrictEqual(yield* subjects({ folder: "archive" }), ["Invoice 41"])
      })
    )
  )

  it.live("are copied, and deleted into their folder before they are gone", () =>
    run(
      Effect.gen(function* () {
        const { id } = yield* invoice
        const copied = yield* Mail.copy(invoices, id, "archive")
        assert.notStrictEqual(copied.id, id)
        assert.strictEqual(copied.internetMessageId, "<41@partner.test>")
        yield* Mail.remove(invoices, id)
        assert.deepStrictEqual(yield* subjects({ folder: "deleteditems" }), ["Invoice 41"])
        yield* Mail.remove(invoices, id)
        yield* Mail.removePermanently(invoices, copied)
        for (const gone of [id, copied]) {
          assert.strictEqual((yield* Effect.flip(Mail.get(invoices, gone))).reason._tag, "NotFound")
        }
        assert.deepStrictEqual(yield* subjects(), ["Lunch?"])
      })
    )
  )
})

it.live("all mails of a folder are taken, each once, although every fifth request fails", () =>
  run(
    Effect.gen(function* () {
      for (let n = 1; n <= 40; n++) yield* deliver(`Invoice ${n}`)
      yield* faults(
        { fault: "drop", when: "after", every: 5 },
        { fault: "status", status: 503, every: 7 },
        { fault: "truncate", bytes: 100, every: 11 }
      )
      const taken: Array<string> = []
      yield* MailDelta.stream(invoices, { changeType: "created", pageSize: 7 }).pipe(
        Stream.flatMap(({ items }) => Stream.fromIterable(items)),
        // One at a time: no five requests in a row meet a fault, which a call would not survive.
        Stream.mapEffect((message) => Mail.move(invoices, message, { path: "inbox/done" })),
        Stream.runForEach(({ subject }) => Effect.sync(() => taken.push(subject ?? "")))
      )
      yield* faults()
      assert.lengthOf(new Set(taken), 42)
      assert.sameMembers(yield* subjects({ folder: { path: "inbox/done" } }), taken)
      assert.deepStrictEqual(yield* subjects({ folder: "inbox" }), [])
    })
  )
)

describe("attachments", () => {
  const attachments = Effect.flatMap(invoice, (message) =>
    Effect.map(Stream.runCollect(Attachments.stream(invoices, message)), (all) => ({ message, all }))
  )

  it.live("say what they are, without their bytes", () =>
    run(
      Effect.gen(function* () {
        const { all, message } = yield* attachments
        assert.deepStrictEqual(
          all.map((attachment) => [attachment.name, Attachments.kindOf(attachment), attachment.isInline]),
          [
            ["Invoice #41.pdf", "file", false],
            ["logo.png", "file", true],
            ["Order", "item", false],
            ["Terms.docx", "reference", false]
          ]
        )
        assert.isFalse(all.some((attachment) => "contentBytes" in attachment))
        assert.strictEqual((yield* Attachments.get(invoices, message, all[0]?.id ?? "")).name, "Invoice #41.pdf")
      })
    )
  )

  it.live("are downloaded as they are; a link to a file is refused", () =>
    run(
      Effect.gen(function* () {
        const {
          all: [file, , item, link],
          message
        } = yield* attachments
        assert.deepStrictEqual(yield* Attachments.bytes(invoices, message, file?.id ?? ""), pdf)
        const text = yield* Attachments.bytes(invoices, message, item?.id ?? "")
        assert.include(new TextDecoder().decode(text), "An order.")
        const error = yield* Effect.flip(Attachments.bytes(invoices, message, link ?? ""))
        assert.strictEqual(error.reason._tag, "NotAFile")
        assert.strictEqual(
          (yield* Effect.flip(Attachments.bytes(invoices, message, link?.id ?? ""))).reason._tag,
          "InvalidRequest"
        )
      })
    )
  )

  it.live("whose download breaks are whole at the end", () =>
    run(
      Effect.gen(function* () {
        const {
          all: [file],
          message
        } = yield* attachments
        yield* faults({ fault: "truncate", bytes: 70_000, path: "value$", times: 2 })
        assert.deepStrictEqual(yield* Attachments.bytes(invoices, message, file?.id ?? ""), pdf)
        const tries = (yield* asked).filter(({ url }) => url.endsWith("$value"))
        assert.deepStrictEqual([tries.length, tries.every(({ authorization }) => authorization)], [3, true])
      })
    )
  )
})

describe("folders", () => {
  it.live("are found by well-known name, by path and below one another", () =>
    run(
      Effect.gen(function* () {
        const inbox = yield* MailFolders.get(invoices, "inbox")
        assert.deepStrictEqual([inbox.displayName, inbox.totalItemCount, inbox.unreadItemCount], ["Inbox", 2, 1])
        const done = yield* MailFolders.get(invoices, { path: "/Inbox/done/" })
        assert.strictEqual(done.parentFolderId, inbox.id)
        const below = yield* Stream.runCollect(MailFolders.stream(invoices, { in: inbox }))
        assert.deepStrictEqual(
          below.map(({ displayName }) => displayName),
          ["done"]
        )
        const top = yield* Stream.runCollect(MailFolders.stream(invoices, { pageSize: 3 }))
        assert.include(
          top.map(({ displayName }) => displayName),
          "Sent Items"
        )
        const error = yield* Effect.flip(MailFolders.get(invoices, { path: "inbox/later" }))
        assert.strictEqual(error.reason._tag, "NotFound")
        assert.include(error.message, "no folder has the name later")
      })
    )
  )

  it.live("are created, once where several do so", () =>
    run(
      Effect.gen(function* () {
        const made = yield* MailFolders.create(invoices, "Later", { in: "inbox" })
        assert.strictEqual((yield* MailFolders.get(invoices, { path: "inbox/later" })).id, made.id)
        const error = yield* Effect.flip(MailFolders.create(invoices, "Later", { in: "inbox" }))
        assert.strictEqual(error.reason._tag, "NameAlreadyExists")
        const ensure = MailFolders.ensure(invoices, "2030/May/Paid")
        const [one, two] = yield* Effect.all([ensure, ensure], { concurrency: 2 })
        assert.strictEqual(one.id, two.id)
        assert.strictEqual((yield* MailFolders.ensure(invoices, "2030/May/Paid")).id, one.id)
      })
    )
  )
})

describe("changes of a folder", () => {
  const names = (items: ReadonlyArray<Mail.Message>) =>
    items.map(({ "@removed": removed, subject }) => (removed === undefined ? subject : "removed"))

  it.live("are what arrived, was marked and was moved since the last look", () =>
    run(
      Effect.gen(function* () {
        const all = yield* MailDelta.changes(invoices, { pageSize: 1 })
        assert.sameMembers(names(all.items), ["Invoice 41", "Lunch?"])
        const { id } = yield* invoice
        yield* deliver("Invoice 42")
        yield* Mail.update(invoices, yield* first("subject eq 'Lunch?'"), { isRead: false })
        yield* Mail.move(invoices, id, { path: "inbox/done" })
        const next = yield* MailDelta.changes(invoices, { from: all.link ?? undefined })
        assert.deepStrictEqual(names(next.items), ["Invoice 42", "Lunch?", "removed"])
        assert.strictEqual(next.items[2]?.id, id)
        const last = yield* MailDelta.changes(invoices, { from: next.link ?? undefined })
        assert.deepStrictEqual(last.items, [])
      })
    )
  )

  it.live("are only those that arrived, when that is wanted", () =>
    run(
      Effect.gen(function* () {
        const all = yield* MailDelta.changes(invoices, { changeType: "created" })
        yield* Mail.update(invoices, yield* invoice, { isRead: true })
        yield* deliver("Invoice 42")
        const next = yield* MailDelta.changes(invoices, { from: all.link ?? undefined })
        assert.deepStrictEqual(names(next.items), ["Invoice 42"])
      })
    )
  )

  it.live("begin now with `latest`", () =>
    run(
      Effect.gen(function* () {
        const { items, link } = yield* MailDelta.changes(invoices, { from: "latest", pageSize: 1 })
        assert.deepStrictEqual(items, [])
        yield* deliver("Invoice 42")
        const next = yield* MailDelta.changes(invoices, { from: link ?? undefined })
        assert.deepStrictEqual(names(next.items), ["Invoice 42"])
      })
    )
  )

  it.live("begin anew when the service does not know the link", () =>
    run(
      Effect.gen(function* () {
        const { link } = yield* MailDelta.changes(invoices)
        yield* faults({ fault: "status", status: 410, code: "SyncStateNotFound", path: "deltatoken", times: 1 })
        const next = yield* MailDelta.changes(invoices, { from: link ?? undefined })
        assert.deepStrictEqual([next.restarted, next.items.length], [true, 2])
      })
    )
  )
})
