/** What is paused gets nothing more, goes on with what it has, and is paused by failures in a row. */
import { assert, layer as withLayer } from "@effect/vitest"
import type { StepRunId } from "@signalbox/api/contract/Ids"
import type { StepDefinition } from "@signalbox/api/contract/Processes"
import * as Audit from "@signalbox/api/Audit"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Workers from "@signalbox/api/Workers"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Gauges from "../../src/internal/runs/Gauges.ts"
import { queueOrders } from "../examples/QueueOrders.ts"
import { assertError } from "../support/Http.ts"
import { layer, linkWorker, Service } from "../support/Service.ts"

/** A process of one step, and the task that it runs. */
const makeProcess = Effect.fnUntraced(function* (
  step: Partial<StepDefinition> = {},
  rest: { readonly pause_after_failures?: number } = {}
) {
  const task = `paused ${crypto.randomUUID()}`
  const process = yield* Processes.create({
    name: task,
    steps: [{ name: "s", task: { name: task }, ...step }],
    ...rest
  })
  const [{ id: step_id } = assert.fail("no step")] = process.steps
  return { id: process.id, step: step_id, task }
})

const start = Effect.fnUntraced(function* (process: Effect.Success<ReturnType<typeof makeProcess>>, items = 1) {
  const payloads = Array.from({ length: items }, (_, n) => n)
  const run = yield* ProcessRuns.start(process.id, { payloads })
  return run.started ? run.id : assert.fail("not started")
})

type Worker = Effect.Success<ReturnType<typeof linkWorker>>

/** What a worker is given now. */
const given = (worker: Worker, task: string) =>
  Effect.map(worker.protocol.lease({ free: 5, tasks: [task], waitSeconds: 0 }), (leases) => leases.length)

const failure = (type: "APPLICATION" | "BUSINESS") =>
  ({ state: "FAILED", exception: { type, code: "BANK_DOWN", message: "no answer" } }) as const

/** Takes step runs and fails their items until it is given nothing more; returns how many it has failed. */
const failAll = (worker: Worker, task: string, type: "APPLICATION" | "BUSINESS") =>
  Effect.gen(function* () {
    for (let failed = 0; ;) {
      const [lease] = yield* worker.protocol.lease({ free: 1, tasks: [task], waitSeconds: 0 })
      if (lease === undefined) return failed
      yield* worker.protocol.start(lease)
      const session = yield* worker.session(lease)
      for (;;) {
        const item = yield* session.reserveNext
        if (item === null) break
        yield* session.release(item, failure(type))
        failed++
      }
      yield* worker.protocol.finish(lease, null)
    }
  })

const eventsOf = (stepRun: StepRunId) =>
  Effect.map(Stream.runCollect(StepRuns.events(stepRun)), (events) =>
    events.flatMap(({ event_type, message }) => (event_type === "PAUSED" ? [message ?? ""] : []))
  )

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a pause", (it) => {
  it.effect("of a process keeps its runs waiting, says why, and ends", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const process = yield* makeProcess()
      const worker = yield* linkWorker([process.task])
      const { paused } = yield* Processes.pause(process.id, { note: "the bank is down" })
      assert.deepStrictEqual([paused?.note, paused?.by.type], ["the bank is down", "api_key"])
      const run = yield* start(process)
      assert.strictEqual(yield* given(worker, process.task), 0)
      assert.deepStrictEqual((yield* Processes.get(process.id)).paused, paused)
      const listed = yield* Processes.list({ limit: 500 })
      assert.deepStrictEqual(listed.data.find(({ id }) => id === process.id)?.paused, paused)

      const [stepRun = assert.fail("no step run")] = (yield* StepRuns.list(run)).data
      yield* tickIn(11_000)
      yield* tickIn(12_000)
      const [reason, ...others] = yield* eventsOf(stepRun.id)
      assert.deepStrictEqual(others, [])
      assert.match(
        reason ?? "",
        /^the process "paused .*" has been paused since .*: the bank is down; resume it with `signalbox/
      )

      assert.isNull((yield* Processes.resume(process.id)).paused)
      assert.isNull((yield* Processes.get(process.id)).paused)
      assert.strictEqual(yield* given(worker, process.task), 1)
    })
  )

  it.effect("again changes the note and not the time, and another end changes nothing", () =>
    Effect.gen(function* () {
      const { id, step } = yield* makeProcess()
      const first = yield* Processes.pause(id, { step, note: "one" })
      const second = yield* Processes.pause(id, { step })
      assert.deepStrictEqual([second.paused?.note, second.paused?.since], [null, first.paused?.since])
      assert.deepStrictEqual((yield* Processes.get(id)).steps[0]?.paused, second.paused)
      assert.isNull((yield* Processes.get(id)).paused)
      yield* Processes.resume(id, { step })
      yield* Processes.resume(id, { step })
      assert.isNull((yield* Processes.get(id)).steps[0]?.paused)
    })
  )

  for (const what of ["process", "step", "worker", "group"] as const) {
    it.effect(`of a ${what} leaves what is in hand alone, and gives out nothing more`, () =>
      Effect.gen(function* () {
        const group = yield* WorkerGroups.create(`group ${crypto.randomUUID()}`)
        const process = yield* makeProcess({ worker_group: { id: group.id } })
        const worker = yield* linkWorker([process.task])
        const other = yield* linkWorker([process.task])
        for (const { identity } of [worker, other]) yield* WorkerGroups.addWorker(group.id, identity.workerId)
        const { pause, resume } = {
          process: { pause: Processes.pause(process.id), resume: Processes.resume(process.id) },
          step: {
            pause: Processes.pause(process.id, { step: process.step }),
            resume: Processes.resume(process.id, { step: process.step })
          },
          worker: { pause: Workers.pause(worker.identity.workerId), resume: Workers.resume(worker.identity.workerId) },
          group: { pause: WorkerGroups.pause(group.id), resume: WorkerGroups.resume(group.id) }
        }[what]
        const run = yield* start(process, 3)
        const { lease, session } = yield* worker.take
        yield* pause
        const item = (yield* session.reserveNext) ?? assert.fail("what is in hand was taken away")
        yield* session.release(item, { state: "COMPLETED" })
        assert.isNull(yield* session.reserveNext)
        yield* worker.protocol.finish(lease, null)
        assert.strictEqual(yield* given(worker, process.task), 0)
        assert.isFalse((yield* ProcessRuns.get(run)).state === "completed")
        if (what === "worker") {
          assert.isNotNull((yield* Workers.get(worker.identity.workerId)).paused)
          assert.strictEqual(yield* given(other, process.task), 1)
          return
        }
        if (what === "group") assert.isNotNull((yield* WorkerGroups.get(group.id)).paused)
        assert.strictEqual(yield* given(other, process.task), 0)
        yield* resume
        assert.strictEqual(yield* given(worker, process.task), 1)
      })
    )
  }

  it.effect(
    "by failures in a row stops several workers after so many and what they had, and again after a resume",
    () =>
      Effect.gen(function* () {
        const process = yield* makeProcess({ max_parallel: 5 }, { pause_after_failures: 10 })
        const workers = yield* Effect.forEach(Array.from({ length: 5 }), () => linkWorker([process.task]))
        const run = yield* start(process, 200)
        const burn = Effect.map(
          Effect.forEach(workers, (worker) => failAll(worker, process.task, "APPLICATION"), { concurrency: 5 }),
          (counts) => counts.reduce((sum, count) => sum + count, 0)
        )
        const burnt = yield* burn
        assert.isAtLeast(burnt, 10)
        assert.isAtMost(burnt, 10 + 4)
        const { paused } = yield* Processes.get(process.id)
        assert.deepStrictEqual(paused?.by, { type: "failures", id: null, name: null })
        assert.strictEqual(paused?.note, "10 failures in a row, the last one: BANK_DOWN")
        const told = yield* Effect.forEach((yield* StepRuns.list(run, { limit: 500 })).data, ({ id }) => eventsOf(id))
        // Attempts that wait for a worker may have been told that their process is paused.
        const ofAttempts = told.flat().filter((message) => message?.startsWith("this attempt"))
        assert.deepStrictEqual(ofAttempts, [`this attempt paused its process: ${paused?.note}`])
        const failed = (yield* WorkItems.list({ processRun: run, state: "failed", limit: 500 })).data
        assert.lengthOf(failed, burnt)
        yield* Processes.resume(process.id)
        assert.isAtMost(yield* burn, 10 + 4)
        assert.isNotNull((yield* Processes.get(process.id)).paused)
      })
  )

  it.effect("by failures of a step counts retries and a success starts the count again", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const process = yield* makeProcess({ pause_after_failures: 3, retry: { max_attempts: 2, delay_seconds: 0 } })
      const worker = yield* linkWorker([process.task])
      yield* start(process, 10)
      const { session } = yield* worker.take
      const next = Effect.flatMap(session.reserveNext, (item) =>
        item === null ? Effect.die(new Error("no item")) : Effect.succeed(item)
      )
      const isPaused = Effect.map(Processes.get(process.id), ({ steps }) => (steps[0]?.paused ?? null) !== null)
      const fail = Effect.flatMap(next, (item) => session.release(item, failure("APPLICATION")))
      yield* fail
      yield* fail
      yield* session.release(yield* next, { state: "COMPLETED" })
      assert.lengthOf(yield* sql`SELECT * FROM failure_streak WHERE subject_id = ${process.step}`, 0)
      yield* fail
      yield* session.release(yield* next, failure("BUSINESS"))
      yield* fail
      assert.isFalse(yield* isPaused)
      yield* fail
      assert.isTrue(yield* isPaused)
      assert.isNull(yield* session.reserveNext)
    })
  )

  it.effect("by failures without a code says the message of the last one", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess({ pause_after_failures: 1 })
      const { protocol, session } = yield* linkWorker([process.task])
      yield* start(process)
      const [lease = assert.fail("no lease")] = yield* protocol.lease({
        free: 1,
        tasks: [process.task],
        waitSeconds: 0
      })
      yield* protocol.start(lease)
      const { release, reserveNext } = yield* session(lease)
      const item = (yield* reserveNext) ?? assert.fail("no item")
      yield* release(item, { state: "FAILED", exception: { type: "APPLICATION", code: "", message: "no answer" } })
      const [step] = (yield* Processes.get(process.id)).steps
      assert.strictEqual(step?.paused?.note, '1 failure in a row, the last one: "no answer"')
      const { data: entries } = yield* Audit.list({ resource: step?.id })
      assert.deepStrictEqual([entries[0]?.action, entries[0]?.actor.type], ["pauseProcessStep", "system"])
      // Messages of failures may have what items have.
      assert.notInclude(JSON.stringify(entries[0]), "no answer")
    })
  )

  it.effect("by failures does not come from failures of the business", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess({ pause_after_failures: 1 })
      const worker = yield* linkWorker([process.task])
      yield* start(process, 5)
      assert.strictEqual(yield* failAll(worker, process.task, "BUSINESS"), 5)
    })
  )

  it.effect("is published to webhooks when it begins and when it ends, by hand and by failures", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess({ pause_after_failures: 1 })
      const webhook = yield* Webhooks.create({
        endpoint: "http://127.0.0.1:9/",
        process: process.id,
        events: ["process.paused", "process.resumed"]
      })
      yield* Processes.pause(process.id, { note: "one" })
      yield* Processes.pause(process.id, { note: "two" })
      yield* Processes.resume(process.id)
      const run = yield* start(process)
      yield* failAll(yield* linkWorker([process.task]), process.task, "APPLICATION")
      const deliveries = yield* Stream.runCollect(Webhooks.deliveries(webhook.id))
      const events = deliveries.map(({ body }) => JSON.parse(body)).toReversed()
      assert.deepStrictEqual(
        events.map(({ action, event, payload }) => [
          event,
          action,
          payload.state,
          payload.pause?.step,
          payload.pause?.note
        ]),
        [
          ["process", "paused", "paused", null, "one"],
          ["process", "resumed", "resumed", undefined, undefined],
          ["process", "paused", "paused", "s", "1 failure in a row, the last one: BANK_DOWN"]
        ]
      )
      assert.strictEqual(events[2].payload.processRunId, run)
    })
  )

  it.effect("and the order of items are what the guide says, whose example runs", () =>
    Effect.gen(function* () {
      const read = (path: string) => readFileSync(join(import.meta.dirname, path), "utf8")
      assert.include(
        read("../../../../docs/order-and-pause.md"),
        `\`\`\`ts title="orders.ts"\n${read("../examples/QueueOrders.ts")}\`\`\`\n`
      )
      assert.deepStrictEqual(yield* queueOrders, { isSame: true, express: 1, note: "wait for the new price list" })
    })
  )

  it.effect("and late items are metrics", () =>
    Effect.gen(function* () {
      const { id } = yield* makeProcess()
      yield* WorkItems.create({ process: id, dueAt: "2020-01-01T00:00:00Z" })
      yield* Processes.pause(id)
      yield* Effect.flatten(Gauges.make)
      const metrics = yield* Metric.snapshot
      const valueOf = (name: string) => metrics.find((metric) => metric.id === name)?.state
      assert.deepStrictEqual(valueOf("signalbox_work_items_late"), { value: 1 })
      assert.include(JSON.stringify(valueOf("signalbox_paused")), "value")
    })
  )

  it.effect("of what is not there is a 404, and a note that is too long a 400; nothing is paused", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { id } = yield* makeProcess()
      const nobody = "01900000-0000-7000-8000-000000000000"
      for (const path of [`processes/${nobody}`, `processes/${id}/steps/${nobody}`, `workers/${nobody}`]) {
        assertError(yield* raw("POST", `${path}/pause`), 404, "NOT_FOUND", new RegExp(nobody))
        assertError(yield* raw("POST", `${path}/resume`), 404, "NOT_FOUND", new RegExp(nobody))
      }
      const long = yield* raw("POST", `processes/${id}/pause`, { json: { note: "x".repeat(1001) } })
      assertError(long, 400, "INVALID_REQUEST", /note/)
      const steps = [{ name: "s", task: { name: "t" }, pause_after_failures: 0 }]
      const zero = yield* raw("POST", "processes", { json: { name: "zero", steps } })
      assertError(zero, 400, "INVALID_REQUEST", /steps.0.pause_after_failures/)
      assert.isNull((yield* Processes.get(id)).paused)
    })
  )
})
