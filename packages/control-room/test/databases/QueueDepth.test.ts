/** How many step runs want a worker, for what starts and stops workers. */
import { assert, layer as withLayer } from "@effect/vitest"
import { ProcessId, WorkerGroupId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as Workers from "@signalbox/api/Workers"
import * as Effect from "effect/Effect"
import { QueueDepth } from "../../src/internal/store/runs/QueueDepth.ts"
import { assertError } from "../support/Http.ts"
import { planOf, recorded } from "../support/Plans.ts"
import { layer, linkWorker, onPostgres, Service } from "../support/Service.ts"

const unique = (what: string) => `${what} ${crypto.randomUUID()}`

/** A process with this many step runs that wait. */
const waiting = Effect.fnUntraced(function* (
  count: number,
  worker: { readonly labels?: ReadonlyArray<string>; readonly group?: WorkerGroupId } = {}
) {
  const task = unique("task")
  const { group, labels = [] } = worker
  const process = yield* Processes.create({
    name: unique("process"),
    steps: [
      {
        name: "s",
        task: { name: task },
        max_parallel: count,
        worker: { labels },
        ...(group === undefined ? {} : { worker_group: { id: group } })
      }
    ]
  })
  yield* ProcessRuns.start(process.id, { payloads: Array.from({ length: count }, (_, n) => n) })
  return { id: process.id, task }
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the queue depth", (it) => {
  it.effect("counts the step runs that wait for a worker, and those that one has", () =>
    Effect.gen(function* () {
      const { id, task } = yield* waiting(3)
      const depth = Workers.queueDepth({ process: id })
      assert.deepStrictEqual(yield* depth, { waiting: 3, assigned: 0, total: 3 })
      const { protocol, take } = yield* linkWorker([task])
      const [leased] = yield* protocol.lease({ free: 1, tasks: [task], waitSeconds: 0 })
      assert.isDefined(leased)
      yield* take
      assert.deepStrictEqual(yield* depth, { waiting: 1, assigned: 2, total: 3 })
    })
  )

  it.effect("is of those that ask for exactly these labels, of a group, or of neither", () =>
    Effect.gen(function* () {
      const group = yield* WorkerGroups.create(unique("group"))
      const none = yield* Workers.queueDepth({ group: null, labels: [] })
      yield* waiting(1, { labels: ["gpu"] })
      yield* waiting(2, { labels: ["gpu", "eu"] })
      yield* waiting(4, { group: group.id })
      yield* waiting(8)
      const total = (which: Workers.QueueDepthOptions) => Effect.map(Workers.queueDepth(which), (depth) => depth.total)
      assert.strictEqual(yield* total({ labels: ["gpu"] }), 1)
      assert.strictEqual(yield* total({ labels: ["eu", "gpu"] }), 2)
      assert.strictEqual(yield* total({ labels: ["eu"] }), 0)
      assert.strictEqual(yield* total({ group: group.id }), 4)
      assert.strictEqual(yield* total({ group: group.id, labels: ["gpu"] }), 0)
      assert.strictEqual(yield* total({ group: null, labels: [] }), none.total + 8)
    })
  )

  it.effect("leaves out what a pause holds back", () =>
    Effect.gen(function* () {
      const { id } = yield* waiting(2)
      yield* Processes.pause(id)
      assert.strictEqual((yield* Workers.queueDepth({ process: id })).total, 0)
      yield* Processes.resume(id)
      assert.strictEqual((yield* Workers.queueDepth({ process: id })).total, 2)
    })
  )

  it.effect("says which process, group or label is none", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const unknown = "01900000-0000-7000-8000-000000000000"
      const noProcess = yield* Effect.flip(Workers.queueDepth({ process: ProcessId.make(unknown) }))
      assert.match(noProcess.message, /process/)
      const noGroup = yield* Effect.flip(Workers.queueDepth({ group: WorkerGroupId.make(unknown) }))
      assert.match(noGroup.message, /worker group/)
      assertError(
        yield* raw("GET", "queue-depth?labels=gpu,,eu"),
        400,
        "INVALID_REQUEST",
        /^labels: Expected at most 32 labels/
      )
    })
  )

  it.effect("is read by indexes of step runs that have not ended", ({ skip }) =>
    Effect.gen(function* () {
      if (onPostgres) return skip("the plans of Postgres depend on how many rows there are")
      const { workspaceId } = yield* Service
      const { count } = yield* QueueDepth
      const every = { process: "p", group: "g", labels: ["gpu"] }
      const any = { process: undefined, group: undefined, labels: undefined }
      for (const which of [any, every]) {
        const { statements } = yield* recorded(count(workspaceId, which))
        const plans = (yield* Effect.forEach(statements, planOf)).join("\n")
        const read = plans.match(/(SCAN|SEARCH) step_run.*/g) ?? []
        assert.match(read[0] ?? "", /USING INDEX step_run_awaiting|USING INDEX step_run_labels/)
        assert.match(read[1] ?? "", /USING INDEX step_run_live/)
        assert.lengthOf(read, 2)
      }
    })
  )
})
