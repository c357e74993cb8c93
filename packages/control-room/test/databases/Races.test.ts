/** Concurrent requests: in whatever order they are executed, each is executed completely or not at all. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as WorkItems from "@signalbox/api/WorkItems"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { bodyAs, multipart, send } from "../support/Http.ts"
import { layer, linkWorker, Service } from "../support/Service.ts"

const Form = Schema.Struct({
  upload: Schema.Struct({ form_data: Schema.Record(Schema.String, Schema.String) })
})

const newProcess = (name: string, maxParallel = 1) =>
  Processes.create({ name, steps: [{ name: "only", task: { name }, max_parallel: maxParallel }] })

const started = Effect.fnUntraced(function* (...args: Parameters<typeof ProcessRuns.start>) {
  const run = yield* ProcessRuns.start(...args)
  return run.started ? run.id : yield* Effect.die(new Error("not started"))
})

/** The rows of a table whose columns have these values. */
const rowsWhere = Effect.fnUntraced(function* (table: string, where: Readonly<Record<string, unknown>>) {
  const { rows } = yield* Service
  return ((yield* rows)[table] ?? []).filter((row) => {
    const columns = Object.entries(row ?? {})
    return Object.entries(where).every(([name, value]) =>
      columns.some(([column, stored]) => column === name && stored === value)
    )
  })
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("at once", (it) => {
  it.effect("files come to a work item: it has 100 of them and no more", () =>
    Effect.gen(function* () {
      const { origin, raw } = yield* Service
      const process = yield* newProcess("files")
      const item = yield* WorkItems.create({ process: process.id })
      const forms = yield* Effect.forEach(
        Array.from({ length: 110 }, (_, n) => n),
        (n) => raw("POST", `work-items/${item.id}/files`, { json: { file_name: `f${n}`, file_size: 1 } }),
        { concurrency: 8 }
      )
      const statuses = yield* Effect.forEach(
        forms,
        (answer) => {
          const fields = Object.entries(bodyAs(Form, answer).upload.form_data)
          const parts = fields.map(([name, value]) => ({ name, value }))
          const form = multipart([...parts, { name: "file", filename: "f", value: "x" }])
          return Effect.map(send(origin, "POST", "/transfer/v1/uploads", form), ({ status }) => status)
        },
        { concurrency: 16 }
      )
      assert.lengthOf(
        statuses.filter((status) => status === 204),
        100
      )
      assert.lengthOf(
        statuses.filter((status) => status === 409),
        10
      )
      assert.lengthOf((yield* WorkItems.get(item.id)).files, 100)
    })
  )

  it.effect("a worker is deleted and leases: it does one of both", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const process = yield* newProcess("deleted worker")
      for (let round = 0; round < sized(3, 15); round++) {
        const worker = yield* linkWorker(["deleted worker"])
        const run = yield* started(process.id)
        const lease = worker.protocol.lease({ free: 1, tasks: ["deleted worker"], waitSeconds: 0 })
        const [leases, removed] = yield* Effect.all(
          [Effect.orElseSucceed(lease, () => []), raw("DELETE", `workers/${worker.identity.workerId}`)],
          { concurrency: "unbounded" }
        )
        assert.strictEqual(removed.status, leases.length === 1 ? 409 : 200, removed.text)
        for (const one of leases) {
          yield* worker.protocol.start(one)
          yield* worker.protocol.finish(one, null)
        }
        if (leases.length === 0) yield* ProcessRuns.stop(run, { terminate: true, remainingAsDone: true })
      }
    })
  )

  it.effect("leases expire and start: a step run that is in progress has its worker", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const process = yield* newProcess("expired", 10)
      const worker = yield* linkWorker(["expired"])
      for (let round = 0; round < sized(2, 8); round++) {
        const run = yield* started(process.id, { payloads: Array.from({ length: 10 }, (_, n) => n) })
        const leases = yield* worker.protocol.lease({ free: 10, tasks: ["expired"], waitSeconds: 5 })
        assert.lengthOf(leases, 10)
        const [exits] = yield* Effect.all(
          [
            Effect.forEach(leases, (lease) => Effect.exit(worker.protocol.start(lease)), { concurrency: "unbounded" }),
            Effect.delay(tickIn(31_000), `${round * 2} millis`)
          ],
          { concurrency: "unbounded" }
        )
        const begun = exits.filter(({ _tag }) => _tag === "Success").length
        assert.lengthOf(yield* rowsWhere("step_run", { process_run_id: run, state: "in_progress", worker_id: null }), 0)
        // By that time the worker of the started ones was lost too.
        const live = yield* rowsWhere("step_run", { process_run_id: run, state: "in_progress" })
        const lost = yield* rowsWhere("step_run", { process_run_id: run, error_code: "WORKER_LOST" })
        assert.strictEqual(live.length + lost.length, begun)
        yield* ProcessRuns.stop(run, { terminate: true, remainingAsDone: true })
      }
    })
  )

  it.effect("a webhook is disabled and runs begin: nothing waits for a disabled webhook", () =>
    Effect.gen(function* () {
      const process = yield* newProcess("disabled")
      for (let round = 0; round < sized(2, 10); round++) {
        const webhook = yield* Webhooks.create({
          endpoint: "http://127.0.0.1:9/nobody",
          events: ["process_run.started", "process_run.completed"],
          process: process.id
        })
        const worker = yield* linkWorker(["disabled"])
        yield* started(process.id)
        const [lease] = yield* worker.protocol.lease({ free: 1, tasks: ["disabled"], waitSeconds: 5 })
        if (lease === undefined) return assert.fail("no lease")
        yield* Effect.all([worker.protocol.start(lease), Webhooks.update(webhook.id, { enabled: false })], {
          concurrency: "unbounded"
        })
        yield* worker.protocol.finish(lease, null)
        assert.lengthOf(yield* rowsWhere("webhook_delivery", { webhook_id: webhook.id, state: "pending" }), 0)
      }
    })
  )

  it.effect("a process is deleted and its failed items are retried: one of both is refused", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      for (let round = 0; round < sized(2, 10); round++) {
        const name = `retried ${round}`
        const process = yield* newProcess(name)
        const worker = yield* linkWorker([name])
        const run = yield* started(process.id)
        const { lease, session } = yield* worker.take
        yield* session.release(lease.work_item_id, {
          state: "FAILED",
          exception: { type: "BUSINESS", code: "X", message: "no" }
        })
        yield* worker.protocol.finish(lease, null)
        const [retried, removed] = yield* Effect.all(
          [
            raw("POST", "work-items/batch", {
              json: { batch_operation: "retry", work_item_ids: [lease.work_item_id] }
            }),
            raw("DELETE", `processes/${process.id}`)
          ],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          [retried.status, removed.status],
          retried.status === 200 ? [200, 409] : [404, 200],
          `${retried.text} ${removed.text}`
        )
        if (retried.status !== 200) continue
        const again = yield* worker.take
        yield* worker.protocol.finish(again.lease, null)
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
      }
    })
  )

  it.effect(
    "a payload is changed by several who have read the same one: one of them wins, and the others are told",
    () =>
      Effect.gen(function* () {
        const process = yield* newProcess("payloads")
        const item = yield* WorkItems.create({ process: process.id, payload: { b: 1, a: [2] } })
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, n) => n),
          // The order of keys does not count.
          (n) => Effect.result(WorkItems.updatePayload(item.id, n, { previous: { a: [2], b: 1 } })),
          { concurrency: "unbounded" }
        )
        const tags = outcomes.map((outcome) => (outcome._tag === "Success" ? "changed" : outcome.failure._tag))
        assert.deepStrictEqual(tags.sort(), [...Array.from({ length: 7 }, () => "Conflict"), "changed"])
        const winner = outcomes.findIndex(({ _tag }) => _tag === "Success")
        assert.strictEqual((yield* WorkItems.get(item.id)).payload, winner)
      })
  )

  it.effect("names are chosen: each is used once", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const create = (path: string, json: object) =>
        Effect.all(
          Array.from({ length: 8 }, (_, n) =>
            raw("POST", path, { json, headers: n % 2 === 0 ? {} : { "idempotency-key": `${path}-${n}` } })
          ),
          { concurrency: "unbounded" }
        )
      const name = "the one"
      for (const [path, json] of [
        ["processes", { name, steps: [] }],
        ["assets", { name }],
        ["worker-groups", { name }],
        ["task-packages", { name, type: "zip" }],
        ["secrets", { name: "the_one", items: { a: "b" } }]
      ] as const) {
        const statuses = (yield* create(path, json)).map(({ status }) => status)
        assert.deepStrictEqual(statuses.sort(), [200, ...Array.from({ length: 7 }, () => 409)], path)
      }
      assert.lengthOf(yield* Stream.runCollect(Processes.stream()), (yield* rowsWhere("process", {})).length)
    })
  )
})
