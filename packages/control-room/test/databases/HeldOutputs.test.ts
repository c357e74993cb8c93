/**
 * The outputs of an attempt at an item: held until its step run ends, then passed on or not by how the attempt ended.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import type { ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import type { StepDefinition } from "@signalbox/api/contract/Processes"
import type { StepRunErrorCode } from "@signalbox/api/contract/StepRuns"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { layer, linkWorker, Service } from "../support/Service.ts"

let made = 0

interface Options {
  readonly payloads?: ReadonlyArray<Schema.Json>
  /** Of the first step. */
  readonly step?: Partial<StepDefinition>
  readonly forwardDoneItems?: boolean
  readonly steps?: number
}

/** A run of a process of its own whose first step run is started. */
const started = Effect.fnUntraced(function* (options: Options = {}) {
  const { forwardDoneItems, payloads = ["in"], step = {}, steps = 2 } = options
  const id = ++made
  const names = Array.from({ length: steps }, (_, index) => `held-${id}-${index}`)
  const process = yield* Processes.create({
    name: `held ${id}`,
    steps: names.map((name, index) => ({ name, task: { name }, ...(index === 0 ? step : {}) })),
    ...(forwardDoneItems === undefined ? {} : { forward_done_items: forwardDoneItems })
  })
  const worker = yield* linkWorker(names.slice(0, 1))
  const begun = yield* ProcessRuns.start(process.id, { payloads: [...payloads] })
  const run = begun.started ? begun.id : yield* Effect.die(new Error("not started"))
  const taken = yield* worker.take
  yield* worker.stayAlive
  return { ...taken, process, worker, run, item: taken.lease.work_item_id, next: names[1] ?? "none" }
})

type Started = Effect.Success<ReturnType<typeof started>>

const business = { type: "BUSINESS", code: "B", message: "b" } as const
const failed = { state: "FAILED", exception: business } as const
const completed = { state: "COMPLETED" } as const

const items = (run: ProcessRunId) => Stream.runCollect(WorkItems.stream({ processRun: run, includeData: true }))

/** The items of the second step: what travelled. */
const travelled = Effect.fnUntraced(function* ({ process, run }: Pick<Started, "process" | "run">) {
  const second = process.steps[1]?.id
  return (yield* items(run)).filter(({ step }) => step?.id === second)
})

const payloadsOf = (of: Pick<Started, "process" | "run">) =>
  Effect.map(travelled(of), (found) => found.map(({ payload }) => payload).toSorted())

const text = (name: string, content: string) => {
  const bytes = new TextEncoder().encode(content)
  return { name, size: bytes.length, stream: Stream.make(bytes) }
}

const contentOf = (item: Effect.Success<ReturnType<typeof items>>[number]) =>
  Effect.forEach(item.files ?? [], (file) => Stream.mkString(Stream.decodeText(Files.download(file))))

const finish = (of: Started, code: StepRunErrorCode | null = null) =>
  of.worker.protocol.finish(of.lease, code === null ? null : { code, message: "test" })

const stateOf = (item: WorkItemId) => Effect.map(WorkItems.get(item), ({ state }) => state)

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("held outputs", (it) => {
  it.effect("travel on from a completed item when its step run ends, not before", () =>
    Effect.gen(function* () {
      const of = yield* started()
      yield* of.session.createOutput(of.item, "out")
      yield* of.session.release(of.item, completed)
      assert.deepStrictEqual(yield* payloadsOf(of), [])
      yield* finish(of)
      assert.deepStrictEqual(yield* payloadsOf(of), ["out"])
    })
  )

  it.effect("travel on from the item that is reserved at exit 0", () =>
    Effect.gen(function* () {
      const of = yield* started()
      yield* of.session.createOutput(of.item, "out")
      yield* finish(of)
      assert.deepStrictEqual(yield* payloadsOf(of), ["out"])
    })
  )

  it.effect(
    "travel on from an item that is released as failed: the extended producer-consumer template reports so",
    () =>
      Effect.gen(function* () {
        const of = yield* started()
        const output = yield* of.session.createOutput(of.item, "report")
        yield* of.session.attachFile(output, text("report.txt", "why"))
        yield* of.session.release(of.item, failed)
        assert.deepStrictEqual(yield* payloadsOf(of), [])
        yield* finish(of)
        const [report] = yield* travelled(of)
        assert.strictEqual(report?.payload, "report")
        assert.deepStrictEqual(report === undefined ? [] : yield* contentOf(report), ["why"])
        assert.strictEqual(yield* stateOf(of.item), "failed")
      })
  )

  it.effect("of items released before travel on, however the step run ends; those of the reserved one do not", () =>
    Effect.gen(function* () {
      const codes = ["ROBOT_FAILURE", "TIMEOUT", "TERMINATED", "WORKER_LOST"] as const
      for (const code of codes) {
        const of = yield* started({ payloads: [1, 2, 3] })
        yield* of.session.createOutput(of.item, "done")
        yield* of.session.release(of.item, completed)
        const second = (yield* of.session.reserveNext) ?? assert.fail("no second item")
        yield* of.session.createOutput(second, "failed")
        yield* of.session.release(second, failed)
        const third = (yield* of.session.reserveNext) ?? assert.fail("no third item")
        yield* of.session.createOutput(third, "interrupted")
        yield* finish(of, code)
        assert.deepStrictEqual(yield* payloadsOf(of), ["done", "failed"], code)
        assert.strictEqual(yield* stateOf(third), "failed", code)
      }
    })
  )

  it.effect("of a lost worker: what it released travels on, what it had reserved does not", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const of = yield* started({ payloads: [1, 2] })
      yield* of.session.createOutput(of.item, "released")
      yield* of.session.release(of.item, failed)
      const second = (yield* of.session.reserveNext) ?? assert.fail("no second item")
      yield* of.session.createOutput(second, "reserved")
      yield* tickIn(60_000)
      assert.deepStrictEqual(yield* payloadsOf(of), ["released"])
      assert.strictEqual((yield* WorkItems.get(second)).exception?.code, "WORKER_LOST")
    })
  )

  it.effect("are dropped with failed_outputs: drop, and only those of failed items", () =>
    Effect.gen(function* () {
      const of = yield* started({ payloads: [1, 2], step: { failed_outputs: "drop" } })
      yield* of.session.createOutput(of.item, "failed")
      yield* of.session.release(of.item, failed)
      const second = (yield* of.session.reserveNext) ?? assert.fail("no second item")
      yield* of.session.createOutput(second, "done")
      yield* of.session.release(second, completed)
      yield* finish(of)
      assert.deepStrictEqual(yield* payloadsOf(of), ["done"])
    })
  )

  it.effect("are dropped at once when the step retries the item, so that the last attempt's alone travel", () =>
    Effect.gen(function* () {
      const { blobs } = yield* Service
      const of = yield* started({ step: { retry: { max_attempts: 2, delay_seconds: 0 } } })
      const application = { state: "FAILED", exception: { type: "APPLICATION", code: "A", message: "a" } } as const
      const before = (yield* blobs).kept.length
      const output = yield* of.session.createOutput(of.item, "first")
      yield* of.session.attachFile(output, text("a.txt", "first"))
      yield* of.session.release(of.item, application)
      assert.strictEqual((yield* blobs).kept.length, before)
      assert.strictEqual(yield* of.session.reserveNext, of.item)
      yield* of.session.createOutput(of.item, "second")
      yield* of.session.release(of.item, application)
      yield* finish(of)
      assert.deepStrictEqual(yield* payloadsOf(of), ["second"])
    })
  )

  it.effect("of an attempt that a crash, a limit or a lost worker ended are dropped when the step retries it", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      for (const code of ["ROBOT_FAILURE", "TIMEOUT", "lost"] as const) {
        const of = yield* started({ payloads: [1, 2], step: { retry: { max_attempts: 2, delay_seconds: 0 } } })
        yield* of.session.createOutput(of.item, "released before")
        yield* of.session.release(of.item, completed)
        const second = (yield* of.session.reserveNext) ?? assert.fail("no second item")
        yield* of.session.createOutput(second, "first attempt")
        if (code === "lost") yield* tickIn(60_000)
        else yield* finish(of, code)
        assert.deepStrictEqual(yield* payloadsOf(of), ["released before"], code)
        const again = yield* of.worker.take
        assert.strictEqual(again.lease.work_item_id, second)
        yield* again.session.createOutput(second, "second attempt")
        yield* again.session.release(second, completed)
        yield* of.worker.protocol.finish(again.lease, null)
        assert.deepStrictEqual(yield* payloadsOf(of), ["released before", "second attempt"], code)
      }
    })
  )

  it.effect("are dropped by a task that releases its item without them", () =>
    Effect.gen(function* () {
      const of = yield* started()
      yield* of.session.createOutput(of.item, "half")
      yield* of.session.release(of.item, { ...failed, dropOutputs: true })
      yield* finish(of)
      assert.deepStrictEqual(yield* payloadsOf(of), [])
    })
  )

  it.effect("are created in the call that releases a failed item, unless that drops them", () =>
    Effect.gen(function* () {
      const of = yield* started({ payloads: [1, 2] })
      const { origin } = yield* Service
      const calls = yield* WorkerProtocol.makeItems(origin, of.worker.identity)
      const next = (item: WorkItemId, payload: string, drop: object) =>
        calls.nextItems(of.run, [
          {
            lease: of.lease,
            reserve: true,
            settled: { work_item_id: item, attempt: 1, ...failed, outputs: [payload], ...drop }
          }
        ])
      const [answer] = yield* next(of.item, "kept", {})
      const second = answer?.item?.work_item_id ?? assert.fail("no second item")
      yield* next(second, "dropped", { drop_outputs: true })
      yield* finish(of)
      assert.deepStrictEqual(yield* payloadsOf(of), ["kept"])
    })
  )

  it.effect("are dropped by retry and delete by hand before their step run ended, and no others", () =>
    Effect.gen(function* () {
      const of = yield* started({ payloads: [1, 2, 3, 4], step: { max_parallel: 1 } })
      let item: WorkItemId | null = of.item
      const all: Array<WorkItemId> = []
      for (const payload of ["retried", "deleted", "marked", "left"]) {
        if (item === null) return assert.fail("no item")
        all.push(item)
        yield* of.session.createOutput(item, payload)
        yield* of.session.release(item, failed)
        item = yield* of.session.reserveNext
      }
      const [retried, deleted, marked] = all
      if (retried === undefined || deleted === undefined || marked === undefined) return assert.fail("no items")
      assert.strictEqual((yield* WorkItems.retry([retried])).outputs_passed_on, 0)
      assert.strictEqual((yield* WorkItems.remove([deleted])).outputs_passed_on, 0)
      yield* WorkItems.markAsDone([marked])
      assert.deepStrictEqual(yield* payloadsOf(of), [])
      yield* finish(of)
      assert.deepStrictEqual(yield* payloadsOf(of), ["left", "marked"])
    })
  )

  it.effect("that travelled stay after a retry, which may make them again, and the answer says how many", () =>
    Effect.gen(function* () {
      const of = yield* started()
      yield* of.session.createOutput(of.item, "first")
      yield* of.session.createOutput(of.item, "second")
      yield* of.session.release(of.item, failed)
      yield* finish(of)
      assert.strictEqual((yield* WorkItems.retry([of.item])).outputs_passed_on, 2)
      const again = yield* of.worker.take
      yield* again.session.createOutput(of.item, "first")
      yield* again.session.release(of.item, failed)
      yield* of.worker.protocol.finish(again.lease, null)
      assert.deepStrictEqual(yield* payloadsOf(of), ["first", "first", "second"])
      assert.strictEqual((yield* WorkItems.markAsDone([of.item])).outputs_passed_on, 0)
      assert.strictEqual((yield* WorkItems.remove([of.item])).outputs_passed_on, 3)
      assert.deepStrictEqual(yield* payloadsOf(of), ["first", "first", "second"])
    })
  )

  it.effect("that travelled stay when a retry by hand crashes, whose own are dropped", () =>
    Effect.gen(function* () {
      const of = yield* started()
      yield* of.session.createOutput(of.item, "first")
      yield* of.session.release(of.item, failed)
      yield* finish(of)
      yield* WorkItems.retry([of.item])
      const again = yield* of.worker.take
      yield* again.session.createOutput(of.item, "of the crash")
      yield* of.worker.protocol.finish(again.lease, { code: "ROBOT_FAILURE", message: "test" })
      assert.deepStrictEqual(yield* payloadsOf(of), ["first"])
      assert.strictEqual(yield* stateOf(of.item), "failed")
    })
  )

  it.effect("of the last step are counted too, once they are outputs of the run", () =>
    Effect.gen(function* () {
      const of = yield* started({ steps: 1 })
      yield* of.session.createOutput(of.item, "out")
      yield* of.session.release(of.item, failed)
      yield* finish(of)
      assert.deepStrictEqual(
        (yield* Outputs.list(of.run)).data.map(({ payload }) => payload),
        ["out"]
      )
      assert.strictEqual((yield* WorkItems.retry([of.item])).outputs_passed_on, 1)
    })
  )

  it.effect("of the item in hand are dropped when the run is terminated, and the step retries nothing", () =>
    Effect.gen(function* () {
      const of = yield* started({ payloads: [1, 2], step: { retry: { max_attempts: 3, delay_seconds: 0 } } })
      yield* of.session.createOutput(of.item, "released before")
      yield* of.session.release(of.item, completed)
      const second = (yield* of.session.reserveNext) ?? assert.fail("no second item")
      yield* of.session.createOutput(second, "in hand")
      yield* ProcessRuns.stop(of.run, { remainingAsDone: false, terminate: true })
      yield* finish(of, "TERMINATED")
      assert.deepStrictEqual(
        (yield* travelled(of)).map(({ payload, state }) => [payload, state]),
        [["released before", "failed"]]
      )
      assert.strictEqual(yield* stateOf(second), "failed")
      assert.strictEqual((yield* ProcessRuns.get(of.run)).state, "unresolved")
    })
  )

  for (const asDone of [true, false]) {
    it.effect(`become ${asDone ? "done" : "failed"} while the run is stopping, those of failed items too`, () =>
      Effect.gen(function* () {
        const of = yield* started()
        yield* of.session.createOutput(of.item, "out")
        yield* ProcessRuns.stop(of.run, { remainingAsDone: asDone })
        yield* of.session.release(of.item, failed)
        yield* finish(of)
        const found = yield* travelled(of)
        assert.deepStrictEqual(
          found.map(({ payload, state }) => [payload, state]),
          [["out", asDone ? "done" : "failed"]]
        )
      })
    )
  }
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("forward_done_items", (it) => {
  it.effect("makes a completed item without outputs travel on, for libraries that cannot make outputs", () =>
    Effect.gen(function* () {
      const { blobs } = yield* Service
      const of = yield* started({ forwardDoneItems: true })
      yield* of.session.setPayload(of.item, { seen: true })
      yield* of.session.attachFile(of.item, text("a.txt", "content"))
      const before = (yield* blobs).kept.length
      yield* of.session.release(of.item, completed)
      assert.deepStrictEqual(yield* payloadsOf(of), [])
      yield* finish(of)
      const [item] = yield* travelled(of)
      if (item === undefined) return assert.fail("nothing travelled")
      assert.deepStrictEqual(item.payload, { seen: true })
      assert.notStrictEqual(item.id, of.item)
      const own = (yield* WorkItems.get(of.item)).files
      assert.notStrictEqual(item.files?.[0]?.id, own[0]?.id)
      assert.strictEqual((yield* blobs).kept.length, before)
      // The bytes stay for as long as one of the two items names them.
      yield* WorkItems.remove([of.item])
      assert.deepStrictEqual(yield* contentOf(item), ["content"])
      const second = yield* linkWorker([of.next])
      const { lease, session } = yield* second.take
      const file = (yield* session.files(lease.work_item_id))[0] ?? assert.fail("no file")
      yield* session.removeFile(lease.work_item_id, file.fileId)
      assert.strictEqual((yield* blobs).kept.length, before - 1)
      yield* second.protocol.finish(lease, null)
    })
  )

  it.effect("takes an item that is reserved at exit 0, into the outputs of the run from its last step", () =>
    Effect.gen(function* () {
      const of = yield* started({ steps: 1, step: { forward_done_items: true } })
      yield* of.session.attachFile(of.item, text("a.txt", "content"))
      yield* finish(of)
      const { data } = yield* Outputs.list(of.run)
      assert.deepStrictEqual(
        data.map(({ payload }) => payload),
        ["in"]
      )
      const file = data[0]?.files[0] ?? assert.fail("no file")
      assert.strictEqual(yield* Stream.mkString(Stream.decodeText(Files.download(file))), "content")
    })
  )

  it.effect(
    "takes no item with outputs, no failed one, none that is marked as done or stopped, none of other steps",
    () =>
      Effect.gen(function* () {
        const withOutputs = yield* started({ forwardDoneItems: true })
        yield* withOutputs.session.createOutput(withOutputs.item, "out")
        yield* withOutputs.session.release(withOutputs.item, completed)
        yield* finish(withOutputs)
        assert.deepStrictEqual(yield* payloadsOf(withOutputs), ["out"])

        const marked = yield* started({ forwardDoneItems: true })
        yield* marked.session.release(marked.item, failed)
        yield* WorkItems.markAsDone([marked.item])
        yield* finish(marked)
        assert.deepStrictEqual(yield* payloadsOf(marked), [])

        const stopped = yield* started({ forwardDoneItems: true, payloads: [1, 2] })
        yield* ProcessRuns.stop(stopped.run, { remainingAsDone: true, terminate: true })
        yield* finish(stopped, "TERMINATED")
        assert.deepStrictEqual(yield* payloadsOf(stopped), [])

        const otherwise = yield* started({ forwardDoneItems: true, step: { forward_done_items: false } })
        yield* otherwise.session.release(otherwise.item, completed)
        yield* finish(otherwise)
        assert.deepStrictEqual(yield* payloadsOf(otherwise), [])
      })
  )

  it.effect("looks at the last attempt alone: outputs of a retried one do not count", () =>
    Effect.gen(function* () {
      const of = yield* started({ forwardDoneItems: true, step: { retry: { max_attempts: 2, delay_seconds: 0 } } })
      yield* of.session.createOutput(of.item, "first")
      yield* of.session.release(of.item, { state: "FAILED", exception: { ...business, type: "APPLICATION" } })
      assert.strictEqual(yield* of.session.reserveNext, of.item)
      yield* of.session.release(of.item, completed)
      yield* finish(of)
      assert.deepStrictEqual(yield* payloadsOf(of), ["in"])
    })
  )

  it.effect("deletes what an item forwarded with the item, before its step run ended", () =>
    Effect.gen(function* () {
      const of = yield* started({ forwardDoneItems: true, payloads: [1, 2] })
      yield* of.session.release(of.item, completed)
      const second = (yield* of.session.reserveNext) ?? assert.fail("no second item")
      yield* WorkItems.remove([of.item])
      yield* of.session.release(second, completed)
      yield* finish(of)
      assert.deepStrictEqual(yield* payloadsOf(of), [2])
    })
  )

  it.effect("is kept in the definition as it was given", () =>
    Effect.gen(function* () {
      const step = { name: "s", task: { name: "t" }, forward_done_items: false, failed_outputs: "drop" } as const
      const definition = { name: "kept as given", steps: [step], forward_done_items: true }
      const { id } = yield* Processes.create(definition)
      assert.deepInclude(yield* Processes.getDefinition(id), definition)
    })
  )
})
