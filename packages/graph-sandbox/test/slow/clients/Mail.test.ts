/**
 * Mailboxes, as Microsoft's own client and PnPjs use them.
 */
import { assert, layer } from "@effect/vitest"
import {
  Client,
  FileUpload,
  GraphError,
  LargeFileUploadTask,
  PageIterator,
  ResponseType
} from "@microsoft/microsoft-graph-client"
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import * as Effect from "effect/Effect"
import { Command, patterned } from "../../support/command.ts"
import { deltaOf, graphfi } from "./support/pnp.ts"

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const joan = "/users/joan@contoso.test"

interface Mail {
  readonly id: string
  readonly subject: string
}

const subjects = (page: { readonly value: ReadonlyArray<Mail> }) => page.value.map(({ subject }) => subject)

layer(Command.layer(), { excludeTestServices: true })("microsoft-graph-client, in mailboxes of the command", (it) => {
  const connected = Effect.map(Command, ({ ann, origin }) =>
    Client.init({
      baseUrl: `${origin}/`,
      customHosts: new Set(["localhost"]),
      authProvider: (done) => done(null, ann.accessToken)
    })
  )

  it.effect("lists page by page, searches and filters", () =>
    Effect.gen(function* () {
      const client = yield* connected
      const seen: Array<string> = []
      const first = yield* call(() => client.api(`${joan}/mailFolders/inbox/messages`).top(2).select("subject").get())
      yield* call(() =>
        new PageIterator(client, first, ({ subject }: Mail) => {
          seen.push(subject)
          return true
        }).iterate()
      )
      assert.deepStrictEqual(seen, ["Third", "Second", "First"])
      const found = yield* call(() => client.api(`${joan}/messages`).search('"from:bo"').get())
      assert.deepStrictEqual(subjects(found), ["Second"])
      const unread = yield* call(() => client.api(`${joan}/messages`).filter("isRead eq false").get())
      assert.deepStrictEqual(subjects(unread), ["Second", "First"])
    })
  )

  it.effect("sends a message with an attachment, which is read as it was", () =>
    Effect.gen(function* () {
      const client = yield* connected
      const attachment = {
        "@odata.type": "#microsoft.graph.fileAttachment",
        name: "b.txt",
        contentType: "text/plain",
        contentBytes: Buffer.from("hello").toString("base64")
      }
      const message = {
        subject: "Sent",
        body: { contentType: "Text", content: "The new cafeteria is open." },
        toRecipients: [{ emailAddress: { address: "joan@contoso.test" } }],
        attachments: [attachment]
      }
      yield* call(() => client.api("/me/sendMail").post({ message, saveToSentItems: "true" }))
      const [received] = (yield* call(() => client.api(`${joan}/messages`).filter("subject eq 'Sent'").get())).value
      const path = `${joan}/messages/${received.id}/attachments`
      const [shown] = (yield* call(() => client.api(path).get())).value
      assert.strictEqual(shown.contentBytes, attachment.contentBytes)
      const bytes: ArrayBuffer = yield* call(() =>
        client.api(`${path}/${shown.id}/$value`).responseType(ResponseType.ARRAYBUFFER).get()
      )
      assert.strictEqual(Buffer.from(bytes).toString(), "hello")
      const sent = yield* call(() => client.api("/me/mailFolders/sentitems/messages").get())
      assert.deepStrictEqual(subjects(sent), ["Sent"])
    })
  )

  it.effect("attaches a large file by its task, and sends the draft", () =>
    Effect.gen(function* () {
      const client = yield* connected
      const bytes = patterned(3_500_000)
      const draft = yield* call(() =>
        client
          .api("/me/messages")
          .post({ subject: "Large", toRecipients: [{ emailAddress: { address: "joan@contoso.test" } }] })
      )
      const session = yield* call(() =>
        LargeFileUploadTask.createUploadSession(client, `/me/messages/${draft.id}/attachments/createUploadSession`, {
          AttachmentItem: { attachmentType: "file", name: "large.bin", size: bytes.length }
        })
      )
      const file = new FileUpload(bytes, "large.bin", bytes.length)
      const task = new LargeFileUploadTask(client, file, session, { rangeSize: 2_097_152 })
      const result = yield* call(() => task.upload())
      assert.match(result.location, /\/Attachments\('[^']+'\)$/)
      yield* call(() => client.api(`/me/messages/${draft.id}/send`).post({}))
      const [received] = (yield* call(() => client.api(`${joan}/messages`).filter("subject eq 'Large'").get())).value
      const path = `${joan}/messages/${received.id}/attachments`
      const [shown] = (yield* call(() => client.api(path).select("id,name").get())).value
      const read: ArrayBuffer = yield* call(() =>
        client.api(`${path}/${shown.id}/$value`).responseType(ResponseType.ARRAYBUFFER).get()
      )
      assert.isTrue(Buffer.from(read).equals(bytes))
    })
  )

  it.effect("moves a message under an immutable id, and follows changes", () =>
    Effect.gen(function* () {
      const client = yield* connected
      const inbox = `${joan}/mailFolders/inbox/messages`
      const prefer = 'IdType="ImmutableId"'
      const delta = yield* call(() => client.api(`${inbox}/delta`).header("Prefer", prefer).get())
      const first = delta.value.find(({ subject }: Mail) => subject === "First")
      const children = yield* call(() => client.api(`${joan}/mailFolders/inbox/childFolders`).get())
      const moved = yield* call(() =>
        client
          .api(`${joan}/messages/${first.id}/move`)
          .header("Prefer", prefer)
          .post({ destinationId: children.value[0].id })
      )
      assert.strictEqual(moved.id, first.id)
      yield* call(() => client.api(`${joan}/messages/${first.id}`).patch({ isRead: true }))
      const next = yield* call(() => client.api(delta["@odata.deltaLink"]).header("Prefer", prefer).get())
      assert.deepStrictEqual(next.value, [
        { "@odata.type": "#microsoft.graph.message", id: first.id, "@removed": { reason: "deleted" } }
      ])
      const gone: unknown = yield* call(() =>
        client
          .api(`${inbox}/${first.id}`)
          .get()
          .catch((error: unknown) => error)
      )
      assert.instanceOf(gone, GraphError)
      assert.deepInclude(gone, { statusCode: 404, code: "ErrorItemNotFound" })
    })
  )
})

layer(Command.layer("--token-on-files", "ignore"), { excludeTestServices: true })(
  "PnPjs, in mailboxes of the command",
  (it) => {
    const connected = Effect.map(Command, ({ ann, graph_url }) =>
      graphfi().using(
        GraphDefault({ baseUrl: graph_url }),
        InjectHeaders({ authorization: `Bearer ${ann.accessToken}` })
      )
    )

    it.effect("sends, answers, moves and deletes", () =>
      Effect.gen(function* () {
        const { me, users } = yield* connected
        const mailbox = users.getById("joan@contoso.test")
        yield* call(() =>
          me.sendMail({ subject: "Hello", toRecipients: [{ emailAddress: { address: "joan@contoso.test" } }] }, true)
        )
        const [received] = yield* call(() => mailbox.messages.filter("subject eq 'Hello'")())
        const message = mailbox.messages.getById(received?.id ?? "")
        yield* call(() => message.reply({ comment: "Hello, too." }))
        const answers = yield* call(() => me.mailFolders.getById("inbox").messages())
        assert.deepStrictEqual(
          answers.map(({ subject }) => subject),
          ["RE: Hello"]
        )
        const [done] = yield* call(() => mailbox.mailFolders.getById("inbox").childFolders())
        const moved = yield* call(() => message.move(done?.id ?? ""))
        yield* call(() => mailbox.messages.getById(moved.id ?? "").delete())
        const deleted = yield* call(() => mailbox.mailFolders.getById("deleteditems").messages())
        assert.strictEqual(deleted.length, 1)
      })
    )

    it.effect("makes a folder and a draft with an attachment, and follows changes", () =>
      Effect.gen(function* () {
        const { me } = yield* connected
        const folder = yield* call(() => me.mailFolders.add({ displayName: "Later" }))
        assert.strictEqual(Reflect.get(folder, "displayName"), "Later")
        const drafts = me.mailFolders.getById("drafts").messages
        const first = deltaOf(yield* call(() => drafts.delta()()))
        const draft = yield* call(() => me.messages.add({ subject: "Draft" }))
        const message = me.messages.getById(draft.id ?? "")
        yield* call(() => message.attachments.addFile({ name: "c.txt" }, Buffer.from("three").toString("base64")))
        const attached = yield* call(() => message.attachments())
        assert.deepStrictEqual(
          attached.map(({ name }) => name),
          ["c.txt"]
        )
        yield* call(() => message.update({ importance: "high" }))
        const second = deltaOf(yield* call(async () => (await first.delta()) ?? {}))
        assert.deepStrictEqual(
          second.values.map((value) => Reflect.get(value, "importance")),
          ["high"]
        )
      })
    )
  }
)
