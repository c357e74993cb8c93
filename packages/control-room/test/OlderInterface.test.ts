/**
 * The older interface, with the requests of the programs that still speak it. Each group is named after the public source
 * that sends these requests.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import { Page } from "@signalbox/api/contract/Common"
import { LegacyStepRun } from "@signalbox/api/contract/LegacyShapes"
import { ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { assertError, bodyAs } from "./support/Http.ts"
import { bodyOf, processLibrary } from "./support/OlderClients.ts"
import { inPython } from "./support/Requests.ts"
import { Service } from "./support/Service.ts"
import {
  Id,
  Started,
  Form,
  StepRun,
  Run,
  RunWithSteps,
  Item,
  listOf,
  Artifact,
  layer,
  world,
  work,
  failure
} from "./support/OlderInterface.ts"

const sentBy = inPython ? "by Python's requests" : "without Python"

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })(`RPA.Robocorp.Process, ${sentBy}`, (it) => {
  it.effect("Start Process without work items starts with the default work item", () =>
    Effect.gen(function* () {
      const name = `default ${crypto.randomUUID()}`
      const steps = [{ name: "s", task: { name } }]
      const process = yield* Processes.create({ name, steps, default_work_item: { payload: { day: "today" } } })
      const { startProcess } = yield* processLibrary(process.id)
      const started = bodyOf(Started, yield* startProcess())
      const { data } = yield* WorkItems.list({ processRun: ProcessRunId.make(started.id), includeData: true })
      assert.deepStrictEqual(
        data.map(({ id, payload }) => ({ id, payload })),
        started.workItemIds.map((id) => ({ id: WorkItemId.make(id), payload: { day: "today" } }))
      )
    })
  )

  it.effect("Start Process with a dict, or with a list, is one run with that payload", () =>
    Effect.gen(function* () {
      const { library } = yield* world
      for (const payload of [{ fname: "Mark" }, [{ fname: "Mark" }, { fname: "John" }]]) {
        const { workItemIds } = bodyOf(Started, yield* library.startProcess(payload))
        assert.strictEqual(workItemIds.length, 1)
        const item = bodyOf(Item, yield* library.getWorkItem(workItemIds[0] ?? "", true))
        assert.deepStrictEqual(item.payload, payload)
        assert.strictEqual(item.state, "PENDING")
      }
    })
  )

  it.effect("Start Process with batch is a run for each", () =>
    Effect.gen(function* () {
      const { library } = yield* world
      const people = [{ fname: "Mark" }, { fname: "John" }]
      const started = bodyOf(Schema.Array(Started), yield* library.startProcess(people, true))
      assert.strictEqual(new Set(started.map(({ id }) => id)).size, 2)
      const payloads = yield* Effect.forEach(started, ({ workItemIds }) =>
        Effect.map(library.getWorkItem(workItemIds[0] ?? "", true), (one) => bodyOf(Item, one).payload)
      )
      assert.deepStrictEqual(payloads, people)
    })
  )

  it.effect("Start Process with batch starts all or none", () =>
    Effect.gen(function* () {
      const { rows } = yield* Service
      const { library } = yield* world
      const before = yield* rows
      const large = yield* library.startProcess([{ fname: "Mark" }, "x".repeat(1_100_000)], true)
      assert.strictEqual(large.status, 413)
      assert.include(large.text, "1: ")
      const none = yield* library.startProcess([], true)
      assert.strictEqual(none.status, 400)
      assert.deepStrictEqual((yield* rows)["process_run"], before["process_run"])
    })
  )

  it.effect("Create Input Work Item with a file, then Start Configured Process: the run has payload and file", () =>
    Effect.gen(function* () {
      const { library } = yield* world
      const { id } = bodyOf(Id, yield* library.createInputWorkItem({ fname: "Mark" }))
      const text = "a;b\n1;2\n"
      const form = bodyOf(Form, yield* library.registerFileUpload(id, "other.csv", text.length))
      const uploaded = yield* library.uploadFile(form.url, form.fields, { name: "other.csv", text })
      assert.strictEqual(uploaded.status, 204, uploaded.text)
      const started = bodyOf(Started, yield* library.startConfiguredProcess({ type: "workItemIds", workItemIds: [id] }))
      assert.deepStrictEqual(started.workItemIds, [id])
      const item = bodyOf(Item, yield* library.getWorkItem(id, true))
      assert.deepStrictEqual([item.payload, item.processRunId, item.state], [{ fname: "Mark" }, started.id, "PENDING"])
      assert.strictEqual(item.files?.[0]?.fileName, "other.csv")
      const downloaded = yield* library.send({ method: "GET", url: item.files?.[0]?.url ?? "" })
      assert.strictEqual(downloaded.text, text)
    })
  )

  it.effect("Start Configured Process with the default type starts with an empty work item", () =>
    Effect.gen(function* () {
      const { library } = yield* world
      const { workItemIds } = bodyOf(Started, yield* library.startConfiguredProcess({ type: "default" }))
      assert.isNull(bodyOf(Item, yield* library.getWorkItem(workItemIds[0] ?? "", true)).payload)
    })
  )

  it.effect("List Processes and Get Process Id By Name", () =>
    Effect.gen(function* () {
      const { library, name, process } = yield* world
      const { data } = bodyOf(
        listOf(Schema.Struct({ id: Schema.String, name: Schema.String })),
        yield* library.listProcesses
      )
      assert.strictEqual(data.find((one) => one.name === name)?.id, process.id)
    })
  )

  it.effect("List Process Work Items has payloads only with include_data, and the words of each state", () =>
    Effect.gen(function* () {
      const made = yield* world
      const { library } = made
      yield* library.createInputWorkItem({ n: 1 })
      yield* library.startProcess({ n: 2 })
      const failed = yield* work(made, failure)
      yield* library.startProcess({ n: 3 })
      const done = yield* work(made, null)
      yield* library.startProcess({ n: 4 })
      const taken = yield* made.worker.take
      yield* library.startProcess({ n: 5 })

      const { data } = bodyOf(listOf(Item), yield* library.listProcessWorkItems())
      const words = ["PENDING", "IN_PROGRESS", "COMPLETED", "FAILED", "NEW"]
      assert.deepStrictEqual(
        data.map(({ state }) => state),
        words
      )
      assert.deepStrictEqual(
        data.map(({ processRunNo }) => processRunNo),
        [4, 3, 2, 1, null]
      )
      assert.isTrue(data.every((item) => item.payload === undefined && item.files === undefined))
      const [, inProgress, completed, unsuccessful, waiting] = data
      assert.strictEqual(inProgress?.activityRunId, taken.lease.step_run_id)
      assert.strictEqual(completed?.activityRunId, done.stepRun)
      assert.strictEqual(unsuccessful?.id, failed.item)
      assert.deepStrictEqual(unsuccessful?.exception, failure)
      assert.deepStrictEqual([waiting?.processRunId, waiting?.activityId], [null, null])

      const whole = bodyOf(listOf(Item), yield* library.listProcessWorkItems(true))
      assert.deepStrictEqual(
        whole.data.map(({ payload }) => payload),
        [5, 4, 3, 2, 1].map((n) => ({ n }))
      )
      assert.deepStrictEqual(
        whole.data.map(({ id }) => id),
        data.map(({ id }) => id)
      )
    })
  )

  it.effect("List Process Runs, in a process and in the workspace, with the words of each state", () =>
    Effect.gen(function* () {
      const made = yield* world
      const { library, name, process } = made
      const ids: Array<string> = []
      const start = Effect.map(library.startProcess({}), (one) => ids.unshift(bodyOf(Started, one).id))
      yield* start
      yield* work(made, null)
      yield* start
      yield* work(made, failure)
      yield* start
      yield* made.worker.take
      yield* start

      const { data } = bodyOf(listOf(Run), yield* library.listProcessRuns())
      assert.deepStrictEqual(
        data.map(({ id }) => id),
        ids
      )
      assert.deepStrictEqual(
        data.map(({ result, state }) => [state, result]),
        [
          ["INI", null],
          ["IP", null],
          ["PENDING", "ERR"],
          ["COMPL", "COMPL"]
        ]
      )
      assert.deepStrictEqual(
        data.map(({ runNo }) => runNo),
        [4, 3, 2, 1]
      )
      assert.deepStrictEqual([data[0]?.processId, data[0]?.processName], [process.id, name])
      const inWorkspace = bodyOf(Schema.Array(Run), yield* library.listProcessRunsInWorkspace(4))
      assert.deepStrictEqual(inWorkspace, data)
      assert.strictEqual(bodyOf(listOf(Run), yield* library.listProcessRuns(2)).data.length, 2)
    })
  )

  it.effect("Get Process Run Status of a run names its step runs, and of a step run its times", () =>
    Effect.gen(function* () {
      const made = yield* world
      const { library } = made
      const { id } = bodyOf(Started, yield* library.startProcess({}))
      const { lease } = yield* made.worker.take
      yield* made.worker.protocol.finish(lease, { code: "TIMEOUT", message: "too slow" })
      const run = bodyOf(RunWithSteps, yield* library.getProcessRunStatus(id))
      assert.deepStrictEqual([run.state, run.result, run.errorCode], ["PENDING", "ERR", "TIMEOUT"])
      assert.deepStrictEqual(
        run.robotRuns.map((one) => one.id),
        [lease.step_run_id]
      )
      const stepRun = bodyOf(StepRun, yield* library.getProcessRunStatus(id, lease.step_run_id))
      const { raw, workspaceId } = yield* Service
      const below = `/process-v1/workspaces/${workspaceId}/processes/${made.process.id}/runs`
      const answer = yield* raw("GET", `${below}/${id}/robotRuns?limit=5`)
      const { data } = bodyAs(Page(LegacyStepRun), answer)
      assert.deepStrictEqual(
        data.map((one) => [one.id, one.state, one.stepId]),
        [[lease.step_run_id, "COMPL", data[0]?.activityId]]
      )
      assert.isTrue(run.robotRuns.every(({ stepId }) => stepId === data[0]?.activityId))
      assertError(yield* raw("GET", `${below}/none/robotRuns`), 404, "NOT_FOUND", /process run none/)
      assert.deepStrictEqual([stepRun.state, stepRun.result], ["COMPL", "TIMEOUT"])
      const seconds = (Date.parse(stepRun.endTs ?? "") - Date.parse(stepRun.startTs ?? "")) / 1000
      assert.strictEqual(stepRun.duration, seconds)
    })
  )

  it.effect("Retry Work Item starts a failed item anew, and not another", () =>
    Effect.gen(function* () {
      const made = yield* world
      const { library } = made
      yield* library.startProcess({})
      const { item } = yield* work(made, failure)
      assert.strictEqual(bodyOf(Item, yield* library.retryWorkItem(item)).state, "PENDING")
      assert.strictEqual((yield* work(made, null)).item, item)
      const refused = yield* library.retryWorkItem(item)
      assert.strictEqual(refused.status, 409)
      assert.include(refused.text, "done")
    })
  )

  it.effect("List Run Artifacts and Get Robot Run Artifact: a JSON string, from which the file is downloaded", () =>
    Effect.gen(function* () {
      const made = yield* world
      const { library } = made
      const { id } = bodyOf(Started, yield* library.startProcess({}))
      const { stepRun } = yield* work(made, null, ["log.html", "shots/a b.png"])
      const artifacts = bodyOf(Schema.Array(Artifact), yield* library.listRunArtifacts(id, stepRun))
      assert.deepStrictEqual(artifacts.map((one) => one.fileName).sort(), ["log.html", "shots/a b.png"])
      for (const one of artifacts) {
        const url = bodyOf(
          Schema.String,
          yield* library.getRobotRunArtifact(id, stepRun, one.id, encodeURI(one.fileName))
        )
        const downloaded = yield* library.send({ method: "GET", url })
        assert.strictEqual(downloaded.text, `content of ${one.fileName}`)
        assert.strictEqual(one.fileSize, downloaded.text.length)
      }
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the older interface", (it) => {
  it.effect("lists the items of a run in either order, and page by page", () =>
    Effect.gen(function* () {
      const { origin, raw, workspaceId } = yield* Service
      const { library, process } = yield* world
      const run = yield* ProcessRuns.start(process.id, { payloads: [1, 2, 3] })
      if (!run.started) return assert.fail("not started")
      const path = `/process-v1/workspaces/${workspaceId}/processes/${process.id}/runs/${run.id}/work-items`
      const Page = Schema.Struct({ ...listOf(Item).fields, next: Schema.NullOr(Schema.String) })
      const first = bodyAs(Page, yield* raw("GET", `${path}?sortBy=createTs&sortOrder=asc&includeData=true&limit=2`))
      assert.deepStrictEqual(
        first.data.map(({ payload }) => payload),
        [1, 2]
      )
      const next = first.next ?? ""
      assert.isTrue(next.startsWith(origin))
      assert.deepStrictEqual(
        bodyAs(Page, yield* raw("GET", next)).data.map(({ payload }) => payload),
        [3]
      )
      const newest = bodyOf(listOf(Item), yield* library.listProcessRunWorkItems(run.id, true))
      assert.deepStrictEqual(
        newest.data.map(({ payload }) => payload),
        [3, 2, 1]
      )
    })
  )

  it.effect("retries, settles and deletes items by the batch", () =>
    Effect.gen(function* () {
      const { raw, workspaceId } = yield* Service
      const made = yield* world
      yield* made.library.startProcess({})
      const { item } = yield* work(made, failure)
      const batch = (batchOperation: string) =>
        raw("POST", `/process-v1/workspaces/${workspaceId}/work-items/batch`, {
          json: { batchOperation, workItemIds: [item] }
        })
      const state = Effect.map(made.library.getWorkItem(item), (one) => bodyOf(Item, one).state)
      assert.strictEqual((yield* batch("retry")).text, '{"accepted":true}')
      yield* work(made, failure)
      assert.strictEqual((yield* batch("mark_as_done")).status, 200)
      assert.strictEqual(yield* state, "COMPLETED")
      assertError(yield* batch("retry"), 409, "CONFLICT", /done/)
      assertError(yield* batch("finish"), 400, "INVALID_REQUEST", /^batchOperation/)
      assert.strictEqual((yield* batch("delete")).status, 200)
      assert.strictEqual((yield* made.library.getWorkItem(item)).status, 404)
    })
  )

  it.effect("refuses what it cannot read, names the field, and writes nothing", () =>
    Effect.gen(function* () {
      const { raw, rows, workspaceId } = yield* Service
      const { library, process } = yield* world
      const { id } = bodyOf(Id, yield* library.createInputWorkItem({}))
      const run = bodyOf(Started, yield* library.startProcess({})).id
      const below = `/process-v1/workspaces/${workspaceId}/processes/${process.id}`
      const before = yield* rows
      const cases: ReadonlyArray<
        readonly [status: number, says: RegExp, method: string, path: string, body?: unknown]
      > = [
        [400, /type/, "POST", "run-request", { type: "storages", storages: [] }],
        [400, /workItemIds/, "POST", "run-request", { type: "workItemIds" }],
        [409, /new/, "POST", "run-request", { type: "workItemIds", workItemIds: [process.id] }],
        [400, /fileSize/, "POST", `work-items/${id}/files/upload`, { fileName: "a", fileSize: -1 }],
        [413, /fileSize/, "POST", `work-items/${id}/files/upload`, { fileName: "a", fileSize: 2 ** 40 }],
        [400, /sortBy/, "GET", `runs/${run}/work-items?sortBy=stateTs`],
        [400, /sortOrder/, "GET", `runs/${run}/work-items?sortOrder=up`],
        [400, /includeData/, "GET", "work-items?includeData=maybe"],
        [400, /limit/, "GET", "runs?limit=0"],
        [404, /work item/, "POST", "work-items/none/retry"],
        [404, /process run/, "GET", "runs/none"],
        [404, /step run/, "GET", `runs/${run}/robotRuns/none`]
      ]
      for (const [status, says, method, path, body] of cases) {
        const answer = yield* raw(method, `${below}/${path}`, body === undefined ? {} : { json: body })
        assert.strictEqual(answer.status, status, `${path} ${answer.text}`)
        assert.match(answer.text, says)
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("checks payloads against the input schema of the process", () =>
    Effect.gen(function* () {
      const { rows } = yield* Service
      const name = `checked ${crypto.randomUUID()}`
      const process = yield* Processes.create({
        name,
        steps: [{ name: "s", task: { name } }],
        input_schema: { type: "object", properties: { day: { type: "string" } }, required: ["day"] },
        check_payloads: true
      })
      const library = yield* processLibrary(process.id)
      const before = yield* rows
      for (const [sent, says] of [
        [library.startProcess({ day: 1 }), /the body.day/],
        // The first has started by then.
        [library.startProcess([{ day: "today" }, { day: 1 }], true), /1.day/],
        [library.createInputWorkItem({ day: 1 }), /payload.day/]
      ] as const) {
        const refused = yield* sent
        assert.strictEqual(refused.status, 400, refused.text)
        assert.match(refused.text, says)
      }
      assert.deepStrictEqual(yield* rows, before)
      assert.strictEqual((yield* library.startProcess({ day: "today" })).status, 200)
    })
  )

  it.effect("shows a step run only below its run, and an artifact only below its step run", () =>
    Effect.gen(function* () {
      const made = yield* world
      const { library } = made
      const own = bodyOf(Started, yield* library.startProcess({})).id
      const first = yield* work(made, null, ["log.html"])
      const other = bodyOf(Started, yield* library.startProcess({})).id
      const second = yield* work(made, null)
      const [artifact] = bodyOf(Schema.Array(Artifact), yield* library.listRunArtifacts(own, first.stepRun))
      assert.strictEqual((yield* library.getProcessRunStatus(other, first.stepRun)).status, 404)
      assert.strictEqual((yield* library.listRunArtifacts(other, first.stepRun)).status, 404)
      const wrong = yield* library.getRobotRunArtifact(other, second.stepRun, artifact?.id ?? "", "log.html")
      assert.strictEqual(wrong.status, 404)
    })
  )

  it.effect("checks the permission of the key as the newer one does, and takes no token of a run", () =>
    Effect.gen(function* () {
      const { makeKey, raw, workspaceId } = yield* Service
      const made = yield* world
      const key = yield* makeKey(["Processes.read_runs"])
      const path = `/process-v1/workspaces/${workspaceId}/processes/${made.process.id}`
      assert.strictEqual((yield* raw("GET", `${path}/runs`, { key })).status, 200)
      assertError(
        yield* raw("POST", `${path}/runs`, { key, json: {} }),
        403,
        "FORBIDDEN",
        /Processes.trigger_processes/
      )
      assertError(yield* raw("GET", `${path}/work-items`, { key }), 403, "FORBIDDEN", /Processes.read_work_items/)
      yield* made.library.startProcess({})
      const { lease } = yield* made.worker.take
      const headers = { authorization: `Bearer ${lease.run_token}` }
      assertError(yield* raw("GET", `${path}/runs`, { key: null, headers }), 403, "FORBIDDEN", /Processes.read_runs/)
    })
  )

  it.effect("counts the runs of a process that exist, whatever other processes have", () =>
    Effect.gen(function* () {
      const one = yield* world
      const two = yield* world
      const ids: Array<string> = []
      for (const { library } of [one, two, one, two, one]) ids.push(bodyOf(Started, yield* library.startProcess({})).id)
      const numbers = Effect.map(one.library.listProcessRunsInWorkspace(5), (runs) =>
        Object.fromEntries(bodyOf(Schema.Array(Run), runs).map(({ id, runNo }) => [id, runNo]))
      )
      assert.deepStrictEqual(yield* numbers, Object.fromEntries(ids.map((id, index) => [id, [1, 1, 2, 2, 3][index]])))
      const newest = bodyOf(Schema.Array(Run), yield* one.library.listProcessRunsInWorkspace(2))
      assert.deepStrictEqual(
        newest.map(({ runNo }) => runNo),
        [3, 2]
      )
      yield* work(one, null)
      const { raw } = yield* Service
      assert.strictEqual((yield* raw("DELETE", `process-runs/${ids[0]}`)).status, 200)
      const third = bodyOf(Run, yield* one.library.getProcessRunStatus(ids[4] ?? ""))
      assert.strictEqual(third.runNo, 2)
    })
  )
})
