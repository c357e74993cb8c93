/**
 * Mail on its way out, against the sandbox.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Rule } from "@signalbox/graph-sandbox/Faults"
import type { Seed } from "@signalbox/graph-sandbox/Seed"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as Attachments from "../src/Attachments.ts"
import * as Drafts from "../src/Drafts.ts"
import * as Files from "../src/Files.ts"
import { transient } from "../src/GraphError.ts"
import * as Mail from "../src/Mail.ts"
import * as Mailbox from "../src/Mailbox.ts"
import type { FolderAddress, MailboxAddress } from "../src/Mailbox.ts"
import { asked, askedOfFiles, faults, inSandbox, type Needs, someBytes } from "./support/Sandbox.ts"

const seed: Seed = {
  users: [
    { userPrincipalName: "ann@contoso.test", displayName: "Ann Lee", mail: "ann@contoso.test" },
    { userPrincipalName: "bo@contoso.test", displayName: "Bo Jones", mail: "bo.jones@contoso.test" }
  ]
}

const run = <A, E>(effect: Effect.Effect<A, E, Needs>) => inSandbox(effect, { seed })

const bo = Mailbox.of({ user: "bo@contoso.test" })

const messagesIn = (mailbox: MailboxAddress, folder: FolderAddress) =>
  Stream.runCollect(Mail.stream(mailbox, { folder, body: "text" }))

const only = Effect.fnUntraced(function* (mailbox: MailboxAddress, folder: FolderAddress) {
  const [message, ...others] = yield* messagesIn(mailbox, folder)
  assert.deepStrictEqual(others, [])
  return message ?? (yield* Effect.die("no message"))
})

const attachedTo = Effect.fnUntraced(function* (mailbox: MailboxAddress, message: Mail.Message) {
  return yield* Stream.runCollect(Attachments.stream(mailbox, message))
})

const text = (content: string) => new TextEncoder().encode(content)
const toBo = { to: "bo.jones@contoso.test", subject: "Report" }
const large = someBytes(4_000_000)

describe("a message is sent", () => {
  it.live("in one request with small attachments, to all recipients, and kept among what was sent", () =>
    run(
      Effect.gen(function* () {
        yield* Mail.send(Mailbox.me, {
          ...toBo,
          cc: [{ name: "Joan", address: "joan@partner.test" }],
          bcc: "ann@contoso.test",
          body: { html: "<p>As every month.</p>" },
          importance: "high",
          headers: { "x-run": "7" },
          attachments: [
            { name: "a.txt", contentType: "text/plain", content: text("one") },
            { name: "logo.png", contentId: "logo", content: text("two") }
          ]
        })
        assert.deepStrictEqual(
          (yield* asked).map(({ method, url }) => `${method} ${url}`),
          ["POST /v1.0/me/sendMail"]
        )
        const received = yield* only(bo, "inbox")
        assert.deepStrictEqual(received.from?.emailAddress, { name: "Ann Lee", address: "ann@contoso.test" })
        assert.deepStrictEqual([received.isRead, received.isDraft, received.importance], [false, false, "high"])
        assert.deepStrictEqual([received.body?.content, received.bccRecipients], ["As every month.", []])
        assert.deepStrictEqual(received.ccRecipients?.[0]?.emailAddress?.name, "Joan")
        const [file, picture] = yield* attachedTo(bo, received)
        assert.deepStrictEqual([file?.name, file?.isInline, picture?.isInline], ["a.txt", false, true])
        assert.deepStrictEqual(yield* Attachments.bytes(bo, received, file ?? ""), text("one"))
        const sent = yield* only(Mailbox.me, "sentitems")
        assert.strictEqual(sent.internetMessageId, received.internetMessageId)
        assert.strictEqual((yield* only(Mailbox.me, "inbox")).internetMessageId, received.internetMessageId)
      })
    )
  )

  it.live("without a copy, and only with somebody who gets it", () =>
    run(
      Effect.gen(function* () {
        yield* Mail.send(Mailbox.me, toBo, { save: false })
        assert.deepStrictEqual(yield* messagesIn(Mailbox.me, "sentitems"), [])
        const error = yield* Effect.flip(Mail.send(Mailbox.me, { subject: "Report" }))
        assert.deepStrictEqual([error.reason._tag, (yield* asked).length], ["InvalidRequest", 2])
        assert.include(error.message, "in Mail.send")
      })
    )
  )

  it.live("as a draft with large attachments, whose bytes go to their address without a token", () =>
    run(
      Effect.gen(function* () {
        const sizes = [0, 10, 3_000_000, 3_100_000, 3_145_728, 4_000_000]
        yield* Mail.send(Mailbox.me, {
          ...toBo,
          attachments: sizes.map((size) => ({ name: `${size}.bin`, content: large.subarray(0, size) }))
        })
        const received = yield* only(bo, "inbox")
        for (const [at, attachment] of (yield* attachedTo(bo, received)).entries()) {
          assert.strictEqual(attachment.name, `${sizes[at]}.bin`)
          assert.deepStrictEqual(yield* Attachments.bytes(bo, received, attachment), large.subarray(0, sizes[at]))
        }
        assert.isTrue((yield* askedOfFiles).every(({ authorization }) => !authorization))
        assert.deepStrictEqual(yield* messagesIn(Mailbox.me, "drafts"), [])
        assert.strictEqual((yield* only(Mailbox.me, "sentitems")).hasAttachments, true)
      })
    )
  )

  it.live("with local files, which the recipient gets as they are", () =>
    run(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const paths = yield* Path.Path
        const folder = yield* fs.makeTempDirectoryScoped()
        const path = paths.join(folder, "a.bin")
        yield* fs.writeFile(path, large)
        const file = yield* Files.attachment(path)
        const attachments = [
          file,
          { ...file, name: "b/c.txt", content: text("b") },
          { name: "A.BIN", content: text("a") }
        ]
        yield* Mail.send(Mailbox.me, { ...toBo, attachments })
        const to = paths.join(folder, "in")
        const written = yield* Files.downloadAttachments(bo, yield* only(bo, "inbox"), { to })
        assert.deepStrictEqual(
          written.map((one) => paths.relative(to, one.path)),
          ["a.bin", "b_c.txt", "A (2).BIN"]
        )
        assert.deepStrictEqual(new Uint8Array(yield* fs.readFile(paths.join(to, "a.bin"))), large)
        assert.deepStrictEqual(yield* fs.readFileString(paths.join(to, "A (2).BIN")), "a")
      })
    )
  )
})

describe("what goes wrong on the way", () => {
  it.live("a lost answer to a message is no reason to send it again", () =>
    run(
      Effect.gen(function* () {
        yield* faults({ fault: "drop", when: "after", path: "/sendMail$", times: 1 })
        const error = yield* Effect.flip(Mail.send(Mailbox.me, toBo))
        assert.strictEqual(error.reason._tag, "Unreachable")
        assert.strictEqual(error._tag === "GraphError" ? transient(error)?.acted : "", "maybe")
        yield* only(bo, "inbox")
      })
    )
  )

  it.live("a large attachment is attached once, whatever happens to its fragments", () =>
    run(
      Effect.gen(function* () {
        const put = { host: "files", method: "PUT", times: 1 } as const
        const rules: ReadonlyArray<ReadonlyArray<Rule>> = [
          [{ fault: "drop", when: "after", skip: 1, ...put }],
          [{ fault: "drop", ...put }],
          [{ fault: "partialRange", accept: 100_000, times: 1 }],
          [{ fault: "loseSession", host: "files", skip: 1, times: 1 }],
          [{ fault: "status", status: 503, host: "files", times: 1 }],
          [
            { fault: "drop", ...put },
            { fault: "status", status: 405, host: "files", method: "GET", times: 1 }
          ],
          [{ fault: "drop", when: "after", path: "/attachments$", method: "POST", times: 1 }]
        ]
        for (const some of rules) {
          const draft = yield* Drafts.create(Mailbox.me, toBo)
          yield* faults(...some)
          yield* Attachments.add(Mailbox.me, draft, { name: "large.bin", content: large })
          yield* Attachments.add(Mailbox.me, draft, { name: "small.bin", content: text("small") })
          const all = yield* attachedTo(Mailbox.me, draft)
          assert.deepStrictEqual(
            all.map(({ name }) => name),
            ["large.bin", "small.bin"],
            JSON.stringify(some)
          )
          assert.deepStrictEqual(yield* Attachments.bytes(Mailbox.me, draft, all[0] ?? ""), large)
        }
      })
    )
  )

  it.live("what fails before a message is sent says that it was not, and leaves no draft", () =>
    run(
      Effect.gen(function* () {
        yield* faults({ fault: "drop", path: "createUploadSession" })
        const send = Mail.send(Mailbox.me, { ...toBo, attachments: [{ name: "large.bin", content: large }] })
        const error = yield* Effect.flip(send)
        assert.strictEqual(error.reason._tag, "NotSent")
        assert.strictEqual(error._tag === "GraphError" ? transient(error)?.acted : "", "no")
        assert.deepStrictEqual(yield* messagesIn(Mailbox.me, "drafts"), [])
        assert.deepStrictEqual(yield* messagesIn(bo, "inbox"), [])
      })
    )
  )

  it.live("a draft tells whether it was sent when the answer was lost", () =>
    run(
      Effect.gen(function* () {
        const draft = yield* Drafts.create(Mailbox.me, toBo)
        yield* faults({ fault: "drop", path: "/send$", times: 1 })
        yield* Effect.flip(Drafts.send(Mailbox.me, draft))
        assert.isFalse(yield* Drafts.isSent(Mailbox.me, draft))
        yield* faults({ fault: "drop", when: "after", path: "/send$", times: 1 })
        yield* Effect.flip(Drafts.send(Mailbox.me, draft))
        assert.isTrue(yield* Drafts.isSent(Mailbox.me, draft))
        yield* only(bo, "inbox")
      })
    )
  )

  it.live("an attachment that is too large, or has no name, is refused before anything is sent", () =>
    run(
      Effect.gen(function* () {
        const stream = Stream.empty
        for (const attachment of [
          { name: "huge.bin", content: { size: 150 * 1024 * 1024 + 1, stream } },
          { name: " ", content: text("a") }
        ]) {
          const error = yield* Effect.flip(Mail.send(Mailbox.me, { ...toBo, attachments: [attachment] }))
          assert.strictEqual(error.reason._tag, "InvalidRequest")
        }
        assert.deepStrictEqual(yield* asked, [])
      })
    )
  )
})

describe("answers", () => {
  it.live("a reply goes to who sent the message, a forward takes the attachments along", () =>
    run(
      Effect.gen(function* () {
        yield* Mail.send(Mailbox.me, { ...toBo, attachments: [{ name: "a.txt", content: text("one") }] })
        const received = yield* only(bo, "inbox")
        yield* Mail.reply(bo, received, "Thank you.")
        const reply = yield* only(Mailbox.me, "inbox")
        assert.deepStrictEqual([reply.subject, reply.conversationId], ["RE: Report", received.conversationId])
        assert.isTrue(reply.body?.content?.startsWith("Thank you."))
        yield* Mail.forward(bo, received, ["ann@contoso.test"], "See below.")
        const [forward] = yield* Stream.runCollect(Mail.search(Mailbox.me, "subject:FW"))
        assert.deepStrictEqual([forward?.subject, forward?.hasAttachments], ["FW: Report", true])
      })
    )
  )

  it.live("are written as drafts, changed and sent", () =>
    run(
      Effect.gen(function* () {
        yield* Mail.send(Mailbox.me, { ...toBo, cc: "joan@partner.test" })
        const received = yield* only(bo, "inbox")
        const reply = yield* Drafts.reply(bo, received, { all: true, body: "Thanks" })
        const changed = yield* Drafts.update(bo, reply, { subject: "Thanks" })
        assert.deepStrictEqual([changed.subject, changed.ccRecipients?.length, changed.isDraft], ["Thanks", 1, true])
        yield* Drafts.send(bo, changed)
        assert.strictEqual((yield* only(Mailbox.me, "inbox")).subject, "Thanks")
        const forward = yield* Drafts.forward(bo, received, { name: "Ann", address: "ann@contoso.test" })
        assert.strictEqual(forward.toRecipients?.[0]?.emailAddress?.name, "Ann")
        const error = yield* Effect.flip(Drafts.update(bo, received, { subject: "Other" }))
        assert.strictEqual(error.code, "ErrorInvalidPropertyUpdateSentMessage")
      })
    )
  )
})
