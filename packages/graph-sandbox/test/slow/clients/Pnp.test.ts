/**
 * The graph, as PnPjs uses it.
 */
import { assert, layer } from "@effect/vitest"
import { encodeSharingUrl } from "@pnp/graph/files/index.js"
import { ConsistencyLevel } from "@pnp/graph"
import { GraphDefault } from "@pnp/nodejs"
import { HttpRequestError, InjectHeaders } from "@pnp/queryable"
import * as Effect from "effect/Effect"
import { ofSeed } from "../../../src/internal/world/Workbooks.ts"
import { fetched } from "../../support/Asking.ts"
import { Command, patterned } from "../../support/command.ts"
import { receiver } from "../../support/Receiver.ts"
import { deltaOf, graphfi } from "./support/pnp.ts"

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const connected = Effect.gen(function* () {
  const { ann, ask, control, graph_url } = yield* Command
  const graph = graphfi().using(
    GraphDefault({ baseUrl: graph_url }),
    InjectHeaders({ authorization: `Bearer ${ann.accessToken}` })
  )
  const drive = graph.drives.getById((yield* call(() => graph.me.drive())).id ?? "")
  const folder = Effect.fnUntraced(function* (name: string) {
    const made = yield* call(() => drive.root.children.addFolder({ name }))
    return { id: made.id ?? "", item: drive.getItemById(made.id ?? "") }
  })
  return { graph, drive, folder, ask, control }
})

// It sends its token along with links to contents and with fragments, which the service itself refuses.
layer(Command.layer("--token-on-files", "ignore"), { excludeTestServices: true })(
  "PnPjs, against the command",
  (it) => {
    it.effect("lists users, page by page, and searches among them", () =>
      Effect.gen(function* () {
        const { graph } = yield* connected
        const seen: Array<string> = []
        yield* call(async () => {
          for await (const page of graph.users.top(2)) seen.push(...page.map((user) => String(user.displayName)))
        })
        assert.sameMembers(seen, ["Ann Lee", "Joan OneVideo", "Bo Jones"])
        const found = yield* call(() => graph.users.using(ConsistencyLevel()).search('"displayName:lee"')())
        assert.deepStrictEqual(
          found.map(({ userPrincipalName }) => userPrincipalName),
          ["ann@contoso.test"]
        )
        const members = yield* call(() => graph.groups.getById("g1").members())
        assert.strictEqual(members.length, 2)
      })
    )

    it.effect("makes, renews and deletes a subscription to a mailbox", () =>
      Effect.gen(function* () {
        const { graph } = yield* connected
        const { url } = yield* receiver()
        const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
        const resource = "me/mailFolders('inbox')/messages"
        const made = yield* call(() => graph.subscriptions.add("created", url, resource, inMinutes(60)))
        const one = graph.subscriptions.getById(made.data.id ?? "")
        const expirationDateTime = inMinutes(10_000)
        yield* call(() => one.update({ expirationDateTime }))
        assert.deepInclude(yield* call(() => one()), { expirationDateTime, resource, changeType: "created" })
        yield* call(() => one.delete())
        assert.deepStrictEqual(yield* call(() => graph.subscriptions()), [])
      })
    )

    it.effect("finds a site by its address, and its libraries and subsites", () =>
      Effect.gen(function* () {
        const { graph } = yield* connected
        const site = yield* call(() => graph.sites.getByUrl("contoso.sharepoint.test", "/sites/team"))
        const shown = yield* call(() => site())
        assert.strictEqual(shown.displayName, "Team")
        const drives = yield* call(() => site.drives())
        assert.deepStrictEqual(
          drives.map(({ name }) => name),
          ["Documents"]
        )
        const below = yield* call(() => site.sites())
        assert.deepStrictEqual(
          below.map(({ displayName }) => displayName),
          ["Sub"]
        )
      })
    )

    it.effect("creates a list, and adds, changes and deletes an item of it", () =>
      Effect.gen(function* () {
        const { graph } = yield* connected
        const site = yield* call(() => graph.sites.getByUrl("contoso.sharepoint.test", "/sites/team"))
        const made = yield* call(() => site.lists.add({ displayName: "Books", list: { template: "genericList" } }))
        const list = site.lists.getById(made.id ?? "")
        // Its types know no field by name.
        const emma: object = { Title: "Emma" }
        const added = yield* call(() => list.items.add({ fields: emma }))
        const id = added.id ?? ""
        yield* call(() => list.items.getById(id).update({ fields: { Title: "Persuasion" } }))
        const items = yield* call(() => list.items.expand("fields")())
        assert.deepStrictEqual(
          items.map(({ fields }) => Reflect.get(fields ?? {}, "Title")),
          ["Persuasion"]
        )
        yield* call(() => list.items.getById(id).delete())
        assert.strictEqual((yield* call(() => list.items())).length, 0)
        yield* call(() => list.delete())
      })
    )

    it.effect("lists, uploads, reads, copies, moves and deletes", () =>
      Effect.gen(function* () {
        const { drive, folder } = yield* connected
        const children = yield* call(() => drive.root.children())
        assert.include(
          children.map(({ name }) => name),
          "Docs"
        )
        const { id, item } = yield* folder("Files")
        const put = yield* call(() =>
          item.upload({ content: "from PnPjs", contentType: "text/plain", filePathName: "a.txt" })
        )
        const file = drive.getItemById(put.id ?? "")
        const contents = yield* call(() => file.getContent())
        assert.strictEqual(yield* call(() => contents.text()), "from PnPjs")
        const monitor = yield* call(() => file.copyItem({ name: "b.txt" }))
        yield* fetched(monitor)
        assert.strictEqual((yield* fetched(monitor)).body.status, "completed")
        const to = yield* folder("Moved")
        yield* call(() =>
          file.moveItem({ name: "c.txt", parentReference: { id: to.id, driveId: put.parentReference?.driveId ?? "" } })
        )
        yield* call(() => file.delete())
        const left = yield* call(() => drive.getItemById(id).children())
        assert.deepStrictEqual(
          left.map(({ name }) => name),
          ["b.txt"]
        )
        assert.deepStrictEqual(yield* call(() => to.item.children()), [])
      })
    )

    it.effect("uploads a large file in fragments, and asks how far it is", () =>
      Effect.gen(function* () {
        const { ask, folder } = yield* connected
        const { item } = yield* folder("Large")
        const bytes = patterned(327_681)
        const { resumableUpload } = yield* call(() =>
          item.createUploadSession({ item: { name: "large.bin" }, conflictBehavior: "replace" })
        )
        yield* call(() => resumableUpload.upload(327_680, bytes.subarray(0, 327_680), "bytes 0-327679/327681"))
        const status = yield* call(() => resumableUpload.status())
        assert.deepStrictEqual(status.nextExpectedRanges, ["327680-"])
        yield* call(() => resumableUpload.upload(1, bytes.subarray(327_680), "bytes 327680-327680/327681"))
        const { body } = yield* ask("/me/drive/root:/Large/large.bin")
        assert.strictEqual(body.file.hashes.quickXorHash, "CFxjLVlWbbPTEZb19KiSkx+BLpI=")
      })
    )

    it.effect("shares a folder with a person, and reaches it by its link", () =>
      Effect.gen(function* () {
        const { folder, graph } = yield* connected
        const { id, item } = yield* folder("Shared")
        yield* call(() =>
          item.addPermissions({
            recipients: [{ email: "joan@contoso.test" }],
            requireSignIn: true,
            sendInvitation: false,
            roles: ["write"]
          })
        )
        const granted = yield* call(() => item.permissions())
        assert.sameMembers(
          granted.map(({ roles }) => roles?.[0]),
          ["owner", "write"]
        )
        const { link } = yield* call(() => item.createSharingLink({ type: "view" }))
        const shared = yield* call(() => graph.shares.getById(encodeSharingUrl(link.webUrl)).driveItem())
        assert.strictEqual(shared.id, id)
      })
    )

    it.effect("follows what changes by delta, page by page", () =>
      Effect.gen(function* () {
        const { drive, folder } = yield* connected
        const page = deltaOf(yield* call(() => drive.root.delta({ maxPageSize: 1 })()))
        assert.lengthOf(page.values, 1)
        assert.isNull(page.delta())
        const rest = yield* call(async () => (await page.next()?.()) ?? [])
        assert.includeMembers(
          [...page.values, ...rest].map(({ name }) => name),
          ["root", "Docs", "a #1%.txt"]
        )
        const first = deltaOf(yield* call(() => drive.root.delta()()))
        assert.includeMembers(
          first.values.map(({ name }) => name),
          ["root", "Docs", "a #1%.txt"]
        )
        yield* folder("New")
        const second = deltaOf(yield* call(async () => (await first.delta()) ?? {}))
        assert.sameMembers(
          second.values.map(({ name }) => name),
          ["root", "New"]
        )
      })
    )

    it.effect("works with the list that a library is", () =>
      Effect.gen(function* () {
        const { graph } = yield* connected
        const site = yield* call(() => graph.sites.getByUrl("contoso.sharepoint.test", "/sites/team"))
        const [library] = yield* call(() => site.lists())
        assert.strictEqual(library?.displayName, "Documents")
        const items = yield* call(() => site.lists.getById(library?.id ?? "").items.expand("fields")())
        assert.deepStrictEqual(
          items.map(({ fields }) => Reflect.get(fields ?? {}, "FileLeafRef")),
          ["Report.txt"]
        )
      })
    )

    it.effect("works with a workbook, whose changes are seen in the session alone where it does not save", () =>
      Effect.gen(function* () {
        const { drive, folder } = yield* connected
        const { item } = yield* folder("Books")
        const bytes = yield* ofSeed({
          workbook: {
            May: [
              ["Order", "Customer"],
              [1, "Ann"]
            ]
          },
          tables: { Orders: "May!A1:B2" }
        })
        const put = yield* call(() =>
          item.upload({
            content: new Blob([new Uint8Array(bytes)]),
            contentType: "application/octet-stream",
            filePathName: "o.xlsx"
          })
        )
        const file = drive.getItemById(put.id ?? "")
        const book = yield* call(() => file.getWorkbookSession(false))
        const table = book.tables.getByName("Orders")
        yield* call(() => table.rows.add({ values: [[2, "Bo"]] }))
        yield* call(() => table.rows.getItemAt(0).update({ values: [[1, "Anna"]] }))
        const range = book.worksheets.getById("May").getRange("A1:B3")
        assert.deepStrictEqual((yield* call(() => range())).values, [
          ["Order", "Customer"],
          [1, "Anna"],
          [2, "Bo"]
        ])
        yield* call(() => range.cell(2, 1).update({ values: [["Bob"]] }))
        const column = yield* call(() => table.columns.getByName("Customer").getRange()())
        assert.deepStrictEqual(column.values, [["Customer"], ["Anna"], ["Bob"]])
        yield* call(() => book.refreshSession())
        yield* call(() => book.closeSession())
        const saved = yield* call(() => file.workbook.worksheets.getById("May").getUsedRange()())
        assert.deepStrictEqual(saved.values, [
          ["Order", "Customer"],
          [1, "Ann"]
        ])
      })
    )

    it.effect("runs a batch", () =>
      Effect.gen(function* () {
        const { control, graph } = yield* connected
        yield* control("/requests", { method: "DELETE" })
        const [batched, execute] = graph.batched()
        const results = Promise.all([batched.me(), batched.users(), batched.me.drive()])
        yield* call(execute)
        const [me, users, drive] = yield* call(() => results)
        assert.strictEqual(me.displayName, "Ann Lee")
        assert.strictEqual(users.length, 3)
        assert.strictEqual(drive.driveType, "business")
        const seen: ReadonlyArray<{ readonly batched: boolean; readonly url: string }> = (yield* control("/requests"))
          .body
        const sent = seen.filter(({ batched }) => !batched)
        assert.deepStrictEqual(
          sent.map(({ url }) => url),
          ["/v1.0/$batch"]
        )
      })
    )
  }
)

layer(Command.layer(), { excludeTestServices: true })("PnPjs, as the service treats it", (it) => {
  it.effect("is told that the host of uploads takes no token", () =>
    Effect.gen(function* () {
      const { folder } = yield* connected
      const { item } = yield* folder("Refused")
      const { resumableUpload } = yield* call(() =>
        item.createUploadSession({ item: { name: "resumable.bin" }, conflictBehavior: "replace" })
      )
      const error: unknown = yield* call(() =>
        resumableUpload.upload(4, Buffer.from("1234")).catch((error: unknown) => error)
      )
      assert.strictEqual(error instanceof HttpRequestError ? error.status : error, 401)
    })
  )
})
