/** The steps of a run, with what is in them. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import { assertError } from "../support/Http.ts"
import { layer, linkWorker, Service } from "../support/Service.ts"

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("the steps of a run", (it) => {
  it.effect("have their items by state, when they began and ended, and why they wait", () =>
    Effect.gen(function* () {
      const { raw, tickIn } = yield* Service
      const process = yield* Processes.create({
        name: "counted",
        steps: [
          { name: "read", task: { name: "read" } },
          { name: "write", task: { name: "write" } }
        ]
      })
      const started = yield* ProcessRuns.start(process.id, { payloads: [1, 2, 3] })
      const run = started.started ? started.id : assert.fail("not started")
      const none = { waiting: 0, in_progress: 0, done: 0, failed: 0 }
      const read = () => Effect.map(ProcessRuns.steps(run), (steps) => steps.map(({ items }) => items))
      assert.deepStrictEqual(yield* read(), [{ ...none, waiting: 3 }, none])
      yield* tickIn(60_000)
      const [waiting] = yield* ProcessRuns.steps(run)
      assert.match(waiting?.waits_for ?? "", /^no worker is online/)

      const worker = yield* linkWorker(["read"])
      const { lease, session } = yield* worker.take
      const item = lease.work_item_id
      assert.deepStrictEqual(yield* read(), [{ ...none, waiting: 2, in_progress: 1 }, none])
      yield* session.createOutput(item, { n: 1 })
      yield* session.release(item, { state: "COMPLETED" })
      const second = yield* session.reserveNext
      if (second === null) return assert.fail("no second item")
      const exception = { type: "BUSINESS", code: "NO", message: "no" } as const
      yield* session.release(second, { state: "FAILED", exception })
      yield* worker.protocol.finish(lease, null)
      const steps = yield* ProcessRuns.steps(run)
      assert.deepStrictEqual(
        steps.map(({ items, name }) => [name, items]),
        [
          ["read", { waiting: 1, in_progress: 0, done: 1, failed: 1 }],
          ["write", { ...none, waiting: 1 }]
        ]
      )
      const [read1, write1] = steps.map(({ id }) => id)
      if (read1 === undefined || write1 === undefined) return assert.fail("no steps")
      const statesOf = (filter: WorkItems.Filter) =>
        Effect.map(WorkItems.list(filter), ({ data }) => data.map(({ state }) => state).toSorted())
      assert.deepStrictEqual(yield* statesOf({ processRun: run, step: read1 }), ["done", "failed", "pending"])
      assert.deepStrictEqual(yield* statesOf({ process: process.id, step: write1, includeData: true }), ["pending"])
      assert.deepStrictEqual(yield* statesOf({ processRun: run, step: read1, state: "failed" }), ["failed"])
      assert.deepStrictEqual(yield* statesOf({ processRun: run, step: write1, dueState: "late" }), [])
      assertError(yield* raw("GET", `work-items?step_id=${read1}`), 400, "INVALID_REQUEST", /process_run_id/)
      assert.isNotNull(steps[0]?.started_at)
      assert.deepStrictEqual([steps[0]?.ended_at, steps[1]?.started_at], [null, null])
    })
  )
})
