import { assert, describe, it as plain, layer as withLayer } from "@effect/vitest"
import { type WorkerId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as WorkersClient from "@signalbox/api/Workers"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { Workers } from "../../src/internal/store/workers/Workers.ts"
import { missing, UnassignedStepRuns } from "../../src/internal/runs/UnassignedStepRuns.ts"
import { analysed, indexedPlanOf, recorded } from "../support/Plans.ts"
import { layer, linkWorker, movedBy, onPostgres, Service } from "../support/Service.ts"

const need = {
  workspaceId: WorkspaceId.make("w"),
  task: "read",
  taskPackage: null,
  group: null,
  labels: [] as ReadonlyArray<string>
} as const
const taskPackage = { id: "p", name: "invoices" }
const group = { id: "g", name: "linux" }
const offer = {
  tasks: ["write"],
  packages: false,
  groups: [] as ReadonlyArray<string>,
  labels: [] as ReadonlyArray<string>
}

describe("what is missing", () => {
  const cases: ReadonlyArray<readonly [string, Parameters<typeof missing>, RegExp | null]> = [
    ["no worker", [need, []], /^no worker is online, and the task "read" waits for one; start one with/],
    ["no worker with the task", [need, [offer]], /^no worker that is online has the task "read"; start one/],
    ["nothing: one brings it", [need, [offer, { ...offer, tasks: ["read"] }]], null],
    [
      "no worker that takes packages, though one brings a task of the name",
      [{ ...need, taskPackage }, [{ ...offer, tasks: ["read"] }]],
      /^no worker that is online runs task packages, and the task "read" of the package "invoices" waits/
    ],
    ["nothing: one takes packages", [{ ...need, taskPackage }, [{ ...offer, packages: true }]], null],
    [
      "no worker of the group",
      [{ ...need, group }, [{ ...offer, tasks: ["read"] }]],
      /^no worker of the group "linux" is online, and the task "read" waits for one; .* add a worker to it$/
    ],
    [
      "no worker of the group with the task",
      [{ ...need, group }, [{ ...offer, groups: ["g"] }]],
      /^no worker of the group "linux" that is online has the task "read"/
    ],
    ["nothing: one of the group brings it", [{ ...need, group }, [{ ...offer, tasks: ["read"], groups: ["g"] }]], null],
    [
      "the label that no worker with the task has",
      [
        { ...need, labels: ["gpu", "eu"] },
        [
          { ...offer, tasks: ["read"], labels: ["eu"] },
          { ...offer, labels: ["gpu"] }
        ]
      ],
      /^no worker that is online and runs the task "read" has the label "gpu"; start one with --label gpu --label eu$/
    ],
    [
      "one worker with labels that several have",
      [
        { ...need, labels: ["gpu", "eu"] },
        ["gpu", "eu"].map((label) => ({ ...offer, tasks: ["read"], labels: [label] }))
      ],
      /has all of the labels "gpu" and "eu"; start one/
    ],
    [
      "nothing: one has the labels",
      [{ ...need, labels: ["a"] }, [{ ...offer, tasks: ["read"], labels: ["b", "a"] }]],
      null
    ]
  ]
  for (const [what, [wanted, offers], says] of cases) {
    plain(what, () => {
      const message = missing(wanted, offers)
      if (says === null) return assert.isNull(message)
      assert.match(message ?? "", says)
    })
  }
})

const started = Effect.fnUntraced(function* (step: object) {
  const name = `unassigned ${crypto.randomUUID()}`
  const process = yield* Processes.create({ name, steps: [{ name: "s", task: { name: "read" }, ...step }] })
  const run = yield* ProcessRuns.start(process.id)
  if (!run.started) return yield* Effect.die(new Error("not started"))
  const [stepRun] = (yield* StepRuns.list(run.id)).data
  return stepRun?.id ?? (yield* Effect.die(new Error("no step run")))
})

const told = (stepRun: Effect.Success<ReturnType<typeof started>>) =>
  Effect.map(Stream.runCollect(StepRuns.events(stepRun)), (events) =>
    events.flatMap(({ event_type, message }) => (event_type === "NO_WORKER" ? [message ?? ""] : []))
  )

/** A heartbeat of the worker this many milliseconds from now. */
const heardIn = Effect.fnUntraced(function* (
  worker: WorkerId,
  millis: number,
  takes?: Parameters<Workers["Service"]["seen"]>[1]
) {
  const workers = yield* Workers
  const clock = yield* Clock.Clock
  yield* Effect.provideService(workers.seen(worker, takes), Clock.Clock, movedBy(clock, millis))
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a step run that no worker can take", (it) => {
  it.effect("is reported after 10 seconds, once, and continues when a worker leases it", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const task = `only here ${crypto.randomUUID()}`
      const stepRun = yield* started({ task: { name: task } })
      yield* heardIn((yield* linkWorker(["another"])).identity.workerId, 8000)
      yield* tickIn(9000)
      assert.deepStrictEqual(yield* told(stepRun), [])
      yield* tickIn(11_000)
      yield* tickIn(30_000)
      const [message, ...others] = yield* told(stepRun)
      assert.deepStrictEqual(others, [])
      assert.include(message, `the task "${task}"`)

      const { take } = yield* linkWorker([task])
      const { lease, session } = yield* take
      assert.strictEqual(lease.step_run_id, stepRun)
      assert.isDefined(session)
      assert.strictEqual((yield* StepRuns.get(stepRun)).state, "in_progress")
    })
  )

  it.effect("is reported after a second when no worker of its group is there, and not when one is", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const task = `absent ${crypto.randomUUID()}`
      const startedIn = Effect.fnUntraced(function* (...workers: ReadonlyArray<WorkerId>) {
        const group = yield* WorkerGroups.create(`group ${crypto.randomUUID()}`)
        for (const worker of workers) yield* WorkerGroups.addWorker(group.id, worker)
        return yield* started({ task: { name: task }, worker_group: { id: group.id } })
      })
      const worker = yield* linkWorker(["another"])
      const draining = yield* linkWorker([task])
      yield* WorkersClient.drain(draining.identity.workerId)
      const absent = yield* startedIn()
      const present = yield* startedIn(worker.identity.workerId)
      const replaced = yield* startedIn(draining.identity.workerId)
      yield* tickIn(4000)
      assert.match((yield* told(absent)).join(), /^no worker of the group "group .*" is online, and the task "absent/)
      assert.deepStrictEqual([yield* told(present), yield* told(replaced)], [[], []])
      yield* tickIn(5000)
      assert.lengthOf(yield* told(absent), 1)
    })
  )

  it.effect("is not reported while workers that start with the service may not have registered", () =>
    Effect.gen(function* () {
      const reports = yield* UnassignedStepRuns
      const group = yield* WorkerGroups.create(`group ${crypto.randomUUID()}`)
      const stepRun = yield* started({ worker_group: { id: group.id } })
      const clock = yield* Clock.Clock
      const now = yield* Clock.currentTimeMillis
      const reportIn = (millis: number, upFor: number) =>
        Effect.provideService(reports.report(now + millis - upFor), Clock.Clock, movedBy(clock, millis))
      yield* reportIn(60_000, 2500)
      assert.deepStrictEqual(yield* told(stepRun), [])
      const known = yield* linkWorker(["read"])
      yield* WorkerGroups.addWorker(group.id, known.identity.workerId)
      yield* reportIn(60_000, 9500)
      assert.deepStrictEqual(yield* told(stepRun), [])
      yield* reportIn(60_000, 10_500)
      assert.lengthOf(yield* told(stepRun), 1)
    }).pipe(Effect.provide(UnassignedStepRuns.layer))
  )

  it.effect("is reported again when a lease was not started and the worker is offline", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const task = `again ${crypto.randomUUID()}`
      const stepRun = yield* started({ task: { name: task } })
      yield* tickIn(11_000)
      const worker = yield* linkWorker([task])
      yield* worker.lease
      yield* tickIn(20_000)
      assert.strictEqual((yield* told(stepRun)).length, 1)
      yield* tickIn(45_000)
      assert.strictEqual((yield* told(stepRun)).length, 2)
    })
  )

  it.effect("is not reported while a matching worker is busy, and is when that one is offline", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const task = `busy ${crypto.randomUUID()}`
      const stepRun = yield* started({ task: { name: task } })
      const { identity } = yield* linkWorker([task])
      yield* heardIn(identity.workerId, 14_000)
      yield* tickIn(15_000)
      assert.deepStrictEqual(yield* told(stepRun), [])
      yield* tickIn(26_000)
      assert.match((yield* told(stepRun)).join(), /no worker/)
    })
  )

  it.effect("counts on what workers say with each request for work", () =>
    Effect.gen(function* () {
      const { rows, tickIn } = yield* Service
      const task = `learnt ${crypto.randomUUID()}`
      const { identity, protocol } = yield* linkWorker([])
      const stored = Effect.map(rows, ({ worker = [] }) =>
        JSON.stringify(worker.find((row) => JSON.stringify(row).includes(identity.workerId)))
      )
      assert.include(yield* stored, '"tasks":"[]"')
      yield* protocol.lease({ free: 1, tasks: [task], packages: true, waitSeconds: 0 })
      assert.include(yield* stored, task)
      assert.include(yield* stored, '"packages":1')
      const stepRun = yield* started({ task: { name: task } })
      yield* heardIn(identity.workerId, 14_000)
      yield* tickIn(15_000)
      assert.deepStrictEqual(yield* told(stepRun), [])
      yield* heardIn(identity.workerId, 14_000, { tasks: ["another"], packages: false })
      yield* tickIn(15_000)
      assert.match((yield* told(stepRun)).join(), new RegExp(`that is online has the task "${task}"`))
    })
  )

  it.effect("is found by what it needs, not by reading all that wait", () =>
    Effect.gen(function* () {
      yield* started({ task: { name: `plan ${crypto.randomUUID()}` }, worker: { labels: ["gpu"] } })
      const reports = yield* UnassignedStepRuns
      yield* analysed
      const { statements } = yield* recorded(reports.report(0))
      const [needs = assert.fail("nothing was asked")] = statements.filter(([text]) => text.includes("needs"))
      const plan = yield* indexedPlanOf(needs)
      assert.include(plan, "step_run_untold")
      assert.notMatch(plan, /SCAN step_run|Seq Scan on step_run|step_run_pkey/)
      // Each step begins after the last.
      if (!onPostgres) assert.include(plan, "(<expr>>?)")
      assert.notInclude(statements.map(([text]) => text).join(), "JOIN pause", "nothing is paused")
    }).pipe(Effect.provide(UnassignedStepRuns.layer))
  )

  it.effect("is reported in parts where very many wait for the same", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const task = `many ${crypto.randomUUID()}`
      const process = yield* Processes.create({
        name: task,
        steps: [{ name: "s", task: { name: task }, max_parallel: 700 }]
      })
      const run = yield* ProcessRuns.start(process.id, { payloads: Array.from({ length: 700 }, (_, n) => n) })
      if (!run.started) return yield* Effect.die(new Error("not started"))
      const sql = yield* SqlClient.SqlClient
      const reported = Effect.map(
        sql`SELECT count(*) AS n FROM step_run_event JOIN step_run ON step_run.id = step_run_event.step_run_id
          WHERE event_type = 'NO_WORKER' AND step_run.process_run_id = ${run.id}`,
        ([row]) => Number(row?.["n"])
      )
      yield* tickIn(11_000)
      assert.strictEqual(yield* reported, 500)
      yield* tickIn(12_000)
      yield* tickIn(13_000)
      assert.strictEqual(yield* reported, 700)
    })
  )

  it.effect("names the package or group it needs", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const { id } = yield* TaskPackages.create("unassigned package")
      const bytes = yield* zipOf({ "robot.yaml": robotYaml("read") })
      yield* TaskPackages.upload(id, { name: "p.zip", bytes })
      const group = yield* WorkerGroups.create("unassigned group")
      const { identity } = yield* linkWorker(["read"])
      const packaged = yield* started({ task: { name: "read", package_id: id } })
      const grouped = yield* started({ worker_group: { id: group.id } })
      yield* heardIn(identity.workerId, 14_000)
      yield* tickIn(15_000)
      assert.match((yield* told(packaged)).join(), /runs task packages, .* of the package "unassigned package"/)
      assert.match((yield* told(grouped)).join(), /no worker of the group "unassigned group" is online/)

      const member = yield* linkWorker(["read"])
      yield* WorkerGroups.addWorker(group.id, member.identity.workerId)
      const served = yield* started({ worker_group: { id: group.id } })
      yield* heardIn(member.identity.workerId, 14_000)
      yield* tickIn(15_000)
      assert.deepStrictEqual(yield* told(served), [])
    })
  )
})
