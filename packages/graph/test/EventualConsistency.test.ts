/**
 * What the client makes of a service whose lists, searches and changes lag, and whose sizes are wrong.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Lag } from "@signalbox/graph-sandbox/Faults"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import * as Delta from "../src/Delta.ts"
import * as Downloads from "../src/Downloads.ts"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import * as Files from "../src/Files.ts"
import * as Sites from "../src/Sites.ts"
import * as Uploads from "../src/Uploads.ts"
import { faults, GraphSandbox, inSandbox } from "./support/Sandbox.ts"

const lagging = (lag: Lag) => Effect.flatMap(GraphSandbox, ({ setFaults }) => setFaults({ rules: [], lag }))
const bytes = new TextEncoder().encode("contents")

describe("reads that lag", () => {
  it.live("a folder goes up, and once more, and nothing is stored twice", () =>
    inSandbox(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        yield* fs.makeDirectory(`${folder}/in`)
        for (const name of ["a.txt", "b.txt", "in/c.txt"]) yield* fs.writeFileString(`${folder}/${name}`, name)
        yield* lagging({ of: ["lists"], requests: 100 })
        const first = yield* Files.uploadFolder(Drive.me, { path: "/Up" }, folder)
        const second = yield* Files.uploadFolder(Drive.me, { path: "/Up" }, folder)
        assert.deepStrictEqual([first.files, second.files, second.present], [3, 0, 3])
        for (const path of ["/Up/a.txt", "/Up/in/c.txt"]) {
          const { cTag } = yield* Drives.item(Drive.me, { path })
          assert.match(cTag ?? "", /,1"$/)
        }
      })
    )
  )

  it.live("the path of a folder is made once", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* lagging({ requests: 100 })
        const made = yield* Drives.ensureFolder(Drive.me, "/A/B")
        const again = yield* Drives.ensureFolder(Drive.me, "/A/B")
        assert.strictEqual(again.id, made.id)
        yield* Uploads.upload(Drive.me, { id: made.id, path: "x.txt" }, bytes)
        assert.lengthOf(yield* Downloads.bytes(Drive.me, { path: "/A/B/x.txt" }), bytes.length)
      })
    )
  )

  it.live("changes that were not there at one look come with another", () =>
    inSandbox(
      Effect.gen(function* () {
        const { link } = yield* Delta.changes(Drive.me, { from: "latest" })
        yield* lagging({ of: ["delta"], requests: 1 })
        yield* Uploads.upload(Drive.me, { path: "/late.txt" }, bytes)
        const none = yield* Delta.changes(Drive.me, { from: link ?? "latest" })
        const some = yield* Delta.changes(Drive.me, { from: none.link ?? "latest" })
        assert.lengthOf(none.items, 0)
        assert.include(
          some.items.map(({ name }) => name),
          "late.txt"
        )
      })
    )
  )

  it.live("a search finds what has gone, and asking for it says so", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* lagging({ of: ["search"], requests: 1 })
        const file = { path: "/Docs/Deep/er/x.txt" }
        yield* Drives.remove(Drive.me, file)
        const [found] = yield* Stream.runCollect(Drives.search(Drive.me, "x.txt"))
        const error = yield* Effect.flip(Downloads.bytes(Drive.me, found ?? file))
        assert.strictEqual(error.reason._tag, "NotFound")
      })
    )
  )
})

it.live("a wrong size is a Mismatch, and in a library of a site a difference", () =>
  inSandbox(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const to = yield* fs.makeTempDirectoryScoped()
      const { id } = yield* Sites.get(["contoso.sharepoint.test", "/sites/team"])
      yield* faults({ fault: "wrongSize", host: "graph", by: 3 })
      const error = yield* Effect.flip(Files.download(Drive.me, { path: "/Docs/Deep/er/x.txt" }, { to }))
      assert.strictEqual(error.reason._tag, "Mismatch")
      const { difference } = yield* Files.download(Drive.of({ site: id }), { path: "/Report.txt" }, { to })
      assert.deepStrictEqual(difference, { of: "size", here: 2, there: 5 })
    })
  )
)
