/**
 * Upload sessions, by the rules of the service.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { request } from "node:http"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking, fetched } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const unit = 327_680

const bytes = Buffer.from(Array.from({ length: 2 * unit + 5 }, (_, i) => i % 251))

const opened = Effect.fnUntraced(function* (name: string, json: unknown = {}) {
  const sandbox = yield* GraphSandbox
  const ask = yield* asking(sandbox, "ann@contoso.test")
  const got = yield* ask(`/me/drive/root:/Up/${name}:/createUploadSession`, { method: "POST", json })
  const url: string = got.body.uploadUrl
  const put = (from: number, to: number, headers: Record<string, string> = {}) =>
    fetched(url, {
      method: "PUT",
      body: bytes.subarray(from, to),
      headers: { "content-range": `bytes ${from}-${to - 1}/${bytes.length}`, ...headers }
    })
  return { ask, got, put, sandbox, url }
})

/** Sends the beginning of a body, and then nothing more. */
const breakOff = (url: string, body: Uint8Array, headers: Record<string, string | number>) =>
  Effect.callback<void>((resume) => {
    const sent = request(url, { method: "PUT", headers })
    sent.on("error", () => resume(Effect.void))
    sent.write(body, () => sent.destroy(new Error("gone")))
  })

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("upload sessions", (it) => {
  it.effect("takes fragments in order, says what is missing, and gives the file at the end", () =>
    Effect.gen(function* () {
      const { ask, got, put, url } = yield* opened("order.bin")
      assert.deepStrictEqual(got.body.nextExpectedRanges, ["0-"])
      const first = yield* put(0, unit)
      assert.deepStrictEqual([first.status, first.body.nextExpectedRanges], [202, [`${unit}-`]])
      assert.deepStrictEqual((yield* fetched(url)).body.nextExpectedRanges, [`${unit}-`])
      assert.strictEqual((yield* put(unit, 2 * unit)).status, 202)
      const last = yield* put(2 * unit, bytes.length)
      assert.strictEqual(last.status, 201)
      assert.strictEqual(last.body.size, bytes.length)
      assert.strictEqual((yield* fetched(url)).status, 404)
      const read = yield* ask("/me/drive/root:/Up/order.bin")
      assert.isTrue(Buffer.from((yield* fetched(read.body["@microsoft.graph.downloadUrl"])).bytes).equals(bytes))
    })
  )

  it.effect("refuses what is out of order, of the wrong size or comes with a token", () =>
    Effect.gen(function* () {
      const { put, url } = yield* opened("refused.bin")
      const refusal = (got: {
        readonly status: number
        readonly body: { readonly error: { innerError: { code: string } } }
      }) => [got.status, got.body.error.innerError.code]
      assert.strictEqual((yield* put(0, unit, { authorization: "Bearer x" })).status, 401)
      assert.deepStrictEqual(refusal(yield* put(0, unit - 1)), [400, "invalidParameterFormat"])
      assert.deepStrictEqual(refusal(yield* put(unit, 2 * unit)), [416, "fragmentOutOfOrder"])
      assert.strictEqual((yield* put(0, unit)).status, 202)
      assert.deepStrictEqual(refusal(yield* put(0, unit)), [416, "fragmentOverlap"])
      const other = { "content-range": `bytes ${unit}-${2 * unit - 1}/${bytes.length + 1}` }
      assert.deepStrictEqual(refusal(yield* put(unit, 2 * unit, other)), [400, "fragmentLengthMismatch"])
      const short = { "content-range": `bytes ${unit}-${2 * unit - 1}/${bytes.length}` }
      assert.deepStrictEqual(refusal(yield* put(unit, unit + 10, short)), [400, "fragmentLengthMismatch"])
      assert.strictEqual((yield* fetched(url, { method: "PUT", body: "x" })).status, 400)
    })
  )

  it.effect("keeps nothing of a fragment that breaks off, and takes it again", () =>
    Effect.gen(function* () {
      const { put, url } = yield* opened("broken.bin")
      yield* breakOff(url, bytes.subarray(0, 100_000), {
        "content-length": unit,
        "content-range": `bytes 0-${unit - 1}/${bytes.length}`
      })
      // Until the end of the connection has reached the other side, the fragment is still being received.
      const again = put(0, unit).pipe(Effect.repeat({ while: ({ status }) => status === 409, times: 1000 }))
      assert.deepStrictEqual((yield* fetched(url)).body.nextExpectedRanges, ["0-"])
      assert.strictEqual((yield* again).status, 202)
    })
  )

  it.effect("is cancelled, and then gone", () =>
    Effect.gen(function* () {
      const { put, url } = yield* opened("cancelled.bin")
      assert.strictEqual((yield* fetched(url, { method: "DELETE" })).status, 204)
      const gone = yield* put(0, unit)
      assert.deepStrictEqual([gone.status, gone.body.error.innerError.code], [404, "uploadSessionNotFound"])
    })
  )

  it.effect("waits to be committed where it was asked to", () =>
    Effect.gen(function* () {
      const { ask, put, url } = yield* opened("deferred.bin", { deferCommit: true })
      assert.strictEqual((yield* fetched(url, { method: "POST" })).status, 400)
      assert.strictEqual((yield* put(0, bytes.length)).status, 202)
      assert.strictEqual((yield* ask("/me/drive/root:/Up/deferred.bin")).status, 404)
      assert.strictEqual((yield* fetched(url, { method: "POST" })).status, 201)
      assert.strictEqual((yield* ask("/me/drive/root:/Up/deferred.bin")).body.size, bytes.length)
    })
  )

  it.effect("does not overwrite a file that came meanwhile, and keeps the bytes under another name", () =>
    Effect.gen(function* () {
      const json = { item: { "@microsoft.graph.conflictBehavior": "fail" } }
      const { ask, put, url } = yield* opened("raced.bin", json)
      yield* ask("/me/drive/root:/Up/raced.bin:/content", { method: "PUT", body: "first" })
      const conflict = yield* put(0, bytes.length)
      assert.deepStrictEqual([conflict.status, conflict.body.error.code], [409, "upload_name_conflict"])
      const kept = yield* ask("/me/drive/root:/Up/raced.bin", {
        method: "PUT",
        json: { name: "raced.bin", "@microsoft.graph.conflictBehavior": "rename", "@microsoft.graph.sourceUrl": url }
      })
      assert.deepStrictEqual([kept.status, kept.body.name], [201, "raced 1.bin"])
      const early = yield* opened("raced.bin", json)
      assert.strictEqual(early.got.status, 409)
    })
  )

  it.effect("keeps a part only of a fragment, and the rest is sent again", () =>
    Effect.gen(function* () {
      const { put, sandbox, url } = yield* opened("partial.bin")
      yield* sandbox.setFaults({
        rules: [{ fault: "partialRange", host: "files", method: "PUT", accept: 1000, acceptEnd: 100, times: 1 }]
      })
      const part = yield* put(0, unit)
      assert.deepStrictEqual(part.body.nextExpectedRanges, [`1000-${unit - 101}`, `${unit}-`])
      assert.strictEqual((yield* put(1000, unit - 100)).status, 202)
      const done = yield* put(unit, bytes.length)
      assert.strictEqual(done.status, 201)
      const whole = yield* opened("whole.bin")
      const hash = (yield* whole.put(0, bytes.length)).body.file.hashes.quickXorHash
      assert.strictEqual(done.body.file.hashes.quickXorHash, hash)
      assert.strictEqual((yield* fetched(url)).status, 404)
    })
  )

  it.effect("loses a session when it is told to", () =>
    Effect.gen(function* () {
      const { put, sandbox, url } = yield* opened("lost.bin")
      yield* put(0, unit)
      yield* sandbox.setFaults({ rules: [{ fault: "loseSession", host: "files", times: 1 }] })
      assert.strictEqual((yield* put(unit, 2 * unit)).status, 404)
      assert.strictEqual((yield* fetched(url)).status, 404)
    })
  )

  it.effect("cannot be of no bytes, nor say the size to a business drive", () =>
    Effect.gen(function* () {
      const { got } = yield* opened("sized.bin", { item: { fileSize: 3 } })
      assert.strictEqual(got.status, 400)
      const { url } = yield* opened("empty.bin")
      const empty = yield* fetched(url, { method: "PUT", body: "", headers: { "content-range": "bytes 0--1/0" } })
      assert.strictEqual(empty.status, 400)
    })
  )
})

layer(GraphSandbox.layer({ seed: contoso, uploadSessionSeconds: 60 }))("upload sessions that expire", (it) => {
  it.effect("live on with each fragment, and end without", () =>
    Effect.gen(function* () {
      const { got, put, url } = yield* opened("slow.bin")
      yield* TestClock.adjust("59 seconds")
      const { body } = yield* put(0, unit)
      assert.strictEqual(Date.parse(body.expirationDateTime) - Date.parse(got.body.expirationDateTime), 59_000)
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual((yield* fetched(url)).status, 200)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* fetched(url)).status, 404)
    })
  )
})
