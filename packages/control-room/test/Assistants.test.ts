import { assert, layer as withLayer } from "@effect/vitest"
import { AssistantRunId, type TaskPackageId } from "@signalbox/api/contract/Ids"
import * as Assistants from "@signalbox/api/Assistants"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { errorOf, send } from "./support/Http.ts"
import { layer, Service } from "./support/Service.ts"

const newPackage = (name: string) => Effect.map(TaskPackages.create(name), ({ id }) => id)

const fill = Effect.fnUntraced(function* (id: TaskPackageId, ...tasks: ReadonlyArray<string>) {
  const bytes = yield* zipOf({ "robot.yaml": robotYaml(...tasks) })
  yield* TaskPackages.upload(id, { name: "p.zip", bytes })
  return bytes
})

/** An assistant that can be started. */
const ready = Effect.fnUntraced(function* (name: string) {
  const taskPackage = yield* newPackage(name)
  yield* fill(taskPackage, "Help")
  return yield* Assistants.create({ name, task: "Help", taskPackage })
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("assistants", (it) => {
  it.effect("are created for a task of a package, read and listed", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw, rows } = yield* Service
      const taskPackage = yield* newPackage("desk")
      const { id, name } = yield* Assistants.create({ name: "first", task: "Help", taskPackage })
      assert.strictEqual(name, "first")
      const read = yield* Assistants.get(id)
      assert.deepStrictEqual(read.task, { name: "Help", package_id: taskPackage })
      assert.match(read.created_at, /^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/)
      const second = yield* Assistants.create({ name: "second", task: "Help", taskPackage })
      const listed = yield* Stream.runCollect(Assistants.stream({ limit: 1 }))
      assert.deepStrictEqual(
        listed.map((assistant) => assistant.id).filter((one) => one === id || one === second.id),
        [second.id, id]
      )
      const other = yield* makeWorkspace
      const key = yield* makeKey(["Assistants.read_assistants", "Assistants.write_assistants"], other)
      const before = yield* rows
      const task = { name: "Help", package_id: taskPackage }
      const cases: ReadonlyArray<readonly [number, RegExp, unknown]> = [
        [409, /"first"/, { name: "first", task }],
        [404, /task\.package_id/, { name: "x", task: { name: "Help", package_id: "nobody" } }],
        [400, /package_id/, { name: "x", task: { name: "Help" } }],
        [400, /name/, { name: "", task }],
        [400, /task\.name/, { name: "x", task: { ...task, name: "" } }],
        [400, /task/, { name: "x" }]
      ]
      for (const [status, says, json] of cases) {
        const answer = yield* raw("POST", "assistants", { json })
        assert.strictEqual(answer.status, status, answer.text)
        assert.match(errorOf(answer).message, says)
      }
      const foreign = yield* raw("POST", `/api/v1/workspaces/${other}/assistants`, { key, json: { name: "x", task } })
      assert.strictEqual(foreign.status, 404)
      assert.strictEqual((yield* raw("GET", `/api/v1/workspaces/${other}/assistants/${id}`, { key })).status, 404)
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("start when their package has the task, and say what to run", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const taskPackage = yield* newPackage("late")
      const { id } = yield* Assistants.create({ name: "late", task: "Help", taskPackage })
      const empty = yield* Effect.flip(Assistants.startRun(id))
      assert.strictEqual(empty._tag, "Conflict")
      assert.match(empty.message, /"late" has no content/)
      yield* fill(taskPackage, "Other")
      assert.match((yield* Effect.flip(Assistants.startRun(id))).message, /no task "Help"/)
      const zip = yield* fill(taskPackage, "Help")
      const started = yield* Assistants.startRun(id)
      assert.deepStrictEqual(started.task, { name: "Help" })
      assert.strictEqual(started.package.digest, `sha256:${createHash("sha256").update(zip).digest("hex")}`)
      const fetched = yield* send(origin, "GET", started.package.url.slice(origin.length))
      assert.isTrue(fetched.bytes.equals(zip))
      assert.strictEqual(started.heartbeat_seconds, 10)
      const run = yield* Assistants.getRun(started.id)
      assert.strictEqual(run.state, "in_progress")
      assert.deepStrictEqual(run.assistant, { id, name: "late" })
      assert.isNull(run.error)
      assert.isNull(run.ended_at)
      assert.isNull(run.duration)
    })
  )

  it.effect("end well or badly, once", () =>
    Effect.gen(function* () {
      const { id } = yield* ready("ends")
      const well = yield* Assistants.startRun(id)
      assert.strictEqual((yield* Assistants.heartbeat(well.id)).state, "in_progress")
      const completed = yield* Assistants.completeRun(well.id)
      assert.strictEqual(completed.state, "completed")
      assert.isNull(completed.error)
      assert.isAtLeast(completed.duration ?? -1, 0)
      assert.deepStrictEqual(yield* Assistants.completeRun(well.id), completed)
      assert.strictEqual((yield* Effect.flip(Assistants.completeRun(well.id, "ROBOT_FAILURE")))._tag, "Conflict")
      assert.strictEqual((yield* Effect.flip(Assistants.heartbeat(well.id)))._tag, "Conflict")
      const badly = yield* Assistants.startRun(id)
      const failed = yield* Assistants.completeRun(badly.id, "SETUP_FAILURE")
      assert.strictEqual(failed.state, "failed")
      assert.deepStrictEqual(failed.error, { code: "SETUP_FAILURE" })
      assert.deepStrictEqual(yield* Assistants.completeRun(badly.id, "SETUP_FAILURE"), failed)
      assert.strictEqual((yield* Effect.flip(Assistants.completeRun(badly.id)))._tag, "Conflict")
      assert.strictEqual((yield* Effect.flip(Assistants.completeRun(badly.id, "UNKNOWN")))._tag, "Conflict")
      assert.deepStrictEqual(yield* Assistants.getRun(badly.id), failed)
    })
  )

  it.effect("fail after three missed heartbeats", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const { id } = yield* ready("silent")
      const done = yield* Assistants.startRun(id)
      yield* Assistants.completeRun(done.id)
      const run = yield* Assistants.startRun(id)
      yield* tickIn(29_000)
      assert.strictEqual((yield* Assistants.getRun(run.id)).state, "in_progress")
      yield* tickIn(31_000)
      const failed = yield* Assistants.getRun(run.id)
      assert.strictEqual(failed.state, "failed")
      assert.deepStrictEqual(failed.error, { code: "UNKNOWN" })
      assert.isNotNull(failed.ended_at)
      const late = yield* Effect.flip(Assistants.heartbeat(run.id))
      assert.strictEqual(late._tag, "Conflict")
      assert.include(late.message, "stop")
      assert.strictEqual((yield* Effect.flip(Assistants.completeRun(run.id)))._tag, "Conflict")
      assert.strictEqual((yield* Assistants.getRun(done.id)).state, "completed")
    })
  )

  it.effect("list their runs, also at the address of the older generation", () =>
    Effect.gen(function* () {
      const { raw, workspaceId } = yield* Service
      const one = yield* ready("one")
      const two = yield* ready("two")
      const runs: Array<AssistantRunId> = []
      for (const { id } of [one, two, one]) runs.push((yield* Assistants.startRun(id)).id)
      const ofOne = yield* Stream.runCollect(Assistants.streamRuns({ assistant: one.id, limit: 1 }))
      assert.deepStrictEqual(
        ofOne.map((run) => run.id),
        [runs[2], runs[0]]
      )
      const all = yield* Assistants.listRuns({ limit: 3 })
      assert.deepStrictEqual(
        all.data.map((run) => run.id),
        runs.toReversed()
      )
      const listed = (yield* raw("GET", `assistant-runs?assistant_id=${one.id}`)).text
      for (const path of [
        `assistants/${one.id}/assistant-runs`,
        `/v1/workspaces/${workspaceId}/assistants/${one.id}/assistant-runs/`
      ]) {
        assert.strictEqual((yield* raw("GET", path)).text, listed, path)
      }
      const page = yield* raw("GET", `assistants/${one.id}/assistant-runs?limit=1`)
      assert.include(page.text, '"has_more":true')
      assert.strictEqual(
        (yield* raw("GET", "assistant-runs?assistant_id=nobody")).text,
        '{"data":[],"has_more":false,"next":null}'
      )
    })
  )

  it.effect("give each run a token for assets that expires with the run", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const { id } = yield* ready("token")
      const run = yield* Assistants.startRun(id)
      const token = Redacted.value(run.run_token)
      const ask = (path: string) => raw("GET", path, { key: null, headers: { authorization: `Bearer ${token}` } })
      assert.strictEqual((yield* ask("assets")).status, 200)
      assert.strictEqual((yield* ask("assistants")).status, 403)
      assert.strictEqual((yield* ask(`assistant-runs/${run.id}`)).status, 403)
      const worker = yield* raw("POST", "/worker-v1/heartbeat", {
        key: null,
        headers: { authorization: `Bearer ${token}` },
        json: { step_run_ids: [] }
      })
      assert.strictEqual(worker.status, 403)
      yield* Assistants.completeRun(run.id)
      assert.strictEqual((yield* ask("assets")).status, 403)
      const stored = JSON.stringify(yield* rows)
      assert.notInclude(stored, token.slice(-43))
      assert.notInclude(JSON.stringify(yield* Assistants.getRun(run.id)), token.slice(-43))
    })
  )

  it.effect("know no run but their own", () =>
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw, rows } = yield* Service
      const { id } = yield* ready("foreign")
      const run = yield* Assistants.startRun(id)
      const other = yield* makeWorkspace
      const key = yield* makeKey(["Assistants.read_assistants", "Assistants.run_assistants"], other)
      const base = `/api/v1/workspaces/${other}`
      const before = yield* rows
      const calls: ReadonlyArray<readonly [string, string, unknown?]> = [
        ["POST", `${base}/assistants/${id}/runs`],
        ["GET", `${base}/assistant-runs/${run.id}`],
        ["POST", `${base}/assistant-runs/${run.id}/heartbeat`],
        ["POST", `${base}/assistant-runs/${run.id}/complete`, { error: null }]
      ]
      for (const [method, path, json] of calls) {
        const answer = yield* raw(method, path, json === undefined ? { key } : { key, json })
        assert.strictEqual(answer.status, 404, `${method} ${path}: ${answer.text}`)
      }
      const wrong = yield* raw("POST", `assistant-runs/${run.id}/complete`, { json: { error: { code: "TIMEOUT" } } })
      assert.strictEqual(wrong.status, 400)
      assert.strictEqual((yield* raw("POST", `assistant-runs/${run.id}/complete`, { json: {} })).status, 400)
      assert.deepStrictEqual(yield* rows, before)
    })
  )
})
