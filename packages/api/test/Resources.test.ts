/** What the modules do beyond one plain call each. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Assets from "../src/Assets.ts"
import * as Assistants from "../src/Assistants.ts"
import {
  AssetId,
  AssistantRunId,
  ProcessId,
  ProcessRunId,
  StepId,
  TaskPackageId,
  WorkerGroupId,
  WorkerId,
  WorkspaceId
} from "../src/contract/Ids.ts"
import { ControlRoom } from "../src/ControlRoom.ts"
import * as ProcessRuns from "../src/ProcessRuns.ts"
import * as Secrets from "../src/Secrets.ts"
import * as TaskPackages from "../src/TaskPackages.ts"
import * as WorkerGroups from "../src/WorkerGroups.ts"
import * as WorkItems from "../src/WorkItems.ts"
import { answer, type FaultServer, make } from "./support/FaultServer.ts"

const base = "/api/v1/workspaces/w"

/** Runs a program against a server with scripted responses. */
const withServer = <A, E>(program: (server: FaultServer) => Effect.Effect<A, E, ControlRoom>) =>
  Effect.gen(function* () {
    const server = yield* make
    const layer = ControlRoom.layerHttpClient({
      baseUrl: server.origin,
      apiKey: Redacted.make("key"),
      workspaceId: WorkspaceId.make("w")
    })
    return yield* program(server).pipe(Effect.provide(Layer.provide(layer, NodeHttpClient.layerUndici)))
  }).pipe(Effect.scoped)

const calls = (server: FaultServer) => server.received().map(({ method, path }) => `${method} ${path}`)

const zeros = (size: number) => ({
  name: "zeros",
  size,
  stream: Stream.range(1, Math.ceil(size / 65_536)).pipe(
    Stream.map((n) => new Uint8Array(Math.min(65_536, size - (n - 1) * 65_536)))
  )
})

it.live("each filter of a list of work items is sent under the name of its query parameter", () =>
  withServer((server) =>
    Effect.gen(function* () {
      const none = answer(200, { data: [], has_more: false, next: null })
      server.script([none, none])
      yield* WorkItems.list({
        process: ProcessId.make("p1"),
        processRun: ProcessRunId.make("r1"),
        state: "failed",
        step: StepId.make("s1"),
        reference: "RE-1",
        tag: "urgent",
        dueState: "late",
        includeData: true,
        limit: 7
      })
      const { searchParams } = new URL(server.received()[0]?.path ?? "", server.origin)
      assert.deepStrictEqual(Object.fromEntries(searchParams), {
        process_id: "p1",
        process_run_id: "r1",
        state: "failed",
        step_id: "s1",
        reference: "RE-1",
        tag: "urgent",
        due_state: "late",
        include_data: "true",
        limit: "7"
      })
      yield* WorkItems.list({ state: "failed", tag: undefined })
      assert.strictEqual(new URL(server.received()[1]?.path ?? "", server.origin).search, "?state=failed")
    })
  )
)

describe("the content of an asset", () => {
  const completed = answer(200, { id: "u1", status: "completed", content_type: "text/plain" })
  const asset = { id: "a1", name: "config", payload: { type: "empty" } }

  it.live("goes with the request when it is small", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([completed])
        const seen: Array<number> = []
        yield* Assets.upload(
          "name:config/eu",
          { name: "config", bytes: new TextEncoder().encode("hello") },
          { contentType: "text/plain", onProgress: (sent) => Effect.sync(() => seen.push(sent)) }
        )
        assert.deepStrictEqual(calls(server), [`POST ${base}/assets/name%3Aconfig%2Feu/uploads`])
        assert.deepStrictEqual(JSON.parse(server.received()[0]?.body ?? ""), {
          content_type: "text/plain",
          data: "aGVsbG8="
        })
        assert.deepStrictEqual(seen, [5])
      })
    )
  )

  it.live("goes to the signed address when it is large, and is awaited", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const upload = { id: "u1", content_type: "application/octet-stream" }
        const size = 3_750_000
        server.script([
          answer(200, { ...upload, status: "pending", upload_url: `${server.origin}/bucket/u1?signature=s` }),
          answer(204, ""),
          answer(200, asset),
          answer(200, { ...upload, status: "pending" }),
          answer(200, { ...upload, status: "completed" })
        ])
        let last = 0
        yield* Assets.upload("name:config", zeros(size), { onProgress: (sent) => Effect.sync(() => (last = sent)) })
        const poll = `GET ${base}/assets/a1/uploads/u1`
        assert.deepStrictEqual(calls(server), [
          `POST ${base}/assets/name%3Aconfig/uploads`,
          "PUT /bucket/u1?signature=s",
          `GET ${base}/assets/name%3Aconfig`,
          poll,
          poll
        ])
        assert.deepStrictEqual(JSON.parse(server.received()[0]?.body ?? ""), {
          content_type: "application/octet-stream"
        })
        const put = server.received()[1]
        assert.strictEqual(put?.headers["content-length"], String(size))
        assert.strictEqual(put?.body.length, size)
        assert.isUndefined(put?.headers["content-type"])
        assert.isUndefined(put?.headers.authorization)
        assert.strictEqual(last, size)
      })
    )
  )

  it.live("goes with the request up to five million characters of base64, exclusive", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([completed])
        yield* Assets.upload(AssetId.make("a1"), zeros(3_749_997))
        const body: { readonly data?: string } = JSON.parse(server.received()[0]?.body ?? "{}")
        assert.strictEqual(body.data?.length, 4_999_996)
      })
    )
  )

  it.live("that does not get through fails with the words of the service", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const upload = { id: "u1", content_type: "application/octet-stream" }
        server.script([
          answer(200, { ...upload, status: "pending", upload_url: `${server.origin}/bucket/u1` }),
          answer(204, ""),
          answer(200, { ...upload, status: "failed", reason: "larger than 5 GB" })
        ])
        const error = yield* Effect.flip(Assets.upload(AssetId.make("a1"), zeros(3_750_000)))
        assert.strictEqual(error._tag, "AssetUploadFailed")
        assert.include(error.message, "larger than 5 GB")
      })
    )
  )

  it.live("creates the asset first when none has the name", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(404), answer(200, asset), completed])
        const id = yield* Assets.put("config", { name: "config", bytes: new Uint8Array(1) })
        assert.strictEqual(id, "a1")
        assert.deepStrictEqual(calls(server), [
          `GET ${base}/assets/name%3Aconfig`,
          `POST ${base}/assets`,
          `POST ${base}/assets/a1/uploads`
        ])
      })
    )
  )

  it.live("is downloaded without the key, and is empty while it has no content", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const text = (asset: Assets.AssetRef) => Stream.mkString(Stream.decodeText(Assets.download(asset)))
        server.script([
          answer(200, {
            ...asset,
            payload: { type: "url", content_type: "text/plain", url: `${server.origin}/signed` }
          }),
          answer(200, "hello")
        ])
        assert.strictEqual(yield* text(AssetId.make("a1")), "hello")
        assert.isUndefined(server.received()[1]?.headers.authorization)
        server.script([answer(200, asset)])
        assert.strictEqual(yield* text("name:config"), "")
      })
    )
  )
})

describe("a task package", () => {
  it.live("is uploaded with its form", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([
          answer(200, { url: `${server.origin}/bucket`, form_data: { key: "k", policy: "p" } }),
          answer(204, "")
        ])
        yield* TaskPackages.upload(TaskPackageId.make("t1"), {
          name: "robot.zip",
          bytes: new TextEncoder().encode("PK")
        })
        assert.deepStrictEqual(calls(server), [`GET ${base}/task-packages/t1/upload`, "POST /bucket"])
        const body = server.received()[1]?.body ?? ""
        assert.isAbove(body.indexOf('name="file"; filename="robot.zip"'), body.indexOf('name="policy"'))
      })
    )
  )
})

describe("secrets", () => {
  const content = { items: { user: "robot", password: Redacted.make("hunter2"), port: 1 } }

  it.live("go in plain on the wire, redacted or not", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(404), answer(200, { name: "shop", description: null })])
        yield* Secrets.put("shop", content)
        assert.deepStrictEqual(calls(server), [`POST ${base}/secrets/shop`, `POST ${base}/secrets`])
        assert.deepStrictEqual(JSON.parse(server.received()[1]?.body ?? ""), {
          name: "shop",
          items: { user: "robot", password: "hunter2", port: 1 }
        })
      })
    )
  )

  it.live("are in no error, whoever refuses them", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(500)])
        const refusedHere = yield* Effect.flip(Secrets.create("not a name", content))
        assert.deepStrictEqual(calls(server), [])
        const unsendable = { items: { password: Number.NaN } }
        const alsoHere = yield* Effect.flip(Secrets.create("shop", unsendable))
        const refusedThere = yield* Effect.flip(Secrets.create("shop", content))
        for (const error of [refusedHere, alsoHere, refusedThere]) {
          assert.notInclude(`${error.message} ${JSON.stringify(error)}`, "hunter2")
          assert.notInclude(`${error.message} ${JSON.stringify(error)}`, "NaN")
        }
        assert.deepStrictEqual([refusedHere._tag, alsoHere._tag], ["InvalidRequest", "InvalidRequest"])
        assert.strictEqual(refusedThere._tag, "ControlRoomError")
      })
    )
  )
})

describe("a start", () => {
  it.live("carries its callback", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(200, { started: true, id: "r1" })])
        yield* ProcessRuns.start(
          ProcessId.make("p1"),
          { payloads: [1] },
          { callback: { url: "https://example.com/hook", secret: Redacted.make("s"), events: ["completed"] } }
        )
        assert.deepStrictEqual(JSON.parse(server.received()[0]?.body ?? ""), {
          type: "with_payloads",
          payloads: [1],
          callback: { url: "https://example.com/hook", secret: "s", callback_events: ["completed"] }
        })
      })
    )
  )

  it.live("from elsewhere has an address that does not show its key", () =>
    withServer((server) =>
      Effect.gen(function* () {
        const url = yield* ProcessRuns.integrationUrl(ProcessId.make("p1"), { key: "sbk_1_a+b", handshake: "asana" })
        assert.notInclude(String(url), "sbk")
        assert.strictEqual(
          Redacted.value(url),
          `${server.origin}${base}/processes/p1/process-runs-integrations?token=sbk_1_a%2Bb&with_handshake=asana`
        )
      })
    )
  )
})

describe("an end", () => {
  const run = {
    id: "ar1",
    state: "in_progress",
    error: null,
    started_at: "2026-11-20T00:00:00.000Z",
    ended_at: null,
    duration: null,
    assistant: { id: "a1", name: "invoices" }
  }

  it.live("of an assistant run is awaited", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([
          answer(200, run),
          answer(200, run),
          answer(200, { ...run, state: "failed", error: { code: "UNKNOWN" } })
        ])
        const ended = yield* Assistants.awaitRunEnd(AssistantRunId.make("ar1"), { pollInterval: "1 millis" })
        assert.strictEqual(ended.state, "failed")
        assert.strictEqual(server.received().length, 3)
      })
    )
  )

  it.live("that does not come is a timeout that says of what", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(200, run)])
        const error = yield* Effect.flip(
          Assistants.awaitRunEnd(AssistantRunId.make("ar1"), { pollInterval: "1 millis", timeout: "40 millis" })
        )
        assert.include(error.message, "the run did not end within 40 ms")
      })
    )
  )
})

describe("a repeated DELETE", () => {
  it.live("that finds nothing is a success only where the response says no more than that", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(503, undefined, { "retry-after": "0" }), answer(404)])
        const group = WorkerGroupId.make("g1")
        const removed = yield* WorkerGroups.remove(group)
        assert.deepStrictEqual(removed, { id: group, deleted: true })
        server.script([answer(503, undefined, { "retry-after": "0" }), answer(404)])
        const error = yield* Effect.flip(WorkerGroups.removeWorker(group, WorkerId.make("w1")))
        assert.strictEqual(error._tag, "NotFound")
      })
    )
  )
})
