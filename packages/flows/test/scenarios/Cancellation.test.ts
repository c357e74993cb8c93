import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Flow from "../../src/Flow.ts"
import * as Schema from "effect/Schema"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, seconds } = S

const word = Flow.signal("word", Schema.String)
const signals = [word]

const asleep = S.flow("asleep", (text) => Effect.as(Flow.sleep("day", seconds(36_000)), text))
/** What an execution is blocked on. */
const blocking = {
  CALL: Effect.flatMap(Flow.start(asleep, "called"), ({ result }) => result),
  SLEEP: Flow.sleep("day", seconds(36_000)),
  AWAKEABLE: word.receive()
}
const blockedOn = (operation: keyof typeof blocking) =>
  S.flow(
    "blocked",
    () =>
      Effect.gen(function* () {
        yield* Flow.compensate(say("locked"), () => say("unlocked"))
        yield* blocking[operation]
        return yield* say("never")
      }),
    { signals }
  )

scenarios("cancellation", () => {
  for (const operation of ["CALL", "SLEEP", "AWAKEABLE"] as const) {
    scenario(
      `restate: Cancellation cancelFromAdminAPI, blocked on ${operation}`,
      Effect.gen(function* () {
        const blocked = blockedOn(operation)
        const cancels = Effect.gen(function* () {
          const id = yield* Flow.submit(blocked, "x")
          yield* S.reaches(id, "waiting")
          yield* FlowExecutions.cancel(id)
          yield* S.reaches(id, "cancelled")
        })
        yield* program([Flow.layer(blocked), Flow.layer(asleep)], cancels)
        assert.deepStrictEqual(yield* Diary.read, ["locked", "unlocked"])
      })
    )

    scenario(
      `restate: Cancellation cancelFromContext, blocked on ${operation}`,
      Effect.gen(function* () {
        const blocked = blockedOn(operation)
        const canceller = S.flow("canceller", () =>
          Effect.gen(function* () {
            const child = yield* Flow.start(blocked, "x", { key: "x" })
            yield* Flow.sleep("nap", seconds(20))
            yield* child.cancel
            return yield* Effect.catchTag(child.result, "FlowCancelled", ({ _tag }) => Effect.succeed(_tag))
          })
        )
        const all = [Flow.layer(canceller), Flow.layer(blocked), Flow.layer(asleep)]
        assert.strictEqual(yield* program(all, resultOf(canceller, "x")), "FlowCancelled")
        assert.deepStrictEqual(yield* Diary.read, ["locked", "unlocked"])
      })
    )
  }

  scenario(
    "restate: KillInvocation kill",
    Effect.gen(function* () {
      const blocked = blockedOn("CALL")
      const kills = Effect.gen(function* () {
        const id = yield* Flow.submit(blocked, "x")
        yield* S.reaches(id, "waiting")
        yield* FlowExecutions.terminate(id)
        assert.strictEqual(yield* S.stateOf(id), "cancelled")
        // The tree ends with it.
        const { executions } = yield* FlowExecutions.list({ flow: "asleep" })
        yield* S.reaches(executions[0]?.id ?? "", "cancelled")
      })
      yield* program([Flow.layer(blocked), Flow.layer(asleep)], kills)
      assert.deepStrictEqual(yield* Diary.read, ["locked"])
    })
  )

  scenario(
    "dbos: test-two-steps-cancel-resume",
    Effect.gen(function* () {
      const two = S.flow("two", () =>
        Effect.gen(function* () {
          yield* say("one")
          yield* Flow.sleep("nap", seconds(20))
          return yield* say("two")
        })
      )
      const resumes = Effect.gen(function* () {
        const id = yield* Flow.submit(two, "x")
        yield* S.reaches(id, "waiting")
        yield* FlowExecutions.cancel(id)
        yield* S.reaches(id, "cancelled")
        yield* FlowExecutions.retry(id, { from: "nap" })
        return yield* resultOf(two, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(two), resumes), "two")
      assert.deepStrictEqual(yield* Diary.read, ["one", "two"])
    })
  )

  scenario(
    "dbos: test-resume-on-a-completed-ws",
    Effect.gen(function* () {
      const quick = S.flow("quick", (text) => say(text))
      const resumes = Effect.gen(function* () {
        yield* resultOf(quick, "x")
        const { id, resume } = yield* Flow.handle(quick, "x")
        const conflict = yield* Effect.flip(resume())
        return [conflict._tag, yield* S.stateOf(id)]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(quick), resumes), ["ExecutionConflict", "completed"])
      assert.deepStrictEqual(yield* Diary.read, ["x"])
    })
  )

  scenario(
    "dbos: test-cancel-after-completion",
    Effect.gen(function* () {
      const quick = S.flow("quick", (text) => say(text))
      const cancels = Effect.gen(function* () {
        yield* resultOf(quick, "x")
        const { cancel } = yield* Flow.handle(quick, "x")
        yield* cancel
        return yield* resultOf(quick, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(quick), cancels), "x")
    })
  )

  scenario(
    "dbos: test-cancel-after-final-step",
    Effect.gen(function* () {
      const { held, open } = S.gated()
      const last = S.flow("last", () => held)
      const cancels = Effect.gen(function* () {
        const id = yield* Flow.submit(last, "x")
        yield* S.says("held begins")
        yield* FlowExecutions.cancel(id)
        yield* open
        yield* S.says("held ends")
        yield* S.eventually(Effect.map(FlowExecutions.get(id), ({ endedAt }) => endedAt !== null))
        const { commands, execution, steps } = yield* FlowExecutions.inspect(id)
        assert.deepInclude(steps[0], { path: "held", state: "succeeded" })
        return [execution.state, commands[0]?.outcome]
      })
      // The cancel counts, unless the end was there before it was read; who sent it learns which.
      const ends = [
        ["cancelled", "applied"],
        ["completed", "too late"]
      ]
      assert.deepInclude(ends, yield* program(Flow.layer(last), cancels))
    })
  )

  for (const [name, body] of [
    ["test-preempt-getresult", Flow.sleep("day", seconds(36_000))],
    ["test-preempt-recv", Effect.asVoid(word.receive())]
  ] as const) {
    scenario(
      `dbos: ${name}`,
      Effect.gen(function* () {
        const waits = S.flow("waits", () => Effect.as(body, "over"), { signals })
        const preempts = Effect.gen(function* () {
          const id = yield* Flow.submit(waits, "x")
          const caller = yield* Effect.forkChild(S.errorOf(waits, "x"))
          yield* S.reaches(id, "waiting")
          yield* FlowExecutions.cancel(id)
          return yield* Fiber.join(caller)
        })
        assert.instanceOf(yield* program(Flow.layer(waits), preempts), Flow.FlowCancelled)
      })
    )
  }

  scenario(
    "dbos: test-bulk-cancel",
    Effect.gen(function* () {
      const cancels = Effect.gen(function* () {
        for (const text of ["a", "b", "c"]) yield* Flow.submit(asleep, text)
        const running = FlowExecutions.stream({ flow: "asleep", state: FlowExecutions.unendedStates })
        yield* Stream.runForEach(running, ({ id }) => FlowExecutions.cancel(id))
        const states = Effect.map(FlowExecutions.list(), ({ executions }) => executions.map(({ state }) => state))
        yield* S.eventually(Effect.map(states, (all) => all.every((state) => state === "cancelled")))
        return (yield* states).length
      })
      assert.strictEqual(yield* program(Flow.layer(asleep), cancels), 3)
    })
  )

  scenario(
    "dbos: test-cancel-workflow-children",
    Effect.gen(function* () {
      const parent = S.flow(
        "parent",
        () =>
          Effect.gen(function* () {
            for (const text of ["a", "b"]) yield* Flow.start(asleep, text)
            return yield* word.receive()
          }),
        { signals }
      )
      const cancels = Effect.gen(function* () {
        const id = yield* Flow.submit(parent, "x")
        yield* S.reaches(id, "waiting")
        yield* FlowExecutions.cancel(id)
        const { executions } = yield* FlowExecutions.list({ flow: "asleep" })
        for (const child of executions) yield* S.reaches(child.id, "cancelled")
        return executions.length
      })
      assert.strictEqual(yield* program([Flow.layer(parent), Flow.layer(asleep)], cancels), 2)
    })
  )

  scenario(
    "dbos: parent picks up child result after resume",
    Effect.gen(function* () {
      const child = S.flow("child", (text) => Effect.andThen(Flow.sleep("nap", seconds(20)), say(text)))
      const parent = S.flow("parent", () =>
        Effect.flatMap(Flow.start(child, "c", { key: "c", onParentEnd: "leave" }), ({ result }) => result)
      )
      const resumes = Effect.gen(function* () {
        const id = yield* Flow.submit(parent, "x")
        yield* S.reaches(id, "waiting")
        yield* FlowExecutions.cancel(id)
        yield* S.reaches(id, "cancelled")
        yield* FlowExecutions.retry(id, { from: "child[c]/result" })
        return yield* resultOf(parent, "x")
      })
      assert.strictEqual(yield* program([Flow.layer(parent), Flow.layer(child)], resumes), "c")
      assert.deepStrictEqual(yield* Diary.read, ["c"])
    })
  )
})
