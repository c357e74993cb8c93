import { assert, layer as withLayer } from "@effect/vitest"
import type { UploadForm } from "@signalbox/api/contract/Files"
import { WorkItem } from "@signalbox/api/contract/WorkItems"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { Signer } from "../src/internal/transfers/Signer.ts"
import { assertError, bodyAs, errorOf, multipart, type Part, send, sendRaw } from "./support/Http.ts"
import { layer, masterKeyIn, Service } from "./support/Service.ts"

const Upload = Schema.Struct({
  upload: Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })
})

const newItem = Effect.gen(function* () {
  const name = `transfers ${crypto.randomUUID()}`
  const process = yield* Processes.create({ name, steps: [{ name: "s", task: { name } }] })
  return { process, item: yield* WorkItems.create({ process: process.id }) }
})

const formFor = Effect.fnUntraced(function* (item: string, name: string, size: number) {
  const { raw } = yield* Service
  const answer = yield* raw("POST", `work-items/${item}/files`, { json: { file_name: name, file_size: size } })
  assert.strictEqual(answer.status, 200, answer.text)
  return bodyAs(Upload, answer).upload
})

const fieldsOf = (form: UploadForm): ReadonlyArray<Part> =>
  Object.entries(form.form_data).map(([name, value]) => ({ name, value }))

const post = Effect.fnUntraced(function* (parts: ReadonlyArray<Part>) {
  const { origin } = yield* Service
  return yield* send(origin, "POST", "/transfer/v1/uploads", multipart(parts))
})

const file = (value: string | Uint8Array, more: Partial<Part> = {}): Part => ({
  name: "file",
  filename: "f",
  value,
  ...more
})

const filesOf = Effect.fnUntraced(function* (item: string) {
  const { raw } = yield* Service
  return bodyAs(WorkItem, yield* raw("GET", `work-items/${item}`)).files
})

/** Uploads a file and returns it. */
const uploaded = Effect.fnUntraced(function* (item: string, name: string, value: string | Uint8Array) {
  const form = yield* formFor(item, name, Buffer.byteLength(value))
  const answer = yield* post([...fieldsOf(form), file(value)])
  assert.strictEqual(answer.status, 204, answer.text)
  const found = (yield* filesOf(item)).find((candidate) => candidate.name === name)
  return found ?? assert.fail(`no file ${name}`)
})

/** The signer of the service in this folder. */
const signerOf = (folder: string) => Effect.provide(Signer, Signer.layer.pipe(Layer.provide(masterKeyIn(folder))))

const sign = Effect.fnUntraced(function* (policy: object) {
  const { folder } = yield* Service
  const signer = yield* signerOf(folder)
  const encoded = Buffer.from(JSON.stringify(policy)).toString("base64url")
  return { policy: encoded, signature: signer.sign(`upload\n${encoded}`) }
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("uploads", (it) => {
  it.effect("refuse everything but the signed form with its whole file, and store nothing of it", () =>
    Effect.gen(function* () {
      const { blobs, rows, workspaceId } = yield* Service
      const { item } = yield* newItem
      const form = yield* formFor(item.id, "a.txt", 5)
      const other = yield* formFor(item.id, "b.txt", 6)
      const fields = fieldsOf(form)
      const field = (name: string, value: string): Part => ({ name, value })
      const policy = form.form_data["policy"] ?? ""
      const signature = form.form_data["signature"] ?? ""
      const readable: Record<string, unknown> = JSON.parse(Buffer.from(policy, "base64url").toString())
      const changed = (change: object) => Buffer.from(JSON.stringify({ ...readable, ...change })).toString("base64url")
      const past = yield* sign({ ...readable, expires: Date.now() - 6 * 60 * 1000 })
      const strange = yield* sign({ policy: "of another shape" })
      const gone = yield* sign({ ...readable, owner: workspaceId })
      const elsewhere = yield* sign({ ...readable, workspace: item.id })
      const cases: ReadonlyArray<readonly [string, number, ReadonlyArray<Part>]> = [
        ["a field after the file", 400, [...fields.slice(0, 1), file("hello"), ...fields.slice(1)]],
        ["all fields after the file", 400, [file("hello"), ...fields]],
        ["something more after the file", 400, [...fields, file("hello"), field("x", "y")]],
        ["two files", 400, [...fields, file("hello"), file("world")]],
        ["no file", 400, fields],
        ["fields of more than 64 KB", 413, [field("x", "x".repeat(40_000)), field("y", "y".repeat(40_000)), ...fields]],
        ["nothing", 400, []],
        ["the file under another name", 400, [...fields, file("hello", { name: "upload" })]],
        ["a file that is a field", 400, [...fields, field("file", "hello")]],
        ["no signature", 400, [field("policy", policy), file("hello")]],
        ["no policy", 400, [field("signature", signature), file("hello")]],
        [
          "a tampered signature",
          400,
          [field("policy", policy), field("signature", `A${signature.slice(1)}x`), file("hello")]
        ],
        ["an empty signature", 400, [field("policy", policy), field("signature", ""), file("hello")]],
        [
          "a larger size in the policy",
          400,
          [field("policy", changed({ size: 500 })), field("signature", signature), file("hello")]
        ],
        [
          "another name in the policy",
          400,
          [field("policy", changed({ name: "../x" })), field("signature", signature), file("hello")]
        ],
        [
          "another owner in the policy",
          400,
          [field("policy", changed({ owner: "x" })), field("signature", signature), file("hello")]
        ],
        ["the signature of another form", 400, [...fieldsOf(other).slice(1), ...fields.slice(0, 1), file("hello")]],
        ["an expired form", 400, [...fieldsOf({ url: "", form_data: past }), file("hello")]],
        ["a policy of another shape", 400, [...fieldsOf({ url: "", form_data: strange }), file("hello")]],
        ["a work item that is gone", 404, [...fieldsOf({ url: "", form_data: gone }), file("hello")]],
        ["a work item of another workspace", 404, [...fieldsOf({ url: "", form_data: elsewhere }), file("hello")]],
        ["a file that is larger than declared", 413, [...fields, file("hello!")]],
        ["one that is much larger", 413, [...fields, file(Buffer.alloc(4_000_000))]],
        ["a file that is smaller", 400, [...fields, file("hell")]],
        ["an empty file", 400, [...fields, file("")]],
        ["a field that is too large", 413, [field("big", "x".repeat(100_000)), ...fields, file("hello")]],
        ["60 fields", 413, [...Array.from({ length: 60 }, (_, n) => field(`f${n}`, "x")), ...fields, file("hello")]]
      ]
      const before = { rows: yield* rows, blobs: yield* blobs }
      for (const [what, status, parts] of cases) {
        const answer = yield* post(parts)
        assert.strictEqual(answer.status, status, `${what}: ${answer.text}`)
        assert.isNotEmpty(errorOf(answer).message, what)
        assert.deepStrictEqual(yield* blobs, before.blobs, what)
      }
      assert.deepStrictEqual(yield* rows, before.rows)
      // The form itself is still valid.
      assert.strictEqual((yield* post([...fields, file("hello")])).status, 204)
    })
  )

  it.effect("refuse bodies that are no forms", () =>
    Effect.gen(function* () {
      const { blobs, origin, rows } = yield* Service
      const bodies: ReadonlyArray<readonly [number, Record<string, string>, string]> = [
        [415, { "content-type": "application/json" }, "{}"],
        [415, { "content-type": "text/plain" }, "x"],
        [415, {}, "x"],
        [415, {}, ""],
        [400, { "content-type": "multipart/form-data" }, "x"],
        [400, { "content-type": "multipart/form-data; boundary=b" }, "x"],
        [400, { "content-type": "multipart/form-data; boundary=b" }, ""],
        [400, { "content-type": "multipart/form-data; boundary=b" }, "--b\r\n\r\nno name\r\n--b--\r\n"],
        [400, { "content-type": "multipart/form-data; boundary=b" }, `--b\r\n${"x".repeat(50_000)}`]
      ]
      const before = { rows: yield* rows, blobs: yield* blobs }
      for (const [status, headers, body] of bodies) {
        const answer = yield* send(origin, "POST", "/transfer/v1/uploads", { headers, body })
        assert.strictEqual(answer.status, status, `${JSON.stringify(headers)} ${body.slice(0, 20)}: ${answer.text}`)
        assert.isNotEmpty(errorOf(answer).message)
      }
      assert.deepStrictEqual({ rows: yield* rows, blobs: yield* blobs }, before)
    })
  )

  it.effect("store nothing of a file whose sender disconnects", () =>
    Effect.gen(function* () {
      const { blobs, origin, rows } = yield* Service
      const { item } = yield* newItem
      const form = yield* formFor(item.id, "a.bin", 2_000_000)
      const whole = multipart([...fieldsOf(form), file(Buffer.alloc(2_000_000, 1))])
      const before = { rows: yield* rows, blobs: yield* blobs }
      for (const how of ["reset", "half-close"] as const) {
        for (const share of [0.1, 0.5, 0.999]) {
          const head = Buffer.from(
            `POST /transfer/v1/uploads HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${whole.body.length}\r\n` +
              `content-type: ${whole.headers["content-type"]}\r\n\r\n`
          )
          const part = whole.body.subarray(0, Math.floor(whole.body.length * share))
          const answer = yield* sendRaw(origin, Buffer.concat([head, part]), how)
          assert.notMatch(answer, /^HTTP\/1\.1 2/, `${how} after ${share}`)
        }
      }
      // The last boundary is cut although the body has its declared length; at 24 all bytes of the file have arrived.
      for (const missing of [4, 6, 15, 24]) {
        const body = whole.body.subarray(0, whole.body.length - missing)
        const answer = yield* send(origin, "POST", "/transfer/v1/uploads", { headers: whole.headers, body })
        assert.include([400, 413], answer.status, `${missing}: ${answer.text}`)
      }
      // The service detects a reset a moment later.
      yield* Effect.repeat(Effect.delay(blobs, "20 millis"), { until: ({ staged }) => staged.length === 0, times: 200 })
      assert.deepStrictEqual({ rows: yield* rows, blobs: yield* blobs }, before)
    })
  )

  it.effect("replace the file of the same name, and keep each other apart", () =>
    Effect.gen(function* () {
      const { blobs, origin } = yield* Service
      const { item } = yield* newItem
      const first = yield* uploaded(item.id, "a.txt", "one")
      const count = (yield* blobs).kept.length
      const second = yield* uploaded(item.id, "a.txt", "three")
      assert.strictEqual((yield* blobs).kept.length, count)
      assert.deepStrictEqual(
        (yield* filesOf(item.id)).map(({ name, size }) => ({ name, size })),
        [{ name: "a.txt", size: 5 }]
      )
      assert.notStrictEqual(first.id, second.id)
      const old = yield* send(origin, "GET", first.download.url.slice(origin.length))
      assert.strictEqual(old.status, 404, old.text)
      const again = yield* send(origin, "GET", second.download.url.slice(origin.length))
      assert.strictEqual(again.text, "three")
      // Two concurrent uploads under one name: one of them remains, complete.
      const short = yield* formFor(item.id, "b", 3)
      const long = yield* formFor(item.id, "b", 4)
      const answers = yield* Effect.all(
        [post([...fieldsOf(short), file("bbb")]), post([...fieldsOf(long), file("cccc")])],
        { concurrency: 2 }
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [204, 204]
      )
      const left = (yield* filesOf(item.id)).filter(({ name }) => name === "b")
      assert.strictEqual(left.length, 1)
      assert.include(
        ["bbb", "cccc"],
        (yield* send(origin, "GET", (left[0]?.download.url ?? "").slice(origin.length))).text
      )
      assert.strictEqual((yield* blobs).kept.length, count + 1)
    })
  )

  it.effect("are refused once the work item has moved on", () =>
    Effect.gen(function* () {
      const { blobs, raw } = yield* Service
      const { item, process } = yield* newItem
      const form = yield* formFor(item.id, "a.txt", 5)
      yield* ProcessRuns.start(process.id, { workItems: [item.id] })
      const before = yield* blobs
      const answer = yield* post([...fieldsOf(form), file("hello")])
      assert.strictEqual(answer.status, 409, answer.text)
      assert.strictEqual(errorOf(answer).error.code, "CONFLICT")
      assert.deepStrictEqual(yield* blobs, before)
      const asked = yield* raw("POST", `work-items/${item.id}/files`, { json: { file_name: "b", file_size: 1 } })
      assert.strictEqual(asked.status, 409)
      const changed = yield* raw("POST", `work-items/${item.id}/payload`, { json: { payload: 1 } })
      assert.strictEqual(changed.status, 409)
    })
  )

  it.effect("stop at 100 files, also for forms that were created before", () =>
    Effect.gen(function* () {
      const { blobs, raw } = yield* Service
      const { item } = yield* newItem
      const forms = yield* Effect.forEach(
        Array.from({ length: 101 }, (_, n) => n),
        (n) => formFor(item.id, `f${n}`, 1)
      )
      const answers = yield* Effect.forEach(forms, (form) => post([...fieldsOf(form), file("x")]))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [...Array.from({ length: 100 }, () => 204), 409]
      )
      assert.strictEqual((yield* filesOf(item.id)).length, 100)
      const more = yield* raw("POST", `work-items/${item.id}/files`, { json: { file_name: "more", file_size: 1 } })
      assert.strictEqual(more.status, 409)
      assert.include(errorOf(more).message, "100")
      const { kept } = yield* blobs
      yield* uploaded(item.id, "f7", "replaced")
      assert.strictEqual((yield* blobs).kept.length, kept.length)
    })
  )

  it.effect("take any bytes of any size, type and name", () =>
    Effect.gen(function* () {
      const { blobs, origin } = yield* Service
      const { item } = yield* newItem
      const every = Uint8Array.from({ length: 256 }, (_, n) => n)
      const contents: ReadonlyArray<readonly [string, Uint8Array, Partial<Part>]> = [
        ["empty", Buffer.alloc(0), {}],
        ["one", Buffer.from([0]), {}],
        ["every byte", every, {}],
        ["like a boundary", Buffer.from("\r\n--form-of-the-tes\r\n-form-of-the-test--\r\n--"), {}],
        ["data.json", Buffer.from('{"a":1}'), { type: "application/json" }],
        ["text.txt", Buffer.from("text"), { type: "text/plain" }],
        ["many", Buffer.alloc(sized(16, 64) * 1024 * 1024, 7), {}],
        ["naïve 漢字 🏳️‍🌈.txt", every, { filename: "x" }],
        [`it's "quoted" (1)*;=,!%41&#?+.txt`, every, {}],
        ["...", every, {}],
        [" ", every, {}],
        ["__proto__", every, {}],
        ["漢".repeat(255), every, {}],
        ["🏳".repeat(127), every, {}]
      ]
      for (const [name, bytes, more] of contents) {
        const form = yield* formFor(item.id, name, bytes.length)
        const answer = yield* post([...fieldsOf(form), file(bytes, more)])
        assert.strictEqual(answer.status, 204, `${name}: ${answer.text}`)
        const found = (yield* filesOf(item.id)).find((candidate) => candidate.name === name)
        if (found === undefined) return assert.fail(`no file ${name}`)
        assert.strictEqual(found.size, bytes.length)
        const download = yield* send(origin, "GET", found.download.url.slice(origin.length))
        assert.strictEqual(download.status, 200, `${name}: ${download.text.slice(0, 200)}`)
        assert.isTrue(download.bytes.equals(bytes), name)
        const disposition = download.headers["content-disposition"] ?? ""
        const [, encoded = ""] = /^attachment; filename\*=UTF-8''([\w.~%-]+)$/.exec(disposition) ?? []
        assert.strictEqual(decodeURIComponent(encoded), name, disposition)
      }
      assert.deepStrictEqual((yield* blobs).staged, [])
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("downloads", (it) => {
  it.effect("return the bytes without a key, as an attachment that no browser opens", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const { item } = yield* newItem
      const { download } = yield* uploaded(item.id, "page.html", "<script>alert(1)</script>")
      const answer = yield* send(origin, "GET", download.url.slice(origin.length))
      assert.strictEqual(answer.status, 200)
      const expected = {
        "accept-ranges": "bytes",
        "content-disposition": "attachment; filename*=UTF-8''page.html",
        "content-length": "25",
        "content-security-policy": "sandbox",
        "content-type": "application/octet-stream",
        "x-content-type-options": "nosniff"
      }
      const { headers } = answer
      assert.deepStrictEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, headers[name]])), expected)
      const head = yield* send(origin, "HEAD", download.url.slice(origin.length))
      assert.strictEqual(head.status, 200)
      assert.strictEqual(head.text, "")
      assert.deepStrictEqual(
        Object.fromEntries(Object.keys(expected).map((name) => [name, head.headers[name]])),
        expected
      )
    })
  )

  it.effect("return ranges", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const { item } = yield* newItem
      const of10 = yield* uploaded(item.id, "ten", "0123456789")
      const of0 = yield* uploaded(item.id, "none", "")
      const get = (url: string, range: string, method = "GET") =>
        send(origin, method, url.slice(origin.length), { headers: { range } })
      const parts: ReadonlyArray<readonly [string, string, string]> = [
        ["bytes=0-4", "01234", "bytes 0-4/10"],
        ["bytes=0-0", "0", "bytes 0-0/10"],
        ["bytes=5-", "56789", "bytes 5-9/10"],
        ["bytes=-5", "56789", "bytes 5-9/10"],
        ["bytes=-50", "0123456789", "bytes 0-9/10"],
        ["bytes=9-", "9", "bytes 9-9/10"],
        ["bytes=3-99999999999999999999", "3456789", "bytes 3-9/10"],
        ["bytes=007-8", "78", "bytes 7-8/10"],
        ["BYTES=1-2", "12", "bytes 1-2/10"]
      ]
      for (const [range, text, contentRange] of parts) {
        const answer = yield* get(of10.download.url, range)
        assert.strictEqual(answer.status, 206, range)
        assert.strictEqual(answer.text, text, range)
        assert.strictEqual(answer.headers["content-range"], contentRange, range)
        assert.strictEqual(answer.headers["content-length"], String(text.length), range)
        assert.strictEqual(answer.headers["x-content-type-options"], "nosniff", range)
      }
      const beyond = ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-"]
      const outside = [
        ...beyond.map((range) => [of10, range] as const),
        [of0, "bytes=0-"] as const,
        [of0, "bytes=-1"] as const
      ]
      for (const [{ download, size }, range] of outside) {
        const answer = yield* get(download.url, range)
        assert.strictEqual(answer.status, 416, `${range} of ${size}: ${answer.text}`)
        assert.strictEqual(answer.headers["content-range"], `bytes */${size}`)
        assert.isNotEmpty(errorOf(answer).message)
      }
      const unknown = [
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=5-2",
        "bytes=0-1,3-4",
        "items=0-4",
        "0-4",
        "bytes=1.5-2",
        "bytes=--5",
        ""
      ]
      for (const range of unknown) {
        const answer = yield* get(of10.download.url, range)
        assert.strictEqual(answer.status, 200, range)
        assert.strictEqual(answer.text, "0123456789", range)
      }
      const head = yield* get(of10.download.url, "bytes=0-4", "HEAD")
      assert.isBelow(head.status, 300)
      assert.strictEqual(head.text, "")
    })
  )

  it.effect("are a 404 that says so when the bytes are missing on disk, and were not deleted by the service", () =>
    Effect.gen(function* () {
      const { blobs, folder, origin, raw } = yield* Service
      const { item } = yield* newItem
      const before = (yield* blobs).kept
      const { download } = yield* uploaded(item.id, "lost.txt", "lost")
      const [blob = ""] = (yield* blobs).kept.filter((name) => !before.includes(name))
      rmSync(join(folder, "files", blob.slice(-2), blob))
      for (const headers of [{}, { range: "bytes=0-1" }]) {
        const answer = yield* send(origin, "GET", download.url.slice(origin.length), { headers })
        assertError(answer, 404, "NOT_FOUND", /the bytes of this file are missing.*signalbox check/)
      }
      assert.strictEqual((yield* raw("GET", `work-items/${item.id}`)).status, 200)
    })
  )

  it.effect("refuse every address that was not signed as it is", () =>
    Effect.gen(function* () {
      const { blobs, folder, makeWorkspace, origin, workspaceId } = yield* Service
      const { item } = yield* newItem
      const one = yield* uploaded(item.id, "one.txt", "one")
      const two = yield* uploaded(item.id, "two.txt", "two")
      const url = new URL(one.download.url)
      const other = yield* makeWorkspace
      const changed = (change: (url: URL) => void) => {
        const copy = new URL(url)
        change(copy)
        return copy.pathname + copy.search
      }
      const signer = yield* signerOf(folder)
      const past = String(Date.now() - 1)
      const expired = signer.sign(
        `download\n${JSON.stringify(["GET", one.id, "one.txt", "application/octet-stream", workspaceId, past])}`
      )
      const signature = url.searchParams.get("signature") ?? ""
      const addresses: ReadonlyArray<readonly [string, string]> = [
        ["another file", changed((copy) => (copy.pathname = copy.pathname.replace(one.id, two.id)))],
        ["another name", changed((copy) => (copy.pathname = copy.pathname.replace("one.txt", "one.exe")))],
        ["another workspace", changed((copy) => copy.searchParams.set("workspace", other))],
        ["a later end", changed((copy) => copy.searchParams.set("expires", String(Date.now() * 2)))],
        ["another type", changed((copy) => copy.searchParams.set("type", "text/html"))],
        ["no end", changed((copy) => copy.searchParams.delete("expires"))],
        ["no signature", changed((copy) => copy.searchParams.delete("signature"))],
        ["an empty signature", changed((copy) => copy.searchParams.set("signature", ""))],
        ["a signature cut short", changed((copy) => copy.searchParams.set("signature", signature.slice(0, -1)))],
        ["a changed signature", changed((copy) => copy.searchParams.set("signature", `${signature.slice(1)}A`))],
        [
          "a signature of another length in bytes",
          changed((copy) => copy.searchParams.set("signature", "é".repeat(43)))
        ],
        ["no query", url.pathname],
        [
          "an expired address",
          `${url.pathname}?type=application/octet-stream&workspace=${workspaceId}&expires=${past}&signature=${expired}`
        ]
      ]
      for (const [what, path] of addresses) {
        for (const method of ["GET", "HEAD"]) {
          const answer = yield* send(origin, method, path)
          assert.strictEqual(answer.status, 403, `${what}: ${answer.text}`)
          if (method === "GET") assert.strictEqual(errorOf(answer).error.code, "FORBIDDEN", what)
        }
      }
      assert.strictEqual((yield* send(origin, "GET", url.pathname + url.search)).text, "one")
      const { kept } = yield* blobs
      yield* WorkItems.remove([item.id])
      const gone = yield* send(origin, "GET", url.pathname + url.search)
      assert.strictEqual(gone.status, 404, gone.text)
      assert.strictEqual((yield* blobs).kept.length, kept.length - 2)
    })
  )
})
