/**
 * Drives and items against the sandbox.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Delta from "../src/Delta.ts"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import * as Downloads from "../src/Downloads.ts"
import * as Sharing from "../src/Sharing.ts"
import * as Sites from "../src/Sites.ts"
import * as Uploads from "../src/Uploads.ts"
import { asked, askedOfFiles, faults, inSandbox } from "./support/Sandbox.ts"

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const bytes = (value: string) => new TextEncoder().encode(value)
const names = <E, R>(items: Stream.Stream<Drives.DriveItem, E, R>) =>
  Effect.map(Stream.runCollect(items), (found) => found.map(({ name }) => name))

const reasonOf = <A, R>(
  call: Effect.Effect<A, { readonly _tag: string; readonly reason: { readonly _tag: string } }, R>
) => Effect.map(Effect.flip(call), ({ _tag, reason }) => `${_tag}: ${reason._tag}`)

describe("addresses", () => {
  const cases: ReadonlyArray<readonly [Drive.DriveAddress, Drive.ItemAddress, string]> = [
    [Drive.me, Drive.root, "/me/drive/root/children"],
    [Drive.me, { path: "Docs/a #1%?.txt" }, "/me/drive/root:/Docs/a%20%231%25%3F.txt:/children"],
    [Drive.me, { path: "\\Docs\\\\x/" }, "/me/drive/root:/Docs/x:/children"],
    [Drive.of({ id: "b!a/b" }), { id: "01#" }, "/drives/b!a%2Fb/items/01%23/children"],
    [Drive.of({ user: "ann@x.test" }), { id: "1", path: "a/b" }, "/users/ann@x.test/drive/items/1:/a/b:/children"],
    [Drive.of({ group: "g" }), { special: "documents" }, "/groups/g/drive/special/documents/children"],
    [Drive.of({ site: "h,1,2" }), { special: "photos", path: "x" }, "/sites/h,1,2/drive/special/photos:/x:/children"]
  ]
  for (const [drive, item, expected] of cases) {
    it(`B5: ${expected}`, () => {
      const { encoded, problem } = Drive.itemPath(drive, item, "children")
      assert.isNull(problem)
      assert.strictEqual(encoded.replace("b%21", "b!"), expected)
    })
  }

  it("an item that the service gave is found in its own drive", () => {
    const shortcut = { id: "1", parentReference: null, remoteItem: { id: "2", parentReference: { driveId: "b" } } }
    const item = { ...shortcut, remoteItem: { ...shortcut.remoteItem, parentReference: null } }
    assert.strictEqual(Drive.itemPath(Drive.me, item).encoded, "/me/drive/items/2")
    assert.strictEqual(Drive.entryPath(Drive.me, item).encoded, "/me/drive/items/1")
  })

  it("dots lead nowhere", () => {
    assert.isNotNull(Drive.itemPath(Drive.me, { path: "/Docs/../secret" }).problem)
  })

  const links: ReadonlyArray<readonly [string, string]> = [
    ["https://contoso.sharepoint.com/:t:/g/Ea~b?e=1", "u!aHR0cHM6Ly9jb250b3NvLnNoYXJlcG9pbnQuY29tLzp0Oi9nL0VhfmI_ZT0x"],
    [
      "https://contoso.sharepoint.com/:b:/s/t/Eñ~~~>>>???x",
      "u!aHR0cHM6Ly9jb250b3NvLnNoYXJlcG9pbnQuY29tLzpiOi9zL3QvRcOxfn5-Pj4-Pz8_eA"
    ],
    ["https://1drv.ms/u/s!AbC", "u!aHR0cHM6Ly8xZHJ2Lm1zL3UvcyFBYkM"]
  ]
  for (const [url, token] of links) it(`the token of ${url}`, () => assert.strictEqual(Drive.shareToken(url), token))
})

describe("drives", () => {
  it.live("those of the account, of a group and of a site; by id they are the same", () =>
    inSandbox(
      Effect.gen(function* () {
        const mine = yield* Drives.get(Drive.me)
        assert.strictEqual((yield* Drives.get(Drive.of({ id: mine.id }))).id, mine.id)
        assert.deepStrictEqual(
          (yield* Stream.runCollect(Drives.stream())).map(({ id }) => id),
          [mine.id]
        )
        const site = yield* Effect.flatMap(Stream.runHead(Sites.search("Team")), Effect.fromOption)
        const libraries = yield* Stream.runCollect(Drives.stream({ site: site.id }))
        assert.deepStrictEqual(
          libraries.map(({ name }) => name),
          ["Documents", "Archive"]
        )
        assert.strictEqual((yield* Drives.get(Drive.of({ group: "g1" }))).id, libraries[0]?.id)
      })
    )
  )

  it.live("B5: names with # and % and quotes are found by path, and page by page", () =>
    inSandbox(
      Effect.gen(function* () {
        assert.strictEqual((yield* Drives.item(Drive.me, { path: "Docs/a #1%.txt" })).size, 11)
        assert.sameMembers(
          [...(yield* names(Drives.children(Drive.me, { path: "/Docs" }, { pageSize: 1 })))],
          ["a #1%.txt", "O'Brien & co.txt", "Deep"]
        )
        const pages = (yield* asked).filter(({ url }) => url.includes("/children"))
        assert.lengthOf(pages, 3)
      })
    )
  )

  it.live("a search finds what others share, Drive.root and a folder leave it out", () =>
    inSandbox(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* names(Drives.search(Drive.me, "O'Brien & co")), ["O'Brien & co.txt"])
        assert.include(yield* names(Drives.search(Drive.me, "plan")), "Plan of Joan.txt")
        assert.deepStrictEqual(yield* names(Drives.search(Drive.me, "plan", { within: Drive.root })), [])
        assert.deepStrictEqual(yield* names(Drives.search(Drive.me, "x.txt", { within: { path: "Docs" } })), ["x.txt"])
        assert.strictEqual(yield* reasonOf(Stream.runDrain(Drives.search(Drive.me, " "))), "GraphError: InvalidRequest")
      })
    )
  )

  it.live("a shortcut leads to the file of another drive", () =>
    inSandbox(
      Effect.gen(function* () {
        const hit = yield* Drives.item(Drive.me, { path: "Plan of Joan.txt" })
        assert.isDefined(hit.remoteItem)
        assert.strictEqual(text(yield* Downloads.bytes(Drive.me, hit)), "the plan")
        assert.strictEqual(text(yield* Downloads.bytes(Drive.me, { path: "Plan of Joan.txt" })), "the plan")
      })
    )
  )

  it.live("folders are made, moved, renamed and deleted; taken names are told", () =>
    inSandbox(
      Effect.gen(function* () {
        const deep = yield* Drives.ensureFolder(Drive.me, "/New/Deep/Folder")
        assert.strictEqual((yield* Drives.ensureFolder(Drive.me, "New\\Deep\\Folder\\")).id, deep.id)
        assert.strictEqual(
          yield* reasonOf(Drives.createFolder(Drive.me, { path: "/New" }, "Deep")),
          "GraphError: NameAlreadyExists"
        )
        assert.strictEqual(
          (yield* Drives.createFolder(Drive.me, { path: "/New" }, "Deep", { conflict: "rename" })).name === "Deep",
          false
        )
        assert.strictEqual(
          yield* reasonOf(Drives.ensureFolder(Drive.me, "/Docs/a #1%.txt")),
          "TransferError: NotAFolder"
        )
        const moved = yield* Drives.move(Drive.me, deep, { to: { folder: { path: "/Docs" } }, name: "Moved #" })
        assert.strictEqual(moved.id, deep.id)
        assert.strictEqual((yield* Drives.item(Drive.me, { path: "/Docs/Moved #" })).id, deep.id)
        assert.strictEqual(
          yield* reasonOf(Drives.remove(Drive.me, moved, { ifMatch: '"other"' })),
          "GraphError: PreconditionFailed"
        )
        yield* Drives.remove(Drive.me, moved)
        assert.strictEqual(yield* reasonOf(Drives.item(Drive.me, { id: moved.id })), "GraphError: NotFound")
      })
    )
  )

  it.live("many ensure the same folder at once", () =>
    inSandbox(
      Effect.gen(function* () {
        const folders = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () => Drives.ensureFolder(Drive.me, "/Race/to/it"),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(folders.map(({ id }) => id)).size, 1)
      })
    )
  )

  it.live("a copy is awaited, and its progress is asked for without a token", () =>
    inSandbox(
      Effect.gen(function* () {
        const copy = yield* Drives.copy(
          Drive.me,
          { path: "/Docs" },
          { to: { folder: { path: "/Empty" } }, name: "Copied" }
        )
        assert.strictEqual(copy.name, "Copied")
        assert.strictEqual(text(yield* Downloads.bytes(Drive.me, { path: "/Empty/Copied/Deep/er/x.txt" })), "deep")
        const polls = (yield* askedOfFiles).filter(({ url }) => url.startsWith("/monitor/"))
        assert.lengthOf(polls, 2)
        for (const { authorization } of polls) assert.isFalse(authorization)
      })
    )
  )

  it.live("special folders, recent files, and the versions of a file", () =>
    inSandbox(
      Effect.gen(function* () {
        assert.isDefined((yield* Drives.item(Drive.me, { special: "documents" })).specialFolder)
        assert.include(yield* names(Drives.recent(Drive.me)), "x.txt")
        yield* Uploads.upload(Drive.me, { path: "/v.txt" }, bytes("one"))
        const item = yield* Uploads.upload(Drive.me, { path: "/v.txt" }, bytes("two"))
        const versions = yield* Stream.runCollect(Drives.versions(Drive.me, item))
        assert.lengthOf(versions, 2)
        yield* Drives.restoreVersion(Drive.me, item, versions[1]?.id ?? "")
        assert.strictEqual(text(yield* Downloads.bytes(Drive.me, { id: item.id })), "one")
      })
    )
  )
})

describe("sharing", () => {
  it.live("a link leads to the file, and can be taken away", () =>
    inSandbox(
      Effect.gen(function* () {
        const file = { path: "/Docs/a #1%.txt" }
        const { id, link } = yield* Sharing.createLink(Drive.me, file)
        const shared = Drive.link(link?.webUrl ?? "")
        yield* faults()
        assert.strictEqual((yield* Drives.item(shared, Drive.root)).name, "a #1%.txt")
        assert.strictEqual((yield* asked)[0]?.headers["prefer"], "redeemSharingLinkIfNecessary")
        yield* Sharing.removePermission(Drive.me, file, id ?? "")
        const error = yield* Effect.flip(Drives.item(shared, Drive.root))
        assert.strictEqual(error.reason._tag, "NotFound")
        assert.notInclude(error.message, Drive.shareToken(link?.webUrl ?? ""))
      })
    )
  )

  it.live("people are invited, and their permissions change", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = { path: "/Docs" }
        const [made] = yield* Sharing.invite(Drive.me, folder, { recipients: ["joan@contoso.test"], roles: ["read"] })
        assert.deepInclude(made, { recipient: "joan@contoso.test", problem: null })
        const id = made?.permission.id ?? ""
        const changed = yield* Sharing.updatePermission(Drive.me, folder, id, ["write"])
        assert.deepStrictEqual(changed.roles, ["write"])
        const all = yield* Stream.runCollect(Sharing.permissions(Drive.me, folder))
        assert.include(
          all.map((permission) => permission.id),
          id
        )
      })
    )
  )
})

describe("delta", () => {
  it.live("what changed since the last look comes, what has gone is told", () =>
    inSandbox(
      Effect.gen(function* () {
        const first = yield* Delta.changes(Drive.me)
        assert.isAbove(first.items.length, 5)
        const { id } = yield* Uploads.upload(Drive.me, { path: "/new.txt" }, bytes("1"))
        yield* Uploads.upload(Drive.me, { path: "/new.txt" }, bytes("22"))
        yield* Drives.remove(Drive.me, { path: "/nothing.bin" })
        const second = yield* Delta.changes(Drive.me, { from: first.link ?? "latest" })
        assert.isFalse(second.restarted)
        const mine = second.items.filter((item) => item.id === id)
        assert.lengthOf(mine, 1)
        assert.strictEqual(mine[0]?.size, 2)
        assert.lengthOf(
          second.items.filter(({ deleted }) => deleted !== undefined),
          1
        )
        const latest = yield* Delta.changes(Drive.me, { from: "latest" })
        assert.deepStrictEqual(latest.items, [])
      })
    )
  )

  it.live("a link that the service has forgotten starts over", () =>
    inSandbox(
      Effect.gen(function* () {
        const { items, link } = yield* Delta.changes(Drive.me)
        const stale = Delta.DeltaLink.make((link ?? "").replace(/token=.*/, "token=c3RhbGU"))
        const again = yield* Delta.changes(Drive.me, { from: stale })
        assert.isTrue(again.restarted)
        assert.strictEqual(again.items.length, items.length)
      })
    )
  )

  it.live("a link of another host is refused", () =>
    inSandbox(
      Effect.gen(function* () {
        const link = Delta.DeltaLink.make("https://evil.test/v1.0/me/drive/root/delta?token=1")
        assert.strictEqual(yield* reasonOf(Delta.changes(Drive.me, { from: link })), "GraphError: InvalidRequest")
      })
    )
  )
})
