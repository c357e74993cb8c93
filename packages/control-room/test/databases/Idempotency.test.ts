/** Idempotency keys: a POST with a key is executed once. */
import { assert, layer as withLayer } from "@effect/vitest"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { WithoutRecord } from "@signalbox/api/contract/IdempotencyKeys"
import { withIdempotencyScope } from "@signalbox/api/Idempotency"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { endpoints, fill } from "../support/Endpoints.ts"
import { assertError, errorOf } from "../support/Http.ts"
import { layer, Service } from "../support/Service.ts"

/** An id that does not exist. */
const nobody = "01900000-0000-7000-8000-000000000000"

let made = 0
const newProcess = Effect.suspend(() =>
  Processes.create({ name: `process ${++made}`, steps: [{ name: "a", task: { name: `nobody ${made}` } }] })
)
const days = (count: number) => Math.round(Duration.toMillis(Duration.days(count)))
const itemsOf = (process: Processes.Process) =>
  Effect.map(Stream.runCollect(WorkItems.stream({ process: process.id })), (items) => items.length)

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a POST with a key", (it) => {
  it.effect("is executed once, and the response replayed, marked as a replay", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const process = yield* newProcess
      const post = (json: unknown) => raw("POST", "work-items", { json, headers: { "idempotency-key": "one" } })
      const first = yield* post({ process: { id: process.id }, payload: { a: 1, b: [2] } })
      assert.strictEqual(first.status, 200, first.text)
      assert.isUndefined(first.headers["idempotent-replayed"])
      assert.strictEqual(first.headers["idempotency-key-ttl"], "86400")
      // Another spelling of the same JSON is the same request.
      const second = yield* post({ payload: { b: [2], a: 1 }, process: { id: process.id } })
      assert.strictEqual(second.text, first.text)
      assert.strictEqual(second.headers["idempotent-replayed"], "true")
      assert.match(second.headers["content-type"] ?? "", /^application\/json/)
      assert.strictEqual(yield* itemsOf(process), 1)
    })
  )

  it.effect("waits for the first one when both are concurrent", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const process = yield* newProcess
      const json = { process: { id: process.id } }
      const post = raw("POST", "work-items", { json, headers: { "idempotency-key": "at-once" } })
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => post),
        { concurrency: 10 }
      )
      assert.strictEqual(new Set(answers.map((answer) => answer.text)).size, 1)
      assert.strictEqual(yield* itemsOf(process), 1)
    })
  )

  it.effect("has a record on every endpoint but those that the contract says have none", () =>
    Effect.gen(function* () {
      const { raw, workspaceId } = yield* Service
      const posts = endpoints.filter(({ door, method }) => door === "key" && method === "POST")
      const without: Array<string> = []
      for (const { identifier, path } of posts) {
        const filled = fill(path, (name) => (name === "workspace_id" ? workspaceId : nobody))
        // A body that no endpoint accepts: nothing is changed, and the response still says whether a record exists.
        const asked = { "idempotency-key": identifier, "idempotency-key-ttl": "3600" }
        const { headers } = yield* raw("POST", filled, { json: [], headers: asked })
        if (headers["idempotency-key-ttl"] !== "3600") without.push(identifier)
      }
      const annotated = posts.filter(({ declared }) => Context.get(declared.annotations, WithoutRecord))
      assert.isAbove(posts.length, 10)
      assert.deepStrictEqual(without, ["configureTaskPackage", "previewScheduleTimes"])
      assert.deepStrictEqual(
        annotated.map(({ identifier }) => identifier),
        without
      )
    })
  )

  it.effect("of another request is a 409 that changes nothing", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const process = yield* newProcess
      const headers = { "idempotency-key": "two" }
      yield* raw("POST", "work-items", { json: { process: { id: process.id } }, headers })
      const others = [
        raw("POST", "work-items", { json: { process: { id: process.id }, payload: 1 }, headers }),
        raw("POST", `processes/${process.id}/process-runs`, { json: {}, headers })
      ]
      for (const other of others) {
        const answer = yield* other
        assert.strictEqual(answer.status, 409)
        assert.strictEqual(errorOf(answer).error.code, "IDEMPOTENCY_KEY_REUSED")
      }
      assert.strictEqual(yield* itemsOf(process), 1)
    })
  )

  it.effect("that failed may be repeated: only successes are recorded", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const process = yield* newProcess
      const headers = { "idempotency-key": "three" }
      const bad = yield* raw("POST", "work-items", { json: { process: {} }, headers })
      assert.strictEqual(bad.status, 400)
      const good = yield* raw("POST", "work-items", { json: { process: { id: process.id } }, headers })
      assert.strictEqual(good.status, 200)
    })
  )

  it.effect("belongs to its workspace, and the refusal of an invalid key says what is valid", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      for (const key of ["", "x".repeat(256), "with space", "ümlaut"]) {
        const answer = yield* raw("POST", "work-items", {
          json: {},
          headers: { "idempotency-key": Buffer.from(key).toString("latin1") }
        })
        assert.strictEqual(answer.status, 400, key)
        assert.match(errorOf(answer).message, /Idempotency-Key: Expected 1 to 255 visible/)
      }
    })
  )

  it.effect("is stored for as long as it asks, up to 7 days, and the response says how long", () =>
    Effect.gen(function* () {
      const { raw, retainIn } = yield* Service
      const json = { process: { id: (yield* newProcess).id } }
      const post = (key: string, ttl?: string) =>
        Effect.map(
          raw("POST", "work-items", {
            json,
            headers: { "idempotency-key": key, ...(ttl === undefined ? {} : { "idempotency-key-ttl": ttl }) }
          }),
          ({ headers, status, text }) => {
            assert.strictEqual(status, 200, text)
            return [headers["idempotency-key-ttl"], headers["idempotent-replayed"]]
          }
        )
      assert.deepStrictEqual(yield* post("brief", "1"), ["1", undefined])
      assert.deepStrictEqual(yield* post("plain"), ["86400", undefined])
      assert.deepStrictEqual(yield* post("long", "604800"), ["604800", undefined])

      yield* retainIn(days(0.99))
      assert.deepStrictEqual(yield* post("plain"), ["86400", "true"])
      yield* retainIn(days(6.99))
      assert.deepStrictEqual(yield* post("plain"), ["86400", undefined])
      assert.deepStrictEqual(yield* post("long", "604800"), ["604800", "true"])
      yield* retainIn(days(7.01))
      assert.deepStrictEqual(yield* post("long", "604800"), ["604800", undefined])
    })
  )

  it.effect("is stored as the first request asked: a replay says so, and extends nothing", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const process = yield* newProcess
      const post = (ttl: string, payload: number) =>
        raw("POST", "work-items", {
          json: { process: { id: process.id }, payload },
          headers: { "idempotency-key": "first", "idempotency-key-ttl": ttl }
        })
      yield* post("3600", 1)
      const kept = Effect.map(rows, (tables) => tables["idempotency_key"])
      const before = yield* kept
      const replay = yield* post("604800", 1)
      assert.strictEqual(replay.headers["idempotent-replayed"], "true")
      assert.strictEqual(replay.headers["idempotency-key-ttl"], "3600")
      const other = yield* post("604800", 2)
      assert.strictEqual(other.status, 409)
      assert.strictEqual(other.headers["idempotency-key-ttl"], "3600")
      assert.deepStrictEqual(yield* kept, before)
    })
  )

  it.effect("says what a lifetime may be, and does nothing with another", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const process = yield* newProcess
      const json = { process: { id: process.id } }
      for (const ttl of ["", "0", "604801", "-1", "1.5", "1e3", "060", "60s", "60, 60", "99999999999999999999"]) {
        const answer = yield* raw("POST", "work-items", {
          json,
          headers: { "idempotency-key": "lifetimes", "idempotency-key-ttl": ttl }
        })
        assertError(answer, 400, "INVALID_REQUEST", /^Idempotency-Key-TTL: Expected whole seconds, 1 to 604800/)
      }
      assert.strictEqual(yield* itemsOf(process), 0)
    })
  )

  it.effect("alone has a lifetime: no other request is refused for it", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const headers = { "idempotency-key-ttl": "soon" }
      const json = { process: { id: (yield* newProcess).id } }
      const answers = [
        yield* raw("POST", "work-items", { json, headers }),
        yield* raw("GET", "work-items", { headers })
      ]
      for (const { headers, status, text } of answers) {
        assert.strictEqual(status, 200, text)
        assert.strictEqual(headers["idempotency-key-ttl"], "86400")
      }
    })
  )

  it.effect("seals the stored response", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const process = yield* newProcess
      const json = { process: { id: process.id }, payload: "VERYSECRET" }
      yield* raw("POST", "work-items", { json, headers: { "idempotency-key": "sealed" } })
      const tables = yield* rows
      const kept = JSON.stringify(Object.entries(tables).filter(([table]) => table === "idempotency_key"))
      assert.include(kept, "sealed")
      assert.notInclude(kept, "VERYSECRET")
    })
  )

  it.effect("keeps a repeated program from doing anything twice", () =>
    Effect.gen(function* () {
      const process = yield* newProcess
      const program = withIdempotencyScope(
        `nightly-${process.id}`,
        Effect.gen(function* () {
          const item = yield* WorkItems.create({ process: process.id, payload: 1 })
          return yield* ProcessRuns.start(process.id, { workItems: [item.id] })
        })
      )
      const first = yield* program
      assert.deepStrictEqual(yield* program, first)
      assert.strictEqual(yield* itemsOf(process), 1)
      assert.strictEqual(yield* Stream.runCount(ProcessRuns.stream({ process: process.id })), 1)
    })
  )

  it.effect("lets a program ask for days, and returns what was granted", () =>
    Effect.gen(function* () {
      const { retainIn } = yield* Service
      const process = yield* newProcess
      const create = WorkItems.create({ process: process.id })
      const program = withIdempotencyScope(`weekly-${process.id}`, create, { ttlSeconds: 604_800 })
      const first = yield* program
      assert.strictEqual(yield* ControlRoom.keyLifetime(604_800), 604_800)
      yield* retainIn(days(6.99))
      assert.deepStrictEqual(yield* program, first)
      yield* retainIn(days(7.01))
      assert.notStrictEqual((yield* program).id, first.id)
    })
  )
})
