/**
 * One of each resource, created over HTTP, and the credentials of each kind: what a test needs so that no endpoint
 * returns a 404.
 */
import { assert } from "@effect/vitest"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import type { Door } from "./Endpoints.ts"
import { type Answer, bodyAs, multipart, send } from "./Http.ts"
import { PollInterval } from "../../src/internal/background/PollInterval.ts"
import { layer, linkWorker, type RawRequest, Service } from "./Service.ts"

const Identified = Schema.Struct({ id: Schema.String })
const WithSteps = Schema.Struct({ steps: Schema.Array(Identified) })
const Form = Schema.Struct({ url: Schema.String, form_data: Schema.Record(Schema.String, Schema.String) })
const Forms = Schema.Struct({ upload: Form })

export interface Seed {
  /** An id for each path parameter, by its name. */
  readonly ids: Readonly<Record<string, string>>
  /** The same for the robot side, whose work item is the reserved one. */
  readonly robotIds: Readonly<Record<string, string>>
  /** The credentials of a kind; empty for `none`. */
  readonly tokens: Readonly<Record<Door, string>>
  readonly leaseToken: string
  /** Of an assistant run in progress. */
  readonly assistantToken: string
  readonly linkToken: string
  /** The tasks of the worker. */
  readonly task: string
  readonly names: { readonly process: string; readonly asset: string }
}

/** The service; failures of its deliveries are not logged, causes of a 5xx are. */
export const quiet = Layer.provideMerge(
  layer,
  Layer.mergeAll(Layer.succeed(References.MinimumLogLevel, "Error"), Layer.succeed(PollInterval, "1 hour"))
)

/** The header of a kind of authentication; the query key has none. */
export const headersOf = (door: Door, token: string): Readonly<Record<string, string>> =>
  door === "none" || door === "keyInQuery"
    ? {}
    : { authorization: `${door === "key" ? "RC-WSKEY" : "Bearer"} ${token}` }

/**
 * `secret`: a text that stands in the field `secret` of all payloads, which is a secret field of the process, and in files and console
 * lines; null: there is no secret field.
 */
const seeding = Effect.fnUntraced(function* (secretText: string | null) {
  const { key, origin, raw, workspaceId } = yield* Service
  const name = `seed ${crypto.randomUUID()}`
  const ask = Effect.fnUntraced(function* (method: string, path: string, json?: unknown, request: RawRequest = {}) {
    const answer = yield* raw(method, path, json === undefined ? request : { ...request, json })
    assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
    return answer
  })
  const made = (path: string, json?: unknown) =>
    Effect.map(ask("POST", path, json), (answer) => bodyAs(Identified, answer).id)
  const upload = Effect.fnUntraced(function* (form: typeof Form.Type, content: string | Uint8Array) {
    const fields = Object.entries(form.form_data).map(([name, value]) => ({ name, value }))
    const { pathname } = new URL(form.url)
    const body = multipart([...fields, { name: "file", filename: "f", value: content }])
    const answer: Answer = yield* send(origin, "POST", pathname, body)
    assert.strictEqual(answer.status, 204, answer.text)
  })
  const listed = (path: string) =>
    Effect.map(ask("GET", path), (answer) => {
      const [first] = bodyAs(Schema.Struct({ data: Schema.Array(Identified) }), answer).data
      return first?.id ?? assert.fail(`nothing at ${path}`)
    })

  const steps = [
    { name: "first", task: { name } },
    { name: "second", task: { name: `${name} later` } }
  ]
  /** A payload, with the secret if there is one. */
  const payload = (value: Schema.Json): Schema.Json =>
    secretText === null ? value : { value, secret: { text: secretText } }
  const text = secretText ?? "seed"
  const secrecy =
    secretText === null ? {} : { sensitive: ["/secret"], default_work_item: { payload: payload("default") } }
  const inputs = secretText === null ? {} : { inputs: { type: "with_payloads", payloads: [payload("{at}")] } }
  const process = yield* made("processes", { name, steps, ...secrecy })
  const item = yield* made("work-items", { process: { id: process }, payload: payload({ seed: true }) })
  const run = yield* made(`processes/${process}/process-runs`, {
    type: "with_payloads",
    payloads: [payload(1), payload(2)]
  })

  const worker = yield* linkWorker([name])
  const { lease, session } = yield* worker.take
  const robot = { key: null, headers: headersOf("run", lease.run_token) }
  const asWorker = { key: null, headers: headersOf("worker", Redacted.value(worker.identity.token)) }
  yield* session.createOutput(lease.work_item_id, payload({ made: "by the seed" }))
  const robotFile = `/json-v1/workspaces/${workspaceId}/workitems/${lease.work_item_id}/files`
  const form = bodyAs(
    Schema.Struct({ url: Schema.String, fields: Form.fields.form_data }),
    yield* ask("POST", robotFile, { fileName: "seed.txt", fileSize: text.length }, robot)
  )
  yield* upload({ url: form.url, form_data: form.fields }, text)
  const [file] = bodyAs(
    Schema.Array(Schema.Struct({ fileId: Schema.String })),
    yield* ask("GET", robotFile, undefined, robot)
  )
  const stepRun = `/worker-v1/step-runs/${lease.step_run_id}`
  const artifact = { lease_token: lease.lease_token, name: "seed/log.txt", size: text.length }
  yield* upload(bodyAs(Forms, yield* ask("POST", `${stepRun}/artifacts`, artifact, asWorker)).upload, text)
  const lines = [{ timestamp: "2026-11-20T08:15:30.000Z", message: text }]
  yield* ask("POST", `${stepRun}/console`, { lease_token: lease.lease_token, offset: 0, messages: lines }, asWorker)

  const asset = yield* made("assets", { name })
  const uploadId = yield* made(`assets/${asset}/uploads`, { content_type: "text/plain", data: "c2VlZA==" })
  const secret = `seed_${crypto.randomUUID().replaceAll("-", "_")}`
  yield* ask("POST", "secrets", { name: secret, items: { a: 1 } })
  const taskPackage = yield* made("task-packages", { name, type: "zip" })
  const packageForm = yield* ask("GET", `task-packages/${taskPackage}/upload`)
  yield* upload(bodyAs(Form, packageForm), yield* zipOf({ "robot.yaml": robotYaml("Help") }))
  const assistant = yield* made("assistants", { name, task: { name: "Help", package_id: taskPackage } })
  const assistantRun = bodyAs(
    Schema.Struct({ id: Schema.String, run_token: Schema.String }),
    yield* ask("POST", `assistants/${assistant}/runs`)
  )
  const webhook = yield* made("webhooks", {
    endpoint: "http://127.0.0.1:9/nobody",
    enabled_events: ["process_run.completed"],
    process: { id: process }
  })
  const delivery = yield* made(`webhooks/${webhook}/test`)
  const group = yield* made("worker-groups", { name })
  const token = yield* made(`worker-groups/${group}/link-tokens`, { name })
  yield* ask("POST", `worker-groups/${group}/workers`, { worker: { id: worker.identity.workerId } })
  const schedule = yield* made("schedules", {
    name,
    process: { id: process },
    at: "2999-01-01T00:00:00Z",
    ...inputs
  })
  const trigger = yield* made("triggers", { name, process: { id: process }, webhook: {} })
  const settings = { type: "webhook", url: "http://127.0.0.1:9/alerts" }
  const channel = yield* made("alert-channels", { name, settings })
  const rule = { type: "disk_above", percent: 99 }
  const alert = yield* made("alerts", { name, enabled: false, rule, channels: [{ id: channel }] })
  const apiKey = yield* made("api-keys", { name, permissions: ["Vault.read_secrets"] })
  const role = `seed-${crypto.randomUUID()}`
  yield* ask("POST", `roles/${role}`, { permissions: ["Processes.read_runs"] })
  const user = yield* made("users", { login: role, role })
  const { link_token } = bodyAs(
    Schema.Struct({ link_token: Schema.String }),
    yield* ask("POST", "workers/link-tokens", {})
  )

  const doomed = yield* made(`processes/${process}/process-runs`, {
    type: "with_payloads",
    payloads: [payload(1)]
  })
  yield* ask("POST", `process-runs/${doomed}/stop`, {
    set_remaining_work_items_as_done: false,
    terminate_ongoing_activity_runs: false
  })
  const failure = yield* listed(`failures?process_id=${process}`)
  const [step] = bodyAs(WithSteps, yield* ask("GET", `processes/${process}`)).steps
  const { bulk_operation } = bodyAs(
    Schema.Struct({ bulk_operation: Identified }),
    yield* ask("POST", "bulk-operations", { operation: "retry", filter: { ids: [item] } })
  )

  const ids: Record<string, string> = {
    workspace_id: workspaceId,
    process_id: process,
    step_id: step?.id ?? assert.fail("no step"),
    process_run_id: run,
    work_item_id: item,
    step_run_id: lease.step_run_id,
    artifact_id: yield* listed(`step-runs/${lease.step_run_id}/artifacts`),
    file_name: "log.html",
    file_id: file?.fileId ?? assert.fail("no file"),
    asset_id: asset,
    upload_id: uploadId,
    secret_name: secret,
    task_package_id: taskPackage,
    version: "1",
    assistant_id: assistant,
    assistant_run_id: assistantRun.id,
    webhook_id: webhook,
    delivery_id: delivery,
    worker_id: worker.identity.workerId,
    worker_group_id: group,
    token_id: token,
    api_key_id: apiKey,
    user_id: user,
    role_name: role,
    failure_id: failure,
    bulk_operation_id: bulk_operation.id,
    alert_id: alert,
    channel_id: channel,
    schedule_id: schedule,
    trigger_id: trigger
  }
  const workerToken = Redacted.value(worker.identity.token)
  const made_: Seed = {
    ids,
    robotIds: { ...ids, work_item_id: lease.work_item_id },
    tokens: { key, keyInQuery: key, worker: workerToken, run: lease.run_token, none: "" },
    leaseToken: lease.lease_token,
    assistantToken: assistantRun.run_token,
    linkToken: link_token,
    task: name,
    names: { process: name, asset: name }
  }
  return made_
})

export const seed = seeding(null)

/** Like `seed`, with a text that is a secret field of every payload. */
export const seedWithSecret = (text: string) => seeding(text)
