import { assert, layer as withLayer } from "@effect/vitest"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Workers from "@signalbox/api/Workers"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "effect/sql/Statement"
import * as Sql from "@signalbox/sql/Sql"
import * as Labels from "../src/internal/store/runs/Labels.ts"
import { assertError } from "./support/Http.ts"
import { layer, Service, workerAt } from "./support/Service.ts"

const unique = (what: string) => `${what} ${crypto.randomUUID()}`

const linked = Effect.fnUntraced(function* (tasks: ReadonlyArray<string>, labels: ReadonlyArray<string>) {
  const { origin } = yield* Service
  const { link_token } = yield* Workers.createLinkToken()
  const identity = yield* WorkerProtocol.link({
    origin,
    linkToken: Redacted.make(link_token),
    name: "labelled",
    tasks,
    labels
  })
  return yield* workerAt(origin, identity, tasks)
})

/** A step run of a task that asks for these labels. */
const waiting = Effect.fnUntraced(function* (task: string, labels: ReadonlyArray<string> | null) {
  const steps = [{ name: "s", task: { name: task }, ...(labels === null ? {} : { worker: { labels } }) }]
  const process = yield* Processes.create({ name: unique("process"), steps })
  const run = yield* ProcessRuns.start(process.id)
  if (!run.started) return yield* Effect.die(new Error("not started"))
  const [stepRun] = (yield* StepRuns.list(run.id)).data
  return { process, id: stepRun?.id ?? (yield* Effect.die(new Error("no step run"))) }
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("labels of workers", (it) => {
  it.effect("a step run goes only to a worker that has all labels that it asks for", () =>
    Effect.gen(function* () {
      const task = unique("task")
      const both = yield* waiting(task, ["gpu", "eu"])
      const none = yield* waiting(task, [])
      const one = yield* waiting(task, ["eu"])
      const any = yield* waiting(task, null)
      const take = (labels: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const { protocol } = yield* linked([task], labels)
          const leases = yield* protocol.lease({ free: 10, tasks: [task], waitSeconds: 0 })
          return leases.map((lease) => lease.step_run_id)
        })
      assert.deepStrictEqual(yield* take(["gpu"]), [none.id, any.id])
      assert.deepStrictEqual(yield* take(["eu", "big"]), [one.id])
      assert.deepStrictEqual(yield* take(["eu", "gpu", "big"]), [both.id])
    })
  )

  it.effect("are sent when the worker is linked or asks for work, kept, and shown", () =>
    Effect.gen(function* () {
      const { identity, protocol } = yield* linked([], ["gpu", "eu"])
      const labels = Effect.map(Workers.get(identity.workerId), (worker) => worker.labels)
      assert.deepStrictEqual(yield* labels, ["eu", "gpu"])
      yield* protocol.lease({ free: 1, tasks: [], waitSeconds: 0 })
      assert.deepStrictEqual(yield* labels, ["eu", "gpu"])
      yield* protocol.lease({ free: 1, tasks: [], labels: ["big"], waitSeconds: 0 })
      assert.deepStrictEqual(yield* labels, ["big"])
    })
  )

  it.effect("a step run keeps those that it was started with", () =>
    Effect.gen(function* () {
      const task = unique("task")
      const { id, process } = yield* waiting(task, ["old"])
      const steps = [{ name: "s", task: { name: task }, worker: { labels: ["new"] } }]
      yield* Processes.update(process.id, { name: process.name, steps })
      assert.deepStrictEqual((yield* Processes.getDefinition(process.id)).steps[0]?.worker, { labels: ["new"] })
      const { protocol } = yield* linked([task], ["old"])
      const [lease] = yield* protocol.lease({ free: 1, tasks: [task], waitSeconds: 0 })
      assert.strictEqual(lease?.step_run_id, id)
    })
  )

  it.effect("that no worker has are named after 10 seconds", () =>
    Effect.gen(function* () {
      const { tickIn } = yield* Service
      const { id } = yield* waiting("nobody's", ["quantum"])
      yield* tickIn(11_000)
      const events = yield* Stream.runCollect(StepRuns.events(id))
      const { message } = events.find(({ event_type }) => event_type === "NO_WORKER") ?? assert.fail("not reported")
      assert.include(message, "no worker is online")
    })
  )

  it.effect("that are invalid are refused, with the field", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const refused = Effect.fnUntraced(function* (worker: unknown, says: RegExp) {
        const steps = [{ name: "s", task: { name: "t" }, worker }]
        assertError(
          yield* raw("POST", "processes", { json: { name: unique("p"), steps } }),
          400,
          "INVALID_REQUEST",
          says
        )
      })
      yield* refused({ labels: ["a b"] }, /steps\.0\.worker\.labels\.0: Expected a label/)
      yield* refused({ labels: ["a", "a"] }, /steps\.0\.worker\.labels: .*once/)
      yield* refused({ label: ["a"] }, /steps\.0\.worker\.label/)
    })
  )

  it.effect("the sets that are waited for are found in an index", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const recorded: Array<readonly [string, ReadonlyArray<unknown>]> = []
      yield* Labels.wantedAndHad(Sql.make(sql), WorkspaceId.make("w"), ["gpu"]).pipe(
        Effect.provideService(Statement.CurrentTransformer, (statement) =>
          Effect.sync(() => {
            recorded.push(statement.compile())
            return statement
          })
        )
      )
      const [[text, values], ...others] = [recorded[0] ?? assert.fail("no statement"), ...recorded.slice(1)]
      assert.deepStrictEqual(others, [])
      const explain = sql.onDialectOrElse({
        // The tables of tests are so small that Postgres would rather read them whole.
        pg: () => Effect.andThen(sql`SET LOCAL enable_seqscan = off`, sql.unsafe(`EXPLAIN ${text}`, values)),
        orElse: () => sql.unsafe(`EXPLAIN QUERY PLAN ${text}`, values)
      })
      const plan = JSON.stringify(yield* sql.withTransaction(explain))
      assert.include(plan, "step_run_labels")
      assert.notMatch(plan, /SCAN step_run|Seq Scan on step_run/)
    })
  )
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a worker that drains", (it) => {
  it.effect("leases nothing more, is told so, and leases again when it is started the next time", () =>
    Effect.gen(function* () {
      const task = unique("task")
      const { identity, protocol } = yield* linked([task], [])
      const ask = protocol.lease({ free: 5, tasks: [task], waitSeconds: 0 })
      const first = yield* waiting(task, null)
      assert.strictEqual((yield* ask).length, 1)
      const drained = yield* Workers.drain(identity.workerId)
      assert.strictEqual(drained.draining, true)
      assert.deepStrictEqual(yield* Workers.drain(identity.workerId), drained)
      yield* waiting(task, null)
      assert.deepStrictEqual(yield* ask, [])
      assert.deepStrictEqual(yield* protocol.heartbeat([first.id]), { stop: [], lost: [], drain: true })
      assert.strictEqual((yield* protocol.heartbeat([], { starting: true })).drain, false)
      assert.strictEqual((yield* Workers.get(identity.workerId)).draining, false)
      assert.strictEqual((yield* ask).length, 1)
    })
  )

  it.effect("is not found by another name", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      assertError(yield* raw("POST", "workers/nobody/drain"), 404, "NOT_FOUND", /worker/)
    })
  )
})
