import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as FlowStates from "../../src/FlowStates.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios } = S

const go = Flow.signal("go", Schema.String)
const lines = Flow.feed("lines", Schema.String)
const send = (id: string, text = "gone") => FlowExecutions.signal(id, "go", text)

/** Three steps, of which the second may fail. */
const three = (
  name: string,
  second: (text: string) => Effect.Effect<string, S.Refused, Flow.FlowContext<S.Diary>> = say
) =>
  S.flow(
    name,
    Effect.fnUntraced(function* (text) {
      yield* say(`${text}1`)
      yield* second(`${text}2`)
      return yield* say(`${text}3`)
    })
  )
const forked = Effect.fnUntraced(function* (id: string, options: FlowExecutions.ForkOptions) {
  const fork = yield* FlowExecutions.fork(id, options)
  yield* S.reaches(fork, "completed")
  return yield* FlowExecutions.get(fork)
})

scenarios("forks", () => {
  const steps = three("steps")
  const ended = <A, E, R>(then: (id: string) => Effect.Effect<A, E, R>) =>
    program(
      Flow.layer(steps),
      Effect.andThen(
        resultOf(steps, "x"),
        Effect.flatMap(Flow.handle(steps, "x"), ({ id }) => then(id))
      )
    )

  for (const [from, expected] of [
    ["say", ["x1", "x2", "x3"]],
    ["say#2", ["x2", "x3"]],
    ["say#3", ["x3"]]
  ] as const) {
    scenario(
      `dbos: test-fork-steps, from ${from}`,
      Effect.gen(function* () {
        assert.strictEqual((yield* ended((id) => forked(id, { from }))).result, "x3")
        assert.deepStrictEqual(yield* Diary.read, ["x1", "x2", "x3", ...expected])
      })
    )
  }

  scenario(
    "dbos: test-fork-from-failure",
    Effect.gen(function* () {
      const [fails, mended] = [three("fails", S.refuse), three("fails", (text) => S.flaky(1).pipe(Effect.as(text)))]
      yield* program(Flow.layer(fails), S.errorOf(fails, "x"))
      const forks = Effect.flatMap(Flow.handle(mended, "x"), ({ id }) => forked(id, { from: "refuse" }))
      assert.strictEqual((yield* program(Flow.layer(mended), forks)).result, "x3")
      assert.deepStrictEqual(yield* Diary.read, ["x1", "x2", "attempt", "x3"])
    })
  )

  scenario(
    "dbos: test-fork-WithNextWorkflowId",
    Effect.gen(function* () {
      const forks = yield* ended((id) =>
        Effect.gen(function* () {
          const options = { from: "say#3", key: "mine" }
          const [first, second] = [yield* forked(id, options), yield* forked(id, options)]
          return [first.key, first.id === second.id, (yield* forked(id, { from: "say#3" })).key]
        })
      )
      assert.deepStrictEqual(forks, ["mine", true, "x~fork-1"])
    })
  )

  scenario(
    "dbos: test-fork-childwf",
    Effect.gen(function* () {
      const child = S.flow("child", (text) => say(text))
      const parent = S.flow("parent", () =>
        Effect.andThen(
          Effect.flatMap(Flow.start(child, "c"), ({ result }) => result),
          say("p")
        )
      )
      const forks = Effect.gen(function* () {
        yield* resultOf(parent, "x")
        yield* Effect.flatMap(Flow.handle(parent, "x"), ({ id }) => forked(id, { from: "say" }))
        return (yield* FlowExecutions.list({ flow: "child" })).executions.length
      })
      assert.strictEqual(yield* program([Flow.layer(parent), Flow.layer(child)], forks), 1)
      assert.deepStrictEqual(yield* Diary.read, ["c", "p", "p"])
    })
  )

  scenario(
    "dbos: test-fork-streams",
    Effect.gen(function* () {
      const says = S.flow(
        "says",
        Effect.fnUntraced(function* (text) {
          for (const line of ["one", "two"]) yield* Effect.andThen(say(line), lines.append(line))
          return text
        }),
        { states: [lines] }
      )
      const forks = Effect.gen(function* () {
        yield* resultOf(says, "x")
        const { id } = yield* Flow.handle(says, "x")
        const fork = yield* forked(id, { from: "say#2" })
        return yield* Effect.forEach([id, fork.id], (one) => FlowStates.feed(one, "lines"))
      })
      const [source, fork] = yield* program(Flow.layer(says), forks)
      // It says what its source has said, as of its own.
      for (const all of [source, fork])
        assert.deepStrictEqual(
          all?.map(({ value }) => value),
          ["one", "two"]
        )
    })
  )

  scenario(
    "dbos: test-resume-and-fork-to-queue",
    Effect.gen(function* () {
      const queue = S.flow("queue", (text) => Effect.andThen(say(text), go.receive()), {
        limit: [{ concurrency: 1 }],
        signals: [go]
      })
      const forks = Effect.gen(function* () {
        const id = yield* S.waiting(queue)
        const fork = yield* FlowExecutions.fork(id, { from: "go" })
        assert.strictEqual(yield* S.stateOf(fork), "queued")
        yield* send(id)
        yield* S.reaches(fork, "waiting")
        yield* send(fork, "forked")
        yield* S.reaches(fork, "completed")
      })
      yield* program(Flow.layer(queue), forks)
      assert.deepStrictEqual(yield* Diary.read, ["x"])
    })
  )

  scenario(
    "restate: RestartAsNewInvocationTest restartFromPrefix",
    Effect.gen(function* () {
      const [source, fork] = yield* ended((id) =>
        Effect.all([
          Effect.flatMap(forked(id, { from: "say#3" }), ({ id }) => FlowExecutions.history(id)),
          FlowExecutions.get(id)
        ])
      )
      assert.deepStrictEqual(
        source.entries.map(({ path }) => path),
        ["say", "say#2", "say#3"]
      )
      assert.deepStrictEqual([source.execution.id === fork.id, fork.state], [false, "completed"])
      assert.deepStrictEqual(yield* Diary.read, ["x1", "x2", "x3", "x3"])
    })
  )

  scenario(
    "restate: RestartAsNewInvocationTest restartCompletedWithTerminalException",
    Effect.gen(function* () {
      const fails = three("fails", S.refuse)
      const forks = Effect.gen(function* () {
        yield* S.errorOf(fails, "x")
        const { id } = yield* Flow.handle(fails, "x")
        const fork = yield* FlowExecutions.fork(id, { from: "say", input: "y" })
        yield* S.reaches(fork, "failed")
        return (yield* FlowExecutions.get(id)).state
      })
      assert.strictEqual(yield* program(Flow.layer(fails), forks), "failed")
      assert.deepStrictEqual(yield* Diary.read, ["x1", "x2", "y1", "y2"])
    })
  )

  scenario(
    "temporal: reset, as a new execution",
    Effect.gen(function* () {
      const forks = ended((id) => forked(id, { from: "say#2", input: "x" }))
      const { parent, tags } = yield* forks
      assert.deepStrictEqual([parent, tags.length], [null, 1])
    })
  )
})
