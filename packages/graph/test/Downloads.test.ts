/**
 * Downloads against the sandbox, whatever goes wrong on the way.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Rule } from "@signalbox/graph-sandbox/Faults"
import * as Deferred from "effect/Deferred"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Downloads from "../src/Downloads.ts"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import * as Files from "../src/Files.ts"
import { Graph } from "../src/Graph.ts"
import { localName, makeNames } from "../src/internal/files/LocalNames.ts"
import * as QuickXorHash from "../src/QuickXorHash.ts"
import * as Sharing from "../src/Sharing.ts"
import * as Uploads from "../src/Uploads.ts"
import { asked, askedOfFiles, faults, impatient, inSandbox, someBytes } from "./support/Sandbox.ts"

const MiB = 1024 * 1024
const large = someBytes(3 * MiB)
const target = { path: "/down.bin" }
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const noTokenSent = Effect.map(askedOfFiles, (all) => {
  assert.isAbove(all.length, 0)
  for (const { authorization, url } of all) assert.isFalse(authorization, url)
})

/** A folder for what comes. */
const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const listed = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return (yield* fs.readDirectory(path, { recursive: true })).toSorted()
})

const get = { host: "files", method: "GET", path: "/download/" } as const

describe("streams", () => {
  const cases: Readonly<Record<string, ReadonlyArray<Rule>>> = {
    "a connection that breaks": [{ fault: "truncate", ...get, times: 1, bytes: 1_000_000 }],
    "a connection that breaks again and again": [{ fault: "truncate", ...get, times: 8, bytes: 300_000 }],
    "a connection that gives nothing": [{ fault: "drop", ...get, times: 3 }],
    "an address that has expired": [{ fault: "status", ...get, status: 401, times: 1 }],
    "an address that expires on the way": [
      { fault: "truncate", ...get, times: 1, bytes: 1_000_000 },
      { fault: "status", ...get, status: 403, skip: 1, times: 1 }
    ],
    "a service that is down for a moment": [{ fault: "status", ...get, status: 503, times: 2 }]
  }
  for (const [name, rules] of Object.entries(cases)) {
    it.live(`${name} is made up for, and never with a token`, () =>
      inSandbox(
        Effect.gen(function* () {
          yield* Uploads.upload(Drive.me, target, large)
          yield* faults(...rules)
          const bytes = yield* Downloads.bytes(Drive.me, target)
          assert.strictEqual(QuickXorHash.of(bytes), QuickXorHash.of(large))
          assert.isAbove((yield* askedOfFiles).flatMap((request) => request.faults).length, 0)
          yield* noTokenSent
        })
      )
    )
  }

  it.live("what has arrived is not asked for again", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        yield* faults({ fault: "truncate", ...get, times: 1, bytes: 1_000_000 })
        yield* Downloads.bytes(Drive.me, target)
        const ranges = (yield* askedOfFiles).map(({ headers }) => headers["range"])
        assert.isUndefined(ranges[0])
        assert.match(ranges[1] ?? "", /^bytes=[1-9]\d*-$/)
        assert.lengthOf(ranges, 2)
      })
    )
  )

  it.live("a connection that stands still is given up, and taken up where it stood", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        // In the middle, at its beginning, and before there is an answer.
        yield* faults(
          { fault: "stall", ...get, times: 1, bytes: 1_000_000 },
          { fault: "stall", ...get, skip: 1, times: 1, bytes: 0 },
          { fault: "stall", ...get, skip: 2, times: 1 }
        )
        const bytes = yield* impatient(Downloads.bytes(Drive.me, target))
        assert.strictEqual(QuickXorHash.of(bytes), QuickXorHash.of(large))
        const ranges = (yield* askedOfFiles).map(({ headers }) => headers["range"])
        assert.deepStrictEqual(ranges, [undefined, ...Array.from({ length: 3 }, () => "bytes=1000000-")])
      })
    )
  )

  it.live("a connection that always stands still ends it as a Timeout", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        yield* faults({ fault: "stall", ...get, bytes: 0 })
        const error = yield* Effect.flip(impatient(Downloads.bytes(Drive.me, target)))
        assert.strictEqual(error.reason._tag, "Timeout")
      })
    )
  )

  it.live("a connection that never brings anything ends it", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        yield* faults({ fault: "truncate", ...get, bytes: 0 })
        const error = yield* Effect.flip(Downloads.bytes(Drive.me, target))
        assert.strictEqual(error.reason._tag, "Unreachable")
      })
    )
  )

  it.live("a file that changes on the way is told; as a local file it is begun anew", () =>
    inSandbox(
      Effect.gen(function* () {
        const change = yield* Effect.map(Graph, (graph) =>
          Effect.ignore(Effect.provideService(Uploads.upload(Drive.me, target, someBytes(2 * MiB)), Graph, graph))
        )
        const changing = (times: number) => {
          let changes = 0
          return {
            onProgress: () => (changes++ < times ? change : Effect.void)
          }
        }
        yield* Uploads.upload(Drive.me, target, large)
        yield* faults({ fault: "truncate", ...get, times: 1, bytes: 1_000_000 })
        const error = yield* Effect.flip(Downloads.bytes(Drive.me, target, changing(1)))
        assert.strictEqual(error.reason._tag, "Changed")
        yield* Uploads.upload(Drive.me, target, large)
        yield* faults({ fault: "truncate", ...get, times: 1, bytes: 1_000_000 })
        const fs = yield* FileSystem.FileSystem
        const { path } = yield* Files.download(Drive.me, target, { to: yield* folder, ...changing(1) })
        assert.strictEqual(Number((yield* fs.stat(path)).size), 2 * MiB)
      })
    )
  )

  it.live("nothing, folders, notebooks and what is known already", () =>
    inSandbox(
      Effect.gen(function* () {
        assert.lengthOf(yield* Downloads.bytes(Drive.me, { path: "nothing.bin" }), 0)
        for (const [path, is] of [
          ["/Docs", "folder"],
          ["/Notes", "package"]
        ] as const) {
          const error = yield* Effect.flip(Downloads.bytes(Drive.me, { path }))
          assert.strictEqual(error.reason._tag, "NotAFile")
          assert.propertyVal(error.reason, "is", is)
        }
        const file = { path: "/Docs/a #1%.txt" }
        const { eTag } = yield* Drives.item(Drive.me, file)
        const error = yield* Effect.flip(Downloads.bytes(Drive.me, file, { ifNoneMatch: eTag ?? "" }))
        assert.strictEqual(error.reason._tag, "NotModified")
        // The sandbox converts nothing, and says so.
        const converted = yield* Effect.flip(Downloads.bytes(Drive.me, file, { format: "pdf" }))
        assert.include(converted.message, "pdf")
      })
    )
  )
})

describe("local files", () => {
  it.live("B7: folders that are missing are made, and nothing but the file is left", () =>
    inSandbox(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const paths = yield* Path.Path
        const to = paths.join(yield* folder, "not", "there yet")
        const { path } = yield* Files.download(Drive.me, { path: "/Docs/a #1%.txt" }, { to })
        assert.strictEqual(path, paths.join(to, "a #1%.txt"))
        assert.strictEqual(yield* fs.readFileString(path), "hello world")
        assert.deepStrictEqual(yield* listed(to), ["a #1%.txt"])
        yield* Files.upload(Drive.me, { path: "/Docs/back.txt" }, path)
        assert.strictEqual(text(yield* Downloads.bytes(Drive.me, { path: "/Docs/back.txt" })), "hello world")
        const missing = yield* Effect.flip(Files.upload(Drive.me, { path: "/x" }, paths.join(to, "none")))
        assert.strictEqual(missing.reason._tag, "LocalFailed")
        assert.include(missing.message, paths.join(to, "none"))
      })
    )
  )

  it.live("B1: a sharing link brings the contents", () =>
    inSandbox(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { link } = yield* Sharing.createLink(Drive.me, { path: "/Docs/a #1%.txt" })
        yield* faults()
        const { path } = yield* Files.download(Drive.link(link?.webUrl ?? ""), Drive.root, { to: yield* folder })
        assert.strictEqual(yield* fs.readFileString(path), "hello world")
        yield* noTokenSent
      })
    )
  )

  it.live("what breaks off leaves the older file as it was, and nothing beside it", () =>
    inSandbox(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const to = yield* folder
        yield* fs.writeFileString(`${to}/down.bin`, "older")
        yield* Uploads.upload(Drive.me, target, large)
        yield* faults({ fault: "truncate", ...get, bytes: 10 }, { fault: "status", ...get, skip: 1, status: 500 })
        yield* Effect.flip(Files.download(Drive.me, target, { to }))
        yield* faults()
        const begun = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(
          Files.download(Drive.me, target, {
            to,
            onProgress: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
          })
        )
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* listed(to), ["down.bin"])
        assert.strictEqual(yield* fs.readFileString(`${to}/down.bin`), "older")
      })
    )
  )

  const names: ReadonlyArray<readonly [string, posix: string, windows: string]> = [
    ["a #1%.txt", "a #1%.txt", "a #1%.txt"],
    ['a:b*c?"<>|.txt', 'a:b*c?"<>|.txt', "a_b_c_____.txt"],
    ["../x", ".._x", ".._x"],
    ["..", "__", "__"],
    ["..\\x", "..\\x", ".._x"],
    ["", "_", "_"],
    ["con.txt", "con.txt", "_con.txt"],
    ["ends. ", "ends. ", "ends__"]
  ]
  for (const [name, posix, windows] of names) {
    it(`the name ${JSON.stringify(name)}`, () => {
      assert.strictEqual(localName(name, false), posix)
      assert.strictEqual(localName(name, true), windows)
    })
  }

  it("names that differ in case alone stay two files", () => {
    const name = makeNames(false)
    assert.deepStrictEqual(["a.txt", "A.txt", "a.TXT"].map(name), ["a.txt", "A (2).txt", "a (3).TXT"])
  })
})

describe("folders", () => {
  it.live("all comes, with empty folders and what shortcuts lead to; notebooks are named", () =>
    inSandbox(
      Effect.gen(function* () {
        const to = yield* folder
        const report = yield* Files.downloadFolder(Drive.me, Drive.root, { to })
        assert.deepStrictEqual(yield* listed(to), [
          "Docs",
          "Docs/Deep",
          "Docs/Deep/er",
          "Docs/Deep/er/x.txt",
          "Docs/O'Brien & co.txt",
          "Docs/a #1%.txt",
          "Empty",
          "Plan of Joan.txt",
          "nothing.bin"
        ])
        const { failures, files, folders, left } = report
        assert.deepStrictEqual(
          { failures, files, folders, left },
          { failures: [], files: 5, folders: 4, left: ["/Notes"] }
        )
        yield* noTokenSent
        const again = yield* Files.downloadFolder(Drive.me, Drive.root, { to })
        assert.strictEqual(again.files, 0)
        assert.strictEqual(again.present, 5)
      })
    )
  )

  it.live("B4: a file that fails is reported and stops nothing; the next run fetches it alone", () =>
    inSandbox(
      Effect.gen(function* () {
        const to = yield* folder
        const { id } = yield* Drives.item(Drive.me, { path: "/Docs/a #1%.txt" })
        yield* faults({ fault: "status", status: 404, path: `${id}(/content|\\?|$)` })
        const error = yield* Effect.flip(Files.downloadFolder(Drive.me, { path: "/Docs" }, { to }))
        if (error._tag !== "FolderIncomplete") return assert.fail(error._tag)
        assert.deepStrictEqual(
          error.report.failures.map(({ path }) => path),
          ["/a #1%.txt"]
        )
        assert.include(error.message, "1 of 3")
        assert.strictEqual(error.report.files, 2)
        yield* faults()
        const report = yield* Files.downloadFolder(Drive.me, { path: "/Docs" }, { to })
        assert.deepStrictEqual([report.files, report.present], [1, 2])
      })
    )
  )

  it.live("all comes although the service stands still, before an answer and in the middle of one", () =>
    inSandbox(
      Effect.gen(function* () {
        const to = yield* folder
        yield* faults({ fault: "stall", ...get, times: 1 }, { fault: "stall", ...get, skip: 1, times: 1, bytes: 2 })
        const report = yield* impatient(Files.downloadFolder(Drive.me, { path: "/Docs" }, { to, concurrency: 1 }))
        assert.deepStrictEqual([report.files, report.failures], [3, []])
        const met = (yield* askedOfFiles).flatMap((request) => request.faults)
        assert.deepStrictEqual(met, ["stall", "stall"])
        yield* noTokenSent
      })
    )
  )

  it.live("a folder that can't be listed is reported too", () =>
    inSandbox(
      Effect.gen(function* () {
        const { id } = yield* Drives.item(Drive.me, { path: "/Docs/Deep" })
        yield* faults({ fault: "status", status: 403, path: `${id}/children` })
        const error = yield* Effect.flip(Files.downloadFolder(Drive.me, { path: "/Docs" }, { to: yield* folder }))
        if (error._tag !== "FolderIncomplete") return assert.fail(error._tag)
        assert.deepStrictEqual(
          error.report.failures.map(({ path }) => path),
          ["/Deep"]
        )
      })
    )
  )

  const many = sized(250, 5000)
  it.live(`${many} files come whole although every tenth request fails`, () =>
    inSandbox(
      Effect.gen(function* () {
        const to = yield* folder
        yield* faults({ fault: "drop", every: 20 }, { fault: "status", status: 503, every: 20, skip: 10 })
        const report = yield* Files.downloadFolder(Drive.me, { path: "/Many" }, { to, concurrency: 8 })
        assert.strictEqual(report.files, many)
        const all = yield* asked
        assert.isAbove(all.filter((request) => request.faults.length > 0).length, many / 10)
        yield* noTokenSent
        const fs = yield* FileSystem.FileSystem
        assert.lengthOf(yield* fs.readDirectory(`${to}/3`), many / 10)
        assert.strictEqual(yield* fs.readFileString(`${to}/3/file 123.txt`), "contents of 123")
      }),
      {
        seed: {
          users: [
            {
              userPrincipalName: "ann@contoso.test",
              displayName: "Ann Lee",
              drive: Object.fromEntries(
                Array.from({ length: many }, (_, n) => [`Many/${n % 10}/file ${n}.txt`, `contents of ${n}`])
              )
            }
          ]
        }
      }
    )
  )
})
