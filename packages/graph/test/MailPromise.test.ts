/**
 * Mail with promises, against the sandbox.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connectGraph, type GraphClient, mailboxOf, myMailbox, NotFound, NotSent } from "../src/Promise.ts"
import { faults, GraphSandbox, inSandbox, someBytes } from "./support/Sandbox.ts"

const withGraph = (body: (graph: GraphClient, sandbox: typeof GraphSandbox.Service, folder: string) => Promise<void>) =>
  inSandbox(
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      const token = yield* sandbox.accessToken()
      yield* Effect.promise(async () => {
        const folder = await mkdtemp(join(tmpdir(), "mail-"))
        await using graph = connectGraph({ token, graphUrl: sandbox.origin, policy: { baseMillis: 1 } })
        await body(graph, sandbox, folder).finally(() => rm(folder, { recursive: true }))
      })
    })
  )

const joan = mailboxOf({ user: "joan@contoso.test" })

it.live("an intake watches a mailbox, fetches attachments and moves the mail", () =>
  withGraph(async (graph, sandbox, folder) => {
    await graph.mailFolders.ensure(joan, "inbox/done")
    const { link } = await graph.mailDelta.changes(joan, { from: "latest" })
    const attachments = [{ name: "41.pdf", content: "an invoice" }]
    await Effect.runPromise(sandbox.deliver("joan@contoso.test", { subject: "Invoice 41", attachments }))
    const { items } = await graph.mailDelta.changes(joan, { from: link ?? "", changeType: "created" })
    assert.lengthOf(items, 1)
    for (const message of items) {
      const [file] = await graph.files.downloadAttachments(joan, message, { to: folder })
      assert.strictEqual(await readFile(file?.path ?? "", "utf8"), "an invoice")
      await graph.mail.update(joan, message, { isRead: true })
      const moved = await graph.mail.move(joan, message, { path: "inbox/done" })
      assert.strictEqual(moved.id, message.id)
    }
    const subjects: Array<string> = []
    for await (const { subject } of graph.mail.stream(joan, { folder: { path: "inbox/done" } })) {
      subjects.push(subject ?? "")
    }
    assert.deepStrictEqual(subjects, ["Invoice 41"])
  })
)

it.live("messages are sent with files of every kind", () =>
  withGraph(async (graph, _, folder) => {
    const path = join(folder, "a.bin")
    await writeFile(path, someBytes(3_500_000))
    await graph.mail.send(myMailbox, {
      to: "joan@contoso.test",
      subject: "Files",
      attachments: [
        await graph.files.attachment(path),
        { name: "b.txt", content: new Blob(["two"]) },
        { name: "c.txt", content: new Uint8Array([1]) }
      ]
    })
    const names: Array<string> = []
    for await (const message of graph.mail.search(joan, "subject:files")) {
      for await (const attachment of graph.attachments.stream(joan, message)) {
        const { length } = await graph.attachments.bytes(joan, message, attachment)
        names.push(`${attachment.name} ${length}`)
      }
    }
    assert.deepStrictEqual(names, ["a.bin 3500000", "b.txt 3", "c.txt 1"])
  })
)

it.live("errors are classes, which tell what was not sent", () =>
  withGraph(async (graph) => {
    const error: unknown = await graph.mail.get(myMailbox, "AAMkNothing").catch((error: unknown) => error)
    assert.instanceOf(error, NotFound)
    assert.deepInclude(error, { operation: "mail.get", code: "ErrorItemNotFound" })
    const draft = await graph.drafts.create(myMailbox, { to: "joan@contoso.test" })
    assert.isFalse(await graph.drafts.isSent(myMailbox, draft))
  })
)

it.live("a large message that fails on the way was not sent", () =>
  inSandbox(
    Effect.gen(function* () {
      const { accessToken, origin } = yield* GraphSandbox
      const token = yield* accessToken()
      yield* faults({ fault: "drop", path: "createUploadSession" })
      yield* Effect.promise(async () => {
        await using graph = connectGraph({ token, graphUrl: origin, policy: { baseMillis: 1 } })
        const attachments = [{ name: "a.bin", content: someBytes(3_500_000) }]
        const sent = graph.mail.send(myMailbox, { to: "joan@contoso.test", attachments })
        assert.instanceOf(await sent.catch((error: unknown) => error), NotSent)
      })
    })
  )
)
