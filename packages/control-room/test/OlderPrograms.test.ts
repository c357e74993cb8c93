/** Programs that were written for the older interface, as they call it. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as StepRunsClient from "@signalbox/api/StepRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { bodyAs, multipart, send } from "./support/Http.ts"
import { bodyOf, jsonOf, processLibrary } from "./support/OlderClients.ts"
import { Service } from "./support/Service.ts"
import {
  Id,
  Started,
  Form,
  RunWithSteps,
  Item,
  listOf,
  Artifact,
  Line,
  layer,
  world,
  work,
  failure
} from "./support/OlderInterface.ts"

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
