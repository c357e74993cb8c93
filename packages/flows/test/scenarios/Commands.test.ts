import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, refuse, resultOf, say, scenario, scenarios, seconds } = S

const done = S.flow("done", (text) => say(text), { tags: (text) => [`first ${text.slice(0, 1)}`, "all"] })
const fails = S.flow("fails", (text) => refuse(text))
const asleep = S.flow("asleep", (text) => Effect.as(Flow.sleep("day", seconds(36_000)), text))
const all = [Flow.layer(done), Flow.layer(fails), Flow.layer(asleep)]

scenarios("pause, resume and retry", () => {
  scenario(
    "restate: PauseResumeTest pauseAndResumeInvocation",
    Effect.gen(function* () {
      const state = { fails: true }
      const works = Flow.step("works", {
        input: Schema.String,
        success: Schema.String,
        error: Schema.Never,
        run: (text) => (state.fails ? Effect.die(new Error("no progress")) : Effect.succeed(text))
      })
      const echo = S.flow("echo", (text) => works(text))
      const resumes = Effect.gen(function* () {
        assert.include((yield* S.haltOf(echo, "input")).message, "no progress")
        state.fails = false
        const { resume } = yield* Flow.handle(echo, "input")
        yield* resume()
        return yield* resultOf(echo, "input")
      })
      assert.strictEqual(yield* program(Flow.layer(echo), resumes), "input")
    })
  )

  scenario(
    "restate: pause and resume of a running invocation",
    Effect.gen(function* () {
      const { held, open } = S.gated()
      const steps = S.flow("steps", () => Effect.andThen(held, say("after")))
      const pauses = Effect.gen(function* () {
        const id = yield* Flow.submit(steps, "x")
        yield* S.says("held begins")
        yield* FlowExecutions.suspend(id)
        yield* open
        yield* S.reaches(id, "suspended")
        assert.deepStrictEqual(yield* Diary.read, ["held begins", "held ends"])
        yield* FlowExecutions.resume(id)
        return yield* resultOf(steps, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(steps), pauses), "after")
    })
  )

  /** What its first step returns; and whether its second one succeeds. */
  const restarting = () => {
    const state = { from: "old", fails: true }
    const read = Flow.step("read", {
      input: Schema.Void,
      success: Schema.String,
      error: Schema.Never,
      run: () => Effect.sync(() => state.from)
    })
    const check = Flow.step("check", {
      input: Schema.Void,
      success: Schema.Void,
      error: S.Refused,
      run: () => (state.fails ? Effect.fail(new S.Refused({ why: "no progress" })) : Effect.void)
    })
    const echo = S.flow("echo", (text) =>
      Effect.flatMap(read(undefined), (from) => Effect.as(check(undefined), `${text} from ${from}`))
    )
    const restart = (from: string | undefined) =>
      Effect.gen(function* () {
        yield* S.errorOf(echo, "my-input")
        Object.assign(state, { from: "new", fails: false })
        const { retry } = yield* Flow.handle(echo, "my-input")
        yield* retry(from === undefined ? {} : { from })
        return yield* resultOf(echo, "my-input")
      })
    return { echo, restart }
  }

  for (const [name, from, expected] of [
    ["restartCompletedWithTerminalException", "read", "my-input from new"],
    ["restartFromPrefix", undefined, "my-input from old"]
  ] as const) {
    scenario(
      `restate: RestartAsNewInvocationTest ${name}`,
      Effect.gen(function* () {
        const { echo, restart } = restarting()
        assert.strictEqual(yield* program(Flow.layer(echo), restart(from)), expected)
      })
    )
  }

  scenario(
    "temporal: reset/reset_and_delete",
    Effect.gen(function* () {
      const resets = Effect.gen(function* () {
        yield* resultOf(done, "a1")
        const { id } = yield* Flow.handle(done, "a1")
        yield* FlowExecutions.retry(id, { from: "say" })
        yield* S.reaches(id, "completed")
        const { aside } = yield* FlowExecutions.history(id)
        return aside.map(({ path }) => path)
      })
      // What it did before stays readable.
      assert.deepStrictEqual(yield* program(all, resets), ["say"])
      assert.deepStrictEqual(yield* Diary.read, ["a1", "a1"])
    })
  )

  scenario(
    "dbos: test-bulk-resume",
    Effect.gen(function* () {
      const state = { broken: true }
      const mends = S.flow("mends", (text) =>
        Effect.flatMap(say(text), () => (state.broken ? Effect.die(new Error("a bug")) : Effect.succeed(text)))
      )
      const resumes = Effect.gen(function* () {
        for (const text of ["a", "b", "c"]) yield* S.haltOf(mends, text)
        state.broken = false
        yield* Stream.runForEach(FlowExecutions.stream({ state: "halted" }), ({ id }) => FlowExecutions.resume(id))
        return [yield* resultOf(mends, "a"), yield* resultOf(mends, "b"), yield* resultOf(mends, "c")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(mends), resumes), ["a", "b", "c"])
      assert.deepStrictEqual(yield* Diary.read, ["a", "b", "c"])
    })
  )

  scenario(
    "dbos: test-admin-workflow-management, a command that is repeated",
    Effect.gen(function* () {
      const repeats = Effect.gen(function* () {
        const id = yield* Flow.submit(asleep, "x")
        yield* S.reaches(id, "waiting")
        yield* FlowExecutions.suspend(id, { id: "one", by: "Ada" })
        yield* S.reaches(id, "suspended")
        yield* FlowExecutions.suspend(id, { id: "one", by: "Ada" })
        const { commands } = yield* FlowExecutions.inspect(id)
        return commands.map(({ by, command, outcome }) => [command, by, outcome])
      })
      assert.deepStrictEqual(yield* program(all, repeats), [["suspend", "Ada", "applied"]])
    })
  )
})
