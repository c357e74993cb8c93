import { assert, layer as withLayer } from "@effect/vitest"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { layer, linkWorker, Service } from "../support/Service.ts"

let made = 0
/** A separate process for each test, so that no test leases a step run of another. */
const newProcess = (steps = 1, options: object = {}) => {
  const id = ++made
  const tasks = Array.from({ length: steps }, (_, index) => `task-${id}-${index}`)
  return Effect.map(
    Processes.create({
      name: `process ${id}`,
      steps: tasks.map((name, index) => ({ name: `step ${index}`, task: { name }, ...options }))
    }),
    (process) => ({ process, tasks })
  )
}

const started = Effect.fnUntraced(function* (...args: Parameters<typeof ProcessRuns.start>) {
  const run = yield* ProcessRuns.start(...args)
  return run.started ? run.id : yield* Effect.die(new Error("not started"))
})

const itemsOf = (run: Effect.Success<ReturnType<typeof started>>) =>
  Stream.runCollect(WorkItems.stream({ processRun: run, includeData: true }))

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the life of a run", (it) => {
  it.effect("goes from a work item with a file to outputs with a file", () =>
    Effect.gen(function* () {
      const { process, tasks } = yield* newProcess(2)
      const worker = yield* linkWorker(tasks)
      const item = yield* WorkItems.create({ process: process.id, payload: { day: 1 } })
      yield* WorkItems.attachFile(item.id, { name: "in.txt", bytes: new TextEncoder().encode("hello") })
      const run = yield* started(process.id, { workItems: [item.id] })
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "new")

      const first = yield* worker.take
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "in_progress")
      assert.deepStrictEqual(yield* first.session.payload(item.id), { day: 1 })
      const [file] = yield* first.session.files(item.id)
      if (file === undefined) return assert.fail("no file")
      const bytes = Stream.unwrap(first.session.download(item.id, file.fileId))
      assert.strictEqual(yield* Stream.mkString(Stream.decodeText(bytes)), "hello")
      yield* first.session.createOutput(item.id, { part: "a" })
      yield* first.session.createOutput(item.id, { part: "b" })
      assert.isNull(
        yield* Effect.andThen(first.session.release(item.id, { state: "COMPLETED" }), first.session.reserveNext)
      )
      // The outputs are passed on when the step run ends.
      assert.strictEqual((yield* itemsOf(run)).length, 1)
      yield* worker.protocol.finish(first.lease, null)
      assert.strictEqual((yield* itemsOf(run)).length, 3)

      const second = yield* worker.take
      for (let current = second.lease.work_item_id as typeof item.id | null; current !== null;) {
        const output = yield* second.session.createOutput(current, yield* second.session.payload(current))
        yield* second.session.attachFile(output, {
          name: "out.txt",
          size: 2,
          stream: Stream.make(new Uint8Array([79, 75]))
        })
        yield* second.session.release(current, { state: "COMPLETED" })
        current = yield* second.session.reserveNext
      }
      yield* worker.protocol.finish(second.lease, null)

      const ended = yield* ProcessRuns.awaitEnd(run)
      assert.strictEqual(ended.state, "completed")
      assert.isAtLeast(ended.duration ?? -1, 0)
      const outputs = yield* Stream.runCollect(Outputs.stream(run, { limit: 1 }))
      assert.deepStrictEqual(
        outputs.map((output) => output.payload),
        [{ part: "a" }, { part: "b" }]
      )
      const out = outputs[0]?.files[0]
      if (out === undefined) return assert.fail("no file")
      assert.strictEqual(yield* Stream.mkString(Stream.decodeText(Files.download(out))), "OK")
      const events = yield* Stream.runCollect(StepRuns.events(first.lease.step_run_id))
      assert.deepStrictEqual(
        events.map((event) => event.event_type),
        [
          "CREATED",
          "QUEUED",
          "LEASED",
          "START",
          "ITEM_RESERVED",
          "OUTPUT_CREATED",
          "OUTPUT_CREATED",
          "ITEM_RELEASED",
          "END"
        ]
      )
    })
  )

  it.effect("starts with the default work item, with payloads, with the queue, and not with an empty queue", () =>
    Effect.gen(function* () {
      const { process } = yield* newProcess()
      const payloads = (run: Parameters<typeof itemsOf>[0]) =>
        Effect.map(itemsOf(run), (items) => items.map((item) => item.payload).toReversed())
      assert.deepStrictEqual(yield* payloads(yield* started(process.id)), [null])
      assert.deepStrictEqual(yield* payloads(yield* started(process.id, { payloads: [1, "two", { three: 3 }] })), [
        1,
        "two",
        { three: 3 }
      ])
      assert.deepStrictEqual(yield* ProcessRuns.start(process.id, { inputs: true }), { started: false })
      yield* WorkItems.create({ process: process.id, payload: "waiting" })
      assert.deepStrictEqual(yield* payloads(yield* started(process.id, { inputs: true })), ["waiting"])
    })
  )

  it.effect("refuses to start with work items that are taken, foreign or named twice, and starts nothing", () =>
    Effect.gen(function* () {
      const one = yield* newProcess()
      const other = yield* newProcess()
      const item = yield* WorkItems.create({ process: one.process.id })
      const foreign = yield* WorkItems.create({ process: other.process.id })
      for (const workItems of [
        [item.id, foreign.id],
        [item.id, item.id]
      ]) {
        const error = yield* Effect.flip(ProcessRuns.start(one.process.id, { workItems }))
        assert.strictEqual(error._tag, "Conflict")
      }
      assert.strictEqual((yield* WorkItems.get(item.id)).state, "new")
      assert.strictEqual((yield* Stream.runCollect(ProcessRuns.stream({ process: one.process.id }))).length, 0)
    })
  )

  it.effect("is unresolved with a failed item, and completes when that is marked done or retried well", () =>
    Effect.gen(function* () {
      const { process, tasks } = yield* newProcess()
      const worker = yield* linkWorker(tasks)
      const run = yield* started(process.id, { payloads: ["bad", "worse"] })
      const fail = Effect.gen(function* () {
        const { lease, session } = yield* worker.take
        for (let item = lease.work_item_id as typeof lease.work_item_id | null; item !== null;) {
          const exception = { type: "BUSINESS", code: "NO_GOOD", message: "the row has no state" } as const
          yield* session.release(item, { state: "FAILED", exception })
          item = yield* session.reserveNext
        }
        yield* worker.protocol.finish(lease, null)
      })
      yield* fail
      assert.strictEqual((yield* ProcessRuns.awaitEnd(run)).state, "unresolved")
      const failed = yield* Stream.runCollect(WorkItems.stream({ processRun: run, state: "failed" }))
      assert.deepStrictEqual(failed[0]?.exception, {
        code: "NO_GOOD",
        type: "business",
        message: "the row has no state"
      })
      const [a, b] = failed
      if (a === undefined || b === undefined) return assert.fail("two failed items expected")
      yield* WorkItems.markAsDone([a.id])
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "unresolved")
      // Marking it again is allowed: it has that state already.
      yield* WorkItems.markAsDone([a.id])
      yield* WorkItems.retry([b.id])
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "in_progress")
      const again = yield* worker.take
      yield* worker.protocol.finish(again.lease, null)
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
      assert.strictEqual((yield* Effect.flip(WorkItems.retry([b.id])))._tag, "Conflict")
    })
  )

  it.effect("wakes a waiting worker immediately", () =>
    Effect.gen(function* () {
      const { process, tasks } = yield* newProcess()
      const worker = yield* linkWorker(tasks)
      const waiting = yield* Effect.forkChild(worker.protocol.lease({ free: 1, tasks, waitSeconds: 20 }))
      yield* Effect.sleep("100 millis")
      yield* started(process.id)
      // A lease without work responds with an empty list after its 20 seconds.
      assert.strictEqual((yield* Fiber.join(waiting)).length, 1)
    })
  )

  it.effect("leases each step run once, however many workers ask", () =>
    Effect.gen(function* () {
      const { process, tasks } = yield* newProcess(1, { max_parallel: 20 })
      const workers = yield* Effect.all([linkWorker(tasks), linkWorker(tasks), linkWorker(tasks)])
      yield* started(process.id, { payloads: Array.from({ length: 20 }, (_, n) => n) })
      const ask = workers.flatMap((worker) =>
        [1, 2, 3].map(() => worker.protocol.lease({ free: 5, tasks, waitSeconds: 0 }))
      )
      const leases = (yield* Effect.all(ask, { concurrency: "unbounded" })).flat()
      assert.strictEqual(new Set(leases.map((lease) => lease.step_run_id)).size, 20)
      assert.strictEqual(leases.length, 20)
    })
  )

  it.effect("refuses every use of the tokens of an ended step run", () =>
    Effect.gen(function* () {
      const { process, tasks } = yield* newProcess()
      const worker = yield* linkWorker(tasks)
      yield* started(process.id)
      const { lease, session } = yield* worker.take
      yield* worker.protocol.finish(lease, null)
      const item = lease.work_item_id
      const dead = [
        session.reserveNext,
        session.release(item, { state: "COMPLETED" }),
        session.createOutput(item, null),
        session.payload(item),
        session.files(item),
        worker.protocol.start(lease),
        worker.protocol.finish(lease, null)
      ]
      for (const call of dead) {
        const error = yield* Effect.flip(Effect.asVoid(call))
        assert.strictEqual(error._tag, "Conflict")
        assert.strictEqual(error._tag === "Conflict" ? error.code : "", "LEASE_LOST")
      }
      assert.deepStrictEqual(yield* worker.protocol.heartbeat([lease.step_run_id]), {
        stop: [],
        lost: [lease.step_run_id],
        drain: false
      })
    })
  )

  it.effect("lets a token speak for its own step run, run and process only", () =>
    Effect.gen(function* () {
      const { process, tasks } = yield* newProcess()
      const other = yield* newProcess()
      const worker = yield* linkWorker(tasks)
      const run = yield* started(process.id, { payloads: [1, 2] })
      const { lease } = yield* worker.take
      const { lease: sibling } = yield* Effect.gen(function* () {
        yield* started(process.id)
        return yield* worker.take
      })
      assert.notStrictEqual(run, sibling.process_run_id)
      const wrong = [
        { ...lease, process_id: other.process.id },
        { ...lease, process_run_id: sibling.process_run_id },
        { ...lease, step_run_id: sibling.step_run_id }
      ]
      for (const url of wrong) {
        const session = yield* worker.session(url)
        assert.strictEqual((yield* Effect.flip(session.reserveNext))._tag, "NotFound")
      }
    })
  )

  it.effect("returns the reserved item again, and a repeated release with success", () =>
    Effect.gen(function* () {
      const { process, tasks } = yield* newProcess()
      const worker = yield* linkWorker(tasks)
      yield* started(process.id, { payloads: [1, 2] })
      const { lease, session } = yield* worker.take
      assert.strictEqual(yield* session.reserveNext, lease.work_item_id)
      yield* session.release(lease.work_item_id, { state: "COMPLETED" })
      yield* session.release(lease.work_item_id, { state: "COMPLETED" })
      const next = yield* session.reserveNext
      assert.notStrictEqual(next, lease.work_item_id)
      assert.isNotNull(next)
    })
  )

  it.effect("stops a running step run, and settles waiting items", () =>
    Effect.gen(function* () {
      const { process, tasks } = yield* newProcess()
      const worker = yield* linkWorker(tasks)
      const run = yield* started(process.id, { payloads: [1, 2, 3] })
      const { lease } = yield* worker.take
      assert.isTrue((yield* ProcessRuns.stop(run, { terminate: true, reason: "wrong input" })).accepted)
      assert.deepStrictEqual((yield* worker.protocol.heartbeat([lease.step_run_id])).stop, [lease.step_run_id])
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "stopping")
      assert.strictEqual((yield* Effect.flip(ProcessRuns.remove(run)))._tag, "Conflict")
      yield* worker.protocol.finish(lease, { code: "TERMINATED", message: "stopped" })
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "unresolved")
      assert.isFalse((yield* ProcessRuns.stop(run)).accepted)
      const reasons = (yield* itemsOf(run)).map((item) => item.exception?.message)
      assert.deepStrictEqual(reasons.sort(), ["stopped", "wrong input", "wrong input"])
      yield* ProcessRuns.remove(run)
      assert.strictEqual((yield* Effect.flip(ProcessRuns.get(run)))._tag, "NotFound")
    })
  )

  it.effect("walks every item once in pages", () =>
    Effect.gen(function* () {
      const { process } = yield* newProcess()
      const run = yield* started(process.id, { payloads: Array.from({ length: 25 }, (_, n) => n) })
      const seen = yield* Stream.runCollect(WorkItems.stream({ processRun: run, limit: 4 }))
      assert.strictEqual(new Set(seen.map((item) => item.id)).size, 25)
      assert.strictEqual(seen.length, 25)
      const { workspaceId } = yield* Service
      assert.isNotEmpty(workspaceId)
    })
  )
})
