/**
 * The older interface, with the requests of the programs that still speak it. Each group is named after the public source
 * that sends these requests.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import { ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRunsClient from "@signalbox/api/StepRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { assertError, bodyAs, multipart, send } from "./support/Http.ts"
import { bodyOf, jsonOf, processLibrary } from "./support/OlderClients.ts"
import { inPython, Requests } from "./support/Requests.ts"
import { layer as layerService, linkWorker, Service } from "./support/Service.ts"

const Id = Schema.Struct({ id: Schema.String })
const Started = Schema.Struct({ id: Schema.String, workItemIds: Schema.Array(Schema.String) })
const Form = Schema.Struct({ url: Schema.String, fields: Schema.Record(Schema.String, Schema.String) })
const StepRun = Schema.Struct({
  id: Schema.String,
  state: Schema.String,
  result: Schema.NullOr(Schema.String),
  startTs: Schema.NullOr(Schema.String),
  endTs: Schema.NullOr(Schema.String),
  duration: Schema.Finite
})
const Run = Schema.Struct({
  id: Schema.String,
  state: Schema.String,
  result: Schema.NullOr(Schema.String),
  errorCode: Schema.NullOr(Schema.String),
  processId: Schema.String,
  processName: Schema.String,
  duration: Schema.Finite,
  runNo: Schema.Finite
})
const RunWithSteps = Schema.Struct({ ...Run.fields, robotRuns: Schema.Array(StepRun) })
const Item = Schema.Struct({
  id: Schema.String,
  state: Schema.String,
  stateTs: Schema.String,
  createTs: Schema.String,
  processId: Schema.String,
  processName: Schema.String,
  workspaceId: Schema.String,
  processRunId: Schema.NullOr(Schema.String),
  processRunNo: Schema.NullOr(Schema.Finite),
  activityId: Schema.NullOr(Schema.String),
  activityRunId: Schema.NullOr(Schema.String),
  exception: Schema.NullOr(Schema.Struct({ code: Schema.String, type: Schema.String, message: Schema.String })),
  payload: Schema.optionalKey(Schema.Json),
  files: Schema.optionalKey(Schema.Array(Schema.Struct({ fileName: Schema.String, url: Schema.String })))
})
const listOf = <S extends Schema.ConstraintDecoder<unknown>>(item: S) => Schema.Struct({ data: Schema.Array(item) })
const Artifact = Schema.Struct({ id: Schema.String, fileName: Schema.String, fileSize: Schema.Finite })
const Line = Schema.Struct({ seqNo: Schema.Finite, timeStamp: Schema.String, message: Schema.String })

const layer = Layer.merge(layerService, Requests.layer)

/** A process with a worker for its one step, and the library that was given its id. */
const world = Effect.gen(function* () {
  const { origin } = yield* Service
  const name = `orders ${crypto.randomUUID()}`
  const process = yield* Processes.create({ name, steps: [{ name: "Consumer", task: { name } }] })
  const worker = yield* linkWorker([name])
  yield* worker.stayAlive()
  const reports = yield* WorkerProtocol.makeReports(origin, worker.identity)
  return { process, name, worker, reports, library: yield* processLibrary(process.id) }
})
type World = Effect.Success<typeof world>

/** Runs the oldest step run that waits, and ends its items as they are told to. */
const work = Effect.fnUntraced(function* (
  { reports, worker }: Pick<World, "reports" | "worker">,
  exception: { readonly type: "BUSINESS" | "APPLICATION"; readonly code: string; readonly message: string } | null,
  artifacts: ReadonlyArray<string> = []
) {
  const { lease, session } = yield* worker.take
  yield* reports.sendConsole(lease, 0, [
    { timestamp: "2026-11-20T08:15:30.000Z", message: "one" },
    { timestamp: "2026-11-20T08:15:31.000Z", message: "two" }
  ])
  for (const name of artifacts) {
    const bytes = Buffer.from(`content of ${name}`)
    yield* reports.uploadArtifact(lease, { name, size: bytes.length, stream: Stream.succeed(bytes) })
  }
  const payload = yield* session.payload(lease.work_item_id)
  yield* session.release(
    lease.work_item_id,
    exception === null ? { state: "COMPLETED" } : { state: "FAILED", exception }
  )
  yield* worker.protocol.finish(lease, null)
  return { payload, item: lease.work_item_id, stepRun: lease.step_run_id, lease }
})

const failure = { type: "BUSINESS", code: "INVALID_ORDER", message: "no address" } as const
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

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("other programs", (it) => {
  it.effect("action-trigger-process starts and watches a run with two permissions, until COMPL or PENDING", () =>
    Effect.gen(function* () {
      const { makeKey, origin, workspaceId } = yield* Service
      const made = yield* world
      const key = yield* makeKey(["Processes.read_runs", "Processes.trigger_processes"])
      const headers = { authorization: `RC-WSKEY ${key}`, "content-type": "application/json" }
      const runs = `/process-v1/workspaces/${workspaceId}/processes/${made.process.id}/runs`
      for (const [exception, state, result] of [
        [null, "COMPL", "COMPL"],
        [failure, "PENDING", "ERR"]
      ] as const) {
        const body = JSON.stringify({ variables: { foo: "bar" } })
        const { id } = bodyAs(Started, yield* send(origin, "POST", runs, { headers, body }))
        const watch = Effect.map(send(origin, "GET", `${runs}/${id}`, { headers }), (one) => bodyAs(RunWithSteps, one))
        assert.strictEqual((yield* watch).state, "INI")
        const { payload, stepRun } = yield* work(made, exception)
        assert.deepStrictEqual(payload, { variables: { foo: "bar" } })
        const run = yield* watch
        assert.deepStrictEqual([run.state, run.result], [state, result])
        assert.deepStrictEqual(
          run.robotRuns.map((one) => one.id),
          [stepRun]
        )
      }
    })
  )

  it.effect("action-upload-robot asks for a link and uploads the zip, as a part without a file name", () =>
    Effect.gen(function* () {
      const { key, origin, workspaceId } = yield* Service
      const robot = yield* TaskPackages.create(`robot ${crypto.randomUUID()}`)
      const headers = { authorization: `RC-WSKEY ${key}`, "content-type": "application/json" }
      const path = `/robot-v2/workspaces/${workspaceId}/robots`
      const link = yield* send(origin, "GET", `${path}/${robot.id}/file/uploadlink`, { headers })
      const { fields, url } = bodyAs(Form, link)
      const zip = yield* zipOf({ "robot.yaml": robotYaml("Main"), "tasks.py": "print(1)\n" })
      const form = multipart([
        ...Object.entries(fields).map(([name, value]) => ({ name, value })),
        { name: "file", value: zip, type: "application/octet-stream" }
      ])
      const uploaded = yield* send(origin, "POST", new URL(url).pathname, form)
      assert.strictEqual(uploaded.status, 204, uploaded.text)
      assert.deepStrictEqual((yield* TaskPackages.get(robot.id)).tasks, [{ name: "Main" }])
      const { data } = bodyAs(listOf(Id), yield* send(origin, "GET", path, { headers }))
      assert.include(
        data.map(({ id }) => id),
        robot.id
      )
    })
  )

  it.effect("example-controlroom-artifacts finds runs by their items, and asks for a file of the process `None`", () =>
    Effect.gen(function* () {
      const made = yield* world
      yield* made.library.startProcess({})
      const { stepRun } = yield* work(made, null, ["shot.png"])
      const { data } = bodyOf(listOf(Item), yield* made.library.listProcessWorkItems())
      const [item] = data.toSorted((a, b) => (b.processRunNo ?? 0) - (a.processRunNo ?? 0))
      assert.strictEqual(item?.activityRunId, stepRun)
      const run = item?.processRunId ?? ""
      const [artifact] = bodyOf(Schema.Array(Artifact), yield* made.library.listRunArtifacts(run, stepRun))
      // It has told the library of no process.
      const { getRobotRunArtifact } = yield* processLibrary("None")
      const link = yield* getRobotRunArtifact(run, stepRun, artifact?.id ?? "", "shot.png")
      assert.match(String(jsonOf(link)), /^http/)
    })
  )

  it.effect("example-python-producer-consumer-reporting reports the items of the step runs of one step", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const made = yield* world
      const { library } = made
      const { id } = bodyOf(Started, yield* library.startProcess({ Name: "Mark", Zip: 1, Product: "tea" }))
      yield* work(made, failure)
      // It asks both interfaces.
      const listed = yield* raw("GET", `step-runs?process_run_id=${id}`)
      const StepRuns = listOf(Schema.Struct({ id: Schema.String, step: Schema.Struct({ name: Schema.String }) }))
      const ofStep = bodyAs(StepRuns, listed).data.filter(({ step }) => step.name === "Consumer")
      const { data } = bodyOf(listOf(Item), yield* library.listProcessRunWorkItems(id))
      const consumed = data.filter((item) => ofStep.some((stepRun) => stepRun.id === item.activityRunId))
      assert.strictEqual(consumed.length, 1)
      const item = bodyOf(Item, yield* library.getWorkItem(consumed[0]?.id ?? "", true))
      assert.deepStrictEqual(item.payload, { Name: "Mark", Zip: 1, Product: "tea" })
      assert.deepStrictEqual([item.state, item.exception?.code], ["FAILED", "INVALID_ORDER"])
    })
  )

  it.effect("a program that watches a run reads its console and its events", () =>
    Effect.gen(function* () {
      const { raw, workspaceId } = yield* Service
      const made = yield* world
      const { id } = bodyOf(Started, yield* made.library.startProcess({}))
      const { stepRun } = yield* work(made, null)
      const path = `/process-v1/workspaces/${workspaceId}/processes/${made.process.id}/runs/${id}/robotRuns/${stepRun}`
      const lines = bodyAs(Schema.Array(Line), yield* raw("GET", `${path}/messages`))
      assert.strictEqual(lines.map(({ message }) => message).join(""), "one\ntwo\n")
      const Event = Schema.Struct({ seqNo: Schema.Finite, eventType: Schema.String })
      const events = bodyAs(Schema.Array(Event), yield* raw("GET", `${path}/events`))
      const expected = yield* Stream.runCollect(StepRunsClient.events(stepRun))
      assert.deepStrictEqual(
        events,
        expected.map(({ event_type }, index) => ({ seqNo: index + 1, eventType: event_type }))
      )
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
