/**
 * What goes wrong on purpose, and the record of what was asked.
 */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { request } from "node:http"
import type { Rule } from "../src/Faults.ts"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { asking, fetched } from "./support/Asking.ts"
import { contoso } from "./support/contoso.ts"

const setUp = Effect.gen(function* () {
  const sandbox = yield* GraphSandbox
  yield* sandbox.clearFaults
  yield* sandbox.forgetRequests
  const ask = yield* asking(sandbox, "ann@contoso.test")
  return { ask, sandbox, set: (...rules: ReadonlyArray<Rule>) => sandbox.setFaults({ rules }) }
})

/** How a connection ends: with a whole body, or with what came before it broke, or before nothing came for a time. */
const raw = (url: string, headers: Record<string, string> = {}, patienceMillis = 0) =>
  Effect.promise(
    () =>
      new Promise<{ readonly body: string; readonly error: string | undefined; readonly length: string | undefined }>(
        (resolve) => {
          let body = ""
          let length: string | undefined
          const sent = request(url, { headers }, (response) => {
            length = response.headers["content-length"]
            response.on("data", (chunk: Buffer) => (body += chunk.toString()))
            response.on("end", () => resolve({ body, length, error: undefined }))
            response.on("error", (error: NodeJS.ErrnoException) => resolve({ body, length, error: error.code }))
          })
          sent.on("error", (error: NodeJS.ErrnoException) => resolve({ body, length, error: error.code }))
          sent.setTimeout(patienceMillis, () => sent.destroy(Object.assign(new Error("idle"), { code: "ECONNRESET" })))
          sent.end()
        }
      )
  )

layer(GraphSandbox.layer({ seed: contoso }), { excludeTestServices: true })("faults", (it) => {
  it.effect("throttle every nth request, with each form of Retry-After", () =>
    Effect.gen(function* () {
      const { ask, set } = yield* setUp
      yield* set({ fault: "throttle", path: "/me$", every: 3, seconds: 2.128, retryAfter: "decimal" })
      const got = [yield* ask("/me"), yield* ask("/me/drive"), yield* ask("/me"), yield* ask("/me"), yield* ask("/me")]
      assert.deepStrictEqual(
        got.map(({ status }) => status),
        [200, 200, 200, 429, 200]
      )
      assert.strictEqual(got[3]?.headers.get("retry-after"), "2.128")
      assert.deepInclude(got[3]?.body.error, { code: "TooManyRequests", message: "Please retry again later." })
      assert.deepInclude(got[3]?.body.error.innerError, { code: "429", message: "Please retry after", status: "429" })
      const after = (retryAfter: "integer" | "date" | "missing") =>
        Effect.andThen(
          set({ fault: "throttle", retryAfter, seconds: 2 }),
          Effect.map(ask("/me"), ({ headers }) => headers.get("retry-after"))
        )
      assert.strictEqual(yield* after("integer"), "2")
      assert.isAbove(Date.parse((yield* after("date")) ?? ""), Date.now())
      assert.isNull(yield* after("missing"))
    })
  )

  it.effect("throttle parts of a batch on their own", () =>
    Effect.gen(function* () {
      const { ask, sandbox, set } = yield* setUp
      yield* set({ fault: "throttle", path: "^/users", times: 1, seconds: 3 })
      const requests = ["/me", "/users", "/users"].map((url, at) => ({ id: String(at), method: "GET", url }))
      const { body, status } = yield* ask("/$batch", { method: "POST", json: { requests } })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(
        body.responses.map(({ status }: { readonly status: number }) => status),
        [200, 429, 200]
      )
      assert.strictEqual(body.responses[1].headers["Retry-After"], "3")
      const seen = (yield* sandbox.requests).filter(({ batched }) => batched)
      assert.deepStrictEqual(
        seen.map(({ faults }) => faults),
        [[], ["throttle"], []]
      )
    })
  )

  it.effect("answer with a status, as JSON or as a page", () =>
    Effect.gen(function* () {
      const { ask, set } = yield* setUp
      yield* set({ fault: "status", status: 503, html: true, headers: { "retry-after": "1" }, times: 1 })
      const page = yield* ask("/me")
      assert.deepStrictEqual([page.status, page.headers.get("content-type")], [503, "text/html"])
      assert.strictEqual(page.headers.get("retry-after"), "1")
      yield* set({ fault: "status", status: 410, code: "resyncRequired", host: "graph", times: 1 })
      assert.strictEqual((yield* ask("/me/drive/root/delta")).body.error.code, "resyncRequired")
      assert.strictEqual((yield* ask("/me")).status, 200)
    })
  )

  it.effect("drop the connection before or after the request had its effect", () =>
    Effect.gen(function* () {
      const { ask, sandbox, set } = yield* setUp
      yield* set({ fault: "drop", times: 1 })
      assert.strictEqual((yield* raw(`${sandbox.graphUrl}/me`)).error, "ECONNRESET")
      yield* set({ fault: "drop", when: "after", method: "PUT", times: 1 })
      const lost = yield* Effect.exit(ask("/me/drive/root:/dropped.txt:/content", { method: "PUT", body: "x" }))
      assert.strictEqual(lost._tag, "Failure")
      assert.strictEqual((yield* ask("/me/drive/root:/dropped.txt")).body.size, 1)
    })
  )

  it.effect("cut bodies short, of the graph and of contents", () =>
    Effect.gen(function* () {
      const { ask, sandbox, set } = yield* setUp
      const item = (yield* ask("/me/drive/root:/Docs/a%20%231%25.txt")).body
      yield* set({ fault: "truncate", bytes: 5 })
      const part = yield* raw(item["@microsoft.graph.downloadUrl"])
      assert.deepStrictEqual(part, { body: "hello", length: "11", error: "ECONNRESET" })
      const json = yield* raw(`${sandbox.graphUrl}/me`)
      assert.strictEqual(json.body.length, 5)
      assert.strictEqual(json.error, "ECONNRESET")
    })
  )

  it.effect("stall in the middle of a body, or before the request is read", () =>
    Effect.gen(function* () {
      const { ask, sandbox, set } = yield* setUp
      const item = (yield* ask("/me/drive/root:/Docs/a%20%231%25.txt")).body
      yield* set({ fault: "stall", host: "files", bytes: 5 }, { fault: "stall", host: "graph" })
      const stalled = yield* raw(item["@microsoft.graph.downloadUrl"], {}, 200)
      assert.deepStrictEqual(stalled, { body: "hello", length: "11", error: "ECONNRESET" })
      const unread = yield* raw(`${sandbox.graphUrl}/me`, {}, 200)
      assert.deepStrictEqual(unread, { body: "", length: undefined, error: "ECONNRESET" })
    })
  )

  it.effect("delay, and refuse tokens as expired", () =>
    Effect.gen(function* () {
      const { ask, sandbox, set } = yield* setUp
      yield* set({ fault: "delay", millis: 60 }, { fault: "expiredToken", skip: 1, times: 1 })
      const start = Date.now()
      assert.strictEqual((yield* ask("/me")).status, 200)
      assert.isAtLeast(Date.now() - start, 59)
      const refused = yield* ask("/me")
      assert.deepInclude(refused.body.error, {
        code: "InvalidAuthenticationToken",
        message: "Lifetime validation failed, the token is expired."
      })
      assert.include(refused.headers.get("www-authenticate") ?? "", "authorization_uri")
      yield* sandbox.clearFaults
      yield* sandbox.expireAccessTokens
      assert.strictEqual((yield* ask("/me")).status, 401)
      assert.strictEqual((yield* fetched(`${sandbox.graphUrl}/me`)).body.error.message, "Access token is empty.")
    })
  )

  it.effect("count resource units, and tell when few are left", () =>
    Effect.gen(function* () {
      const { ask, sandbox } = yield* setUp
      yield* sandbox.setFaults({ rules: [], unitsPerMinute: 6 })
      assert.isNull((yield* ask("/me/drive/root/children")).headers.get("ratelimit-remaining"))
      assert.isNull((yield* ask("/me/drive/root/children")).headers.get("ratelimit-remaining"))
      assert.strictEqual((yield* ask("/me/drive")).headers.get("ratelimit-remaining"), "1")
      assert.strictEqual((yield* ask("/me/drive/root/children")).status, 429)
    })
  )

  it.effect("are set over HTTP as well, which names what is wrong with them", () =>
    Effect.gen(function* () {
      const { ask, sandbox } = yield* setUp
      const control = `${sandbox.origin}/sandbox`
      const put = (json: unknown) => fetched(`${control}/faults`, { method: "PUT", json })
      assert.strictEqual((yield* put({ rules: [{ fault: "status", status: 500, path: "/me$" }] })).status, 204)
      assert.strictEqual((yield* ask("/me")).status, 500)
      assert.strictEqual((yield* fetched(`${control}/faults`)).body.rules[0].hits, 1)
      for (const [bad, named] of [
        [{ rules: [{ fault: "status", status: 200 }] }, /status/],
        [{ rules: [{ fault: "delay" }] }, /millis/],
        [{ rules: [{ fault: "drop", path: "(" }] }, /path/]
      ] as const) {
        const refused = yield* put(bad)
        assert.strictEqual(refused.status, 400)
        assert.match(refused.body.error, named)
      }
      assert.strictEqual((yield* fetched(`${control}/faults`)).body.rules.length, 1)
      assert.match(String(yield* Effect.flip(sandbox.setFaults({ rules: [{ fault: "drop", path: "(" }] }))), /path/)
      assert.strictEqual((yield* fetched(`${control}/faults`, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* ask("/me")).status, 200)
    })
  )

  it.effect("leave a record of every request, without what gives access", () =>
    Effect.gen(function* () {
      const { ask, sandbox } = yield* setUp
      const content = yield* ask("/me/drive/root:/Docs/Deep/er/x.txt:/content", { headers: { prefer: "x" } })
      yield* fetched(content.headers.get("location") ?? "")
      const [graph, files] = (yield* fetched(`${sandbox.origin}/sandbox/requests`)).body
      assert.deepInclude(graph, { host: "graph", method: "GET", status: 302, authorization: true })
      assert.strictEqual(graph.headers.prefer, "x")
      assert.deepInclude(files, { host: "files", status: 200, authorization: false })
      assert.strictEqual(files.hostHeader, new URL(sandbox.filesOrigin).host)
      assert.match(files.url, /tempauth=\*\*\*$/)
    })
  )
})

layer(GraphSandbox.layer({ seed: contoso, accessTokenSeconds: 600, downloadSeconds: 300 }))("lives", (it) => {
  it.effect("of access tokens and of links to contents end", () =>
    Effect.gen(function* () {
      const { ask } = yield* setUp
      const { body } = yield* ask("/me/drive/root:/Docs/Deep/er/x.txt")
      const link: string = body["@microsoft.graph.downloadUrl"]
      yield* TestClock.adjust("299 seconds")
      assert.strictEqual((yield* fetched(link)).status, 200)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* fetched(link)).status, 401)
      assert.strictEqual((yield* ask("/me")).status, 200)
      yield* TestClock.adjust("300 seconds")
      assert.match((yield* ask("/me")).body.error.message, /token is expired/)
    })
  )
})
