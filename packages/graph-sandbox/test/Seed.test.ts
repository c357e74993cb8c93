/**
 * What a sandbox starts with, from a value and from a folder.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { GraphSandbox, type Options } from "../src/GraphSandbox.ts"
import * as SeedFolder from "../src/SeedFolder.ts"
import { asking, fetched } from "./support/Asking.ts"

/** Writes files, by path, to a folder of their own. */
const folderOf = Effect.fnUntraced(function* (files: Record<string, string>) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped()
  for (const [path, contents] of Object.entries(files)) {
    const file = paths.join(folder, path)
    yield* fs.makeDirectory(paths.dirname(file), { recursive: true })
    yield* fs.writeFileString(file, contents)
  }
  return folder
})

describe("a seed", () => {
  it.live("comes from a folder, whose files are read and never written", () =>
    Effect.gen(function* () {
      const folder = yield* folderOf({
        "users/ann/user.json": JSON.stringify({ displayName: "Ann Lee", jobTitle: "Clerk" }),
        "users/ann/drive/Docs/a.txt": "from the folder",
        "users/ann/mailbox.json": JSON.stringify({
          mails: [
            { subject: "Invoice", folder: "inbox/new", attachments: [{ name: "a.txt", content: { file: "b.txt" } }] }
          ]
        }),
        "users/ann/b.txt": "beside the mailbox",
        "groups/Staff.json": JSON.stringify({ members: ["ann@contoso.test"], site: "/sites/team" }),
        "sites/team/site.json": JSON.stringify({ displayName: "The team" }),
        "sites/team/drive/Report.txt": "42",
        "sites/team/drives/Archive/old.txt": "old",
        "sites/team/lists/Books.json": JSON.stringify({
          columns: [{ name: "Pages", number: {} }],
          items: [{ Title: "Emma", Pages: 474 }]
        })
      })
      const seed = yield* SeedFolder.read(folder)
      yield* Effect.gen(function* () {
        const ask = yield* asking(yield* GraphSandbox)
        assert.strictEqual((yield* ask("/me?$select=jobTitle")).body.jobTitle, "Clerk")
        const file = (yield* ask("/me/drive/root:/Docs/a.txt")).body
        const contents = yield* fetched(file["@microsoft.graph.downloadUrl"])
        assert.strictEqual(Buffer.from(contents.bytes).toString(), "from the folder")
        const [mail] = (yield* ask("/me/messages?$filter=hasAttachments eq true")).body.value
        const [attached] = (yield* ask(`/me/messages/${mail.id}/attachments`)).body.value
        assert.strictEqual(Buffer.from(attached.contentBytes, "base64").toString(), "beside the mailbox")
        yield* ask("/me/drive/root:/Docs/a.txt:/content", { method: "PUT", body: "changed" })
        const site = (yield* ask("/sites/contoso.sharepoint.test:/sites/team")).body
        assert.strictEqual(site.displayName, "The team")
        assert.strictEqual((yield* ask(`/sites/${site.id}/drives`)).body.value[1].name, "Archive")
        const items = (yield* ask(`/sites/${site.id}/lists/Books/items?expand=fields`)).body.value
        assert.deepInclude(items[0].fields, { Title: "Emma", Pages: 474 })
      }).pipe(Effect.provide(GraphSandbox.layer({ seed })))
      const fs = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      assert.strictEqual(yield* fs.readFileString(paths.join(folder, "users/ann/drive/Docs/a.txt")), "from the folder")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is refused with the name of the file and of the field", () =>
    Effect.gen(function* () {
      const refusal = (files: Record<string, string>) =>
        Effect.map(Effect.flip(Effect.flatMap(folderOf(files), SeedFolder.read)), ({ message }) => message)
      assert.match(yield* refusal({ "groups/Staff.json": "{}" }), /Staff\.json: .*members/s)
      assert.match(yield* refusal({ "users/ann/user.json": "{" }), /user\.json: /)
      assert.match(yield* refusal({ "sandbox.json": '{"apps":[{"clientId":"a"}]}' }), /sandbox\.json: .*redirectUris/s)
      const none = yield* Effect.flip(SeedFolder.read("/nowhere/at/all"))
      assert.match(none.message, /the folder does not exist/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("that cannot be is refused at the start, with the place", () =>
    Effect.gen(function* () {
      const refusal = (options: Options) =>
        Effect.map(Effect.flip(Effect.scoped(Layer.build(GraphSandbox.layer(options)))), ({ message }) => message)
      const user = { userPrincipalName: "ann@contoso.test", displayName: "Ann" }
      assert.match(yield* refusal({ seed: { users: [user, user] } }), /ann@contoso.test is there twice/)
      assert.match(
        yield* refusal({ seed: { users: [{ ...user, drive: { "a:b.txt": "" } }] } }),
        /ann@contoso.test, a:b.txt: /
      )
      const mails = [{ receivedDateTime: "May" }]
      assert.match(yield* refusal({ seed: { users: [{ ...user, mailbox: { mails } }] } }), /'May' is no time/)
      assert.match(yield* refusal({ seed: { users: [{ ...user, manager: "x" }] } }), /no manager 'x'/)
      assert.match(yield* refusal({ seed: { groups: [{ displayName: "G", members: ["x"] }] } }), /no user is 'x'/)
      assert.match(yield* refusal({ signInAs: "x" }), /signInAs: no user is 'x'/)
    })
  )

  it.live("gives the same ids in each run, and nothing is left of the one before", () =>
    Effect.gen(function* () {
      const run = Effect.gen(function* () {
        const ask = yield* asking(yield* GraphSandbox)
        const { id } = (yield* ask("/me/drive/root:/Welcome.txt")).body
        yield* ask("/me/drive/root:/Welcome.txt", { method: "DELETE" })
        return id
      })
      const first = yield* Effect.provide(run, GraphSandbox.layer())
      assert.strictEqual(yield* Effect.provide(run, Layer.fresh(GraphSandbox.layer())), first)
    })
  )

  it.live("cannot start on a port that is taken", () =>
    Effect.gen(function* () {
      const { origin } = yield* GraphSandbox
      const port = Number(new URL(origin).port)
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(Layer.fresh(GraphSandbox.layer({ port })))))
      assert.isTrue(Exit.isFailure(exit))
      assert.match(String(exit), /cannot listen on port \d+ of 127\.0\.0\.1: the port is in use/)
    }).pipe(Effect.provide(GraphSandbox.layer()))
  )
})
