/** The stream of hints: what is told to whom, that it stays small, and when it ends. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as ChangesClient from "@signalbox/api/Changes"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Assets from "@signalbox/api/Assets"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Changes } from "../src/internal/store/room/Changes.ts"
import { between, watch } from "./support/ChangeStream.ts"
import { assertError } from "./support/Http.ts"
import { node } from "./support/Nodes.ts"
import { layer, linkWorker, onPostgres, Service, temporaryFolder } from "./support/Service.ts"

const newProcess = (name: string) => Processes.create({ name, steps: [{ name: "only", task: { name } }] })

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the stream of changes", (it) => {
  it.effect("begins with a reset, goes on after a position, and is not gathered on its way", () =>
    Effect.gen(function* () {
      const first = yield* watch()
      assert.deepStrictEqual(yield* first.next, { topic: "reset", id: null, seq: 1 })
      assert.strictEqual(first.headers["content-type"], "text/event-stream")
      assert.strictEqual(first.headers["x-accel-buffering"], "no")
      assert.strictEqual(first.headers["cache-control"], "no-store, no-transform")
      assert.isUndefined(first.headers["content-encoding"])
      const again = yield* watch({ headers: { "last-event-id": "41" } })
      assert.deepStrictEqual(yield* again.next, { topic: "reset", id: null, seq: 42 })
      const asked = yield* watch({ query: "?after=6" })
      assert.deepStrictEqual(yield* asked.next, { topic: "reset", id: null, seq: 7 })
    })
  )

  it.effect("tells of a run, its items, its log and its worker as they change", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const process = yield* newProcess("told")
      const stream = yield* watch()
      yield* stream.until("reset")
      const run = yield* ProcessRuns.start(process.id, { payloads: [1] })
      const id = run.started ? run.id : ""
      for (const topic of ["runs", "items", "step_runs"]) yield* stream.until(topic, id)
      const worker = yield* linkWorker(["told"])
      const { lease } = yield* worker.take
      yield* stream.until("workers")
      const reports = yield* WorkerProtocol.makeReports(origin, worker.identity)
      yield* reports.sendConsole(lease, 0, [{ timestamp: "2026-01-01T00:00:00.000Z", message: "one" }])
      yield* stream.until("logs", lease.step_run_id)
      yield* worker.protocol.finish(lease, { code: "ROBOT_FAILURE", message: "broke" })
      yield* stream.until("failures")
    })
  )

  it.effect("tells a key of the topics that it may read, and of its workspace alone", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace } = yield* Service
      const key = yield* makeKey(["Webhooks.read_webhooks"])
      const stream = yield* watch({ key })
      const other = yield* makeWorkspace
      const elsewhere = yield* watch({ key: yield* makeKey(Permission.literals, other), workspace: other })
      for (const one of [stream, elsewhere]) yield* one.until("reset")
      yield* Assets.create("secret plan")
      const { id } = yield* Webhooks.create({ endpoint: "http://127.0.0.1:1/", events: ["process_run.started"] })
      assert.deepStrictEqual((yield* stream.next).topic, "webhooks")
      yield* Webhooks.remove(id)
      assert.deepStrictEqual(yield* stream.next, { topic: "webhooks", id, seq: 3 })
      assert.deepStrictEqual(elsewhere.received, ["reset"])
    })
  )

  it.effect("ends when its key is revoked", () =>
    Effect.gen(function* () {
      const { key, makeKey, raw } = yield* Service
      const revoked = yield* makeKey(["Webhooks.read_webhooks"])
      const stream = yield* watch({ key: revoked })
      yield* stream.until("reset")
      const answer = yield* raw("DELETE", `api-keys/${revoked.split("_")[1]}`, { key })
      assert.strictEqual(answer.status, 200, answer.text)
      yield* stream.ended
    })
  )

  it.effect("ends when its session of the console is closed", () =>
    Effect.gen(function* () {
      const { key, raw } = yield* Service
      const own = { "sec-fetch-site": "same-origin", "x-signalbox-console": "1" }
      const opened = yield* raw("POST", "/console/session", { key: null, json: { key }, headers: own })
      const cookie = opened.headers["set-cookie"]?.split(";")[0] ?? ""
      const stream = yield* watch({ key: null, headers: { cookie, "sec-fetch-site": "same-origin" } })
      yield* stream.until("reset")
      yield* raw("DELETE", "/console/session", { key: null, headers: { ...own, cookie } })
      yield* stream.ended
    })
  )

  it.effect("is open a few times for a key, and closed ones do not count", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const key = yield* makeKey([])
      const scope = yield* Scope.make()
      const streams = yield* Effect.forEach(Array.from({ length: 32 }), () => Scope.provide(watch({ key }), scope), {
        concurrency: 8
      })
      assert.lengthOf(streams, 32)
      assertError(yield* raw("GET", "changes", { key }), 429, "RATE_LIMITED", /too many streams/)
      yield* Scope.close(scope, Exit.void)
      const again = yield* Effect.repeat(raw("GET", "changes", { key }), { until: ({ status }) => status === 200 })
      assert.strictEqual(again.status, 200)
    })
  )

  it.effect("passes a proxy that gathers what it may, and after a cut tells to load everything", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const proxy = yield* between(origin)
      const first = yield* watch({ origin: proxy.origin })
      yield* first.until("reset")
      const process = yield* newProcess("before the cut")
      const { seq } = yield* first.until("processes")
      proxy.cut()
      yield* first.ended
      yield* Processes.remove(process.id)
      const again = yield* watch({ origin: proxy.origin, headers: { "last-event-id": String(seq) } })
      assert.deepStrictEqual(yield* again.next, { topic: "reset", id: null, seq: seq + 1 })
      yield* newProcess("after the cut")
      yield* again.until("processes")
    })
  )

  it.effect("is a stream of the client, from a position on", () =>
    Effect.gen(function* () {
      const hints = yield* ChangesClient.stream({ after: 11 }).pipe(
        Stream.tap(({ topic }) => (topic === "reset" ? newProcess("for the client") : Effect.void)),
        Stream.take(2),
        Stream.runCollect
      )
      assert.deepStrictEqual(
        hints.map(({ seq, topic }) => [seq, topic]),
        [
          [12, "reset"],
          [13, "processes"]
        ]
      )
      const { origin, workspaceId } = yield* Service
      const unknown = Redacted.make(`sbk_${workspaceId}_${"A".repeat(43)}`)
      const connection = ControlRoom.layerHttpClient({ baseUrl: origin, workspaceId, apiKey: unknown })
      const refused = yield* ChangesClient.stream().pipe(Stream.runDrain, Effect.flip, Effect.provide(connection))
      assert.strictEqual(refused.reason._tag, "Forbidden")
    })
  )

  it.effect("tells a reader that is slow to load everything, and keeps little for it", () =>
    Effect.gen(function* () {
      const changes = yield* Changes
      const { workspaceId } = yield* Service
      const box = yield* changes.mailbox(workspaceId)
      const quick = yield* changes.mailbox(workspaceId)
      for (const topic of ["runs", "items", "assets", "webhooks", "alerts"] as const) {
        for (let n = 0; n < 1000; n++) yield* changes.tell(workspaceId, () => [{ topic, id: `${n % 15}` }])
      }
      yield* changes.tell(workspaceId, () => [{ topic: "keys", id: null }])
      // A quick one has seen the last hint, or more at once than a mailbox has.
      yield* Effect.repeat(quick.take, {
        until: ({ hints }) => hints === "reset" || hints.some(({ topic }) => topic === "keys")
      })
      assert.strictEqual((yield* box.take).hints, "reset")
    })
  )
})

if (onPostgres) {
  withLayer(Layer.empty, { excludeTestServices: true, timeout: "4 minutes" })("the streams of two nodes", (it) => {
    it.effect("tell of what changes on the other, and end with a key that the other revokes", () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const [a, b] = [yield* node(folder), yield* node(folder)]
        const key = yield* a.makeKey(Permission.literals)
        const stream = yield* Effect.provideContext(watch({ key }), b.context)
        yield* stream.until("reset")
        const process = yield* Effect.provideContext(newProcess("there"), a.context)
        // A node that has only begun to listen tells to load everything in place of what it missed.
        yield* Effect.repeat(stream.next, { until: ({ topic }) => topic === "processes" || topic === "reset" })
        const run = yield* Effect.provideContext(ProcessRuns.start(process.id, { payloads: [1] }), a.context)
        yield* stream.until("runs", run.started ? run.id : "")
        yield* a.raw("DELETE", `api-keys/${key.split("_")[1]}`)
        yield* stream.ended
      })
    )
  })
}
