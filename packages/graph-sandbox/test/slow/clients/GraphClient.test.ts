/**
 * The graph, as Microsoft's own client uses it.
 */
import { assert, layer } from "@effect/vitest"
import {
  BatchRequestContent,
  Client,
  FileUpload,
  GraphError,
  OneDriveLargeFileUploadTask,
  PageIterator,
  ResponseType
} from "@microsoft/microsoft-graph-client"
import * as Effect from "effect/Effect"
import { ofSeed } from "../../../src/internal/world/Workbooks.ts"
import { fetched } from "../../support/Asking.ts"
import { Command, patterned } from "../../support/command.ts"
import { receiver } from "../../support/Receiver.ts"

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const connected = Effect.map(Command, ({ ann, control, origin }) => ({
  control,
  client: Client.init({
    baseUrl: `${origin}/`,
    customHosts: new Set(["localhost"]),
    authProvider: (done) => done(null, ann.accessToken)
  })
}))

interface Row {
  readonly id: string
  readonly deleted?: { readonly state: string }
  readonly fields?: { readonly Title: string }
}

const names = (page: { readonly value: ReadonlyArray<{ readonly name: string }> }) => page.value.map(({ name }) => name)

layer(Command.layer(), { excludeTestServices: true })("microsoft-graph-client, against the command", (it) => {
  it.effect("reads, searches and filters users", () =>
    Effect.gen(function* () {
      const { client } = yield* connected
      assert.strictEqual((yield* call(() => client.api("/me").get())).displayName, "Ann Lee")
      const found = yield* call(() =>
        client.api("/users").header("ConsistencyLevel", "eventual").search('"displayName:video"').count(true).get()
      )
      assert.strictEqual(found["@odata.count"], 1)
      assert.strictEqual(found.value[0].displayName, "Joan OneVideo")
      const filtered = yield* call(() =>
        client.api("/users").filter("startswith(displayName,'Bo')").select(["id", "mail"]).get()
      )
      assert.deepStrictEqual(Object.keys(filtered.value[0]).sort(), ["id", "mail"])
    })
  )

  it.effect("lists page by page, uploads, downloads, moves and deletes", () =>
    Effect.gen(function* () {
      const { client } = yield* connected
      for (const n of [1, 2, 3]) {
        yield* call(() => client.api(`/me/drive/root:/Pages/${n}.txt:/content`).put(`file ${n}`))
      }
      const seen: Array<string> = []
      const first = yield* call(() => client.api("/me/drive/root:/Pages:/children").top(2).get())
      yield* call(() =>
        new PageIterator(client, first, (item: { readonly name: string }) => {
          seen.push(item.name)
          return true
        }).iterate()
      )
      assert.deepStrictEqual(seen, ["1.txt", "2.txt", "3.txt"])
      const put = yield* call(() => client.api("/me/drive/root:/Small/a%20%231.txt:/content").put("hello world"))
      const bytes: ArrayBuffer = yield* call(() =>
        client.api(`/me/drive/items/${put.id}/content`).responseType(ResponseType.ARRAYBUFFER).get()
      )
      assert.strictEqual(Buffer.from(bytes).toString(), "hello world")
      const moved = yield* call(() =>
        client
          .api(`/me/drive/items/${put.id}`)
          .patch({ name: "b.txt", parentReference: { id: first.value[0].parentReference.id } })
      )
      assert.match(moved.parentReference.path, /\/root:\/Pages$/)
      yield* call(() => client.api(`/me/drive/items/${put.id}`).delete())
      const gone: unknown = yield* call(() =>
        client
          .api("/me/drive/root:/Pages/b.txt")
          .get()
          .catch((error: unknown) => error)
      )
      assert.instanceOf(gone, GraphError)
      assert.deepInclude(gone, { statusCode: 404, code: "itemNotFound" })
    })
  )

  it.effect("uploads a large file in fragments, and its hash is that of what is stored", () =>
    Effect.gen(function* () {
      const { client } = yield* connected
      const bytes = patterned(327_681)
      const task = yield* call(() =>
        OneDriveLargeFileUploadTask.createTaskWithFileObject(client, new FileUpload(bytes, "large.bin", bytes.length), {
          path: "/Large",
          fileName: "large.bin",
          rangeSize: 327_680
        })
      )
      yield* call(() => task.upload())
      const item = yield* call(() => client.api("/me/drive/root:/Large/large.bin").get())
      assert.strictEqual(item.file.hashes.quickXorHash, "CFxjLVlWbbPTEZb19KiSkx+BLpI=")
      const read = yield* fetched(item["@microsoft.graph.downloadUrl"])
      assert.isTrue(Buffer.from(read.bytes).equals(bytes))
    })
  )

  it.effect("shares a file with a person and by a link, and takes both back", () =>
    Effect.gen(function* () {
      const { client } = yield* connected
      const file = "/me/drive/root:/Docs/a%20%231%25.txt:"
      const invited = yield* call(() =>
        client.api(`${file}/invite`).post({
          recipients: [{ email: "joan@contoso.test" }],
          roles: ["read"],
          requireSignIn: true,
          sendInvitation: false
        })
      )
      assert.strictEqual(invited.value[0].grantedToV2.user.displayName, "Joan OneVideo")
      const { link } = yield* call(() => client.api(`${file}/createLink`).post({ type: "view", scope: "organization" }))
      const token = `u!${Buffer.from(link.webUrl).toString("base64url")}`
      assert.strictEqual((yield* call(() => client.api(`/shares/${token}/driveItem`).get())).name, "a #1%.txt")
      const permissions = yield* call(() => client.api(`${file}/permissions`).get())
      for (const { id, roles } of permissions.value) {
        if (!roles.includes("owner")) yield* call(() => client.api(`${file}/permissions/${id}`).delete())
      }
      assert.strictEqual((yield* call(() => client.api(`${file}/permissions`).get())).value.length, 1)
    })
  )

  it.effect("follows what changes by delta, of a drive, a library's list and the users", () =>
    Effect.gen(function* () {
      const { client } = yield* connected
      const site = "/sites/contoso.sharepoint.test:/sites/team:"
      const drive = yield* call(() => client.api(`${site}/drive/root/delta`).get())
      const list = yield* call(() => client.api(`${site}/lists/Documents/items/delta`).expand("fields").get())
      yield* call(() => client.api(`${site}/drive/root:/Changes.txt:/content`).put("new"))
      assert.sameMembers(names(yield* call(() => client.api(drive["@odata.deltaLink"]).get())), ["root", "Changes.txt"])
      const items = yield* call(() => client.api(list["@odata.deltaLink"]).get())
      assert.strictEqual(items.value[0].fields.FileLeafRef, "Changes.txt")
      const users = yield* call(() => client.api("/users/delta").get())
      assert.strictEqual(users.value.length, 3)
    })
  )

  it.effect("makes a subscription, is told of a change, renews and deletes it", () =>
    Effect.gen(function* () {
      const { client } = yield* connected
      const { next, url } = yield* receiver()
      const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
      const made = yield* call(() =>
        client.api("/subscriptions").post({
          changeType: "updated",
          notificationUrl: url,
          resource: "me/drive/root",
          expirationDateTime: inMinutes(60),
          clientState: "a secret"
        })
      )
      yield* call(() => client.api("/me/drive/root:/told.txt:/content").put("told"))
      assert.deepInclude(yield* next, { subscriptionId: made.id, clientState: "a secret", changeType: "updated" })
      const expirationDateTime = inMinutes(120)
      const renewed = yield* call(() => client.api(`/subscriptions/${made.id}`).patch({ expirationDateTime }))
      assert.strictEqual(renewed.expirationDateTime, expirationDateTime)
      yield* call(() => client.api(`/subscriptions/${made.id}`).delete())
      const left = yield* call(() => client.api("/subscriptions").get())
      assert.deepStrictEqual(left.value, [])
      const gone = yield* call(() =>
        client
          .api(`/subscriptions/${made.id}`)
          .get()
          .catch((error: unknown) => error)
      )
      assert.deepInclude(gone, { statusCode: 404, code: "ResourceNotFound" })
    })
  )

  it.effect("works with a workbook, by path and in a session that is lost", () =>
    Effect.gen(function* () {
      const { client, control } = yield* connected
      const file = "/me/drive/root:/Orders.xlsx:"
      const bytes = yield* ofSeed({ workbook: { May: [["Order"], [1]] }, tables: { Orders: "May!A1:A2" } })
      yield* call(() => client.api(`${file}/content`).put(Buffer.from(bytes)))
      const { id } = yield* call(() => client.api(`${file}/workbook/createSession`).post({ persistChanges: true }))
      const of = (path: string) => client.api(`${file}/workbook${path}`).header("workbook-session-id", id)
      yield* call(() => of("/tables/Orders/rows").post({ values: [[2], [3]] }))
      const rows = yield* call(() => of("/tables/Orders/rows").top(1).skip(2).get())
      assert.deepStrictEqual(rows.value[0].values, [[3]])
      const json = { rules: [{ fault: "loseSession", path: "usedRange", times: 1 }] }
      yield* control("/faults", { method: "PUT", json })
      const lost: unknown = yield* call(() =>
        of("/worksheets/May/usedRange")
          .get()
          .catch((error: unknown) => error)
      )
      assert.instanceOf(lost, GraphError)
      assert.deepInclude(lost, { statusCode: 404, code: "InvalidOrTimedOutSession" })
    })
  )

  it.effect("changes and deletes columns of a list, and follows its items by delta", () =>
    Effect.gen(function* () {
      const { client } = yield* connected
      const lists = "/sites/contoso.sharepoint.test:/sites/team:/lists"
      const made = yield* call(() =>
        client.api(lists).post({ displayName: "Orders", columns: [{ name: "Total", number: {} }] })
      )
      const list = `/sites/${made.parentReference.siteId}/lists/${made.id}`
      const columns = yield* call(() => client.api(`${list}/columns`).filter("name eq 'Total'").get())
      const column = `${list}/columns/${columns.value[0].id}`
      const changed = yield* call(() => client.api(column).patch({ displayName: "Sum", indexed: true }))
      assert.deepInclude(changed, { name: "Total", displayName: "Sum", indexed: true })

      const fields = (Title: string) => ({ fields: { Title } })
      const first = yield* call(() => client.api(`${list}/items`).post(fields("one")))
      const second = yield* call(() => client.api(`${list}/items`).post(fields("two")))
      const all = yield* call(() => client.api(`${list}/items/delta`).expand("fields").get())
      assert.strictEqual(all.value.length, 2)
      yield* call(() => client.api(`${list}/items/${first.id}/fields`).patch({ Title: "1" }))
      yield* call(() => client.api(`${list}/items/${second.id}`).delete())
      const since = yield* call(() => client.api(all["@odata.deltaLink"]).get())
      const rows: ReadonlyArray<Row> = since.value
      assert.deepStrictEqual(
        rows.map(({ deleted, fields, id }) => [id, fields?.Title ?? deleted?.state]),
        [
          [first.id, "1"],
          [second.id, "deleted"]
        ]
      )
      yield* call(() => client.api(column).delete())
      const left = yield* call(() => client.api(`${list}/columns`).get())
      assert.notInclude(names(left), "Total")
    })
  )

  it.effect("runs a batch", () =>
    Effect.gen(function* () {
      const { client } = yield* connected
      const requests = new BatchRequestContent([
        { id: "1", request: new Request("https://graph.microsoft.com/me", { method: "GET" }) },
        { id: "2", request: new Request("https://graph.microsoft.com/me/drive/root:/none.txt"), dependsOn: ["1"] }
      ])
      const content = yield* call(() => requests.getContent())
      const { responses } = yield* call(() => client.api("/$batch").post(content))
      assert.deepStrictEqual(
        responses.map((response: { readonly status: number }) => response.status),
        [200, 404]
      )
    })
  )

  it.effect("waits and tries again when it is throttled", () =>
    Effect.gen(function* () {
      const { client, control } = yield* connected
      const json = { rules: [{ fault: "throttle", path: "/me$", times: 1, seconds: 1 }] }
      yield* control("/faults", { method: "PUT", json })
      yield* control("/requests", { method: "DELETE" })
      assert.strictEqual((yield* call(() => client.api("/me").get())).displayName, "Ann Lee")
      const seen: ReadonlyArray<{ readonly status: number }> = (yield* control("/requests")).body
      assert.deepStrictEqual(
        seen.map(({ status }) => status),
        [429, 200]
      )
    })
  )
})
