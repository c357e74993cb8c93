import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as FlowHistory from "../../src/FlowHistory.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, refuse, resultOf, say, scenario, scenarios, seconds } = S

const done = S.flow("done", (text) => say(text), { tags: (text) => [`first ${text.slice(0, 1)}`, "all"] })
const fails = S.flow("fails", (text) => refuse(text))
const asleep = S.flow("asleep", (text) => Effect.as(Flow.sleep("day", seconds(36_000)), text))
const all = [Flow.layer(done), Flow.layer(fails), Flow.layer(asleep)]

/** Of each flow some executions. */
const some = Effect.gen(function* () {
  yield* resultOf(done, "a1")
  yield* resultOf(done, "a2")
  yield* resultOf(done, "b1")
  yield* S.errorOf(fails, "no")
  yield* S.reaches(yield* Flow.submit(asleep, "x"), "waiting")
})
const keys = (filter: FlowExecutions.PageOptions) =>
  Effect.map(FlowExecutions.list(filter), ({ executions }) => executions.map(({ key }) => key).toSorted())
const withSome = <A, E, R>(effect: Effect.Effect<A, E, R>) => program(all, Effect.andThen(some, effect))

scenarios("lists", () => {
  scenario(
    "dbos: simple-getworkflows",
    Effect.gen(function* () {
      const { executions } = yield* withSome(FlowExecutions.list({ flow: "done", key: "a1" }))
      assert.deepInclude(executions[0], { flow: "done", version: 1, key: "a1", state: "completed", parent: null })
      assert.strictEqual(executions.length, 1)
    })
  )

  scenario(
    "dbos: getworkflows-with-dates",
    Effect.gen(function* () {
      const found = Effect.gen(function* () {
        const { startedAt } = yield* FlowExecutions.get((yield* Flow.handle(done, "a1")).id)
        return [yield* keys({ flow: "done", startedFrom: startedAt }), yield* keys({ startedBefore: startedAt })]
      })
      assert.deepStrictEqual(yield* withSome(found), [["a1", "a2", "b1"], []])
    })
  )

  for (const [name, filter, expected] of [
    ["with-status", { state: "failed" }, ["no"]],
    ["with-status, of several", { state: ["failed", "waiting"] }, ["no", "x"]],
    ["with-wfname", { flow: "done" }, ["a1", "a2", "b1"]],
    ["with-applicationVersion", { flow: "done", version: 2 }, []]
  ] as const) {
    scenario(
      `dbos: getworkflows-${name}`,
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* withSome(keys(filter)), [...expected])
      })
    )
  }

  scenario(
    "dbos: getworkflows-with-limit",
    Effect.gen(function* () {
      const pages = Effect.gen(function* () {
        const first = yield* FlowExecutions.list({ flow: "done", limit: 2 })
        const rest = yield* FlowExecutions.list({ flow: "done", limit: 2, before: first.next ?? "" })
        return [first.executions.map(({ key }) => key), rest.executions.map(({ key }) => key), rest.next]
      })
      // The newest first.
      assert.deepStrictEqual(yield* withSome(pages), [["b1", "a2"], ["a1"], null])
    })
  )

  scenario(
    "dbos: filters listWorkflows by attribute containment",
    Effect.gen(function* () {
      const tagged = Effect.gen(function* () {
        return [
          yield* keys({ tag: "first a" }),
          yield* keys({ tag: "all", state: "completed" }),
          yield* keys({ tag: "none" })
        ]
      })
      assert.deepStrictEqual(yield* withSome(tagged), [["a1", "a2"], ["a1", "a2", "b1"], []])
    })
  )

  scenario(
    "temporal: search_attributes/set",
    Effect.gen(function* () {
      const described = Effect.gen(function* () {
        const { describe } = yield* Flow.handle(done, "a1")
        return (yield* describe).execution.tags
      })
      assert.deepStrictEqual(yield* withSome(described), ["first a", "all"])
    })
  )

  scenario(
    "dbos: DBOSClient-retrieve-workflow-done",
    Effect.gen(function* () {
      const retrieved = Effect.gen(function* () {
        const { id, result } = yield* Flow.handle(done, "a1")
        const missing = yield* Effect.flip(Flow.handle(done, "nothing"))
        return [yield* result, (yield* FlowExecutions.get(id)).result, missing._tag]
      })
      assert.deepStrictEqual(yield* withSome(retrieved), ["a1", "a1", "ExecutionNotFound"])
    })
  )

  scenario(
    "dbos: group-by-status",
    Effect.gen(function* () {
      const counted = Stream.runFold(
        FlowExecutions.stream(),
        () => ({}) as Record<string, number>,
        (counts, { state }) => ({ ...counts, [state]: (counts[state] ?? 0) + 1 })
      )
      assert.deepStrictEqual(yield* withSome(counted), { completed: 3, failed: 1, waiting: 1 })
    })
  )
})

const two = S.flow("two", () =>
  Effect.gen(function* () {
    const first = yield* say("first")
    yield* Flow.sleep("nap", seconds(1))
    return yield* S.refuse(`after ${first}`)
  })
)

scenarios("steps of an execution", () => {
  scenario(
    "dbos: test-list-steps",
    Effect.gen(function* () {
      const lists = Effect.gen(function* () {
        yield* S.errorOf(two, "x")
        return (yield* FlowExecutions.inspect((yield* Flow.handle(two, "x")).id)).steps
      })
      const steps = yield* program(Flow.layer(two), lists)
      assert.deepStrictEqual(
        steps.map(({ input, kind, path, state, value }) => [kind, path, state, input, kind === "sleep" ? null : value]),
        [
          ["step", "say", "succeeded", "first", "first"],
          ["sleep", "nap", "succeeded", seconds(1), null],
          ["step", "refuse", "failed", "after first", { _tag: "Refused", why: "after first" }]
        ]
      )
    })
  )

  scenario(
    "dbos: test-step-timing",
    Effect.gen(function* () {
      const timed = S.flow("timed", () => S.take({ name: "timed", seconds: 2 }))
      const lists = Effect.gen(function* () {
        yield* resultOf(timed, "x")
        return yield* FlowExecutions.steps((yield* Flow.handle(timed, "x")).id)
      })
      const [step] = yield* program(Flow.layer(timed), lists)
      // A timer of Node may be a millisecond early.
      assert.isAtLeast((step?.endedAt ?? 0) - (step?.startedAt ?? 0), seconds(2) - 2)
    })
  )

  scenario(
    "dbos: test-list-steps-invalid-wfid",
    Effect.gen(function* () {
      const missing = yield* program(all, Effect.flip(FlowExecutions.steps("nobody")))
      assert.strictEqual(missing._tag, "ExecutionNotFound")
    })
  )

  scenario(
    "dbos: test-list-failing-step",
    Effect.gen(function* () {
      const looks = Effect.gen(function* () {
        yield* S.errorOf(fails, "no")
        return yield* FlowExecutions.inspect((yield* Flow.handle(fails, "no")).id)
      })
      const { execution, remedy, steps } = yield* program(all, looks)
      assert.deepStrictEqual(steps[0]?.failure?.tag, "Refused")
      assert.deepStrictEqual(execution.error, { _tag: "Refused", why: "no" })
      assert.include(remedy, "retry")
    })
  )

  scenario(
    "dbos: test-workflow-export-import",
    Effect.gen(function* () {
      const exports = Effect.gen(function* () {
        yield* resultOf(done, "a1")
        const history = yield* FlowExecutions.history((yield* Flow.handle(done, "a1")).id)
        return { history, file: JSON.stringify(yield* FlowHistory.encode(history)) }
      })
      const { file, history } = yield* program(all, exports)
      const imported = yield* FlowHistory.decode(JSON.parse(file))
      assert.deepStrictEqual(imported, history)
      yield* Flow.check(done, imported)
    })
  )

  scenario(
    "restate: JournalRetentionTest journalShouldBeRetained",
    Effect.gen(function* () {
      const naps = S.flow("naps", (text) => Effect.as(Flow.sleep("nap", seconds(0.1)), text))
      yield* program(Flow.layer(naps), resultOf(naps, "x"))
      const kept = Effect.gen(function* () {
        const { id } = yield* Flow.handle(naps, "x")
        return (yield* FlowExecutions.steps(id)).map(({ path, state }) => [path, state])
      })
      assert.deepStrictEqual(yield* program(Flow.layer(naps), kept), [["nap", "succeeded"]])
    })
  )

  scenario(
    "dbos: test-garbage-collection",
    Effect.gen(function* () {
      yield* program(all, resultOf(done, "a1"))
      const collects = Effect.gen(function* () {
        const rows = Effect.map(FlowExecutions.list(), ({ executions }) => executions.length)
        yield* S.eventually(Effect.map(rows, (count) => count === 0))
        return (yield* Effect.flip(Flow.submit(done, "a1")))._tag
      })
      // Its key stays, so that nothing is done twice.
      assert.strictEqual(yield* program(all, collects, { retain: { completed: 1 } }), "FlowExpired")
      assert.deepStrictEqual(yield* Diary.read, ["a1"])
    })
  )

  scenario(
    "temporal: telemetry/metrics",
    Effect.gen(function* () {
      const counts = Effect.gen(function* () {
        yield* resultOf(done, "a1")
        yield* resultOf(done, "a2")
        yield* S.errorOf(fails, "no")
        const counted = (yield* Metric.snapshot).filter(({ id }) => id === "signalbox_flow_executions_total")
        return counted.map(({ attributes, state }) => [attributes?.["flow"], attributes?.["state"], state])
      })
      const counted = yield* Effect.provideService(program(all, counts), Metric.MetricRegistry, new Map())
      assert.deepInclude(counted, ["done", "completed", { count: 2, incremental: true }])
      assert.deepInclude(counted, ["fails", "failed", { count: 1, incremental: true }])
    })
  )
})
