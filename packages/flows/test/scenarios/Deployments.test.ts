import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios } = S

const go = Flow.signal("go", Schema.String)
const held = (version = 1) =>
  S.flow("held", (text) => Effect.andThen(say(text), go.receive()), { version, signals: [go] })
const [one, two] = [held(1), held(2)]
const send = (id: string, text = "gone") => FlowExecutions.signal(id, "go", text)
const begins = (flow: typeof one) => program(Flow.layer(flow), S.waiting(flow))
const sumsOf = (flow: string) =>
  Effect.map(FlowExecutions.versions(flow), (versions) =>
    versions.map(({ newest, removable, unended, version }) => ({ version, newest, unended, removable }))
  )

scenarios("deployments", () => {
  scenario(
    "temporal: deployment_versioning/aa_clean_old_deployments",
    Effect.gen(function* () {
      const cleans = Effect.gen(function* () {
        const id = yield* S.waiting(one)
        const before = yield* sumsOf("held")
        yield* Effect.andThen(send(id), S.reaches(id, "completed"))
        return [before, yield* sumsOf("held")].map((all) => all.map(({ removable }) => removable))
      })
      const both = [Flow.layer(one), Flow.layer(two)]
      assert.deepStrictEqual(yield* program(both, cleans), [
        [true, false],
        [true, true]
      ])
    })
  )

  scenario(
    "dbos: test-list-and-set-latest-version",
    Effect.gen(function* () {
      yield* begins(one)
      const lists = Effect.andThen(S.waiting(two, "y"), sumsOf("held"))
      assert.deepStrictEqual(yield* program(Flow.layer(two), lists), [
        { version: 2, newest: true, unended: 1, removable: false },
        { version: 1, newest: false, unended: 1, removable: false }
      ])
    })
  )

  scenario(
    "dbos: group-by-application-version",
    Effect.gen(function* () {
      const counts = Effect.gen(function* () {
        for (const text of ["a", "b"]) yield* S.waiting(one, text)
        yield* S.waiting(two, "c")
        return (yield* FlowExecutions.versions("held")).map(({ executions, version }) => [version, executions.waiting])
      })
      const both = [Flow.layer(one), Flow.layer(two)]
      assert.deepStrictEqual(yield* program(both, counts), [
        [2, 1],
        [1, 2]
      ])
    })
  )

  const draining = Flow.layer(one, { drain: true })

  scenario(
    "temporal: worker deployment versioning, a version that drains continues what has begun",
    Effect.gen(function* () {
      const id = yield* begins(one)
      const continues = Effect.andThen(send(id, "drained"), resultOf(one, "x"))
      assert.strictEqual(yield* program(draining, continues), "drained")
    })
  )

  scenario(
    "temporal: worker deployment versioning, a version that drains takes nothing new",
    Effect.gen(function* () {
      const refuses = Effect.map(Effect.flip(Flow.submit(one, "new")), ({ _tag }) => _tag)
      assert.strictEqual(yield* program(draining, refuses), "FlowDraining")
      assert.isEmpty(yield* Diary.read)
    })
  )

  scenario(
    "temporal: worker deployment versioning, the next version takes what is new",
    Effect.gen(function* () {
      const id = yield* begins(one)
      const both = Effect.gen(function* () {
        const young = yield* S.waiting(two, "y")
        for (const one of [id, young]) yield* Effect.andThen(send(one), S.reaches(one, "completed"))
        return yield* Effect.forEach([id, young], (one) =>
          Effect.map(FlowExecutions.get(one), ({ version }) => version)
        )
      })
      assert.deepStrictEqual(yield* program([draining, Flow.layer(two)], both), [1, 2])
    })
  )

  scenario(
    "temporal: replay of what has not ended, before a deployment",
    Effect.gen(function* () {
      const id = yield* begins(one)
      const checks = Effect.gen(function* () {
        const history = yield* FlowExecutions.history(id)
        const changed = S.flow("held", (text) => Effect.andThen(say(`${text}!`), go.receive()), { signals: [go] })
        yield* Flow.check(one, history)
        return yield* Effect.flip(Flow.check(changed, history))
      })
      assert.strictEqual((yield* program([], checks))._tag, "FlowChanged")
    })
  )
})
