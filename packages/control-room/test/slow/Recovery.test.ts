import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, it, layer as withLayer } from "@effect/vitest"
import { WorkItemId } from "@signalbox/api/contract/Ids"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Runs } from "../../src/internal/runs/Runs.ts"
import * as Child from "../support/Child.ts"
import { bodyAs, multipart, send, sendRaw } from "../support/Http.ts"
import {
  blobsIn,
  layer,
  layerIn,
  linkWorker,
  linkWorkerAt,
  adjustable,
  onPostgres,
  Service,
  temporaryFolder,
  workerAt
} from "../support/Service.ts"

const newProcess = Effect.fnUntraced(function* (step: object = {}, steps = 1) {
  const name = `recovery ${crypto.randomUUID()}`
  const tasks = Array.from({ length: steps }, (_, index) => `${name} ${index}`)
  const process = yield* Processes.create({
    name,
    steps: tasks.map((task, index) => ({ name: `step ${index}`, task: { name: task }, ...step }))
  })
  return { process, tasks }
})

const started = Effect.fnUntraced(function* (...args: Parameters<typeof ProcessRuns.start>) {
  const run = yield* ProcessRuns.start(...args)
  return run.started ? run.id : yield* Effect.die(new Error("not started"))
})

const itemsOf = (run: Effect.Success<ReturnType<typeof started>>) =>
  Stream.runCollect(WorkItems.stream({ processRun: run, includeData: true }))

const onlyItem = Effect.fnUntraced(function* (run: Effect.Success<ReturnType<typeof started>>) {
  const [item, ...others] = yield* itemsOf(run)
  assert.strictEqual(others.length, 0)
  return item ?? assert.fail("no item")
})

const leaseLost = Effect.fnUntraced(function* <A, E extends { readonly _tag: string }, R>(
  call: Effect.Effect<A, E, R>
) {
  const error = yield* Effect.flip(Effect.asVoid(call))
  assert.strictEqual(error._tag, "Conflict")
  assert.strictEqual("code" in error ? error.code : "", "LEASE_LOST")
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("what time brings", (it) => {
  it.effect("ends the step run of a worker without a heartbeat for 10 seconds, and fails its item", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tick } = yield* Runs
      const clock = yield* Clock.Clock
      // Ahead of the clock, so that the service's own polls find nothing, however long the machine takes.
      const start = (yield* Clock.currentTimeMillis) + 60_000
      const tickAt = (time: number) =>
        Effect.provideService(
          tick,
          Clock.Clock,
          adjustable(clock, () => time - clock.currentTimeMillisUnsafe())
        )
      const heard = (worker: typeof silent, time: number) =>
        sql`UPDATE worker SET last_seen_at = ${new Date(time).toISOString()} WHERE id = ${worker.identity.workerId}`
      const { process, tasks } = yield* newProcess({ max_parallel: 2 })
      const silent = yield* linkWorker(tasks)
      const alive = yield* linkWorker(tasks)
      const run = yield* started(process.id, { payloads: ["a", "b"] })
      const lost = yield* silent.take
      yield* heard(silent, start)
      const kept = yield* alive.take
      yield* heard(alive, start)
      yield* lost.session.createOutput(lost.lease.work_item_id, "half done")
      yield* tickAt(start + 9_000)
      assert.strictEqual((yield* StepRuns.get(lost.lease.step_run_id)).state, "in_progress")
      yield* heard(alive, start + 9_000)
      yield* tickAt(start + 11_000)
      const ended = yield* StepRuns.get(lost.lease.step_run_id)
      assert.strictEqual(ended.state, "failed")
      assert.strictEqual(ended.error?.code, "WORKER_LOST")
      assert.strictEqual((yield* StepRuns.get(kept.lease.step_run_id)).state, "in_progress")
      const item = yield* WorkItems.get(lost.lease.work_item_id)
      assert.strictEqual(item.state, "failed")
      assert.strictEqual(item.exception?.type, "orchestrator")
      assert.strictEqual(item.exception?.code, "WORKER_LOST")
      // Users of its tokens get this error.
      yield* leaseLost(lost.session.release(item.id, { state: "COMPLETED" }))
      yield* leaseLost(lost.session.createOutput(item.id, 1))
      yield* leaseLost(lost.session.reserveNext)
      yield* leaseLost(silent.protocol.finish(lost.lease, null))
      assert.deepStrictEqual((yield* silent.protocol.heartbeat([lost.lease.step_run_id])).lost, [
        lost.lease.step_run_id
      ])
      yield* alive.protocol.finish(kept.lease, null)
      assert.strictEqual((yield* ProcessRuns.awaitEnd(run)).state, "unresolved")
      assert.deepStrictEqual(yield* Stream.runCollect(Outputs.stream(run)), [])
    })
  )

  it.effect("leases the item of a lost worker to a new step run immediately, as often as the step allows", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const { process, tasks } = yield* newProcess({ retry: { max_attempts: 2, delay_seconds: 0 } })
      const worker = yield* linkWorker(tasks)
      const run = yield* started(process.id)
      const first = yield* worker.take
      yield* tickIn(11_000)
      const waiting = yield* onlyItem(run)
      assert.strictEqual(waiting.state, "pending")
      assert.strictEqual(waiting.exception?.code, "WORKER_LOST")
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "in_progress")
      const second = yield* worker.take
      assert.notStrictEqual(second.lease.step_run_id, first.lease.step_run_id)
      assert.strictEqual(second.lease.work_item_id, first.lease.work_item_id)
      yield* leaseLost(first.session.payload(first.lease.work_item_id))
      yield* tickIn(11_000)
      assert.strictEqual((yield* onlyItem(run)).state, "failed")
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "unresolved")
      const stepRuns = yield* Stream.runCollect(StepRuns.stream(run))
      assert.deepStrictEqual(
        stepRuns.map(({ error, state }) => [state, error?.code]),
        [
          ["failed", "WORKER_LOST"],
          ["failed", "WORKER_LOST"]
        ]
      )
    })
  )

  it.effect("takes a lease back that was not started within 30 seconds", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const { process, tasks } = yield* newProcess()
      const slow = yield* linkWorker(tasks)
      const other = yield* linkWorker(tasks)
      yield* started(process.id)
      const lease = yield* slow.lease
      const look = other.protocol.lease({ free: 1, tasks, waitSeconds: 0 })
      yield* tickIn(29_000)
      assert.deepStrictEqual(yield* look, [])
      yield* tickIn(31_000)
      const [again] = yield* look
      assert.strictEqual(again?.step_run_id, lease.step_run_id)
      assert.notStrictEqual(again?.lease_token, lease.lease_token)
      yield* leaseLost(slow.protocol.start(lease))
      if (again === undefined) return assert.fail("no lease")
      yield* other.protocol.start(again)
      yield* leaseLost(slow.protocol.finish(lease, null))
      assert.deepStrictEqual((yield* slow.protocol.heartbeat([lease.step_run_id])).lost, [lease.step_run_id])
      assert.deepStrictEqual((yield* other.protocol.heartbeat([lease.step_run_id])).lost, [])
      yield* other.protocol.finish(again, null)
    })
  )

  it.effect("ends a step run that takes longer than timeout_seconds, ten seconds after its worker should have", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const { process, tasks } = yield* newProcess({ timeout_seconds: 5 })
      const worker = yield* linkWorker(tasks)
      const run = yield* started(process.id)
      const { lease, session } = yield* worker.take
      assert.strictEqual(lease.timeout_seconds, 5)
      const sql = yield* SqlClient.SqlClient
      const heard = new Date(Date.now() + 14_000).toISOString()
      yield* sql`UPDATE worker SET last_seen_at = ${heard} WHERE id = ${worker.identity.workerId}`
      yield* tickIn(14_000)
      assert.strictEqual((yield* StepRuns.get(lease.step_run_id)).state, "in_progress")
      yield* tickIn(16_000)
      assert.strictEqual((yield* StepRuns.get(lease.step_run_id)).error?.code, "TIMEOUT")
      const item = yield* onlyItem(run)
      assert.deepStrictEqual(
        [item.state, item.exception?.type, item.exception?.code],
        ["failed", "orchestrator", "TIMEOUT"]
      )
      yield* leaseLost(session.release(item.id, { state: "COMPLETED" }))
      assert.deepStrictEqual((yield* worker.protocol.heartbeat([lease.step_run_id])).lost, [lease.step_run_id])
    })
  )

  it.effect("begins the time of a step run anew when its worker has built the environment, and not before", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const { process, tasks } = yield* newProcess({ timeout_seconds: 5 })
      const worker = yield* linkWorker(tasks)
      yield* started(process.id)
      const { lease } = yield* worker.take
      const sql = yield* SqlClient.SqlClient
      const heard = new Date(Date.now() + 3_600_000).toISOString()
      yield* sql`UPDATE worker SET last_seen_at = ${heard} WHERE id = ${worker.identity.workerId}`
      const stateAfter = (millis: number) =>
        Effect.andThen(
          tickIn(millis),
          Effect.map(StepRuns.get(lease.step_run_id), ({ state }) => state)
        )
      const limit = Effect.map(
        sql<{ readonly timeout_at: string | null }>`SELECT timeout_at FROM step_run WHERE id = ${lease.step_run_id}`,
        ([row]) => row?.timeout_at
      )
      yield* worker.protocol.build(lease, "started")
      assert.isNull(yield* limit)
      assert.strictEqual(yield* stateAfter(600_000), "in_progress")
      assert.isNull(yield* limit)
      yield* worker.protocol.build(lease, "ended")
      assert.match((yield* limit) ?? "", /^2/)
      assert.strictEqual(yield* stateAfter(14_000), "in_progress")
      assert.strictEqual(yield* stateAfter(16_000), "failed")
      yield* leaseLost(worker.protocol.build(lease, "started"))
    })
  )

  it.effect("loses a step run that its worker no longer names, but not one that was just started", () =>
    Effect.gen(function* () {
      const { process, tasks } = yield* newProcess()
      const worker = yield* linkWorker(tasks)
      const run = yield* started(process.id)
      const { lease } = yield* worker.take
      assert.deepStrictEqual(yield* worker.protocol.heartbeat([]), { stop: [], lost: [], drain: false })
      const sql = yield* SqlClient.SqlClient
      const before = new Date(Date.now() - 11_000).toISOString()
      yield* sql`UPDATE step_run SET started_at = ${before} WHERE id = ${lease.step_run_id}`
      yield* worker.protocol.heartbeat([lease.step_run_id])
      assert.strictEqual((yield* StepRuns.get(lease.step_run_id)).state, "in_progress")
      yield* worker.protocol.heartbeat([])
      assert.strictEqual((yield* StepRuns.get(lease.step_run_id)).error?.code, "WORKER_LOST")
      assert.deepStrictEqual((yield* onlyItem(run)).exception?.type, "orchestrator")
      yield* leaseLost(worker.protocol.finish(lease, null))
    })
  )

  it.effect("tries a failed item again after its delay and not before, and a business failure never", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const { process, tasks } = yield* newProcess({ retry: { max_attempts: 3, delay_seconds: 60 } })
      const worker = yield* linkWorker(tasks)
      const look = worker.protocol.lease({ free: 1, tasks, waitSeconds: 0 })
      const fail = Effect.fnUntraced(function* (type: "APPLICATION" | "BUSINESS") {
        const { lease, session } = yield* worker.take
        const exception = { type, code: "NO", message: "not today" }
        yield* session.release(lease.work_item_id, { state: "FAILED", exception })
        yield* worker.protocol.finish(lease, null)
      })
      const run = yield* started(process.id)
      yield* fail("APPLICATION")
      const waiting = yield* onlyItem(run)
      assert.deepStrictEqual([waiting.state, waiting.step_run, waiting.exception?.code], ["pending", null, "NO"])
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "in_progress")
      yield* tickIn(59_000)
      assert.deepStrictEqual(yield* look, [])
      yield* tickIn(61_000)
      yield* fail("BUSINESS")
      assert.strictEqual((yield* onlyItem(run)).state, "failed")
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "unresolved")
    })
  )

  it.effect("lets no retry begin once the run is stopped", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const { process, tasks } = yield* newProcess({ retry: { max_attempts: 3, delay_seconds: 60 } })
      const worker = yield* linkWorker(tasks)
      const run = yield* started(process.id)
      yield* worker.take
      yield* ProcessRuns.stop(run, { terminate: true })
      yield* tickIn(11_000)
      assert.strictEqual((yield* onlyItem(run)).exception?.code, "WORKER_LOST")
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "unresolved")
      yield* tickIn(120_000)
      assert.strictEqual((yield* Stream.runCollect(StepRuns.stream(run))).length, 1)
    })
  )
})

const http = NodeHttpClient.layerUndici

it.live("resumes after SIGKILL with everything it had confirmed, and sweeps partial files", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const child = yield* Child.start(folder)
    const before = yield* Effect.gen(function* () {
      const { process, tasks } = yield* newProcess({}, 2)
      const worker = yield* linkWorkerAt(child.origin, tasks)
      const item = yield* WorkItems.create({ process: process.id, payload: { day: 1 } })
      yield* WorkItems.attachFile(item.id, { name: "in.txt", bytes: new TextEncoder().encode("hello") })
      const run = yield* started(process.id, { workItems: [item.id] })
      const taken = yield* worker.take
      yield* taken.session.createOutput(item.id, "from before")
      const [file] = (yield* WorkItems.get(item.id)).files
      return { process, tasks, worker, item, run, taken, file: file ?? assert.fail("no file") }
    }).pipe(Effect.provide(child.client))
    const { item, process, run, taken, tasks, worker } = before

    const call = (method: string, path: string, body: unknown) =>
      send(child.origin, method, `/api/v1/workspaces/${child.workspaceId}/${path}`, {
        headers: { authorization: `RC-WSKEY ${child.key}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
    // An upload in progress when the process is killed.
    const other = bodyAs(
      Schema.Struct({ id: WorkItemId }),
      yield* call("POST", "work-items", { process: { id: process.id } })
    )
    const form = bodyAs(
      Schema.Struct({ upload: Schema.Struct({ form_data: Schema.Record(Schema.String, Schema.String) }) }),
      yield* call("POST", `work-items/${other.id}/files`, { file_name: "big", file_size: 1_000_000 })
    )
    const fields = Object.entries(form.upload.form_data).map(([name, value]) => ({ name, value }))
    const whole = multipart([...fields, { name: "file", filename: "big", value: Buffer.alloc(1_000_000, 1) }])
    const head =
      `POST /transfer/v1/uploads HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${whole.headers["content-type"]}\r\n` +
      `content-length: ${whole.body.length}\r\n\r\n`
    const half = Buffer.concat([Buffer.from(head), whole.body.subarray(0, 500_000)])
    const upload = yield* Effect.forkChild(sendRaw(child.origin, half))
    yield* Effect.repeat(Effect.delay(blobsIn(folder), "10 millis"), {
      until: ({ staged }) => staged.length === 1,
      times: 500
    })
    assert.strictEqual((yield* blobsIn(folder)).staged.length, 1)

    // Items created until it is killed: the confirmed ones must exist.
    const answered: Array<WorkItemId> = []
    const create = Effect.gen(function* () {
      const answer = yield* call("POST", "work-items", { process: { id: process.id }, payload: "burst" })
      assert.strictEqual(answer.status, 200)
      answered.push(bodyAs(Schema.Struct({ id: WorkItemId }), answer).id)
    })
    const burst = yield* Effect.forkChild(
      Effect.all(
        Array.from({ length: 4 }, () => Effect.exit(Effect.forever(create))),
        { concurrency: "unbounded" }
      )
    )
    yield* Effect.repeat(
      Effect.delay(
        Effect.sync(() => answered.length),
        "5 millis"
      ),
      { until: (count) => count > 40 }
    )
    yield* child.kill
    yield* Fiber.join(burst)
    yield* Fiber.join(upload)

    yield* Effect.gen(function* () {
      const { blobs, origin, tickIn } = yield* Service
      const sql = yield* SqlClient.SqlClient
      // Another node might still write files there: with Postgres they are swept when they are old.
      assert.lengthOf((yield* blobs).staged, onPostgres ? 1 : 0)
      assert.strictEqual((yield* blobs).kept.length, 1)
      const stored = new Set((yield* Stream.runCollect(WorkItems.stream({ process: process.id }))).map(({ id }) => id))
      for (const id of answered) assert.isTrue(stored.has(id), `${id} was answered and is gone`)
      assert.deepStrictEqual((yield* WorkItems.get(other.id)).files, [])
      // The worker survived the service: it sent no heartbeat for more than 10 seconds because no service was running.
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "in_progress")
      yield* sql`UPDATE worker SET last_seen_at = ${new Date(Date.now() - 3_600_000).toISOString()}`
      yield* tickIn(5_000)
      const again = yield* workerAt(origin, worker.identity, tasks)
      assert.deepStrictEqual((yield* again.protocol.heartbeat([taken.lease.step_run_id])).lost, [])
      const session = yield* again.session(taken.lease)
      yield* session.createOutput(item.id, "from after")
      yield* session.release(item.id, { state: "COMPLETED" })
      yield* again.protocol.finish(taken.lease, null)
      for (const _ of ["from before", "from after"]) {
        const next = yield* again.take
        yield* next.session.createOutput(next.lease.work_item_id, yield* next.session.payload(next.lease.work_item_id))
        yield* again.protocol.finish(next.lease, null)
      }
      assert.strictEqual((yield* ProcessRuns.awaitEnd(run)).state, "completed")
      const outputs = yield* Stream.runCollect(Outputs.stream(run))
      assert.deepStrictEqual(outputs.map(({ payload }) => payload).sort(), ["from after", "from before"])
      // Addresses and keys from before remain valid.
      const url = before.file.download.url.replace(child.origin, origin)
      const file = { ...before.file, download: { url } }
      assert.strictEqual(yield* Stream.mkString(Stream.decodeText(Files.download(file))), "hello")
      const key = yield* send(origin, "GET", `/api/v1/workspaces/${child.workspaceId}`, {
        headers: { authorization: `RC-WSKEY ${child.key}` }
      })
      assert.strictEqual(key.status, 200)
    }).pipe(Effect.provide(layerIn(folder)))
  }).pipe(Effect.scoped, Effect.provide(http))
)

// On Postgres the killed nodes of Nodes.test.ts show it, in the short form.
it.live.skipIf(onPostgres && !soak)(
  "makes one output of each item, however often the service and its workers are killed meanwhile",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const shares = soak ? [8, 25] : [5, 12]
      const payloads = Array.from({ length: sized(30, 60) }, (_, n) => n)
      /** A worker that creates one output of each item, until none is left. */
      const work = Effect.fnUntraced(function* (origin: string, tasks: ReadonlyArray<string>) {
        const worker = yield* linkWorkerAt(origin, tasks)
        for (;;) {
          const [lease] = yield* worker.protocol.lease({ free: 1, tasks, waitSeconds: 1 })
          if (lease === undefined) return
          yield* worker.protocol.start(lease)
          const session = yield* worker.session(lease)
          for (let item: WorkItemId | null = lease.work_item_id; item !== null;) {
            yield* session.createOutput(item, yield* session.payload(item))
            yield* session.release(item, { state: "COMPLETED" })
            item = yield* session.reserveNext
          }
          yield* worker.protocol.finish(lease, null)
        }
      })
      const first = yield* Child.start(folder)
      const { run, tasks } = yield* Effect.gen(function* () {
        const { process, tasks } = yield* newProcess({
          max_parallel: 9,
          retry: { max_attempts: 100, delay_seconds: 0 }
        })
        return { tasks, run: yield* started(process.id, { payloads }) }
      }).pipe(Effect.provide(first.client))
      const countOf = Effect.map(itemsOf(run), (items) => items.filter(({ state }) => state === "done").length)
      // The step runs of killed workers remain for 10 seconds: hence room for those of three crews. Each time a share
      // of the items is done, everything is killed together, without a shutdown.
      for (const [round, share] of shares.entries()) {
        const child = round === 0 ? first : yield* Child.start(folder)
        yield* Effect.gen(function* () {
          const crew = yield* Effect.forkChild(
            Effect.all(
              Array.from({ length: 3 }, () => work(child.origin, tasks)),
              { concurrency: "unbounded" }
            )
          )
          yield* Effect.repeat(Effect.delay(countOf, "10 millis"), { until: (done) => done >= share, times: 2_000 })
          assert.isAtLeast(yield* countOf, share)
          yield* child.kill
          yield* Fiber.interrupt(crew)
        }).pipe(Effect.provide(child.client))
      }
      yield* Effect.gen(function* () {
        const { origin, tickIn } = yield* Service
        assert.isBelow(yield* countOf, payloads.length)
        yield* tickIn(11_000)
        yield* work(origin, tasks)
        assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
        const outputs = yield* Stream.runCollect(Outputs.stream(run))
        assert.deepStrictEqual(
          outputs.map(({ payload }) => Number(payload)).sort((a, b) => a - b),
          payloads
        )
        const states = (yield* itemsOf(run)).map(({ state }) => state)
        assert.deepStrictEqual(new Set(states), new Set(["done"]))
      }).pipe(Effect.provide(layerIn(folder)))
    }).pipe(Effect.scoped, Effect.provide(http))
)

it.live("gives workers the full time again when the machine has slept", () =>
  Effect.gen(function* () {
    let slept = 0
    // The database was awake, and its clock is the one that counts on Postgres.
    const clock = adjustable(
      yield* Clock.Clock,
      () => slept,
      () => slept
    )
    yield* Effect.gen(function* () {
      const { tasks: kept, process: one } = yield* newProcess()
      const { tasks: delayed, process: two } = yield* newProcess({ retry: { max_attempts: 2, delay_seconds: 5 } })
      const [worker, other] = [yield* linkWorker(kept), yield* linkWorker(delayed)]
      const run = yield* started(one.id)
      const { lease } = yield* worker.take
      yield* started(two.id)
      const failed = yield* other.take
      yield* other.protocol.finish(failed.lease, { code: "ROBOT_FAILURE", message: "not today" })
      slept = 12_000
      // A poll looks for lost workers before it ends the delay.
      yield* other.take
      assert.deepStrictEqual((yield* worker.protocol.heartbeat([lease.step_run_id])).lost, [])
      yield* worker.protocol.finish(lease, null)
      assert.strictEqual((yield* ProcessRuns.awaitEnd(run)).state, "completed")
    }).pipe(Effect.provide(layerIn(yield* temporaryFolder).pipe(Layer.provide(Layer.succeed(Clock.Clock, clock)))))
  }).pipe(Effect.scoped, Effect.provide(http))
)

it.live.skipIf(onPostgres)("refuses a second process on the folder of a SQLite file, and says why", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const child = yield* Child.start(folder)
    const refused = yield* Effect.flip(Child.start(folder))
    assert.isAbove(refused.code ?? 0, 0)
    assert.include(refused.output, "another process uses")
    assert.include(refused.output, folder)
    assert.include(refused.output, "choose another data folder")
    const here = yield* Effect.flip(Effect.scoped(Layer.build(layerIn(folder))))
    assert.strictEqual(here._tag, "SqliteOpenError")
    const answer = yield* send(child.origin, "GET", `/api/v1/workspaces/${child.workspaceId}`, {
      headers: { authorization: `RC-WSKEY ${child.key}` }
    })
    assert.strictEqual(answer.status, 200)
    // The lock is released when the process ends, however it ends.
    yield* child.kill
    const next = yield* Child.start(folder)
    assert.strictEqual(next.workspaceId, child.workspaceId)
  }).pipe(Effect.scoped)
)

it.live.skipIf(onPostgres)("refuses a folder that has files and no database, and keeps the files", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const [database, aside] = [join(folder, "control-room.db"), join(folder, "aside.db")]
    yield* Effect.gen(function* () {
      const { process } = yield* newProcess()
      const item = yield* WorkItems.create({ process: process.id, payload: null })
      yield* WorkItems.attachFile(item.id, { name: "in.txt", bytes: new TextEncoder().encode("hello") })
    }).pipe(Effect.provide(layerIn(folder)))
    renameSync(database, aside)
    for (const lost of ["missing", "empty"]) {
      if (lost === "empty") writeFileSync(database, "")
      const refused = yield* Effect.flip(Effect.scoped(Layer.build(layerIn(folder))))
      assert.strictEqual(refused._tag, "SqliteOpenError")
      assert.include(refused.message, `${database} is missing or empty, and ${folder}/files has files`)
    }
    renameSync(aside, database)
    const kept = Effect.gen(function* () {
      const [item] = yield* Stream.runCollect(WorkItems.stream())
      const [file] = (yield* WorkItems.get(item?.id ?? assert.fail("no item"))).files
      return yield* Stream.mkString(Stream.decodeText(Files.download(file ?? assert.fail("no file"))))
    })
    assert.strictEqual(yield* Effect.provide(kept, layerIn(folder)), "hello")
  }).pipe(Effect.scoped, Effect.provide(http))
)
