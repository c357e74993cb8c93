import { assert, layer as withLayer } from "@effect/vitest"
import { Api } from "@signalbox/api/contract/Api"
import { Page } from "@signalbox/api/contract/Common"
import { WorkItem } from "@signalbox/api/contract/WorkItems"
import * as Processes from "@signalbox/api/Processes"
import * as WorkItems from "@signalbox/api/WorkItems"
import { soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type Answer, bodyAs, errorOf, sendRaw } from "./support/Http.ts"
import { layer, linkWorker, type RawRequest, Service } from "./support/Service.ts"
import { badRequests, json, nested, unknownId } from "./support/BadRequests.ts"

const codes: Record<number, string> = {
  400: "INVALID_REQUEST",
  401: "UNAUTHENTICATED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "CONFLICT",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE"
}

/** Asserts that the response is this failure, in the envelope. */
const assertFailure = (answer: Answer, status: number, what: string) => {
  assert.strictEqual(answer.status, status, `${what}: ${answer.text}`)
  assert.match(answer.headers["content-type"] ?? "", /^application\/json/, what)
  assert.isDefined(answer.headers["x-request-id"], what)
  const { error, message } = errorOf(answer)
  assert.strictEqual(error.code, codes[status], what)
  assert.strictEqual(error.message, message, what)
  assert.isNotEmpty(message, what)
}

/** A process with one item, and the values that the tables below need. */
const seed = Effect.gen(function* () {
  const process = yield* Processes.create({
    name: `edge ${crypto.randomUUID()}`,
    steps: [{ name: "s", task: { name: "t" } }]
  })
  const item = yield* WorkItems.create({ process: process.id, payload: { a: 1 } })
  return { process, item }
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the edge", (it) => {
  it.effect("refuses bad input with a clear error, and changes nothing", () =>
    Effect.gen(function* () {
      const { makeWorkspace, raw, rows, workspaceId } = yield* Service
      const { item, process } = yield* seed
      const other = yield* makeWorkspace
      const before = yield* rows
      for (const { method = "GET", name, path, request, says, status } of badRequests({ item, other, process })) {
        const answer = yield* raw(method, path, request)
        assertFailure(answer, status, name)
        if (says !== undefined) assert.match(errorOf(answer).message, says, name)
        if (status === 405) assert.isNotEmpty(answer.headers["allow"], name)
      }
      assert.deepStrictEqual(yield* rows, before)
      assert.isNotEmpty(workspaceId)
    })
  )

  it.effect("names the methods that a path has", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { item, process } = yield* seed
      const allow = (path: string) => Effect.map(raw("PATCH", path), (answer) => answer.headers["allow"])
      assert.strictEqual(yield* allow("work-items"), "GET, HEAD, POST")
      assert.strictEqual(yield* allow("work-items/"), "GET, HEAD, POST")
      assert.strictEqual(yield* allow(`processes/${process.id}`), "DELETE, GET, HEAD, POST, PUT")
      assert.strictEqual(yield* allow(`work-items/${item.id}/payload`), "POST, PUT")
      assert.strictEqual(yield* allow(`process-runs/${unknownId}`), "DELETE, GET, HEAD")
    })
  )

  it.effect("stores a NUL where JSON may have one; what no database stores is refused, or not found", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { process } = yield* seed
      const payload = { "a\0b": ["\0", "x\0y"] }
      const made = yield* raw("POST", "work-items", { json: { process: { id: process.id }, payload } })
      assert.strictEqual(made.status, 200, made.text)
      const { id } = bodyAs(Schema.Struct({ id: Schema.String }), made)
      const got = yield* raw("GET", `work-items/${id}`)
      assert.deepStrictEqual(bodyAs(Schema.Struct({ payload: Schema.Json }), got).payload, payload)
      const endpoint = "http://127.0.0.1/a\0b"
      const cases: ReadonlyArray<readonly [method: string, path: string, json: unknown, status: number]> = [
        ["POST", "processes", { name: "a\0b", steps: [] }, 400],
        ["POST", "assets", { name: "a\0b" }, 400],
        ["POST", "webhooks", { endpoint, enabled_events: ["process_run.started"] }, 400],
        ["POST", "work-items/batch", { batch_operation: "delete", work_item_ids: ["\0"] }, 404],
        ["POST", `processes/${process.id}/process-runs`, { type: "with_work_item_ids", work_item_ids: ["\0"] }, 409],
        ["GET", "assets/name:a%00b", undefined, 404],
        ["GET", "processes/a%00b", undefined, 404],
        ["DELETE", "secrets/a%00b", undefined, 404],
        ["GET", "outputs?process_run_id=%00", undefined, 404],
        ["GET", "work-items?process_id=%00", undefined, 200],
        ["GET", "work-items?cursor=%00", undefined, 400]
      ]
      for (const [method, path, json, status] of cases) {
        const answer = yield* raw(method, path, json === undefined ? {} : { json })
        assert.strictEqual(answer.status, status, `${method} ${path}: ${answer.text}`)
      }
    })
  )

  it.effect("has no endpoint that answers hostile requests with a 5xx, or changes something", () =>
    Effect.gen(function* () {
      const { key, raw, rows, workspaceId } = yield* Service
      const { process } = yield* seed
      const task = `hostile ${process.id}`
      yield* Processes.update(process.id, { name: process.name, steps: [{ name: "s", task: { name: task } }] })
      const worker = yield* linkWorker([task])
      yield* raw("POST", `processes/${process.id}/process-runs`)
      const { lease } = yield* worker.take
      yield* worker.stayAlive
      // Each interface with a valid token, so that requests are authenticated. That of a worker without step runs,
      // since one that omits a step run in its heartbeat loses it.
      const idle = yield* linkWorker([task])
      const credentials = (path: string) =>
        path.startsWith("/worker-v1")
          ? `Bearer ${Redacted.value((path === "/worker-v1/link" ? worker : idle).identity.token)}`
          : path.startsWith("/api/v1")
            ? `RC-WSKEY ${key}`
            : `Bearer ${lease.run_token}`
      const endpoints: Array<{ readonly method: string; readonly path: string }> = []
      HttpApi.reflect(Api, {
        onGroup: () => {},
        onEndpoint: ({ endpoint }) => endpoints.push({ method: endpoint.method, path: endpoint.path })
      })
      assert.isAbove(endpoints.length, 20)
      const ids = ["%00", "%27%3B--", "..%2F..", "%E2%82%AC", "a".repeat(500), "%ff"]
      const bodies = [
        "",
        "null",
        "[]",
        "0",
        '"\\u0000"',
        "{",
        "{}",
        nested(10_000),
        '{"__proto__":{"x":1}}',
        '{"constructor":{"prototype":{}}}',
        '{"type":"__proto__"}',
        '{"payload":1e999,"payloads":[1e999]}',
        '{"file_size":1e999}',
        '{"lease_token":"\\u0000","error":null}',
        '{"workItemId":"\\u0000","state":"COMPLETED"}',
        '{"step_run_ids":["\\u0000","\\ud800"]}',
        '{"link_token":"\\u0000","name":"n","tasks":[]}',
        '{"payload":null}',
        "\u0000",
        "\ufeff{}"
      ]
      const queries = [
        "",
        "?limit[]=1",
        "?cursor=%00",
        "?__proto__=1&constructor=2",
        "?process_run_id=%00&process_id=%00",
        "?=&&=%zz"
      ]
      // Created on first use.
      yield* raw("GET", `/secrets-v1/workspaces/${workspaceId}/secrets/publicKey`)
      const { audit_entry: _, ...before } = yield* rows
      for (const [place, { method, path }] of endpoints.entries()) {
        const urls = ids.map((id) => path.replace(":workspace_id", workspaceId).replace(/:\w+/g, id))
        // Every endpoint gets all of them in the long form; in the short one a third, and the next endpoint the next third.
        const dealt = <A>(all: ReadonlyArray<A>) => all.filter((_, index) => soak || index % 3 === place % 3)
        const [first = path] = urls
        const targets = soak
          ? urls.flatMap((url) => queries.map((query) => url + query))
          : [...dealt(urls), ...dealt(queries).map((query) => first + query)]
        const sent = dealt(bodies)
        const requests: Array<readonly [string, RawRequest]> = [
          ...targets.map((url) => [url, { body: "{}", headers: json }] as const),
          ...(method === "POST" || method === "PUT" ? sent : []).map(
            (body) => [first, { body, headers: json }] as const
          )
        ]
        for (const [index, [url, request]] of requests.entries()) {
          for (const authorization of [credentials(path), ...(soak || index === 0 ? ["Bearer \u00ff"] : [])]) {
            // The calls that accept one of these, since they need nothing, or only a name.
            if (/\/(link-tokens|assets|console-tickets)$/.test(path) && authorization.includes(key)) continue
            // A worker group, a workspace and a task package need nothing but a name.
            if (
              method === "POST" &&
              /\/(worker-groups|workspaces|task-packages)$/.test(path) &&
              String(request.body).includes('"name"')
            )
              continue
            const answer = yield* raw(method, url, {
              ...request,
              key: null,
              headers: { ...request.headers, authorization }
            })
            assert.isBelow(answer.status, 500, `${method} ${url} ${String(request.body).slice(0, 50)}: ${answer.text}`)
            if (answer.status >= 400 && answer.text !== "") assertFailure(answer, answer.status, `${method} ${url}`)
          }
        }
      }
      // Those that need no body are carried out, and say so: a room that runs is resumed, the audit exported.
      const { audit_entry: __, ...after } = yield* rows
      assert.deepStrictEqual(after, before)
    })
  )

  it.effect("stores allowed but odd input unchanged", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { process } = yield* seed
      const payloads = [
        '{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}},"toString":1}',
        '{"a":"\\u0000","b":"\\ud800","c":"","😀":"🏳️‍🌈"}',
        '["",0,-0.5,1e+308,9007199254740991,true,null,{}]',
        nested(255)
      ]
      for (const payload of payloads) {
        const body = `{"process":{"id":"${process.id}"},"payload":${payload}}`
        const created = yield* raw("POST", "work-items", { body, headers: json })
        assert.strictEqual(created.status, 200, created.text)
        const { id } = bodyAs(WorkItem, created)
        const read = yield* raw("GET", `work-items/${id}`)
        assert.include(read.text, `"payload":${payload}`)
      }
      assert.isUndefined(Object.getOwnPropertyDescriptor(Object.prototype, "admin"))
      const definition = `{"name":"proto","steps":[{"name":"__proto__","task":{"name":"t"},"env":{"__proto__":"x","constructor":"y"}}]}`
      const made = yield* raw("POST", "processes", { body: definition, headers: json })
      assert.strictEqual(made.status, 200, made.text)
      const { id } = bodyAs(Schema.Struct({ id: Schema.String }), made)
      const { text } = yield* raw("GET", `processes/${id}/definition`)
      assert.include(text, '"env":{"__proto__":"x","constructor":"y"}')
    })
  )

  it.effect("reads JSON with any of the content types that clients send, and an empty body as none", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { process } = yield* seed
      const body = JSON.stringify({ process: { id: process.id }, payload: { a: "é" } })
      const types = [
        undefined,
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "text/plain",
        "text/plain;charset=UTF-8",
        "TEXT/PLAIN",
        ""
      ]
      for (const type of types) {
        const headers = type === undefined ? {} : { "content-type": type }
        for (const text of [body, `\ufeff${body}`]) {
          const answer = yield* raw("POST", "work-items", { body: text, headers })
          assert.strictEqual(answer.status, 200, `${type}: ${answer.text}`)
          assert.deepStrictEqual(bodyAs(WorkItem, answer).payload, { a: "é" })
        }
      }
      const chunked = yield* raw("POST", "work-items", { body, headers: { ...json, "transfer-encoding": "chunked" } })
      assert.strictEqual(chunked.status, 200, chunked.text)
      const empties: ReadonlyArray<RawRequest> = [
        {},
        { body: "" },
        { body: "", headers: json },
        { body: "", headers: { "content-type": "application/x-www-form-urlencoded" } },
        { body: "", headers: { "content-type": "application/octet-stream" } },
        { body: "null", headers: json },
        { body: " null ", headers: { "content-type": "text/plain" } },
        { body: "{}" }
      ]
      for (const request of empties) {
        const answer = yield* raw("POST", `processes/${process.id}/process-runs`, request)
        assert.strictEqual(answer.status, 200, `${JSON.stringify(request)}: ${answer.text}`)
        assert.include(answer.text, '"started":true')
      }
    })
  )

  it.effect("takes the spellings of older clients", () =>
    Effect.gen(function* () {
      const { origin, raw, workspaceId } = yield* Service
      const { item, process } = yield* seed
      const { id: run } = bodyAs(
        Schema.Struct({ id: Schema.String }),
        yield* raw("POST", `processes/${process.id}/process-runs`)
      )
      const same: ReadonlyArray<readonly [string, string]> = [
        [`work-items/${item.id}/`, `work-items/${item.id}`],
        [`/api//v1/workspaces///${workspaceId}//work-items/${item.id}//`, `work-items/${item.id}`],
        [`//api/v1/workspaces/${workspaceId}/work-items/${item.id}`, `work-items/${item.id}`],
        [`/v1/workspaces/${workspaceId}/work-items/${item.id}`, `work-items/${item.id}`],
        [`process-runs/${run}/outputs`, `outputs?process_run_id=${run}`],
        [`process-runs/${run}/outputs/?limit=1`, `outputs?process_run_id=${run}&limit=1`],
        ["work-items/?limit=1", "work-items?limit=1"],
        ["work-items?limit=1&unknown=2&unknown=3", "work-items?limit=1"]
      ]
      // Addresses of files are signed with the time, and `next` repeats the query: neither is compared.
      const plain = (answer: Answer) => `${answer.status} ${answer.text.replace(/"next":"[^"]*"/, "")}`
      for (const [older, newer] of same) {
        assert.strictEqual(plain(yield* raw("GET", older)), plain(yield* raw("GET", newer)), older)
      }
      assert.strictEqual((yield* raw("GET", `work-items/${item.id}/`)).status, 200)
      const put = yield* raw("PUT", `work-items/${item.id}/payload`, { json: { payload: "put" } })
      assert.strictEqual(put.text, '{"payload":"put","masked":[]}')
      const renamed = yield* raw("PUT", `processes/${process.id}/`, { json: { name: `put ${process.id}`, steps: [] } })
      assert.strictEqual(renamed.status, 200, renamed.text)
      const absolute = yield* raw("GET", `http://elsewhere.example/api/v1/workspaces/${workspaceId}`)
      assert.strictEqual(absolute.status, 404)
      assert.isNotEmpty(origin)
    })
  )

  it.effect("accepts the scheme of the key in any case, and Bearer", () =>
    Effect.gen(function* () {
      const { key, raw } = yield* Service
      for (const scheme of ["RC-WSKEY", "rc-wskey", "Rc-WsKey", "Bearer", "BEARER", "RC-WSKEY  "]) {
        const answer = yield* raw("GET", "work-items", { key: null, headers: { authorization: `${scheme} ${key}` } })
        assert.strictEqual(answer.status, 200, scheme)
      }
      for (const value of [
        key,
        `Basic ${key}`,
        "RC-WSKEY",
        `RC-WSKEY ${key} ${key}`,
        `RC-WSKEY${key}`,
        `RC-WSKEY ${key.slice(0, -1)}`
      ]) {
        assertFailure(yield* raw("GET", "work-items", { key: null, headers: { authorization: value } }), 401, value)
      }
    })
  )

  it.effect("pages by limit and cursor, and returns `next` under its own address", () =>
    Effect.gen(function* () {
      const { makeWorkspace, makeKey, origin, raw } = yield* Service
      const { process } = yield* seed
      const other = yield* seed
      for (let n = 0; n < 6; n++) yield* WorkItems.create({ process: process.id, payload: n })
      const page = (answer: Answer) => bodyAs(Page(Schema.Struct({ id: Schema.String })), answer)
      const list = (query: string, request?: RawRequest) => Effect.map(raw("GET", `work-items?${query}`, request), page)
      const mine = `process_id=${process.id}`
      for (const limit of ["2", "2.0", "2.00", "2e0", "02"]) {
        assert.strictEqual((yield* list(`${mine}&limit=${limit}`)).data.length, 2, limit)
      }
      const many = yield* seed
      const payloads = Array.from({ length: 510 }, (_, n) => n)
      yield* raw("POST", `processes/${many.process.id}/process-runs`, { json: { type: "with_payloads", payloads } })
      for (const [limit, length] of [
        ["", 100],
        ["&limit=499", 499],
        ["&limit=500", 500],
        ["&limit=501", 500],
        ["&limit=1000000", 500],
        ["&limit=9007199254740991", 500]
      ] as const) {
        const page = yield* list(`process_id=${many.process.id}${limit}`)
        assert.strictEqual(page.data.length, length, limit)
        assert.isTrue(page.has_more, limit)
      }
      const first = yield* list(`${mine}&limit=3`, {
        headers: { "x-forwarded-host": "evil.example" }
      })
      const next = first.next ?? assert.fail("no next")
      assert.isTrue(next.startsWith(`${origin}/api/v1/workspaces/`), next)
      assert.isTrue(first.has_more)
      // Items created concurrently do not shift pages.
      yield* WorkItems.create({ process: process.id, payload: "late" })
      const second = page(yield* raw("GET", next))
      const third = page(yield* raw("GET", second.next ?? assert.fail("no next")))
      assert.isFalse(third.has_more)
      assert.isNull(third.next)
      const walked = [first, second, third].flatMap(({ data }) => data.map(({ id }) => id))
      assert.strictEqual(walked.length, 7)
      assert.deepStrictEqual(walked.toSorted().toReversed(), walked)
      // The same cursor with another limit, with unknown parameters and under other spellings of the path is accepted.
      const cursor = encodeURIComponent(new URL(next).searchParams.get("cursor") ?? "")
      assert.deepStrictEqual(
        page(yield* raw("GET", `work-items/?limit=1&cursor=${cursor}&${mine}&x=1`)).data,
        second.data.slice(0, 1)
      )
      const bad = [
        `cursor=${cursor}`,
        `${mine}&state=new&cursor=${cursor}`,
        `process_id=${other.process.id}&cursor=${cursor}`,
        `${mine}&cursor=${cursor.slice(0, -1)}`,
        `${mine}&cursor=${cursor}&cursor=x`,
        `${mine}&cursor=${cursor.startsWith("M") ? "N" : "M"}${cursor.slice(1)}`
      ]
      for (const query of bad) assertFailure(yield* raw("GET", `work-items?${query}`), 400, query)
      assertFailure(yield* raw("GET", `process-runs?${mine}&cursor=${cursor}`), 400, "of another list")
      const foreign = yield* makeWorkspace
      const key = yield* makeKey(["Processes.read_work_items"], foreign)
      assertFailure(
        yield* raw("GET", `/api/v1/workspaces/${foreign}/work-items?${mine}&cursor=${cursor}`, { key }),
        400,
        "of another workspace"
      )
      assert.deepStrictEqual(yield* list(`process_id=${unknownId}`), { data: [], has_more: false, next: null })
      assert.deepStrictEqual(yield* list("process_id=nope"), { data: [], has_more: false, next: null })
    })
  )

  it.effect("gives every response a request id: the client's, if valid", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const idOf = (path: string, given: string) =>
        Effect.map(raw("GET", path, { headers: { "x-request-id": given } }), (answer) => answer.headers["x-request-id"])
      for (const path of ["work-items", "nothing", "/transfer/v1/files/a/b"]) {
        for (const good of ["abc-123_DEF.4", "x".repeat(128)]) assert.strictEqual(yield* idOf(path, good), good)
        for (const bad of ["x".repeat(129), "a b", "a,b", "<script>", "\u00e9", ""]) {
          assert.match((yield* idOf(path, bad)) ?? "", /^[0-9a-f-]{36}$/, bad)
        }
        const ids = [yield* raw("GET", path), yield* raw("GET", path)].map((answer) => answer.headers["x-request-id"])
        assert.notStrictEqual(ids[0], ids[1])
      }
    })
  )

  it.effect("responds to HEAD like GET without a body", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { item } = yield* seed
      for (const [path, status] of [
        [`work-items/${item.id}`, 200],
        ["work-items", 200],
        [`work-items/${unknownId}`, 404]
      ] as const) {
        const answer = yield* raw("HEAD", path)
        assert.strictEqual(answer.status, status)
        assert.strictEqual(answer.text, "")
      }
    })
  )

  it.effect("survives requests that lie or break off", () =>
    Effect.gen(function* () {
      const { key, origin, raw, rows, workspaceId } = yield* Service
      const { process } = yield* seed
      const body = JSON.stringify({ process: { id: process.id } })
      const head = (length: number | string) =>
        `POST /api/v1/workspaces/${workspaceId}/work-items HTTP/1.1\r\nhost: localhost\r\nauthorization: RC-WSKEY ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
      const before = yield* rows
      for (const how of ["half-close", "reset"] as const) {
        const answer = yield* sendRaw(origin, head(body.length + 10) + body, how)
        assert.notMatch(answer, /^HTTP\/1\.1 [25]/, how)
      }
      // Shorter than the body: the rest is not parsed as a request.
      const short = yield* sendRaw(origin, head(body.length - 5) + body)
      assert.match(short, /^HTTP\/1\.1 400 /)
      // Refusals by Node itself have the envelope too.
      assert.include(short, '"error":{"code":"INVALID_REQUEST"')
      const large = yield* sendRaw(
        origin,
        `GET / HTTP/1.1\r\nhost: localhost\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`
      )
      assert.match(large, /^HTTP\/1\.1 431 /)
      assert.include(large, "the headers are larger than 16384 bytes")
      for (const length of ["-1", "x", "99999999999999999999"]) {
        assert.match(yield* sendRaw(origin, head(length) + body, "half-close"), /^HTTP\/1\.1 4\d\d |^$/, length)
      }
      for (const line of ["GET", "GET /", "\u0000\u0001", "GET / HTTP/9.9", "CONNECT a:1 HTTP/1.1\r\nhost: x"]) {
        assert.notMatch(yield* sendRaw(origin, `${line}\r\n\r\n`, "half-close"), /^HTTP\/1\.1 [25]/, line)
      }
      const star = yield* sendRaw(
        origin,
        "OPTIONS * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        "half-close"
      )
      assert.match(star, /^HTTP\/1\.1 404 /)
      assert.include(star, "NOT_FOUND")
      assert.deepStrictEqual(yield* rows, before)
      assert.strictEqual((yield* raw("GET", "work-items")).status, 200)
    })
  )

  it.effect("separates the interfaces of workers and of robots", () =>
    Effect.gen(function* () {
      const { key, raw } = yield* Service
      const { process } = yield* seed
      const task = `apart-${process.id}`
      yield* Processes.update(process.id, { name: process.name, steps: [{ name: "s", task: { name: task } }] })
      const worker = yield* linkWorker([task])
      yield* raw("POST", `processes/${process.id}/process-runs`, { json: { type: "with_payloads", payloads: [1] } })
      const { lease } = yield* worker.take
      const bearer = (token: string): RawRequest => ({ key: null, headers: { authorization: `Bearer ${token}` } })
      const asWorker = (request: RawRequest) =>
        raw("POST", "/worker-v1/heartbeat", { ...request, json: { step_run_ids: [] } })
      const asRobot = (request: RawRequest) =>
        raw("GET", `/json-v1/workspaces/${worker.identity.workspaceId}/workitems/${lease.work_item_id}/data`, request)
      assert.strictEqual((yield* asRobot(bearer(lease.run_token))).status, 200)
      assertFailure(yield* asWorker(bearer(lease.run_token)), 403, "a run's token as a worker's")
      assertFailure(yield* asWorker(bearer(key)), 403, "a key as a worker's token")
      assertFailure(yield* asRobot(bearer(key)), 403, "a key as a run's token")
      assertFailure(yield* asRobot(bearer(lease.lease_token)), 403, "a lease token as a run's token")
      assertFailure(yield* asRobot({ key: null }), 401, "no token")
      assertFailure(yield* raw("GET", "work-items", bearer(lease.run_token)), 403, "a run's token as a key")
      const foreign = yield* raw(
        "GET",
        `/json-v1/workspaces/${unknownId}/workitems/${lease.work_item_id}/data`,
        bearer(lease.run_token)
      )
      assertFailure(foreign, 403, "another workspace")
    })
  )
})
