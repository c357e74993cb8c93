/** One call in which step runs settle their items and reserve the next. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { layer, linkWorker, Service } from "./support/Service.ts"

let made = 0

/** A run of a new process with this many items, and started step runs of a worker. */
const begun = Effect.fnUntraced(function* (items: number, stepRuns = 1, step: object = {}) {
  const task = `next-${++made}`
  const process = yield* Processes.create({
    name: task,
    steps: [{ name: "work", task: { name: task }, max_parallel: stepRuns, ...step }]
  })
  const worker = yield* linkWorker([task])
  const payloads = Array.from({ length: items }, (_, n) => ({ n }))
  const run = yield* ProcessRuns.start(process.id, { payloads })
  if (!run.started) return assert.fail("not started")
  const leases = yield* Effect.forEach(Array.from({ length: stepRuns }), () =>
    Effect.map(worker.take, ({ lease }) => lease)
  )
  const { origin } = yield* Service
  const { nextItems } = yield* WorkerProtocol.makeItems(origin, worker.identity)
  const [lease] = leases
  if (lease === undefined) return assert.fail("no step run")
  const ask = (asks: ReadonlyArray<WorkerProtocol.NextAsk>) => nextItems(run.id, asks)
  const one = (asked: WorkerProtocol.NextAsk) => Effect.map(ask([asked]), ([answer]) => answer ?? assert.fail("none"))
  const open = (of = lease) =>
    Effect.map(one({ lease: of, settled: null, reserve: true }), ({ item }) => item ?? assert.fail("nothing reserved"))
  return { run: run.id, worker, lease, leases, ask, one, open }
})

const settledAs = (
  { attempt, work_item_id }: WorkerProtocol.ReservedItem,
  rest: Partial<WorkerProtocol.SettledItem> = {}
): WorkerProtocol.SettledItem => ({ work_item_id, attempt, state: "COMPLETED", ...rest })

const failure = { type: "APPLICATION", code: "BROKEN", message: "it broke" } as const

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("one call for the next items", (it) => {
  it.effect("returns the reserved item with its payload and files, and the next for a settled one", () =>
    Effect.gen(function* () {
      const { lease, one, open, run, worker } = yield* begun(2)
      const session = yield* worker.session(lease)
      yield* session.attachFile(lease.work_item_id, {
        name: "in.txt",
        size: 2,
        stream: Stream.make(new Uint8Array([79, 75]))
      })
      const first = yield* open()
      assert.strictEqual(first.work_item_id, lease.work_item_id)
      assert.deepStrictEqual(first.payload, { n: 0 })
      assert.deepStrictEqual(
        first.files.map(({ name, size }) => ({ name, size })),
        [{ name: "in.txt", size: 2 }]
      )
      const second = yield* one({ lease, settled: settledAs(first, { outputs: [{ a: 1 }, null] }), reserve: true })
      assert.deepStrictEqual(second.item?.payload, { n: 1 })
      assert.deepStrictEqual(second.item?.files, [])
      const last = yield* one({ lease, settled: settledAs(second.item ?? assert.fail("none")), reserve: true })
      assert.deepStrictEqual(last, { item: null, ahead: [], mayBegin: false, error: null })
      yield* worker.protocol.finish(lease, null)
      assert.strictEqual((yield* ProcessRuns.awaitEnd(run)).state, "completed")
      const outputs = yield* Stream.runCollect(Outputs.stream(run))
      assert.deepStrictEqual(
        outputs.map(({ payload }) => payload),
        [{ a: 1 }, null]
      )
      const events = yield* Stream.runCollect(StepRuns.events(lease.step_run_id))
      assert.deepStrictEqual(
        events.map(({ event_type }) => event_type),
        [
          "CREATED",
          "QUEUED",
          "LEASED",
          "START",
          "ITEM_RESERVED",
          "OUTPUT_CREATED",
          "OUTPUT_CREATED",
          "ITEM_RELEASED",
          "ITEM_RESERVED",
          "ITEM_RELEASED",
          "END"
        ]
      )
    })
  )

  it.effect("repeated, changes nothing and returns the same item", () =>
    Effect.gen(function* () {
      const { lease, one, open } = yield* begun(3)
      const asked = { lease, settled: settledAs(yield* open(), { outputs: [1] }), reserve: true }
      const answer = yield* one(asked)
      const { rows } = yield* Service
      const before = yield* rows
      assert.deepStrictEqual(yield* one(asked), answer)
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("settles the attempt that was meant, also when the same item is the next again", () =>
    Effect.gen(function* () {
      const { lease, one, open, run } = yield* begun(1, 1, { retry: { max_attempts: 3, delay_seconds: 0 } })
      const first = yield* open()
      assert.strictEqual(first.attempt, 1)
      const asked = {
        lease,
        settled: settledAs(first, { state: "FAILED", exception: failure, outputs: ["dropped"] }),
        reserve: true
      }
      const second = yield* one(asked)
      assert.strictEqual(second.item?.work_item_id, first.work_item_id)
      assert.strictEqual(second.item?.attempt, 2)
      // The response was lost: the second attempt continues.
      assert.deepStrictEqual(yield* one(asked), second)
      yield* one({ lease, settled: settledAs(second.item ?? assert.fail("none")), reserve: true })
      const [item] = yield* Stream.runCollect(WorkItems.stream({ processRun: run }))
      assert.strictEqual(item?.state, "done")
    })
  )

  it.effect("reserves no item for a late call, after the step run got none", () =>
    Effect.gen(function* () {
      const { lease, one, open, run } = yield* begun(1)
      const asked = {
        lease,
        settled: settledAs(yield* open(), { state: "FAILED", exception: failure }),
        reserve: true
      }
      assert.isNull((yield* one(asked)).item)
      const [item] = yield* Stream.runCollect(WorkItems.stream({ processRun: run }))
      yield* WorkItems.retry([item?.id ?? assert.fail("no item")])
      assert.isNull((yield* one(asked)).item)
      assert.isNull((yield* one({ lease, settled: null, reserve: true })).item)
    })
  )

  it.effect("takes no further item for a step run that wants none", () =>
    Effect.gen(function* () {
      const { lease, one, open } = yield* begun(2)
      assert.isNull((yield* one({ lease, settled: settledAs(yield* open()), reserve: false })).item)
    })
  )

  it.effect("reserves an item for each step run, and refuses only one that lost its lease", () =>
    Effect.gen(function* () {
      const { ask, leases, open, worker } = yield* begun(7, 3)
      const hands = yield* Effect.forEach(leases, (lease) => Effect.map(open(lease), (item) => ({ lease, item })))
      const [lost] = leases
      yield* worker.protocol.finish(lost ?? assert.fail("none"), { code: "ROBOT_FAILURE", message: "crashed" })
      const answers = yield* ask(hands.map(({ item, lease }) => ({ lease, settled: settledAs(item), reserve: true })))
      assert.deepStrictEqual(
        answers.map(({ error, item }) => error?.code ?? typeof item?.work_item_id),
        ["LEASE_LOST", "string", "string"]
      )
      const given = answers.flatMap(({ item }) => item?.work_item_id ?? [])
      assert.strictEqual(new Set([...given, ...hands.map(({ item }) => item.work_item_id)]).size, 5)
    })
  )

  it.effect("reserves an item for the step run that asked, when several ask together", () =>
    Effect.gen(function* () {
      const { ask, leases, open } = yield* begun(4, 2)
      const asked = yield* Effect.forEach(leases, (lease) =>
        Effect.map(open(lease), (item) => ({ lease, settled: settledAs(item), reserve: true }))
      )
      const answers = yield* ask(asked)
      const held = yield* Effect.forEach(leases, open)
      assert.deepStrictEqual(
        held,
        answers.map(({ item }) => item)
      )
      assert.strictEqual(new Set(held.map(({ work_item_id }) => work_item_id)).size, 2)
    })
  )

  it.effect("refuses what the step run has not reserved, and changes nothing of it", () =>
    Effect.gen(function* () {
      const { ask, leases, open } = yield* begun(4, 2)
      const [mine, other] = leases
      if (mine === undefined || other === undefined) return assert.fail("too few step runs")
      const item = yield* open(mine)
      const others = yield* open(other)
      const { rows } = yield* Service
      const before = yield* rows
      const codeOf = (asked: WorkerProtocol.NextAsk) => Effect.map(ask([asked]), ([answer]) => answer?.error?.code)
      assert.strictEqual(yield* codeOf({ lease: mine, settled: settledAs(others), reserve: true }), "CONFLICT")
      const early = { ...settledAs(item), attempt: 2 }
      assert.strictEqual(yield* codeOf({ lease: mine, settled: early, reserve: true }), "CONFLICT")
      const stolen = { ...mine, lease_token: other.lease_token }
      assert.strictEqual(yield* codeOf({ lease: stolen, settled: settledAs(item), reserve: true }), "LEASE_LOST")
      assert.deepStrictEqual(yield* rows, before)
      // A step run with an output that is too large keeps its item; the other one continues.
      const large = settledAs(item, { outputs: ["x".repeat(1024 * 1024)] })
      const [refused, answered] = yield* ask([
        { lease: mine, settled: large, reserve: true },
        { lease: other, settled: settledAs(others), reserve: true }
      ])
      assert.strictEqual(refused?.error?.code, "PAYLOAD_TOO_LARGE")
      assert.match(refused?.error?.message ?? "", /settled\.outputs\.0/)
      assert.isNotNull(answered?.item)
      assert.strictEqual((yield* open(mine)).work_item_id, item.work_item_id)
    })
  )

  it.effect("knows only runs of the worker's workspace and step runs of the run, each once", () =>
    Effect.gen(function* () {
      const { ask, lease, worker } = yield* begun(1)
      const elsewhere = yield* begun(1)
      const asked = { lease, settled: null, reserve: true }
      const [answer] = yield* elsewhere.ask([asked])
      assert.strictEqual(answer?.error?.code, "NOT_FOUND")
      const { raw } = yield* Service
      const key = Redacted.value(worker.identity.token)
      const body = { step_runs: [{ step_run_id: lease.step_run_id, lease_token: lease.lease_token }] }
      const unknown = yield* raw("POST", "/worker-v1/process-runs/01a1fdad-f7fb-7550-b1c8-2a7d99939de9/next", {
        key,
        json: body
      })
      assert.strictEqual(unknown.status, 404)
      const twice = yield* Effect.flip(ask([asked, asked]))
      assert.strictEqual(twice._tag, "InvalidRequest")
      assert.match(twice.message, /step_runs\.1\.step_run_id/)
    })
  )

  const retry = { retry: { max_attempts: 3, delay_seconds: 0 } }
  const attemptOf = ({ attempt, work_item_id }: WorkerProtocol.ReservedItem) => ({ attempt, work_item_id })

  /** A step run that has settled its first item, with what it was given then. */
  const given = Effect.fnUntraced(function* (items: number, wanted: number, step: object = retry) {
    const all = yield* begun(items, 1, step)
    const { lease, one, open } = all
    const answer = yield* one({
      lease,
      settled: settledAs(yield* open()),
      reserve: true,
      ahead: { also_settled: [], not_begun: [], wanted }
    })
    const statesOf = Effect.map(
      Stream.runCollect(WorkItems.stream({ processRun: all.run, includeData: true })),
      (found) => Object.fromEntries(found.map(({ payload, state }) => [JSON.stringify(payload), state]))
    )
    return { ...all, answer, item: answer.item ?? assert.fail("no item"), statesOf }
  })

  it.effect("gives items ahead in a step with a retry, which are pending until they are settled or begun", () =>
    Effect.gen(function* () {
      const { answer, item, lease, one, statesOf } = yield* given(8, 3)
      assert.isTrue(answer.mayBegin)
      assert.deepStrictEqual(
        answer.ahead.map(({ attempt, payload }) => [attempt, payload]),
        [1, 2, 3].map((n) => [1, { n: n + 1 }])
      )
      const [second, third, fourth] = answer.ahead
      if (second === undefined || third === undefined || fourth === undefined) return assert.fail("too few")
      const settled = settledAs(item, { outputs: ["one"] })
      const also_settled = [settledAs(second, { outputs: ["two"] })]
      const ahead = { also_settled, begun: attemptOf(third), not_begun: [fourth.work_item_id], wanted: 2 }
      const asked = { lease, settled, reserve: true, ahead }
      const next = yield* one(asked)
      assert.isNull(next.item)
      assert.deepStrictEqual(
        next.ahead.map(({ payload }) => payload),
        [{ n: 5 }]
      )
      assert.deepStrictEqual(yield* statesOf, {
        '{"n":0}': "done",
        '{"n":1}': "done",
        '{"n":2}': "done",
        '{"n":3}': "in_progress",
        '{"n":4}': "pending",
        '{"n":5}': "pending",
        '{"n":6}': "pending",
        '{"n":7}': "pending"
      })
      // The response was lost.
      const { rows } = yield* Service
      const before = yield* rows
      assert.deepStrictEqual(yield* one(asked), next)
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("begins no item that the step run was not given, and settles nothing of such a request", () =>
    Effect.gen(function* () {
      const { answer, item, lease, one } = yield* given(6, 2)
      const other = yield* given(3, 1)
      const { rows } = yield* Service
      const before = yield* rows
      const [second] = answer.ahead
      if (second === undefined) return assert.fail("nothing ahead")
      for (const begun of [attemptOf(other.item), { ...attemptOf(second), attempt: 2 }]) {
        const ahead = { also_settled: [], begun, not_begun: [], wanted: 2 }
        const refused = yield* one({ lease, settled: settledAs(item), reserve: true, ahead })
        assert.strictEqual(refused.error?.code, "CONFLICT")
        assert.match(
          refused.error?.message ?? "",
          new RegExp(`${begun.work_item_id} is not one that this step run has ahead`)
        )
      }
      assert.deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("gives back what the step run has ahead when it takes no more, and when it ends", () =>
    Effect.gen(function* () {
      const { item, lease, one, statesOf, worker } = yield* given(4, 2)
      const none = yield* one({ lease, settled: settledAs(item), reserve: false })
      assert.deepStrictEqual([none.item, none.ahead], [null, []])
      yield* worker.protocol.finish(lease, null)
      const { lease: again } = yield* worker.take
      assert.deepStrictEqual(yield* statesOf, {
        '{"n":0}': "done",
        '{"n":1}': "done",
        '{"n":2}': "in_progress",
        '{"n":3}': "pending"
      })
      assert.notStrictEqual(again.step_run_id, lease.step_run_id)
    })
  )

  it.effect("gives nothing ahead without a retry, nor under a limit", () =>
    Effect.gen(function* () {
      for (const step of [{}, { ...retry, concurrency: { limit: 1 } }]) {
        const { answer } = yield* given(6, 3, step)
        assert.deepStrictEqual([answer.ahead, answer.mayBegin], [[], false])
      }
    })
  )
})
