/** Headers: which hosts are served, what may be cached, what pages may do, and that documents are sent once. */
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import * as Server from "../src/Server.ts"
import { docsPath, openApiPath } from "../src/internal/edge/Edge.ts"
import { bodyAs, sendRaw } from "./support/Http.ts"
import { layerIn, Service, temporaryFolder } from "./support/Service.ts"
import { quiet } from "./support/Seed.ts"

const serving = <A, E>(options: Parameters<typeof Server.layer>[0], effect: Effect.Effect<A, E, Service>) =>
  Effect.flatMap(temporaryFolder, (folder) => Effect.provide(effect, layerIn(folder, options)))

const Made = Schema.Struct({ id: Schema.String })

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("the documents", (it) => {
  it.effect("are compressed as the client likes, and say the same in every encoding", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      for (const path of [docsPath, openApiPath]) {
        const get = (encoding: string) =>
          raw("GET", path, { key: null, headers: encoding === "" ? {} : { "accept-encoding": encoding } })
        const plain = yield* get("")
        const br = yield* get("gzip, deflate, br")
        const gzip = yield* get("gzip;q=1.0, br;q=0")
        assert.isUndefined(plain.headers["content-encoding"])
        assert.strictEqual(br.headers["content-encoding"], "br")
        assert.strictEqual(gzip.headers["content-encoding"], "gzip")
        assert.strictEqual(brotliDecompressSync(br.bytes).toString(), plain.text)
        assert.strictEqual(gunzipSync(gzip.bytes).toString(), plain.text)
        assert.isBelow(br.bytes.length, plain.bytes.length / 3)
        for (const { headers } of [plain, br, gzip]) {
          assert.strictEqual(headers["vary"], "accept-encoding")
          assert.strictEqual(headers["cache-control"], "public, no-cache")
        }
      }
    })
  )

  it.effect("are not sent again to who has them", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      for (const path of [docsPath, openApiPath]) {
        const { headers } = yield* raw("GET", path, { key: null })
        const etag = headers["etag"] ?? assert.fail("no etag")
        for (const known of [etag, `"other", ${etag}`, etag.replace("W/", ""), "*"]) {
          const again = yield* raw("GET", path, { key: null, headers: { "if-none-match": known } })
          assert.deepStrictEqual([again.status, again.bytes.length, again.headers["etag"]], [304, 0, etag], known)
        }
        const other = yield* raw("GET", path, { key: null, headers: { "if-none-match": '"other"' } })
        assert.strictEqual(other.status, 200)
      }
    })
  )

  it.effect("run their own scripts and no others, and stand in no frame", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { headers, text } = yield* raw("GET", docsPath, { key: null })
      const policy = headers["content-security-policy"] ?? assert.fail("no policy")
      assert.include(policy, "default-src 'none'")
      assert.include(policy, "frame-ancestors 'none'")
      const [, sources = ""] = /script-src ([^;]*)/.exec(policy) ?? []
      const scripts = [...text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => script)
      assert.isAbove(scripts.length, 1)
      assert.deepStrictEqual(
        sources.split(" "),
        scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`)
      )
    })
  )
})

withLayer(quiet, { excludeTestServices: true, timeout: "4 minutes" })("an answer", (it) => {
  it.effect("is not guessed at, and not kept: also where it shows a secret once, and when it is replayed", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const permissions = ["Processes.read_processes"]
      const headers = { "idempotency-key": crypto.randomUUID() }
      const hook = { endpoint: "http://127.0.0.1:9/", enabled_events: ["process_run.completed"] }
      const answers = [
        yield* raw("GET", "processes"),
        yield* raw("GET", "processes", { key: null }),
        yield* raw("GET", "/nowhere"),
        yield* raw("POST", "api-keys", { json: { name: "k", permissions }, headers }),
        yield* raw("POST", "api-keys", { json: { name: "k", permissions }, headers }),
        yield* raw("POST", "workers/link-tokens", { json: {} }),
        yield* raw("POST", "webhooks", { json: hook })
      ]
      for (const { status, text } of answers.slice(3)) assert.strictEqual(status, 200, text)
      assert.strictEqual(answers[4]?.headers["idempotent-replayed"], "true")
      for (const { headers, text } of answers) {
        assert.strictEqual(headers["x-content-type-options"], "nosniff", text)
        assert.strictEqual(headers["cache-control"], "no-store", text)
      }
    })
  )
})

describe("metrics", () => {
  it.live("are served only with the option", () =>
    Effect.gen(function* () {
      const metrics = Effect.flatMap(Service, ({ raw }) =>
        Effect.andThen(raw("GET", "processes"), raw("GET", "/metrics", { key: null }))
      )
      const off = yield* serving({}, metrics)
      assert.strictEqual(off.status, 404)
      const on = yield* serving({ metrics: true }, metrics)
      assert.match(on.headers["content-type"] ?? "", /^text\/plain/)
      assert.match(on.text, /signalbox_http_request_seconds_count\{[^}]*method="GET"[^}]*status="200"[^}]*\} \d/)
    })
  )
})

/** The statuses of requests that name these hosts. */
const statusesOf = Effect.fnUntraced(function* (hosts: ReadonlyArray<string>) {
  const { raw } = yield* Service
  return yield* Effect.forEach(hosts, (host) =>
    Effect.map(raw("GET", "/healthz", { key: null, headers: { host } }), ({ status }) => status)
  )
})

describe("the host that a request names", () => {
  const own = ["localhost", "LOCALHOST:4700", "127.0.0.1", "127.8.8.8:1", "[::1]", "[::1]:4700", "localhost."]
  const foreign = [
    "evil.example",
    "evil.example:4700",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "[::2]",
    "a b"
  ]

  it.live("is one of this machine on loopback; another is refused before anything is done", () =>
    serving(
      {},
      Effect.gen(function* () {
        const { origin, raw } = yield* Service
        assert.deepStrictEqual(new Set(yield* statusesOf(own)), new Set([200]))
        assert.deepStrictEqual(new Set(yield* statusesOf(foreign)), new Set([421]))
        const refused = yield* raw("POST", "processes", {
          headers: { host: "evil.example" },
          json: { name: "rebound", steps: [{ name: "s", task: { name: "t" } }] }
        })
        assert.strictEqual(refused.status, 421)
        assert.include(refused.text, "--allowed-host")
        const listed = yield* raw("GET", "processes")
        assert.deepStrictEqual(bodyAs(Schema.Struct({ data: Schema.Array(Made) }), listed).data, [])
        // HTTP/1.0 requires none, and no browser uses it.
        assert.match(yield* sendRaw(origin, "GET /healthz HTTP/1.0\r\n\r\n"), /^HTTP\/1\.[01] 200 /)
      })
    )
  )

  it.live("may be that of the public and the internal address, and those that are allowed", () =>
    serving(
      {
        publicUrl: "https://room.example.com/automation",
        internalUrl: "http://room:4700",
        allowedHosts: ["Other.example.com"]
      },
      Effect.gen(function* () {
        const hosts = ["room", "room.example.com", "room.example.com:4700", "other.example.com:1", "localhost"]
        assert.deepStrictEqual(new Set(yield* statusesOf(hosts)), new Set([200]))
        assert.deepStrictEqual(new Set(yield* statusesOf(foreign)), new Set([421]))
      })
    )
  )
})
