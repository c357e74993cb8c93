/** Executions from outside: lists, and what an execution waits for. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { Diary, note, Refused } from "./support/Flows.ts"
import { until } from "./support/Polling.ts"
import { advance, throughTime } from "./support/Time.ts"

const approval = Flow.approval("approval")
const shipping = Flow.signal("day", Schema.Date)

const orders = (version: number) =>
  Flow.make("orders", {
    version,
    input: Schema.String,
    success: Schema.String,
    error: Refused,
    idempotencyKey: (key) => key,
    signals: [approval, shipping],
    run: Effect.fnUntraced(function* (key) {
      yield* note(key)
      const decision = yield* Flow.race("decision", {
        person: approval.receive(),
        timeout: Effect.as(Flow.sleep("deadline", "2 days"), { approved: false, by: "timeout", comment: null })
      })
      const day = yield* shipping.receive()
      return `${decision.by} ${day.toISOString().slice(0, 10)}`
    })
  })

const letters = Flow.make("letters", {
  version: 1,
  input: Schema.String,
  success: Schema.Finite,
  error: Refused,
  idempotencyKey: (key) => key,
  run: (key) => note(key)
})

const memory = Layer.mergeAll(Flow.layer(orders(2)), Flow.layer(letters)).pipe(
  Layer.provideMerge(Layer.merge(Layer.fresh(FlowEngine.layerMemory), Layer.fresh(Diary.layer)))
)
/** Later executions begin later. */
const later = advance("1 second")
const reaches = (id: string, state: FlowExecutions.State) =>
  until(Effect.map(FlowExecutions.get(id), (execution) => execution.state === state))
/** Waits until the execution waits for so many things. */
const waitsFor = (id: string, count: number) =>
  until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.length === count))

describe("the list of executions", () => {
  it.effect("has those of all versions, the newest first, and marks which are not registered", () =>
    Effect.gen(function* () {
      const old = yield* Flow.submit(orders(1), "old").pipe(Effect.provide(Flow.layer(orders(1))))
      yield* later
      const current = yield* Flow.submit(orders(2), "new")
      const { executions, next } = yield* FlowExecutions.list()
      assert.deepStrictEqual(
        executions.map(({ id, registered, version }) => [id, version, registered]),
        [
          [current, 2, true],
          [old, 1, false]
        ]
      )
      assert.isNull(next)
      for (const hidden of ["input", "result", "error"]) assert.notProperty(executions[0], hidden)
    }).pipe(Effect.provide(memory))
  )

  it.effect("is filtered by flow, version and state", () =>
    Effect.gen(function* () {
      const failed = yield* Flow.submit(letters, "")
      const done = yield* Flow.submit(letters, "done")
      const waiting = yield* Flow.submit(orders(2), "waiting")
      yield* reaches(failed, "failed")
      yield* reaches(done, "completed")
      const ids = (filter: FlowExecutions.Filter) =>
        Effect.map(Stream.runCollect(FlowExecutions.stream(filter)), (all) => all.map(({ id }) => id).sort())
      assert.deepStrictEqual(yield* ids({ flow: "letters" }), [failed, done].sort())
      assert.deepStrictEqual(yield* ids({ state: "failed" }), [failed])
      assert.deepStrictEqual(yield* ids({ state: "completed", flow: "letters" }), [done])
      assert.deepStrictEqual(yield* ids({ version: 2 }), [waiting])
      assert.deepStrictEqual(yield* ids({ version: 3 }), [])
    }).pipe(Effect.provide(memory))
  )

  it.effect("comes in pages that hold each execution once while others begin", () =>
    Effect.gen(function* () {
      const all: Array<string> = []
      for (let n = 0; n < 7; n++) {
        all.unshift(yield* Flow.submit(letters, `${n}`))
        if (n % 2 === 0) yield* later
      }
      const seen: Array<string> = []
      let before: string | null = null
      do {
        const page: FlowExecutions.ExecutionPage = yield* FlowExecutions.list({
          limit: 3,
          ...(before === null ? {} : { before })
        })
        seen.push(...page.executions.map(({ id }) => id))
        before = page.next
        yield* later
        yield* Flow.submit(letters, `later ${seen.length}`)
      } while (before !== null)
      assert.deepStrictEqual([...seen].sort(), [...all].sort())
      assert.strictEqual((yield* Effect.flip(FlowExecutions.list({ before: "nobody" })))._tag, "ExecutionNotFound")
    }).pipe(Effect.provide(memory))
  )
})

describe("an inspection", () => {
  it.effect("shows current waits, and no longer those that lost a race", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(orders(2), "one")
      yield* waitsFor(id, 2)
      const { execution, now, registered, steps } = yield* FlowExecutions.inspect(id)
      assert.isTrue(registered)
      assert.strictEqual(execution.input, "one")
      assert.deepStrictEqual(
        steps
          .filter(({ kind }) => kind === "step")
          .map(({ attempt, input, path, state, value }) => ({ attempt, input, path, state, value })),
        [{ attempt: 1, input: "one", path: "note", state: "succeeded", value: 3 }]
      )
      const days = 2 * 86_400_000
      assert.deepStrictEqual(
        now.map(({ due, kind, path }) => ({ path, kind, due: due === null ? null : due >= days })),
        [
          { path: "decision[person]/approval", kind: "signal", due: null },
          { path: "decision[timeout]/deadline", kind: "sleep", due: true }
        ]
      )
      yield* advance("3 days")
      yield* waitsFor(id, 1)
      const after = yield* FlowExecutions.inspect(id)
      assert.deepStrictEqual(
        after.now.map(({ kind, path }) => ({ kind, path })),
        [{ kind: "signal", path: "day" }]
      )
      assert.include(after.diagram, "flowchart TD")
      yield* FlowExecutions.signal(id, "day", "2026-11-21T00:00:00.000Z")
      assert.strictEqual(yield* Effect.flatten(throughTime(Flow.execute(orders(2), "one"))), "timeout 2026-11-21")
      assert.deepStrictEqual((yield* FlowExecutions.inspect(id)).now, [])
    }).pipe(Effect.provide(memory))
  )
})

describe("resume", () => {
  it.effect("lets one that waits wait on", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(orders(2), "one")
      yield* waitsFor(id, 2)
      yield* FlowExecutions.resume(id)
      yield* advance("1 hour")
      yield* waitsFor(id, 2)
      assert.strictEqual((yield* FlowExecutions.get(id)).state, "waiting")
      assert.deepStrictEqual(yield* Diary.read, ["one"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("refuses what has ended, and what is not there", () =>
    Effect.gen(function* () {
      const done = yield* Flow.submit(letters, "done")
      yield* reaches(done, "completed")
      assert.match(
        (yield* Effect.flip(FlowExecutions.resume(done))).message,
        /has ended \(completed\): retry it, from a step/
      )
      assert.strictEqual((yield* Effect.flip(FlowExecutions.resume("nobody")))._tag, "ExecutionNotFound")
    }).pipe(Effect.provide(memory))
  )
})

describe("the versions of flows", () => {
  it.effect("say what has not ended, which process runs it, and what may be deleted from the code", () =>
    Effect.gen(function* () {
      const old = yield* Flow.submit(orders(1), "old").pipe(Effect.provide(Flow.layer(orders(1))))
      yield* later
      const current = yield* Flow.submit(orders(2), "new")
      yield* waitsFor(current, 2)
      const [letter, second, first, ...rest] = yield* FlowExecutions.versions()
      assert.deepStrictEqual(rest, [])
      assert.deepInclude(letter, {
        flow: "letters",
        version: 1,
        newest: true,
        unended: 0,
        oldest: null,
        removable: true
      })
      const { startedAt } = yield* FlowExecutions.get(old)
      assert.deepInclude(first, {
        flow: "orders",
        version: 1,
        newest: false,
        unended: 1,
        oldest: startedAt,
        processes: [],
        removable: false
      })
      assert.deepInclude(second, { version: 2, newest: true, removable: false })
      assert.deepInclude(second?.executions, { waiting: 1, running: 0, halted: 0 })
      assert.deepStrictEqual(
        second?.processes.map(({ draining }) => draining),
        [false]
      )
      yield* FlowExecutions.terminate(old)
      const left = yield* FlowExecutions.versions("orders")
      assert.deepStrictEqual(
        left.map(({ version }) => version),
        [2]
      )
    }).pipe(Effect.provide(memory))
  )
})
