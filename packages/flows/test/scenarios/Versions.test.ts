import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios } = S

const go = Flow.signal("go", Schema.String)
const signals = [go]
type Body = Effect.Effect<Schema.Json, typeof S.Failure.Type, Flow.FlowContext<S.Diary>>
const build = (body: Body, version = 1) => S.flow("flow", () => body, { version, signals })
const waits = go.receive()

/** Says its version and waits. */
const versioned = (version: number) =>
  build(
    Effect.flatMap(say(`begun by ${version}`), () => Effect.map(waits, (word) => `${word} from ${version}`)),
    version
  )
const [one, two] = [versioned(1), versioned(2)]
const both = [Flow.layer(one), Flow.layer(two)]

scenarios("versions", () => {
  scenario(
    "temporal: deployment_versioning/routing_pinned",
    Effect.gen(function* () {
      const id = yield* program(
        Flow.layer(one),
        Effect.tap(Flow.submit(one, "x"), (id) => S.reaches(id, "waiting"))
      )
      const sends = Effect.gen(function* () {
        yield* FlowExecutions.signal(id, "go", "result")
        yield* S.reaches(id, "completed")
        return (yield* FlowExecutions.get(id)).result
      })
      // It ends with the version that began it, also where a newer one is there.
      assert.strictEqual(yield* program(both, sends), "result from 1")
    })
  )

  scenario(
    "temporal: deployment_versioning/routing_auto_upgrade",
    Effect.gen(function* () {
      const before = build(waits)
      const after = build(Effect.map(waits, (word) => `${word} by the new build`))
      const id = yield* program(Flow.layer(before), S.waiting(before))
      const sends = Effect.andThen(FlowExecutions.signal(id, "go", "ended"), resultOf(after, "x"))
      assert.strictEqual(yield* program(Flow.layer(after), sends), "ended by the new build")
    })
  )

  scenario(
    "temporal: deployment_versioning/routing_with_override",
    Effect.gen(function* () {
      const fails = S.flow("fails", (why) => S.refuse(why), { version: 1 })
      const mended = S.flow("fails", () => say("mended"), { version: 2 })
      const overrides = Effect.gen(function* () {
        yield* S.errorOf(fails, "x")
        const { id } = yield* Flow.handle(fails, "x")
        yield* FlowExecutions.retry(id, { from: "refuse", version: 2 })
        yield* S.reaches(id, "completed")
        const { result, version } = yield* FlowExecutions.get(id)
        return [version, result]
      })
      const all = [Flow.layer(fails), Flow.layer(mended)]
      assert.deepStrictEqual(yield* program(all, overrides), [2, "mended"])
    })
  )

  scenario(
    "temporal: build_id_versioning/unversioned_worker_no_task",
    Effect.gen(function* () {
      const id = yield* program(
        Flow.layer(one),
        Effect.tap(Flow.submit(one, "x"), (id) => S.reaches(id, "waiting"))
      )
      // The other build does not know the version: it leaves it alone, and says so.
      const looks = Effect.gen(function* () {
        yield* S.pass(5)
        const { registered } = yield* FlowExecutions.inspect(id)
        return [registered, yield* S.stateOf(id)]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(two), looks), [false, "waiting"])
      assert.deepStrictEqual(yield* Diary.read, ["begun by 1"])
    })
  )

  scenario(
    "temporal: build_id_versioning/only_appropriate_worker_gets_task",
    Effect.gen(function* () {
      const asks = Effect.gen(function* () {
        const error = yield* Effect.flip(Flow.submit(one, "x"))
        return error._tag
      })
      assert.strictEqual(yield* program(Flow.layer(two), asks), "FlowNotRegistered")
      assert.deepStrictEqual(yield* Diary.read, [])
      yield* program(Flow.layer(one), S.says("begun by 1"))
    })
  )

  scenario(
    "temporal: build_id_versioning/versions_added_while_worker_polling",
    Effect.gen(function* () {
      const adds = Effect.gen(function* () {
        yield* Flow.signalWithStart(one, "old", go, "a")
        const old = yield* resultOf(one, "old")
        const young = Effect.gen(function* () {
          yield* Flow.signalWithStart(two, "young", go, "b")
          return yield* resultOf(two, "young")
        })
        return [old, yield* Effect.provide(young, Flow.layer(two))]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(one), adds), ["a from 1", "b from 2"])
    })
  )

  scenario(
    "temporal: build_id_versioning/activity_and_child_on_correct_version",
    Effect.gen(function* () {
      const parent = S.flow("parent", () => Effect.flatMap(Flow.start(one, "child"), ({ result }) => result))
      const sends = Effect.gen(function* () {
        yield* Flow.submit(parent, "x")
        yield* FlowExecutions.signal(yield* S.firstOf({ flow: "flow" }), "go", "child")
        return yield* resultOf(parent, "x")
      })
      // The child has the version that the parent's code names.
      assert.strictEqual(yield* program([...both, Flow.layer(parent)], sends), "child from 1")
    })
  )

  scenario(
    "temporal: build_id_versioning/continues_as_new_on_correct_version",
    Effect.gen(function* () {
      const again = { name: "chapters", input: Schema.String }
      const chapters = (version: number) =>
        S.flow(
          "chapters",
          (text) =>
            text === "end" ? say(`ended by ${version}`) : Effect.andThen(say(text), Flow.continueAs(again, "end")),
          { version, key: () => "one" }
        )
      const [old, young] = [chapters(1), chapters(2)]
      const all = [Flow.layer(old), Flow.layer(young)]
      assert.strictEqual(yield* program(all, resultOf(old, "x")), "ended by 1")
    })
  )

  scenario(
    "restate: UpgradeTest executesNewInvocationWithLatestServiceRevisions",
    Effect.gen(function* () {
      const before = S.flow("version", () => say("v1"))
      const after = S.flow("version", () => say("v2"))
      const old = yield* program(Flow.layer(before), resultOf(before, "a"))
      const young = yield* program(Flow.layer(after), resultOf(after, "b"))
      assert.deepStrictEqual([old, young], ["v1", "v2"])
    })
  )

  scenario(
    "restate: UpgradeTest inFlightInvocation",
    Effect.gen(function* () {
      const id = yield* program(
        Flow.layer(one),
        Effect.tap(Flow.submit(one, "old"), (id) => S.reaches(id, "waiting"))
      )
      const flies = Effect.gen(function* () {
        yield* Flow.signalWithStart(two, "young", go, "b")
        const young = yield* resultOf(two, "young")
        yield* FlowExecutions.signal(id, "go", "a")
        return [yield* resultOf(one, "old"), young]
      })
      assert.deepStrictEqual(yield* program(both, flies), ["a from 1", "b from 2"])
    })
  )

  scenario(
    "restate: PauseResumeChangingDeploymentTest pauseAndResumeInvocation",
    Effect.gen(function* () {
      const broken = build(Effect.andThen(say("one"), Effect.die(new TypeError("cannot make progress"))))
      const mended = build(Effect.andThen(say("one"), say("two")))
      yield* program(Flow.layer(broken), S.haltOf(broken, "x"))
      const resumes = Effect.gen(function* () {
        const { resume } = yield* Flow.handle(mended, "x")
        yield* resume()
        return yield* resultOf(mended, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(mended), resumes), "two")
      assert.deepStrictEqual(yield* Diary.read, ["one", "two"])
    })
  )

  scenario(
    "dbos: test-app-version-recovery",
    Effect.gen(function* () {
      const id = yield* program(
        Flow.layer(one),
        Effect.tap(Flow.submit(one, "x"), (id) => S.reaches(id, "waiting"))
      )
      const otherVersion = Effect.andThen(S.pass(3), S.stateOf(id))
      assert.strictEqual(yield* program(Flow.layer(two), otherVersion), "waiting")
      const sends = Effect.andThen(FlowExecutions.signal(id, "go", "back"), resultOf(one, "x"))
      assert.strictEqual(yield* program(Flow.layer(one), sends), "back from 1")
    })
  )
})
