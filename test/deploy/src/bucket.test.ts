/** Files in a bucket of a server that is not ours, s3rver from npm: the contract of blob stores, and a room with these settings. */
import assert from "node:assert/strict"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createHash, randomBytes } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, it } from "node:test"
import { parse } from "yaml"
import { root, textOf } from "./Files.ts"
import { eventually, freePort, type Running, start, startRoom, unlessEnded } from "./Room.ts"

const bucket = "signalbox-files"
/** The only ones that it knows. */
const credentials = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER", AWS_REGION: "us-east-1" }

describe("a bucket of s3rver", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-s3rver-"))
  let server: Running
  let endpoint: string

  before(async () => {
    const port = await freePort()
    endpoint = `http://127.0.0.1:${port}`
    const bin = join(import.meta.dirname, "../node_modules/s3rver/bin/s3rver.js")
    const flags = [
      "--directory",
      folder,
      "--address",
      "127.0.0.1",
      "--port",
      String(port),
      "--configure-bucket",
      bucket
    ]
    server = start(process.execPath, [bin, ...flags])
    const responds = () =>
      fetch(endpoint).then(
        () => true as const,
        () => undefined
      )
    await unlessEnded(server, eventually("it responds", responds))
  })
  after(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true })
  })

  it("passes the contract of blob stores", async () => {
    const vitest = join(root, "node_modules/vitest/vitest.mjs")
    const only = ["run", "--root", root, "--project", "sqlite", "packages/control-room/test/BlobStores.test.ts"]
    const ran = start(
      process.execPath,
      [vitest, ...only, "--testNamePattern", "a real bucket", "--reporter", "verbose"],
      {
        ...credentials,
        NO_COLOR: "1",
        SIGNALBOX_TEST_S3: `${endpoint}/${bucket}`
      }
    )
    assert.equal(await ran.ended, 0, ran.said())
    const passed = ran.said().match(/✓.*a real bucket/g) ?? []
    assert.ok(passed.length >= 5, ran.said())
  })

  it("has the files of a room with the settings of compose.bucket.yaml, and its data folder has none", async () => {
    const names = Object.keys(parse(textOf("deploy/container/compose.bucket.yaml")).services.room.environment)
    const settings: Readonly<Record<string, string>> = {
      ...credentials,
      SIGNALBOX_S3_BUCKET: bucket,
      SIGNALBOX_S3_PREFIX: "rooms/invoices/",
      SIGNALBOX_S3_REGION: "us-east-1",
      SIGNALBOX_S3_ENDPOINT: endpoint,
      SIGNALBOX_S3_PATH_STYLE: "true"
    }
    const room = await startRoom(Object.fromEntries(names.map((name) => [name, settings[name] ?? assert.fail(name)])))
    try {
      const asset = await room.call("POST", "assets", { name: "large" })
      const upload = await room.call("POST", `assets/${String(asset["id"])}/uploads`, { content_type: "text/plain" })
      const here = (address: unknown) => {
        const { pathname, search } = new URL(String(address))
        return `http://127.0.0.1:${room.port}${pathname}${search}`
      }
      // Of several parts.
      const body = randomBytes(12 * 1024 * 1024)
      const headers = { "content-type": "text/plain" }
      const sent = await fetch(here(upload["upload_url"]), { method: "PUT", headers, body })
      assert.equal(sent.status, 204, await sent.text())
      const { payload } = await room.call("GET", `assets/${String(asset["id"])}`)
      // A cast: a payload of an asset with content has its address.
      const received = await fetch(here((payload as { readonly url: string }).url))
      const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
      assert.equal(digest(new Uint8Array(await received.arrayBuffer())), digest(body))
      const inData = readdirSync(room.data, { recursive: true, withFileTypes: true })
      const files = inData.filter((one) => one.isFile() && one.parentPath.startsWith(join(room.data, "files")))
      assert.deepEqual(files, [])
      assert.equal((await fetch(`http://127.0.0.1:${room.port}/readyz`)).status, 200)
    } finally {
      await room.close()
    }
  })
})
