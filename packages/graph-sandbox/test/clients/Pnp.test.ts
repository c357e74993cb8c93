/**
 * The graph, as PnPjs uses it.
 */
import { assert, layer } from "@effect/vitest"
import { encodeSharingUrl } from "@pnp/graph/files/index.js"
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import * as Effect from "effect/Effect"
import { fetched } from "../support/Asking.ts"
import { Command, patterned } from "../support/command.ts"
import { deltaOf, graphfi } from "../support/pnp.ts"

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const connected = Effect.gen(function* () {
  const { ann, ask, graph_url } = yield* Command
  const graph = graphfi().using(
    GraphDefault({ baseUrl: graph_url }),
    InjectHeaders({ authorization: `Bearer ${ann.accessToken}` })
  )
  const drive = graph.drives.getById((yield* call(() => graph.me.drive())).id ?? "")
  const folder = Effect.fnUntraced(function* (name: string) {
    const made = yield* call(() => drive.root.children.addFolder({ name }))
    return { id: made.id ?? "", item: drive.getItemById(made.id ?? "") }
  })
  return { graph, drive, folder, ask }
})

// It sends its token along with links to contents and with fragments, which the service itself refuses.
layer(Command.layer("--token-on-files", "ignore"), { excludeTestServices: true })(
  "PnPjs, against the command",
  (it) => {
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
  }
)
