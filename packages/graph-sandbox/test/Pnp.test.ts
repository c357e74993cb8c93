/**
 * The graph, as PnPjs uses it, over plain HTTP.
 */
import { assert, layer } from "@effect/vitest"
import { encodeSharingUrl } from "@pnp/graph/files/index.js"
import { ConsistencyLevel } from "@pnp/graph"
import { GraphDefault } from "@pnp/nodejs"
import { HttpRequestError, InjectHeaders } from "@pnp/queryable"
import * as Effect from "effect/Effect"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"
import { type GraphFI, graphfi } from "./support/pnp.ts"

const connected = Effect.gen(function* () {
  const sandbox = yield* GraphSandbox
  const token = yield* sandbox.accessToken("ann@contoso.test")
  const graph: GraphFI = graphfi().using(
    GraphDefault({ baseUrl: sandbox.graphUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  return { graph, sandbox }
})

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const team = "contoso.sharepoint.test"

// PnPjs sends its token along with links to contents, which the service itself refuses.
layer(GraphSandbox.layer({ seed: contoso, tokenOnFiles: "ignore" }), { excludeTestServices: true })("PnPjs", (it) => {
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
        found.map(({ mail }) => mail),
        ["ann@contoso.test"]
      )
      const members = yield* call(() => graph.groups.getById("g1").members())
      assert.strictEqual(members.length, 2)
    })
  )

  it.effect("finds a site by its address, and its libraries and subsites", () =>
    Effect.gen(function* () {
      const { graph } = yield* connected
      const site = yield* call(() => graph.sites.getByUrl(team, "/sites/team"))
      const shown = yield* call(() => site())
      assert.strictEqual(shown.displayName, "Team")
      const drives = yield* call(() => site.drives())
      assert.deepStrictEqual(
        drives.map(({ name }) => name),
        ["Documents", "Archive"]
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
      const site = yield* call(() => graph.sites.getByUrl(team, "/sites/team"))
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

  it.effect("uploads, reads, copies and deletes files", () =>
    Effect.gen(function* () {
      const { graph } = yield* connected
      const drive = graph.me.drive
      const folder = yield* call(() => drive.root.children.addFolder({ name: "Pnp" }))
      const there = graph.drives.getById((yield* call(() => drive())).id ?? "").getItemById(folder.id ?? "")
      const file = yield* call(() =>
        there.upload({ content: "from PnPjs", contentType: "text/plain", filePathName: "a.txt" })
      )
      const item = graph.drives.getById(file.parentReference?.driveId ?? "").getItemById(file.id ?? "")
      const contents = yield* call(() => item.getContent())
      assert.strictEqual(yield* call(() => contents.text()), "from PnPjs")
      const monitor = yield* call(() => item.copyItem({ name: "b.txt" }))
      const poll = () => call(async () => (await fetch(String(monitor))).json())
      assert.strictEqual((yield* poll()).status, "inProgress")
      assert.strictEqual((yield* poll()).status, "completed")
      const children = yield* call(() => there.children())
      assert.deepStrictEqual(
        children.map(({ name }) => name),
        ["a.txt", "b.txt"]
      )
      yield* call(() => there.delete())
    })
  )

  it.effect("reaches a file by its sharing link", () =>
    Effect.gen(function* () {
      const { graph, sandbox } = yield* connected
      const ask = yield* asking(sandbox)
      const { body } = yield* ask("/me/drive/root:/Docs/Deep/er/x.txt:/createLink", {
        method: "POST",
        json: { type: "view" }
      })
      // Of two pads it takes away but one.
      const item = yield* call(() => graph.shares.getById(encodeSharingUrl(body.link.webUrl)).driveItem())
      assert.strictEqual(item.name, "x.txt")
    })
  )

  it.effect("runs a batch", () =>
    Effect.gen(function* () {
      const { graph, sandbox } = yield* connected
      yield* sandbox.forgetRequests
      const [batched, execute] = graph.batched()
      const results = Promise.all([batched.me(), batched.users(), batched.me.drive()])
      yield* call(execute)
      const [me, users, drive] = yield* call(() => results)
      assert.strictEqual(me.displayName, "Ann Lee")
      assert.strictEqual(users.length, 3)
      assert.strictEqual(drive.driveType, "business")
      const sent = (yield* sandbox.requests).filter(({ batched }) => !batched)
      assert.deepStrictEqual(
        sent.map(({ url }) => url),
        ["/v1.0/$batch"]
      )
    })
  )
})

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("PnPjs, as the service treats it", (it) => {
  it.effect("is told that the host of uploads takes no token", () =>
    Effect.gen(function* () {
      const { graph, sandbox } = yield* connected
      const root = yield* call(() => graph.me.drive.root())
      const folder = graph.drives.getById(root.parentReference?.driveId ?? "").getItemById(root.id ?? "")
      const { resumableUpload } = yield* call(() =>
        folder.createUploadSession({ item: { name: "resumable.bin" }, conflictBehavior: "replace" })
      )
      const error: unknown = yield* call(() =>
        resumableUpload.upload(4, Buffer.from("1234")).catch((error: unknown) => error)
      )
      assert.instanceOf(error, HttpRequestError)
      assert.strictEqual(error instanceof HttpRequestError ? error.status : 0, 401)
      const put = (yield* sandbox.requests).find(({ host, method }) => host === "files" && method === "PUT")
      assert.isTrue(put?.authorization)
    })
  )
})
