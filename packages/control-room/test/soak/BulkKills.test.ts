/** A bulk operation whose nodes are killed: another process, or another node, continues it, and nothing is done twice. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, it } from "@effect/vitest"
import * as BulkOperations from "@signalbox/api/BulkOperations"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Child from "../support/Child.ts"
import { onPostgres, temporaryFolder } from "../support/Service.ts"

/** On Postgres a kill costs the time of a claim. */
const kills = onPostgres ? 1 : 8
const perRun = 1_000
const runs = onPostgres ? 1 : 20

it.live(`a bulk operation on ${runs * perRun} items survives ${kills} kills`, () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    let node = yield* Child.start(folder)
    const { job, process } = yield* Effect.gen(function* () {
      const process = yield* Processes.create({ name: "killed", steps: [{ name: "s", task: { name: "nobody" } }] })
      for (let n = 0; n < runs; n++) {
        const payloads = Array.from({ length: perRun }, (_, item) => item)
        const run = yield* ProcessRuns.start(process.id, { payloads })
        if (run.started) yield* ProcessRuns.stop(run.id)
      }
      return { process, job: yield* BulkOperations.create("retry", { process_id: process.id }) }
    }).pipe(Effect.provide(node.client))
    for (let n = 1; n <= kills; n++) {
      const share = (n * job.total) / (kills + 2)
      const progress = Effect.provide(BulkOperations.get(job.id), node.client)
      yield* Effect.repeat(Effect.delay(progress, "10 millis"), {
        until: ({ done, state }) => done >= share || state === "completed"
      })
      yield* node.kill
      node = yield* Child.start(folder)
    }
    const ended = yield* Effect.gen(function* () {
      // On Postgres another node waits until the claim of the killed one expires.
      const ended = yield* BulkOperations.awaitEnd(job.id, { timeout: "3 minutes", pollInterval: "100 millis" })
      const items = yield* Stream.runCollect(WorkItems.stream({ process: process.id, limit: 500 }))
      assert.isTrue(items.every(({ state }) => state === "pending"))
      assert.lengthOf(items, runs * perRun)
      return ended
    }).pipe(Effect.provide(node.client))
    assert.deepStrictEqual(
      [ended.state, ended.total, ended.done, ended.refused, ended.skipped],
      ["completed", runs * perRun, runs * perRun, 0, 0]
    )
  }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
)

it.live("a bulk operation refuses the item at which each process ends, and carries out the others", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const first = yield* Child.start(folder)
    const { bad, run } = yield* Effect.gen(function* () {
      const process = yield* Processes.create({ name: "deadly", steps: [{ name: "s", task: { name: "nobody" } }] })
      const run = yield* ProcessRuns.start(process.id, { payloads: Array.from({ length: 130 }, (_, item) => item) })
      if (!run.started) return assert.fail("not started")
      yield* ProcessRuns.stop(run.id)
      const items = yield* Stream.runCollect(WorkItems.stream({ processRun: run.id, limit: 500 }))
      return { run: run.id, bad: items[60]?.id ?? assert.fail("no item") }
    }).pipe(Effect.provide(first.client))
    yield* first.kill
    let job: BulkOperations.BulkOperation | null = null
    /** A process that carries the job on: how the job ended, or null when the process did. */
    const attempt = Effect.gen(function* () {
      const node = yield* Child.start(folder, undefined, { SIGNALBOX_TEST_DEADLY_ITEM: bad })
      job ??= yield* Effect.provide(BulkOperations.create("retry", { process_run_id: run }), node.client)
      const completed = BulkOperations.awaitEnd(job.id, { timeout: "5 minutes", pollInterval: "100 millis" })
      return yield* Effect.raceFirst(Effect.as(node.ended, null), Effect.provide(completed, node.client))
    }).pipe(Effect.catchTag("Ended", () => Effect.succeed(null)))
    for (let deaths = 0; ; deaths++) {
      assert.isBelow(deaths, 10)
      const ended = yield* attempt
      if (ended === null) continue
      // Three at the part that it is in, and three at the item alone.
      assert.strictEqual(deaths, 6)
      assert.deepStrictEqual([ended.done, ended.refused, ended.skipped], [129, 1, 0])
      assert.deepStrictEqual(ended.refusals[0]?.ids, [bad])
      return
    }
  }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
)

it.live.skipIf(!onPostgres)("a bulk operation is shared by two nodes, of which one at a time has it", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const [first, second] = [yield* Child.start(folder), yield* Child.start(folder)]
    const jobs = yield* Effect.gen(function* () {
      const process = yield* Processes.create({ name: "shared", steps: [{ name: "s", task: { name: "nobody" } }] })
      const jobs: Array<BulkOperations.BulkOperation> = []
      for (let n = 0; n < 2; n++) {
        const run = yield* ProcessRuns.start(process.id, { payloads: Array.from({ length: 500 }, (_, item) => item) })
        if (!run.started) return assert.fail("not started")
        yield* ProcessRuns.stop(run.id)
        jobs.push(yield* BulkOperations.create("retry", { process_run_id: run.id }))
      }
      return jobs
    }).pipe(Effect.provide(first.client))
    for (const { id } of jobs) {
      const ended = yield* Effect.provide(BulkOperations.awaitEnd(id), second.client)
      assert.deepStrictEqual([ended.done, ended.refused, ended.skipped], [500, 0, 0])
    }
  }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
)
