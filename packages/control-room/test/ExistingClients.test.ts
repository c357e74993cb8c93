/** What robots, libraries and generated clients that exist rely on, each named after who does. */
import { assert, layer as withLayer } from "@effect/vitest"
import { pathAliases } from "@signalbox/api/contract/Aliases"
import { TaskPackageId } from "@signalbox/api/contract/Ids"
import * as Assets from "@signalbox/api/Assets"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import { bodyAs } from "./support/Http.ts"
import { layer, linkWorker, Service } from "./support/Service.ts"

const Document = Schema.Struct({
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Json)),
  components: Schema.Struct({ securitySchemes: Schema.Record(Schema.String, Schema.Json) })
})

const Operation = Schema.Struct({ operationId: Schema.String, deprecated: Schema.optionalKey(Schema.Boolean) })

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("clients that exist", (it) => {
  it.effect("work-item libraries since 2021: an item without a payload has no data, which they read as {}", () =>
    Effect.gen(function* () {
      const { raw, workspaceId } = yield* Service
      const { id } = yield* Processes.create({ name: "empty", steps: [{ name: "s", task: { name: "empty" } }] })
      const worker = yield* linkWorker(["empty"])
      yield* ProcessRuns.start(id)
      const { lease, session } = yield* worker.take
      const path = `/json-v1/workspaces/${workspaceId}/workitems/${lease.work_item_id}/data`
      const headers = { authorization: `Bearer ${lease.run_token}` }
      assert.strictEqual((yield* raw("GET", path, { key: null, headers })).status, 404)
      assert.isNull(yield* session.payload(lease.work_item_id))
      yield* session.setPayload(lease.work_item_id, {})
      assert.strictEqual((yield* raw("GET", path, { key: null, headers })).text, "{}")
      yield* worker.protocol.finish(lease, null)
    })
  )

  it.effect("RC_ACTIVITY_ID of robots: a lease names the step", () =>
    Effect.gen(function* () {
      const process = yield* Processes.create({ name: "step", steps: [{ name: "s", task: { name: "step" } }] })
      const worker = yield* linkWorker(["step"])
      yield* ProcessRuns.start(process.id)
      const { lease } = yield* worker.take
      assert.strictEqual(lease.step_id, process.steps[0]?.id)
      yield* worker.protocol.finish(lease, null)
    })
  )

  it.effect("requests of Python: a text asset names its charset, or it would be read as Latin-1", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const typeOf = Effect.fnUntraced(function* (name: string, contentType: string) {
        yield* Assets.put(name, { name, bytes: new TextEncoder().encode("Zoë") }, { contentType })
        const { payload } = yield* Assets.get(`name:${name}`)
        const url = payload.type === "url" && "url" in payload ? String(payload.url) : assert.fail("no content")
        const { headers, text } = yield* raw("GET", url, { key: null })
        assert.strictEqual(text, "Zoë")
        return headers["content-type"]
      })
      assert.strictEqual(yield* typeOf("text", "text/plain"), "text/plain; charset=utf-8")
      assert.strictEqual(yield* typeOf("csv", "text/csv; charset=latin1"), "text/csv; charset=latin1")
      assert.strictEqual(yield* typeOf("json", "application/json"), "application/json")
    })
  )

  it.effect("generators of clients: the key is an apiKey in the header Authorization, Bearer besides", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const document = bodyAs(Document, yield* raw("GET", "/api/v1/openapi.json", { key: null }))
      const schemes = document.components.securitySchemes
      assert.deepInclude(schemes["wskey"], { type: "apiKey", in: "header", name: "Authorization" })
      assert.deepInclude(schemes["bearer"], { type: "http", scheme: "Bearer" })
      assert.notInclude(JSON.stringify(schemes), `"scheme":"RC-WSKEY"`)
    })
  )

  it.effect("the generated client of 2023: PUT adds a worker to a group", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { identity } = yield* linkWorker([])
      const Made = Schema.Struct({ id: Schema.String })
      const group = bodyAs(Made, yield* raw("POST", "worker-groups", { json: { name: "by put" } }))
      const worker = { worker: { id: identity.workerId } }
      const added = yield* raw("PUT", `worker-groups/${group.id}/workers`, { json: worker })
      assert.strictEqual(added.status, 200, added.text)
      assert.deepInclude(JSON.parse(added.text), worker)
    })
  )

  it.effect("the generated client of 2023: a task package is created by its name, and its zip downloaded", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const Made = Schema.Struct({ id: TaskPackageId, type: Schema.String })
      const made = yield* raw("POST", "task-packages", { json: { name: "by name" } })
      const { id, type } = bodyAs(Made, made)
      assert.strictEqual(type, "zip")
      const refused = yield* raw("POST", "task-packages", { json: { name: "other", type: "tar" } })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.text, /"message":"type: /)
      assert.strictEqual((yield* raw("GET", `task-packages/${id}/download`)).status, 404)
      const zip = yield* zipOf({ "robot.yaml": robotYaml("t") })
      yield* TaskPackages.upload(id, { name: "p.zip", bytes: zip })
      const got = yield* raw("GET", `task-packages/${id}/download`)
      assert.strictEqual(got.status, 200, got.text)
      assert.strictEqual(got.headers["content-type"], "application/zip")
      assert.isTrue(got.bytes.equals(Buffer.from(zip)))
      const headers = { accept: "application/json" }
      const { url } = bodyAs(
        Schema.Struct({ url: Schema.String }),
        yield* raw("GET", `task-packages/${id}/download`, { headers })
      )
      const linked = yield* raw("GET", url.replace(/^https?:\/\/[^/]+/, ""), { key: null })
      assert.isTrue(linked.bytes.equals(Buffer.from(zip)), linked.text.slice(0, 200))
    })
  )

  it.effect("clients of older generations: every alias that is served is in the document, as deprecated", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { paths } = bodyAs(Document, yield* raw("GET", "/api/v1/openapi.json", { key: null }))
      const { id } = yield* Processes.create({ name: "aliases", steps: [] })
      const item = yield* WorkItems.create({ process: id })
      for (const { method, of, path } of pathAliases) {
        const operation = Schema.decodeUnknownSync(Operation)(paths[`/api/v1${path}`]?.[method.toLowerCase()])
        assert.deepEqual(operation, { operationId: `${of}Alias`, deprecated: true })
        const served = path.replace("/workspaces/{workspace_id}/", "").replace("{work_item_id}", item.id)
        const body = method === "POST" ? { json: { file_name: "a.txt", file_size: 1 } } : {}
        const { status, text } = yield* raw(method, served.replace(/\{\w+\}/, "none"), body)
        // Lists below a parent that does not exist: found as a path, and then no such parent.
        assert.oneOf(status, [200, 404], text)
        assert.notInclude(text, "nothing exists at")
      }
      for (const [path, item] of Object.entries(paths)) {
        if (!path.startsWith("/api/v1/") || item["put"] === undefined) continue
        const { deprecated, operationId } = Schema.decodeUnknownSync(Operation)(item["put"])
        assert.isTrue(deprecated, path)
        const { status } = yield* raw("PUT", path.replaceAll(/\{\w+\}/g, "none"), { json: {} })
        assert.notStrictEqual(status, 405, operationId)
      }
    })
  )

  it.effect("authors of definitions: a key that nobody knows is refused by its name, and changes nothing", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const before = yield* rows
      const step = { name: "s", task: { name: "t" }, retries: { secret: "hunter2" } }
      const refused = yield* raw("POST", "processes", { json: { name: "typo", steps: [step] } })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.text, /steps\.0\.retries: unknown key/)
      assert.notInclude(refused.text, "hunter2")
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect(
    'a client that sends a key as its docs spell it, "reason?": bodies of the hosted service stay lenient',
    () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const { id } = yield* Processes.create({ name: "lenient", steps: [{ name: "s", task: { name: "lenient" } }] })
        const run = yield* ProcessRuns.start(id)
        const stop = { set_remaining_work_items_as_done: true, terminate_ongoing_activity_runs: true, "reason?": "why" }
        const path = `process-runs/${run.started ? run.id : ""}/stop`
        assert.strictEqual((yield* raw("POST", path, { json: stop })).status, 200)
      })
  )

  it.effect("git packages: unknown keys are ignored as before, unless one of ours is among them", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const configure = (configuration: object) =>
        raw("POST", "task-packages/none", {
          json: { type: "github", configuration: { mode: "detached", reference: "main", extra: 1, ...configuration } }
        })
      assert.strictEqual((yield* configure({})).status, 404)
      const refused = yield* configure({ repository: "https://example.com/a/b" })
      assert.strictEqual(refused.status, 400)
      assert.match(refused.text, /configuration\.extra: unknown key/)
    })
  )
})
