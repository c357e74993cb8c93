/** Files of work items, to and from the disk of this machine. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { WorkItemId } from "../src/contract/Ids.ts"
import type { ControlRoom } from "../src/ControlRoom.ts"
import { downloadTo, uploadAll, type UploadProgress } from "../src/Node.ts"
import { answer, type FaultServer } from "./support/FaultServer.ts"
import { withServer } from "./support/Retries.ts"

const item = WorkItemId.make("item")

/** Runs a program beside a server, with an empty folder. */
const withFolder = <A, E>(program: (server: FaultServer, folder: string) => Effect.Effect<A, E, ControlRoom>) =>
  withServer((server) =>
    Effect.acquireUseRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-files-"))),
      (folder) => program(server, folder),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
  )

const fileAt = (server: FaultServer, name: string, size: number) => ({
  name,
  size,
  download: { url: `${server.origin}/bucket/f?signature=s` }
})

describe("a download", () => {
  it.live("goes to a path, whose folders are made, and replaces what is there", () =>
    withFolder((server, folder) =>
      Effect.gen(function* () {
        server.script([answer(200, "hello"), answer(200, "again")])
        const path = join(folder, "a", "b", "text.txt")
        assert.strictEqual(yield* downloadTo(fileAt(server, "other.txt", 5), path), path)
        assert.strictEqual(readFileSync(path, "utf8"), "hello")
        yield* downloadTo(fileAt(server, "other.txt", 5), path)
        assert.strictEqual(readFileSync(path, "utf8"), "again")
        assert.deepStrictEqual(readdirSync(join(folder, "a", "b")), ["text.txt"])
      })
    )
  )

  it.live("goes into a folder that exists, or whose path ends so, under its own name", () =>
    withFolder((server, folder) =>
      Effect.gen(function* () {
        server.script([answer(200, "hello")])
        assert.strictEqual(yield* downloadTo(fileAt(server, "a.txt", 5), folder), join(folder, "a.txt"))
        const made = `${join(folder, "new")}/`
        assert.strictEqual(yield* downloadTo(fileAt(server, "a.txt", 5), made), join(folder, "new", "a.txt"))
        const escaping = yield* downloadTo(fileAt(server, "../../a.txt", 5), folder)
        assert.strictEqual(escaping, join(folder, ".._.._a.txt"))
        assert.strictEqual(yield* downloadTo(fileAt(server, "..", 5), folder), join(folder, "_"))
      })
    )
  )

  it.live("leaves nothing behind when it breaks off, and what was there stays", () =>
    withFolder((server, folder) =>
      Effect.gen(function* () {
        const path = join(folder, "a.txt")
        writeFileSync(path, "older")
        server.script([{ _tag: "Half", body: "half" }])
        const broken = yield* Effect.flip(downloadTo(fileAt(server, "a.txt", 104), path))
        assert.strictEqual(broken._tag, "ControlRoomError")
        server.script([answer(200, "short")])
        const short = yield* Effect.flip(downloadTo(fileAt(server, "a.txt", 9), path))
        assert.strictEqual(short._tag, "LocalFailed")
        assert.include(short.message, "5 bytes arrived, the file has 9")
        assert.deepStrictEqual(readdirSync(folder), ["a.txt"])
        assert.strictEqual(readFileSync(path, "utf8"), "older")
      })
    )
  )

  it.live("fails with the path when it cannot be written", () =>
    withFolder((server, folder) =>
      Effect.gen(function* () {
        const file = join(folder, "file")
        writeFileSync(file, "")
        server.script([answer(200, "hello")])
        const error = yield* Effect.flip(downloadTo(fileAt(server, "a.txt", 5), join(file, "a.txt")))
        if (error._tag !== "LocalFailed") return assert.fail(error.message)
        assert.strictEqual(error.path, join(file, "a.txt"))
      })
    )
  )
})

describe("an upload of several files", () => {
  const form = (server: FaultServer) => answer(200, { upload: { url: `${server.origin}/bucket`, form_data: {} } })
  const sent = answer(204, "")

  it.live("sends those of a folder in the order of their names, with their progress", () =>
    withFolder((server, folder) =>
      Effect.gen(function* () {
        writeFileSync(join(folder, "b.txt"), "bytes")
        writeFileSync(join(folder, "a.txt"), "abc")
        server.script([form(server), sent, form(server), sent])
        const seen: Array<UploadProgress> = []
        const uploaded = yield* uploadAll(item, folder, {
          onProgress: (progress) => Effect.sync(() => seen.push(progress))
        })
        assert.deepStrictEqual(uploaded, [
          { name: "a.txt", size: 3 },
          { name: "b.txt", size: 5 }
        ])
        assert.deepStrictEqual(JSON.parse(server.received()[0]?.body ?? ""), { file_name: "a.txt", file_size: 3 })
        assert.include(server.received()[3]?.body, "bytes")
        assert.deepStrictEqual(
          seen.map(({ bytesSent, file, filesSent }) => [file, filesSent, bytesSent]),
          [
            ["a.txt", 0, 3],
            ["a.txt", 1, 3],
            ["b.txt", 1, 8],
            ["b.txt", 2, 8]
          ]
        )
        assert.deepStrictEqual([seen[0]?.files, seen[0]?.bytes], [2, 8])
      })
    )
  )

  it.live("takes paths and bytes too", () =>
    withFolder((server, folder) =>
      Effect.gen(function* () {
        const path = join(folder, "a.txt")
        writeFileSync(path, "abc")
        server.script([form(server), sent, form(server), sent])
        const uploaded = yield* uploadAll(item, [path, { name: "b.bin", bytes: new Uint8Array(2) }])
        assert.deepStrictEqual(
          uploaded.map(({ name }) => name),
          ["a.txt", "b.bin"]
        )
      })
    )
  )

  it.live("is refused before anything is sent when a source cannot be", () =>
    withFolder((server, folder) =>
      Effect.gen(function* () {
        server.script([answer(500)])
        const there = join(folder, "a.txt")
        writeFileSync(there, "abc")
        const missing = yield* Effect.flip(uploadAll(item, [there, join(folder, "missing")]))
        assert.strictEqual(missing._tag, "UploadSourceError")
        const twice = yield* Effect.flip(uploadAll(item, [there, { name: "a.txt", bytes: new Uint8Array() }]))
        assert.include(twice.message, "two files are called a.txt")
        mkdirSync(join(folder, "within"))
        const nested = yield* Effect.flip(uploadAll(item, folder))
        assert.include(nested.message, "work items have no folders")
        const noFolder = yield* Effect.flip(uploadAll(item, join(folder, "none")))
        assert.strictEqual(noFolder._tag, "UploadSourceError")
        assert.isFalse(existsSync(join(folder, "none")))
        assert.lengthOf(server.received(), 0)
      })
    )
  )
})
