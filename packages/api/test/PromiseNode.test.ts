/** Files of work items, to and from the disk of this machine, with promises. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { type Client, NotFound } from "../src/Promise.ts"
import { downloadTo, LocalFailed, uploadAll, type UploadProgress, UploadSourceError } from "../src/PromiseNode.ts"
import { answer, type FaultServer } from "./support/FaultServer.ts"
import { rejectionOf, withRoom } from "./support/PromiseRoom.ts"

const withFolder = (use: (room: Client, server: FaultServer, folder: string) => Promise<void>) =>
  withRoom(async (room, server) => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-promise-"))
    try {
      await use(room, server, folder)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

const fileAt = ({ origin }: FaultServer) => ({
  name: "a.txt",
  size: 5,
  download: { url: `${origin}/bucket/f?signature=s` }
})
const form = ({ origin }: FaultServer) => answer(200, { upload: { url: `${origin}/bucket`, form_data: { key: "k" } } })

describe("downloadTo", () => {
  it("writes a file into a folder over the connection of a client", () =>
    withFolder(async (room, server, folder) => {
      server.script([answer(200, "hello")])
      const path = await downloadTo(room, fileAt(server), `${folder}/in/`)
      assert.strictEqual(path, join(folder, "in", "a.txt"))
      assert.strictEqual(readFileSync(path, "utf8"), "hello")
    }))

  it("rejects when it cannot be written, where the program called", () =>
    withFolder(async (room, server, folder) => {
      server.script([answer(200, "hello")])
      writeFileSync(join(folder, "file"), "")
      const error = await rejectionOf(downloadTo(room, fileAt(server), join(folder, "file", "a.txt")))
      assert.instanceOf(error, LocalFailed)
      assert.match(String(error.stack).split("\n")[1] ?? "", /PromiseNode\.test\.ts/)
    }))

  it("has the options of a call", () =>
    withFolder(async (room, server, folder) => {
      server.script([{ _tag: "Hang" }])
      const signal = AbortSignal.abort(new Error("enough"))
      assert.strictEqual(await rejectionOf(downloadTo(room, fileAt(server), folder, { signal })), signal.reason)
      assert.isFalse(existsSync(join(folder, "a.txt")))
    }))
})

describe("uploadAll", () => {
  it("sends the files of a folder, and says how far it is", () =>
    withFolder(async (room, server, folder) => {
      writeFileSync(join(folder, "a.txt"), "one")
      writeFileSync(join(folder, "b.txt"), "three")
      server.script([form(server), answer(204), form(server), answer(204)])
      const seen: Array<UploadProgress> = []
      const sent = await uploadAll(room, "item", folder, { onProgress: (progress) => void seen.push(progress) })
      assert.deepStrictEqual(sent, [
        { name: "a.txt", size: 3 },
        { name: "b.txt", size: 5 }
      ])
      assert.deepInclude(seen.at(-1), { filesSent: 2, files: 2, bytesSent: 8, bytes: 8 })
    }))

  it("sends paths and blobs together, over any connection", () =>
    withFolder(async (room, server, folder) => {
      writeFileSync(join(folder, "a.txt"), "one")
      server.script([form(server), answer(204), form(server), answer(204)])
      const sent = await uploadAll(room, "item", [join(folder, "a.txt"), new File(["three"], "b.txt")])
      assert.deepStrictEqual(
        sent.map(({ name }) => name),
        ["a.txt", "b.txt"]
      )
    }))

  it("sends nothing when one cannot be read", () =>
    withFolder(async (room, server, folder) => {
      server.script([answer(500)])
      const error = await rejectionOf(uploadAll(room, "item", [join(folder, "none.txt")]))
      assert.instanceOf(error, UploadSourceError)
      assert.deepStrictEqual(server.received(), [])
    }))

  it("names itself in errors of its calls", () =>
    withFolder(async (room, server, folder) => {
      writeFileSync(join(folder, "a.txt"), "one")
      server.script([answer(404)])
      const error = await rejectionOf(uploadAll(room, "item", folder))
      assert.instanceOf(error, NotFound)
      assert.strictEqual(error.operation, "uploadAll")
    }))
})
