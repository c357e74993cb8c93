import { assert, layer as withLayer } from "@effect/vitest"
import { Asset, AssetUpload } from "@signalbox/api/contract/Assets"
import { AssetId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Assets from "@signalbox/api/Assets"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { gzipSync } from "node:zlib"
import { Signer } from "../src/internal/transfers/Signer.ts"
import { assertError, bodyAs, errorOf, send, sendRaw } from "./support/Http.ts"
import { layer, linkWorker, masterKeyIn, Service } from "./support/Service.ts"

const Pending = Schema.Struct({ id: Schema.String, status: Schema.Literal("pending"), upload_url: Schema.String })

const bytesOf = (asset: Assets.AssetRef) => Stream.mkUint8Array(Assets.download(asset))
const textOf = (asset: Assets.AssetRef) => Effect.map(bytesOf(asset), (bytes) => new TextDecoder().decode(bytes))

/** Creates an upload of an asset and returns its address. */
const pending = Effect.fnUntraced(function* (asset: string, type = "text/plain") {
  const { raw } = yield* Service
  const answer = yield* raw("POST", `assets/${asset}/uploads`, { json: { content_type: type } })
  assert.strictEqual(answer.status, 200, answer.text)
  return bodyAs(Pending, answer)
})

const uploadOf = Effect.fnUntraced(function* (asset: string, upload: string) {
  const { raw } = yield* Service
  return bodyAs(AssetUpload, yield* raw("GET", `assets/${asset}/uploads/${upload}`))
})

const put = Effect.fnUntraced(function* (url: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  const { origin } = yield* Service
  return yield* send(origin, "PUT", url.slice(origin.length), { body, headers })
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("assets", (it) => {
  it.effect("are created, found by id and by name, listed and deleted", () =>
    Effect.gen(function* () {
      const made = yield* Assets.create("config")
      assert.deepStrictEqual(yield* Assets.get(made.id), { id: made.id, name: "config", payload: { type: "empty" } })
      assert.deepStrictEqual(yield* Assets.get("name:config"), yield* Assets.get(made.id))
      assert.strictEqual((yield* Effect.flip(Assets.create("config")))._tag, "Conflict")
      const { data } = yield* Assets.list({ name: "config" })
      assert.deepStrictEqual(data, [{ id: made.id, name: "config" }])
      assert.strictEqual(yield* textOf(made.id), "")
      yield* Assets.remove("name:config")
      assert.strictEqual((yield* Effect.flip(Assets.get(made.id)))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(Assets.remove(made.id)))._tag, "NotFound")
      assert.notStrictEqual((yield* Assets.create("config")).id, made.id)
    })
  )

  it.effect("have any name of 1 to 255 characters, whatever slashes and signs it has", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const names = [
        "with space/slash",
        "a//b",
        "/leading",
        "trailing/",
        "///",
        "..",
        "../../etc/passwd",
        "100%",
        "%2F",
        "a?b#c&d=e",
        "name:name:x",
        "naïve 漢字 🏳️‍🌈",
        "x/uploads",
        "uploads",
        "line\nbreak",
        `"quotes" 'and' \\`,
        "漢".repeat(255),
        "a/".repeat(127)
      ]
      for (const name of names) {
        const { id } = yield* Assets.create(name)
        assert.strictEqual((yield* Assets.get(`name:${name}`)).id, id, name)
        yield* Assets.upload(`name:${name}`, { name: "x", bytes: Buffer.from(name) })
        assert.strictEqual(yield* textOf(`name:${name}`), name)
        yield* Assets.remove(`name:${name}`)
        assert.strictEqual((yield* Effect.flip(Assets.get(id)))._tag, "NotFound", name)
      }
      for (const name of ["", "x".repeat(256), "a\u0000b", "\ud800", 1, null]) {
        const answer = yield* raw("POST", "assets", { json: { name } })
        assert.strictEqual(answer.status, 400, JSON.stringify(name))
        assert.include(errorOf(answer).message, "name")
      }
    })
  )

  it.effect("are found under every spelling of their name in the address that clients use", () =>
    Effect.gen(function* () {
      const { raw, workspaceId } = yield* Service
      const { id } = yield* Assets.create("deep/er name")
      const other = yield* Assets.create("deep")
      const found: ReadonlyArray<string> = [
        "assets/name:deep/er%20name",
        "assets/name%3Adeep/er%20name",
        "assets/name%3adeep%2Fer%20name",
        "assets/name:deep/er%20name/",
        "assets//name:deep/er%20name",
        `/v1/workspaces/${workspaceId}/assets/name%3Adeep/er%20name`
      ]
      for (const path of found) {
        const answer = yield* raw("GET", path)
        assert.strictEqual(answer.status, 200, `${path}: ${answer.text}`)
        assert.strictEqual(bodyAs(Asset, answer).id, id, path)
      }
      for (const path of ["assets/name:deep/er%20name/uploads", "assets/name%3Adeep/er%20name/uploads/"]) {
        const answer = yield* raw("POST", path, { json: { content_type: "text/plain", data: "aGVsbG8=" } })
        assert.strictEqual(answer.status, 200, `${path}: ${answer.text}`)
        assert.strictEqual(yield* textOf(id), "hello")
      }
      for (const path of [`assets/${id}/uploads`, `assets/${id}/uploads/`]) {
        assert.strictEqual((yield* raw("POST", path, { json: { content_type: "text/plain" } })).status, 200, path)
      }
      const missing = [
        "name:",
        "name:nobody",
        "NAME:deep/er%20name",
        "name:Deep",
        "name:deep/er",
        "name:deep//er%20name",
        "nobody",
        "name:%ff",
        "name:%zz",
        `name:${"x".repeat(3000)}`
      ]
      for (const ref of missing) {
        const answer = yield* raw("GET", `assets/${ref}`)
        assert.include([400, 404], answer.status, `${ref}: ${answer.text}`)
        assert.isNotEmpty(errorOf(answer).message)
      }
      assert.strictEqual((yield* raw("DELETE", "assets/name:deep/er%20name")).status, 200)
      assert.deepStrictEqual(yield* Assets.get(other.id), { ...other, payload: { type: "empty" } })
    })
  )

  it.effect("get their content with the request, in base64", () =>
    Effect.gen(function* () {
      const { blobs, raw, rows } = yield* Service
      const { id } = yield* Assets.create("direct")
      const every = Uint8Array.from({ length: 256 }, (_, n) => n)
      yield* Assets.upload(id, { name: "x", bytes: every }, { contentType: "application/x-every" })
      assert.deepStrictEqual(yield* bytesOf(id), every)
      const { payload } = yield* Assets.get(id)
      assert.strictEqual(payload.type, "url")
      if ("url" in payload) assert.strictEqual(payload.content_type, "application/x-every")
      const kept = (yield* blobs).kept.length
      yield* Assets.upload(id, { name: "x", bytes: new Uint8Array(0) })
      assert.strictEqual(yield* textOf(id), "")
      assert.strictEqual((yield* blobs).kept.length, kept)
      const before = yield* rows
      const bad: ReadonlyArray<readonly [number, RegExp, unknown]> = [
        [400, /content_type/, {}],
        [400, /content_type/, { content_type: "" }],
        [400, /content_type/, { content_type: "text/plain\r\nx: y" }],
        [400, /content_type/, { content_type: "é" }],
        [400, /content_type/, { content_type: "x".repeat(256) }],
        [400, /data/, { content_type: "text/plain", data: "not base64!" }],
        [400, /data/, { content_type: "text/plain", data: 1 }],
        [413, /upload_url/, { content_type: "text/plain", data: Buffer.alloc(5_000_000).toString("base64") }],
        [413, /upload_url/, { content_type: "text/plain", data: Buffer.alloc(9_000_000).toString("base64") }]
      ]
      for (const [status, says, json] of bad) {
        const answer = yield* raw("POST", `assets/${id}/uploads`, { json })
        assert.strictEqual(answer.status, status, answer.text)
        assert.match(errorOf(answer).message, says)
      }
      assert.deepStrictEqual(yield* rows, before)
      const most = Buffer.alloc(4_999_999, 7)
      const data = most.toString("base64")
      const answer = yield* raw("POST", `assets/${id}/uploads`, { json: { content_type: "a/b", data } })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(Buffer.from(yield* bytesOf(id)), most)
    })
  )

  it.effect("get large content as raw bytes without headers, as often as the sender likes", () =>
    Effect.gen(function* () {
      const { blobs } = yield* Service
      const { id } = yield* Assets.create("raw")
      yield* Assets.upload(id, { name: "x", bytes: Buffer.from("old") }, { contentType: "text/old" })
      const upload = yield* pending(id, "text/new")
      assert.strictEqual((yield* uploadOf(id, upload.id)).status, "pending")
      assert.strictEqual(yield* textOf(id), "old")
      const kept = (yield* blobs).kept.length
      for (const text of ["first", "second", ""]) {
        const answer = yield* put(upload.upload_url, text)
        assert.strictEqual(answer.status, 204, answer.text)
        assert.strictEqual(yield* textOf(id), text)
        assert.strictEqual((yield* uploadOf(id, upload.id)).status, "completed")
      }
      const { payload } = yield* Assets.get(id)
      if ("url" in payload) assert.strictEqual(payload.content_type, "text/new")
      assert.strictEqual((yield* blobs).kept.length, kept)
      for (const type of ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "application/json"]) {
        const answer = yield* put(upload.upload_url, "a=1&b", { "content-type": type })
        assert.strictEqual(answer.status, 204, `${type}: ${answer.text}`)
        assert.strictEqual(yield* textOf(id), "a=1&b")
      }
      const big = Buffer.alloc(20_000_000, 3)
      yield* Assets.upload(id, { name: "x", bytes: big })
      assert.isTrue(Buffer.from(yield* bytesOf(id)).equals(big))
      assert.deepStrictEqual((yield* blobs).staged, [])
    })
  )

  it.effect("keep their content when compressed bytes come, which are not the content", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { id } = yield* Assets.create("compressed")
      const upload = yield* pending(id, "text/plain")
      const bytes = gzipSync("content")
      const sent = put(upload.upload_url, bytes, { "content-encoding": "gzip" })
      const json = gzipSync('{"name":"another"}')
      const refusals = [
        yield* sent,
        yield* raw("POST", "assets", {
          body: json,
          headers: { "content-type": "application/json", "content-encoding": "gzip" }
        })
      ]
      for (const one of refusals)
        assertError(one, 415, "UNSUPPORTED_MEDIA_TYPE", /content-encoding: gzip.*uncompressed/)
      assert.strictEqual((yield* uploadOf(id, upload.id)).status, "pending")
      const charset = { "content-encoding": "utf-8" }
      assert.strictEqual((yield* put(upload.upload_url, "content", charset)).status, 204)
      assert.strictEqual(yield* textOf(id), "content")
    })
  )

  it.effect("keep their content when an upload is not complete", () =>
    Effect.gen(function* () {
      const { blobs, origin, rows } = yield* Service
      const { id } = yield* Assets.create("broken off")
      yield* Assets.upload(id, { name: "x", bytes: Buffer.from("old") })
      const upload = yield* pending(id)
      const target = upload.upload_url.slice(origin.length)
      const before = { rows: yield* rows, blobs: yield* blobs }
      for (const how of ["reset", "half-close"] as const) {
        for (const length of ["content-length: 1000", "transfer-encoding: chunked"]) {
          const part = length.startsWith("content") ? "x".repeat(500) : "1f4\r\n" + "x".repeat(500) + "\r\n"
          const answer = yield* sendRaw(
            origin,
            `PUT ${target} HTTP/1.1\r\nhost: localhost\r\n${length}\r\n\r\n${part}`,
            how
          )
          assert.notMatch(answer, /^HTTP\/1\.1 2/, `${how} ${length}`)
        }
      }
      yield* Effect.repeat(Effect.delay(blobs, "20 millis"), { until: ({ staged }) => staged.length === 0, times: 200 })
      assert.deepStrictEqual({ rows: yield* rows, blobs: yield* blobs }, before)
      assert.strictEqual(yield* textOf(id), "old")
      assert.strictEqual((yield* uploadOf(id, upload.id)).status, "pending")
      assert.strictEqual((yield* put(upload.upload_url, "new")).status, 204)
      assert.strictEqual(yield* textOf(id), "new")
    })
  )

  it.effect("refuse content above 5 GB immediately, and fail the upload", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const { id } = yield* Assets.create("too large")
      const upload = yield* pending(id)
      const head = `PUT ${upload.upload_url.slice(origin.length)} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${5 * 1024 ** 3 + 1}\r\nconnection: close\r\n\r\n`
      const answer = yield* sendRaw(origin, head)
      assert.match(answer, /^HTTP\/1\.1 413/)
      const failed = yield* uploadOf(id, upload.id)
      assert.strictEqual(failed.status, "failed")
      if ("reason" in failed) assert.include(failed.reason, "5368709120")
      assert.strictEqual((yield* put(upload.upload_url, "x")).status, 404)
    })
  )

  it.effect("fail uploads that did not arrive within one hour", () =>
    Effect.gen(function* () {
      const { folder, origin, tickIn, workspaceId } = yield* Service
      const { id } = yield* Assets.create("late")
      const upload = yield* pending(id)
      const done = yield* pending(id)
      yield* put(done.upload_url, "done")
      yield* tickIn(59 * 60 * 1000)
      assert.strictEqual((yield* uploadOf(id, upload.id)).status, "pending")
      // A clock that jumps ahead, and back, fails no upload early.
      yield* tickIn(64 * 60 * 1000)
      assert.strictEqual((yield* uploadOf(id, upload.id)).status, "pending")
      yield* tickIn(66 * 60 * 1000)
      const failed = yield* uploadOf(id, upload.id)
      assert.strictEqual(failed.status, "failed")
      if ("reason" in failed) assert.include(failed.reason, "one hour")
      const error = yield* Effect.flip(Assets.awaitUpload(id, failed.id))
      assert.strictEqual(error._tag, "AssetUploadFailed")
      assert.strictEqual((yield* uploadOf(id, done.id)).status, "completed")
      assert.strictEqual((yield* put(upload.upload_url, "late")).status, 404)
      assert.strictEqual(yield* textOf(id), "done")
      // The address itself expires after an hour, whatever the state of the upload.
      const signer = yield* Effect.provide(Signer, Layer.provide(Signer.layer, masterKeyIn(folder)))
      const past = String(Date.now() - 6 * 60 * 1000)
      const signature = signer.sign(`asset\n${JSON.stringify(["PUT", done.id, workspaceId, past])}`)
      const url = new URL(done.upload_url)
      const query = new URLSearchParams({ workspace: workspaceId, expires: past, signature })
      assert.strictEqual((yield* put(`${origin}${url.pathname}?${query}`, "x")).status, 403)
    })
  )

  it.effect("take content from the signed address alone", () =>
    Effect.gen(function* () {
      const { key, makeWorkspace, origin, raw, rows } = yield* Service
      const { id } = yield* Assets.create("signed")
      const upload = yield* pending(id)
      const other = yield* pending(id)
      const elsewhere = yield* makeWorkspace
      const changed = (change: (url: URL) => void) => {
        const url = new URL(upload.upload_url)
        change(url)
        return url.href
      }
      const before = yield* rows
      const addresses = [
        changed((url) => (url.pathname = url.pathname.replace(upload.id, other.id))),
        changed((url) => url.searchParams.set("workspace", elsewhere)),
        changed((url) => url.searchParams.set("expires", String(Date.now() * 2))),
        changed((url) => url.searchParams.delete("signature")),
        changed((url) => url.searchParams.set("signature", "é")),
        changed((url) => (url.search = ""))
      ]
      for (const address of addresses) {
        const answer = yield* put(address, "x", { authorization: `RC-WSKEY ${key}` })
        assert.strictEqual(answer.status, 403, address)
        assert.strictEqual(errorOf(answer).error.code, "FORBIDDEN")
      }
      for (const method of ["GET", "POST", "DELETE"]) {
        const answer = yield* send(origin, method, upload.upload_url.slice(origin.length))
        assert.strictEqual(answer.status, 405, method)
        assert.strictEqual(answer.headers["allow"], "PUT")
      }
      assert.deepStrictEqual(yield* rows, before)
      yield* Assets.remove(id)
      assert.strictEqual((yield* put(upload.upload_url, "x")).status, 404)
      assert.strictEqual((yield* raw("GET", `assets/${id}/uploads/${upload.id}`)).status, 404)
      const again = yield* Assets.create("signed")
      const mixed = yield* raw("GET", `assets/${again.id}/uploads/${upload.id}`)
      assert.strictEqual(mixed.status, 404)
    })
  )

  it.effect("are downloaded with their type, in ranges, and in no browser's page", () =>
    Effect.gen(function* () {
      const { blobs, origin } = yield* Service
      const { id } = yield* Assets.create("pages/über.html")
      const html = "<script>alert(1)</script>"
      yield* Assets.upload(id, { name: "x", bytes: Buffer.from(html) }, { contentType: "text/html; charset=utf-8" })
      const { payload } = yield* Assets.get(id)
      if (!("url" in payload)) return assert.fail("no address")
      const path = payload.url.slice(origin.length)
      const answer = yield* send(origin, "GET", path)
      assert.strictEqual(answer.text, html)
      const expected = {
        "content-disposition": "attachment; filename*=UTF-8''%C3%BCber.html",
        "content-length": "25",
        "content-security-policy": "sandbox",
        "content-type": "text/html; charset=utf-8",
        "x-content-type-options": "nosniff"
      }
      for (const response of [answer, yield* send(origin, "HEAD", path)]) {
        assert.strictEqual(response.status, 200)
        for (const [name, value] of Object.entries(expected)) assert.strictEqual(response.headers[name], value, name)
      }
      const part = yield* send(origin, "GET", path, { headers: { range: "bytes=1-6" } })
      assert.strictEqual(part.status, 206)
      assert.strictEqual(part.text, "script")
      assert.strictEqual(part.headers["content-type"], "text/html; charset=utf-8")
      const typed = path.replace("type=text%2Fhtml", "type=text%2Fxml")
      assert.notStrictEqual(typed, path)
      assert.strictEqual((yield* send(origin, "GET", typed)).status, 403)
      const kept = (yield* blobs).kept.length
      yield* Assets.remove(id)
      assert.strictEqual((yield* send(origin, "GET", path)).status, 404)
      assert.strictEqual((yield* blobs).kept.length, kept - 1)
    })
  )

  it.effect("of another workspace are not there", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const { id } = yield* Assets.create("hidden")
      const upload = yield* pending(id)
      const other = yield* makeWorkspace
      const key = yield* makeKey(["Assets.read_asset_storage_assets", "Assets.write_asset_storage_assets"], other)
      const base = `/api/v1/workspaces/${other}/assets`
      const calls: ReadonlyArray<readonly [string, string, unknown?]> = [
        ["GET", `${base}/${id}`],
        ["GET", `${base}/name:hidden`],
        ["DELETE", `${base}/${id}`],
        ["POST", `${base}/${id}/uploads`, { content_type: "a/b", data: "" }],
        ["GET", `${base}/${id}/uploads/${upload.id}`]
      ]
      for (const [method, path, json] of calls) {
        const answer = yield* raw(method, path, json === undefined ? { key } : { key, json })
        assert.strictEqual(answer.status, 404, `${method} ${path}`)
      }
      assert.strictEqual((yield* raw("POST", base, { key, json: { name: "hidden" } })).status, 200)
      assert.include((yield* raw("GET", base, { key })).text, '"has_more":false')
    })
  )

  it.effect("open to the token of a step run for as long as it lives, and nothing else does", () =>
    Effect.gen(function* () {
      const { makeWorkspace, raw, workspaceId } = yield* Service
      const process = yield* Processes.create({ name: "assets", steps: [{ name: "s", task: { name: "asset task" } }] })
      const started = yield* ProcessRuns.start(process.id)
      assert.isTrue(started.started)
      const worker = yield* linkWorker(["asset task"])
      const leased = yield* worker.lease
      const ask = (method: string, path: string, json?: unknown) =>
        raw(method, path, {
          key: null,
          headers: { authorization: `Bearer ${leased.run_token}` },
          ...(json === undefined ? {} : { json })
        })
      assert.strictEqual((yield* ask("GET", "assets")).status, 403)
      yield* worker.protocol.start(leased)
      assert.strictEqual((yield* ask("POST", "assets/", { name: "by the robot" })).status, 200)
      const set = { content_type: "text/plain", data: "aGk=" }
      assert.strictEqual((yield* ask("POST", "assets/name:by%20the%20robot/uploads/", set)).status, 200)
      assert.strictEqual(yield* textOf("name:by the robot"), "hi")
      const elsewhere: WorkspaceId = yield* makeWorkspace
      assert.strictEqual((yield* ask("GET", `/api/v1/workspaces/${elsewhere}/assets`)).status, 403)
      for (const path of ["processes", "work-items", "task-packages", `process-runs/${leased.process_run_id}`]) {
        const answer = yield* ask("GET", path)
        assert.strictEqual(answer.status, 403, path)
        assert.match(errorOf(answer).message, /lacks the permission/)
      }
      yield* worker.protocol.finish(leased, null)
      const dead = yield* ask("GET", "assets")
      assert.strictEqual(dead.status, 409)
      assert.notInclude(dead.text, leased.run_token)
      assert.strictEqual((yield* ask("GET", `/api/v1/workspaces/${workspaceId}`)).status, 409)
    })
  )

  it.effect("are put by name and listed in pages", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 7 }, (_, n) => `page ${n}`)
      for (const name of names) {
        const id: AssetId = yield* Assets.put(name, { name: "x", bytes: Buffer.from(name) })
        assert.strictEqual(yield* Assets.put(name, { name: "x", bytes: Buffer.from(name) }), id)
      }
      const walked = yield* Stream.runCollect(Assets.stream({ limit: 2 }))
      assert.deepStrictEqual(
        walked.map(({ name }) => name).filter((name) => name.startsWith("page ")),
        names.toReversed()
      )
    })
  )
})
