/**
 * Local folders into drives of the sandbox, whatever goes wrong on the way.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { symlinkSync, utimesSync, writeFileSync } from "node:fs"
import * as Downloads from "../src/Downloads.ts"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import * as Files from "../src/Files.ts"
import type { Graph } from "../src/Graph.ts"
import type { GraphError } from "../src/GraphError.ts"
import { refusalOf } from "../src/internal/files/DriveNames.ts"
import * as QuickXorHash from "../src/QuickXorHash.ts"
import type { TransferError } from "../src/TransferError.ts"
import * as Uploads from "../src/Uploads.ts"
import { asked, askedOfFiles, faults, inSandbox, someBytes } from "./support/Sandbox.ts"

const MiB = 1024 * 1024
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const up = { path: "/Up" }

/** A local folder with these files; a path that ends in a slash is a folder. */
const folderOf = Effect.fnUntraced(function* (files: Readonly<Record<string, string | Uint8Array>>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  for (const [path, contents] of Object.entries(files)) {
    const at = `${folder}/${path}`
    yield* fs.makeDirectory(at.slice(0, at.lastIndexOf("/")), { recursive: true })
    if (!path.endsWith("/")) yield* fs.writeFile(at, Buffer.from(contents))
  }
  return folder
})

const small = { "a.txt": "one", "b/c.txt": "two", "b/d/e.txt": "three", "empty/": "", "none.bin": "" }

/** Paths and contents of all files below a folder of the drive. */
const stored = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<Readonly<Record<string, string>>, GraphError | TransferError, Graph> {
  const found: Record<string, string> = {}
  for (const item of yield* Stream.runCollect(Drives.children(Drive.me, { path }))) {
    const at = `${path}/${item.name}`
    if ((item.folder ?? null) === null) found[at] = text(yield* Downloads.bytes(Drive.me, item))
    else Object.assign(found, yield* stored(at))
  }
  return found
})

/** Requests that bring bytes: those of a small file, and the sessions of large ones. */
const sent = Effect.map(asked, (all) =>
  all.filter(({ method, url }) =>
    /:?\/content(\?|$)/.test(url) ? method === "PUT" : url.includes("createUploadSession")
  )
)

/** How often the contents of a file were stored. */
const timesStored = (path: string) =>
  Effect.map(Drives.item(Drive.me, { path }), ({ cTag }) => Number(/,(\d+)"$/.exec(cTag ?? "")?.[1]))

const report = ({ bytes, failures, files, folders, left, present }: Files.UploadFolderReport) => ({
  bytes,
  failures: failures.map(({ path }) => path),
  files,
  folders,
  left,
  present
})

const incomplete = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) =>
    error instanceof Files.UploadFolderIncomplete ? error : assert.fail(error._tag)
  )

describe("a folder", () => {
  it.live("goes up with its subfolders, the empty ones too; the folder is made", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf(small)
        const done: Array<string> = []
        const all = yield* Files.uploadFolder(Drive.me, { path: "/Not/there yet" }, folder, {
          onProgress: ({ path }) => Effect.sync(() => void done.push(path))
        })
        assert.deepStrictEqual(report(all), { bytes: 11, failures: [], files: 4, folders: 3, left: [], present: 0 })
        assert.sameMembers(done, ["/a.txt", "/b/c.txt", "/b/d/e.txt", "/none.bin"])
        assert.deepStrictEqual(yield* stored("/Not/there yet"), {
          "/Not/there yet/a.txt": "one",
          "/Not/there yet/b/c.txt": "two",
          "/Not/there yet/b/d/e.txt": "three",
          "/Not/there yet/none.bin": ""
        })
        assert.isDefined((yield* Drives.item(Drive.me, { path: "/Not/there yet/empty" })).folder)
      })
    )
  )

  it.live("that is there is not sent again", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf({ ...small, "large.bin": someBytes(5 * MiB) })
        yield* Files.uploadFolder(Drive.me, up, folder)
        yield* faults()
        const again = yield* Files.uploadFolder(Drive.me, up, folder)
        assert.deepStrictEqual(report(again), { bytes: 0, failures: [], files: 0, folders: 3, left: [], present: 5 })
        assert.isEmpty(yield* sent)
      })
    )
  )

  it.live("of which something has changed: that alone is sent, also when its size is the same", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf(small)
        yield* Files.uploadFolder(Drive.me, up, folder)
        writeFileSync(`${folder}/b/c.txt`, "TWO")
        writeFileSync(`${folder}/b/new.txt`, "new")
        yield* faults()
        const again = yield* Files.uploadFolder(Drive.me, up, folder)
        assert.deepStrictEqual([again.files, again.present], [2, 3])
        assert.lengthOf(yield* sent, 2)
        const { "/Up/b/c.txt": changed, "/Up/b/new.txt": made } = yield* stored("/Up")
        assert.deepStrictEqual([changed, made], ["TWO", "new"])
      })
    )
  )

  it.live("goes to a folder that the service returned, where names differ in case alone", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf({ "deep/ER/X.txt": "deep", "deep/y.txt": "y" })
        const docs = yield* Drives.item(Drive.me, { path: "/Docs" })
        const all = yield* Files.uploadFolder(Drive.me, docs, folder)
        assert.deepStrictEqual([all.files, all.present], [1, 1])
        assert.strictEqual((yield* stored("/Docs/Deep"))["/Docs/Deep/y.txt"], "y")
      })
    )
  )

  it.live("keeps the times of its files when asked to", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf({ "a.txt": "one", "none.bin": "" })
        const time = new Date("2030-05-06T07:08:09Z")
        for (const name of ["a.txt", "none.bin"]) utimesSync(`${folder}/${name}`, time, time)
        yield* Files.uploadFolder(Drive.me, up, folder, { times: true })
        for (const name of ["a.txt", "none.bin"]) {
          const { fileSystemInfo } = yield* Drives.item(Drive.me, { path: `/Up/${name}` })
          assert.strictEqual(Date.parse(fileSystemInfo?.lastModifiedDateTime ?? ""), time.getTime())
        }
      })
    )
  )

  it.live("whose links are not followed, and are named", () =>
    inSandbox(
      Effect.gen(function* () {
        const outside = yield* folderOf({ "secret.txt": "secret" })
        const folder = yield* folderOf({ "a.txt": "one" })
        symlinkSync(outside, `${folder}/folder`)
        symlinkSync(`${outside}/secret.txt`, `${folder}/file`)
        const all = yield* Files.uploadFolder(Drive.me, up, folder)
        assert.deepStrictEqual([all.files, all.left], [1, ["/file", "/folder"]])
        assert.deepStrictEqual(Object.keys(yield* stored("/Up")), ["/Up/a.txt"])
      })
    )
  )

  it.live("that is none is refused, on either side", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf({ "a.txt": "one" })
        const local = yield* Effect.flip(Files.uploadFolder(Drive.me, up, `${folder}/a.txt`))
        assert.strictEqual(local._tag === "TransferError" ? local.reason._tag : local._tag, "LocalFailed")
        const remote = yield* Effect.flip(Files.uploadFolder(Drive.me, { path: "/nothing.bin" }, folder))
        assert.strictEqual(remote._tag === "TransferError" ? remote.reason._tag : remote._tag, "NotAFolder")
        const none = yield* Effect.flip(Files.uploadFolder(Drive.me, { id: "none" }, folder))
        assert.strictEqual(none._tag === "GraphError" ? none.reason._tag : none._tag, "NotFound")
      })
    )
  )

  it.live("with an option that nobody knows, or that cannot be, is refused by name", () =>
    inSandbox(
      Effect.gen(function* () {
        const options: ReadonlyArray<object> = [{ conflicts: "fail" }, { conflict: "keep" }, { concurrency: 0 }]
        for (const option of options) {
          const exit = yield* Effect.exit(Files.uploadFolder(Drive.me, up, yield* folderOf({}), option))
          if (Exit.isSuccess(exit)) return assert.fail("it was not refused")
          assert.include(String(Cause.squash(exit.cause)), Object.keys(option).join())
        }
        assert.isEmpty(yield* asked)
      })
    )
  )
})

describe("a name that is taken", () => {
  const files = { "a.txt": "mine", "b.txt": "same" }
  const there = Effect.gen(function* () {
    yield* Uploads.upload(Drive.me, { path: "/Up/a.txt" }, new TextEncoder().encode("theirs"))
    yield* Uploads.upload(Drive.me, { path: "/Up/b.txt" }, new TextEncoder().encode("same"))
    yield* faults()
    return yield* folderOf(files)
  })

  it.live("gets a new version of the file, unless the policy says otherwise", () =>
    inSandbox(
      Effect.gen(function* () {
        const all = yield* Files.uploadFolder(Drive.me, up, yield* there)
        assert.deepStrictEqual([all.files, all.present], [1, 1])
        assert.deepStrictEqual(yield* stored("/Up"), { "/Up/a.txt": "mine", "/Up/b.txt": "same" })
        assert.strictEqual(yield* timesStored("/Up/a.txt"), 2)
      })
    )
  )

  it.live("is a failure of the report, with fail; nothing of it is sent", () =>
    inSandbox(
      Effect.gen(function* () {
        const error = yield* incomplete(Files.uploadFolder(Drive.me, up, yield* there, { conflict: "fail" }))
        const [failure] = error.report.failures
        assert.strictEqual(failure?.path, "/a.txt")
        assert.strictEqual(failure?.error.reason._tag, "NameAlreadyExists")
        assert.strictEqual(error.report.present, 1)
        assert.isEmpty(yield* sent)
        assert.strictEqual((yield* stored("/Up"))["/Up/a.txt"], "theirs")
      })
    )
  )

  it.live("stays, and the file gets another, with rename; once, however often it runs", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* there
        const all = yield* Files.uploadFolder(Drive.me, up, folder, { conflict: "rename" })
        assert.deepStrictEqual(all.renamed, [{ path: "/a.txt", name: "a 1.txt" }])
        const again = yield* Files.uploadFolder(Drive.me, up, folder, { conflict: "rename" })
        assert.deepStrictEqual([again.files, again.present], [0, 2])
        assert.deepStrictEqual(yield* stored("/Up"), {
          "/Up/a 1.txt": "mine",
          "/Up/a.txt": "theirs",
          "/Up/b.txt": "same"
        })
      })
    )
  )

  it.live("by something of another kind is a failure of the report, and stops nothing else", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Drives.ensureFolder(Drive.me, "/Up/a.txt")
        yield* Uploads.upload(Drive.me, { path: "/Up/b" }, new Uint8Array())
        const error = yield* incomplete(Files.uploadFolder(Drive.me, up, yield* folderOf(small)))
        const failures = error.report.failures.map(({ error, path }) => [path, error.reason._tag])
        assert.sameDeepMembers(failures, [
          ["/a.txt", "NotAFile"],
          ["/b", "NotAFolder"]
        ])
        assert.strictEqual(error.report.files, 1)
      })
    )
  )
})

describe("names", () => {
  const refused = ["a:b", "what?", " a", "a ", "a.", "~$a.docx", "CON", "x_vti_y", "a\ud800", "tab\t", "x".repeat(256)]
  for (const name of refused) {
    it(`${JSON.stringify(name.slice(0, 20))} is not taken by the service`, () => assert.isString(refusalOf(name)))
  }
  for (const name of ["a #1%.txt", ".profile", "~a", "O'Brien & co.txt", "con.txt", "ä ö.txt", "x".repeat(255)]) {
    it(`${JSON.stringify(name.slice(0, 20))} is`, () => assert.isNull(refusalOf(name)))
  }

  it.live("that the service does not take, or takes for one, are all named before the first request", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf({
          "b/ends.": "1",
          "b/what?.txt": "2",
          "Case.txt": "3",
          "case.TXT": "4",
          ok: "5"
        })
        writeFileSync(Buffer.concat([Buffer.from(`${folder}/b/broken`), Buffer.from([0xff])]), "6")
        yield* faults()
        const error = yield* Effect.flip(Files.uploadFolder(Drive.me, up, folder))
        assert.isTrue(error instanceof Files.NamesRefused)
        if (!(error instanceof Files.NamesRefused)) return
        assert.sameMembers(
          error.names.map(({ path }) => path),
          ["/b/ends.", "/b/what?.txt", "/case.TXT", "/b/broken\ufffd"]
        )
        assert.include(error.message, "/case.TXT: the service takes it for Case.txt")
        assert.isEmpty(yield* asked)
      })
    )
  )
})

describe("when something goes wrong", () => {
  it.live("a file that fails is reported and stops nothing; the next run sends it alone", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf(small)
        yield* faults({ fault: "status", status: 403, method: "PUT", path: "/c\\.txt" })
        const error = yield* incomplete(Files.uploadFolder(Drive.me, up, folder))
        assert.deepStrictEqual(report(error.report).failures, ["/b/c.txt"])
        assert.strictEqual(error.report.files, 3)
        assert.include(error.message, "1 of 4")
        yield* faults()
        const again = yield* Files.uploadFolder(Drive.me, up, folder)
        assert.deepStrictEqual([again.files, again.present], [1, 3])
      })
    )
  )

  it.live("a file that is found after a lost answer counts as sent", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf({ "a.txt": "one" })
        // The answer is lost, and the first look for it fails.
        yield* faults(
          { fault: "drop", when: "after", method: "PUT", path: "/content" },
          { fault: "status", status: 503, method: "GET", path: "/a\\.txt", times: 5 }
        )
        const all = yield* Files.uploadFolder(Drive.me, up, folder)
        assert.deepStrictEqual([all.files, all.present, all.bytes], [1, 0, 3])
        assert.lengthOf(yield* sent, 1)
      })
    )
  )

  it.live("a file whose answer is lost is not sent again", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf({ ...small, "large.bin": someBytes(5 * MiB) })
        yield* Uploads.upload(Drive.me, { path: "/Up/a.txt" }, new TextEncoder().encode("old"))
        // Each first answer that says that something was stored.
        yield* faults(
          { fault: "drop", when: "after", method: "PUT", path: "/content", every: 2 },
          { fault: "drop", when: "after", host: "files", method: "PUT" }
        )
        const all = yield* Files.uploadFolder(Drive.me, up, folder, { concurrency: 1 })
        assert.deepStrictEqual([all.files, all.failures], [5, []])
        assert.strictEqual(yield* timesStored("/Up/a.txt"), 2)
        for (const path of ["/Up/b/c.txt", "/Up/b/d/e.txt", "/Up/none.bin", "/Up/large.bin"]) {
          assert.strictEqual(yield* timesStored(path), 1, path)
        }
      })
    )
  )

  const fragments = Effect.map(askedOfFiles, (all) =>
    all.filter(({ method }) => method === "PUT").map(({ headers }) => headers["content-range"]?.split("/")[0])
  )
  const unit = 327_680
  const inFragments = { fragmentBytes: 8 * unit } as const

  it.live("a large file is resumed where a session is stored, and nothing of the session is left", () =>
    inSandbox(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* folderOf({ "large.bin": someBytes(20 * unit) })
        const options = { ...inFragments, sessionFile: `${yield* folderOf({})}/sessions.json` }
        yield* faults({ fault: "status", status: 403, host: "files", method: "PUT", skip: 1 })
        yield* incomplete(Files.uploadFolder(Drive.me, up, folder, options))
        assert.strictEqual((yield* fs.stat(options.sessionFile)).mode & 0o777, 0o600)
        yield* faults()
        const all = yield* Files.uploadFolder(Drive.me, up, folder, options)
        assert.strictEqual(all.files, 1)
        assert.deepStrictEqual(yield* fragments, [
          `bytes ${8 * unit}-${16 * unit - 1}`,
          `bytes ${16 * unit}-${20 * unit - 1}`
        ])
        assert.strictEqual((yield* fs.readFileString(options.sessionFile)).trim(), "{}")
      })
    )
  )

  it.live("a large file that has changed since its session was stored begins anew", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf({ "large.bin": someBytes(20 * unit) })
        const options = { ...inFragments, sessionFile: `${yield* folderOf({})}/sessions.json` }
        yield* faults({ fault: "status", status: 403, host: "files", method: "PUT", skip: 1 })
        yield* incomplete(Files.uploadFolder(Drive.me, up, folder, options))
        const later = new Uint8Array(20 * unit).fill(7)
        writeFileSync(`${folder}/large.bin`, later)
        utimesSync(`${folder}/large.bin`, 2_000_000_000, 2_000_000_000)
        yield* faults()
        yield* Files.uploadFolder(Drive.me, up, folder, options)
        assert.lengthOf(yield* fragments, 3)
        const { file } = yield* Drives.item(Drive.me, { path: "/Up/large.bin" })
        assert.strictEqual(file?.hashes?.quickXorHash, QuickXorHash.of(later))
      })
    )
  )

  it.live("a file of sessions that is none, or is uploaded with the folder, is refused before the first request", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf({ "a.txt": "one" })
        const other = yield* folderOf({ "sessions.json": "[]" })
        yield* faults()
        for (const sessionFile of [`${folder}/sessions.json`, `${other}/sessions.json`]) {
          const error = yield* Effect.flip(Files.uploadFolder(Drive.me, up, folder, { sessionFile }))
          assert.strictEqual(error._tag === "TransferError" ? error.reason._tag : error._tag, "LocalFailed")
          assert.include(error.message, sessionFile)
        }
        assert.isEmpty(yield* asked)
      })
    )
  )

  /** The file system, with a hand in it: each time a file is opened for a while, this happens first. */
  const meddling = <A, E, R>(effect: Effect.Effect<A, E, R>, meddle: (path: string) => void) =>
    Effect.flatMap(FileSystem.FileSystem, (fs) =>
      Effect.provideService(effect, FileSystem.FileSystem, {
        ...fs,
        readFile: (path) => Effect.tap(fs.readFile(path), () => Effect.sync(() => meddle(path))),
        stream: (path, options) =>
          Stream.concat(fs.stream(path, options), Stream.fromEffectDrain(Effect.sync(() => meddle(path))))
      })
    )

  for (const [size, what] of [
    [1000, "small"],
    [5 * MiB, "large"]
  ] as const) {
    it.live(`a ${what} file that changes once is sent as it is then`, () =>
      inSandbox(
        Effect.gen(function* () {
          const folder = yield* folderOf({ "a.bin": someBytes(size) })
          const later = new Uint8Array(size).fill(7)
          let changes = 0
          const all = yield* meddling(Files.uploadFolder(Drive.me, up, folder), (path) => {
            if (changes++ === 0) {
              writeFileSync(path, later)
              utimesSync(path, 2_000_000_000, 2_000_000_000)
            }
          })
          assert.strictEqual(all.files, 1)
          assert.strictEqual(yield* timesStored("/Up/a.bin"), 1)
          const bytes = yield* Downloads.bytes(Drive.me, { path: "/Up/a.bin" })
          assert.strictEqual(QuickXorHash.of(bytes), QuickXorHash.of(later))
        })
      )
    )

    it.live(`a ${what} file that changes all the time is reported, and nothing of it is there`, () =>
      inSandbox(
        Effect.gen(function* () {
          const folder = yield* folderOf({ "a.bin": someBytes(size), "b.txt": "b" })
          let now = 2_000_000_000
          const error = yield* incomplete(
            meddling(Files.uploadFolder(Drive.me, up, folder), (path) => {
              if (path.endsWith("a.bin")) utimesSync(path, ++now, now)
            })
          )
          const [failure] = error.report.failures
          assert.strictEqual(failure?.error.reason._tag, "Changed")
          assert.strictEqual(error.report.files, 1)
          const names = (yield* Stream.runCollect(Drives.children(Drive.me, up))).map(({ name }) => name)
          assert.deepStrictEqual(names, ["b.txt"])
        })
      )
    )
  }

  it.live("a folder that cannot be listed is reported, and nothing in it is sent", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf(small)
        yield* Files.uploadFolder(Drive.me, up, folder)
        const { id } = yield* Drives.item(Drive.me, { path: "/Up/b" })
        yield* faults({ fault: "status", status: 403, path: `${id}/children` })
        const error = yield* incomplete(Files.uploadFolder(Drive.me, up, folder))
        assert.deepStrictEqual(report(error.report).failures, ["/b"])
        assert.isEmpty(yield* sent)
      })
    )
  )

  it.live("Office files that a library rewrites are named", () =>
    inSandbox(
      Effect.gen(function* () {
        const folder = yield* folderOf({ "Plan.xlsx": someBytes(1000), "a.txt": "one" })
        const { differing } = yield* Files.uploadFolder(Drive.of({ group: "g1" }), up, folder)
        assert.deepStrictEqual(
          differing.map(({ path }) => path),
          ["/Plan.xlsx"]
        )
      }),
      { rewriteOffice: true }
    )
  )
})
