/**
 * Many concurrent clients, on each database: whatever they do to the same runs, afterwards the counters equal a recount
 * of the rows, every run ends once its work is executed, and no item was completed twice.
 *
 * `SIGNALBOX_CLIENT_SEED` sets the first seed.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import { ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import { stepRunErrorCodes } from "@signalbox/api/contract/StepRuns"
import { sized } from "@signalbox/testkit/Soak"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { NextItems } from "../src/internal/runs/NextItems.ts"
import type { Ask } from "../src/internal/runs/Reports.ts"
import { Refused } from "../src/internal/engine/Refused.ts"
import { Runs } from "../src/internal/runs/Runs.ts"
import { Processes } from "../src/internal/store/processes/Processes.ts"
import { StepRuns } from "../src/internal/store/runs/StepRuns.ts"
import type { StoredStepRun } from "../src/internal/store/runs/StoredStepRun.ts"
import { Webhooks } from "../src/internal/store/notifications/Webhooks.ts"
import { Workers } from "../src/internal/store/workers/Workers.ts"
import { WorkItems } from "../src/internal/store/items/WorkItems.ts"
import { Workspaces } from "../src/internal/store/access/Workspaces.ts"
import * as Tokens from "../src/internal/vault/Tokens.ts"
import { chooser } from "./support/Fuzz.ts"
import { assertSound, hasEnded, rowsOf } from "./support/RunRows.ts"
import { onPostgres } from "./support/Service.ts"
import { database, runsOn } from "./support/Storage.ts"

const tasks = ["a", "b", "c"]

/** A process of three steps with a webhook, and this many workers. */
const makeProcess = Effect.fnUntraced(function* (workerCount: number) {
  const workspace = (yield* (yield* Workspaces).create("clients")).id
  const process = yield* (yield* Processes).create(workspace, {
    name: "p",
    steps: [
      { name: "a", task: { name: "a" }, max_parallel: 3, retry: { max_attempts: 2, delay_seconds: 0 } },
      { name: "b", task: { name: "b" }, max_parallel: 2, forward_done_items: true },
      { name: "c", task: { name: "c" }, start_after: "previous_step" }
    ]
  })
  if (process === null) return assert.fail("the name is taken")
  yield* (yield* Webhooks).create(workspace, {
    endpoint: "http://127.0.0.1:9/nobody",
    events: ["process_run.started", "process_run.completed", "process_run.unresolved"],
    process: process.view.id
  })
  const workers = yield* Workers
  const linked = yield* Effect.forEach(Array.from({ length: workerCount }), () =>
    Effect.gen(function* () {
      const { link_token } = yield* workers.createLinkToken(workspace, "9999-01-01T00:00:00.000Z")
      const made = yield* workers.link(Tokens.parse(link_token) ?? assert.fail("no token"), "worker", [])
      return made?.worker ?? assert.fail("not linked")
    })
  )
  return { workspace, process, workers: linked }
})

type Made = Effect.Success<ReturnType<typeof makeProcess>>

const refusable = <A>(effect: Effect.Effect<A, Refused>) => Effect.orElseSucceed(effect, () => null)

/** One client: this many commands of its choice. Refusals are ignored. */
const client = Effect.fnUntraced(function* (
  { process, workers, workspace }: Made,
  index: number,
  commands: number,
  seed: number
) {
  const runs = yield* Runs
  const items = yield* WorkItems
  const choose = chooser(seed * 1000 + index)
  const worker = workers[index % workers.length] ?? assert.fail("no worker")
  const nextItems = yield* NextItems
  let mine: ReadonlyArray<StoredStepRun> = []
  const tokens = new Map<string, string>()
  for (let n = 0; n < commands; n++) {
    const [stepRun] = mine
    const rows = yield* rowsOf(process.view.id)
    const any = rows.items[choose.below(Math.max(1, rows.items.length))]
    const run = rows.runs[choose.below(Math.max(1, rows.runs.length))]
    const held = rows.items.find((item) => item.step_run_id === stepRun?.id && item.state === "in_progress")
    const kind = choose.oneOf([
      "create",
      "start",
      "start",
      "inputs",
      "lease",
      "lease",
      "lease",
      "begin",
      "begin",
      "reserve",
      "output",
      "output",
      "release",
      "release",
      "next",
      "next",
      "finish",
      "finish",
      "stop",
      "retry",
      "mark_as_done",
      "delete",
      "remove",
      "steal"
    ])
    if (kind === "create") yield* items.create(workspace, process.view.id, String(n))
    if (kind === "start") {
      const payloads = Array.from({ length: 1 + choose.below(4) }, (_, at) => at)
      yield* refusable(runs.start(workspace, process, { type: "with_payloads", payloads }))
    }
    if (kind === "inputs") yield* refusable(runs.start(workspace, process, { type: "with_inputs" }))
    if (kind === "lease") {
      const leased = yield* runs.lease(worker, tasks, false, 2)
      mine = [...mine, ...leased.map((one) => one.stepRun)]
      for (const one of leased) {
        tokens.set(one.stepRun.id, one.leaseToken)
        yield* refusable(runs.startStepRun(one.stepRun))
      }
    }
    // All step runs of one run in one call, and the same call again, as if the response had been lost.
    if (kind === "next" && stepRun !== undefined) {
      const asks = mine
        .filter(({ processRunId }) => processRunId === stepRun.processRunId)
        .flatMap(({ id }): ReadonlyArray<Ask> => {
          const item = rows.items.find((row) => row.step_run_id === id && row.state === "in_progress")
          if (item === undefined) return []
          const type = choose.oneOf([null, null, "business", "application"] as const)
          const exception = type === null ? null : { type, code: "X", message: "x" }
          const given = rows.items.filter((row) => row.step_run_id === id && row.state === "pending")
          const ended = [item, ...given.slice(0, choose.below(3))].map((row) => ({
            item: WorkItemId.make(row.id),
            attempt: row.attempts + (row.state === "pending" ? 1 : 0),
            exception,
            outputs: [n, n],
            dropOutputs: false
          }))
          const next = choose.chance(0.5) ? given[ended.length - 1] : undefined
          const begun = next === undefined ? null : { item: WorkItemId.make(next.id), attempt: next.attempts + 1 }
          const ahead = { begun, notBegun: [], wanted: choose.below(4) }
          const reserve = begun !== null || choose.chance(0.8)
          return [{ stepRun: id, leaseToken: tokens.get(id) ?? "", settled: ended, reserve, ahead }]
        })
      const first = yield* nextItems.next(worker, stepRun.processRunId, asks)
      const again = yield* nextItems.next(worker, stepRun.processRunId, asks)
      const ids = (answers: typeof first) =>
        answers?.map((answer) => (answer instanceof Refused ? null : (answer.item?.id ?? null)))
      for (const [at, id] of (ids(first) ?? []).entries()) {
        const then = ids(again)?.[at] ?? null
        // Another client may have finished the step run in between.
        if (id !== null && then !== null) assert.strictEqual(then, id)
      }
    }
    if (stepRun !== undefined) {
      if (kind === "begin") yield* refusable(runs.startStepRun(stepRun))
      if (kind === "reserve") yield* refusable(runs.reserveNext(stepRun))
      if (kind === "output" && held !== undefined) {
        yield* refusable(runs.createOutput(stepRun, WorkItemId.make(held.id), n))
      }
      if (kind === "release" && held !== undefined) {
        const type = choose.oneOf([null, null, "business", "application"] as const)
        const exception = type === null ? null : { type, code: "X", message: "x" }
        yield* refusable(runs.release(stepRun, WorkItemId.make(held.id), exception))
      }
      if (kind === "finish") {
        const code = choose.oneOf(stepRunErrorCodes)
        yield* refusable(runs.finish(stepRun, choose.chance(0.7) ? null : { code, message: "x" }))
        mine = mine.slice(1)
      }
    }
    if (run !== undefined && kind === "stop" && choose.chance(0.3)) {
      const command = { asDone: choose.chance(0.5), terminate: choose.chance(0.5), reason: "enough" }
      yield* runs.stop(ProcessRunId.make(run.id), command)
    }
    if (run !== undefined && kind === "remove" && choose.chance(0.3)) {
      yield* refusable(runs.remove(ProcessRunId.make(run.id)))
    }
    if (any !== undefined && (kind === "retry" || kind === "mark_as_done" || kind === "delete")) {
      const wanted = kind === "delete" ? "new" : "failed"
      const chosen = rows.items.filter(({ state }) => state === wanted).slice(0, 3)
      const some = chosen.length > 0 && choose.chance(0.8) ? chosen : [any]
      yield* refusable(
        runs.batch(
          workspace,
          kind,
          some.map(({ id }) => WorkItemId.make(id))
        )
      )
    }
    // Finishes the step run of another client, like a lost worker.
    if (kind === "steal") {
      const other = rows.stepRuns.find(({ state }) => state === "in_progress")
      const stored = other === undefined ? null : yield* (yield* StepRuns).find(other.id)
      if (stored !== null) yield* refusable(runs.finish(stored, { code: "WORKER_LOST", message: "lost" }))
    }
  }
})

/** Executes everything until all runs have ended. */
const drain = Effect.fnUntraced(function* ({ process, workers }: Made) {
  const runs = yield* Runs
  const stepRuns = yield* StepRuns
  for (let round = 0; round < 1000; round++) {
    const rows = yield* rowsOf(process.view.id)
    if (rows.runs.every(hasEnded)) return
    // What other clients have leased and left.
    for (const row of rows.stepRuns) {
      const stored =
        row.state === "awaiting_worker" || row.state === "in_progress" ? yield* stepRuns.find(row.id) : null
      if (stored === null || stored.leaseHash === null) continue
      yield* refusable(runs.startStepRun(stored))
      yield* refusable(runs.finish(stored, null))
    }
    for (const worker of workers) {
      for (const { stepRun } of yield* runs.lease(worker, tasks, false, 10)) {
        yield* refusable(runs.startStepRun(stepRun))
        yield* refusable(runs.finish(stepRun, null))
      }
    }
    yield* runs.tick
  }
  return assert.fail("the runs do not end")
})

const rounds = sized(1, 20)
const firstSeed = Config.withDefault(Config.Int("SIGNALBOX_CLIENT_SEED"), 1)

const clients = 8
const commands = onPostgres ? sized(30, 60) : 60

withLayer(runsOn(database), { excludeTestServices: true, timeout: "4 minutes" })("concurrent clients", (it) => {
  it.effect(
    "leave every run sound, and able to end",
    () =>
      Effect.gen(function* () {
        const seed = yield* firstSeed
        for (let round = 0; round < rounds; round++) {
          const made = yield* makeProcess(3)
          yield* Effect.forEach(
            Array.from({ length: clients }),
            (_, index) => client(made, index, commands, seed + round),
            { concurrency: "unbounded", discard: true }
          )
          const process = made.process.view.id
          assertSound(yield* rowsOf(process))
          yield* drain(made)
          const rows = yield* rowsOf(process)
          assertSound(rows)
          assert.isTrue(rows.runs.every(hasEnded))
          assert.isAtLeast(rows.stepRuns.length, 10, "the clients did next to nothing")
        }
      }),
    { timeout: 600_000 }
  )
})
