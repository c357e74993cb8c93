import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, seconds } = S

const day = seconds(36_000)
/** Sleeps for a day, and says when it is undone. */
const asleep = S.flow("asleep", (text) =>
  Effect.andThen(
    Flow.compensate(say(text), () => say(`${text} undone`)),
    Effect.as(Flow.sleep("day", day), text)
  )
)
const limited = (count: number) => ({ deadline: seconds(count) })

/** Starts a child, and says how it ended. */
const starts = (options: { readonly deadline?: number; readonly onParentEnd?: "cancel" | "leave" }) =>
  S.flow("parent", () =>
    Effect.gen(function* () {
      const { result } = yield* Flow.start(asleep, "child", options)
      return yield* result.pipe(
        Effect.catchTag("DeadlineExceeded", () => say("the child is late")),
        Effect.catchTag("FlowCancelled", () => say("the child is cancelled"))
      )
    })
  )
const both = (parent: ReturnType<typeof starts>) => [Flow.layer(parent), Flow.layer(asleep)]

scenarios("deadlines", () => {
  scenario(
    "dbos: workflow-withWorkflowTimeout",
    Effect.gen(function* () {
      const late = Effect.gen(function* () {
        const id = yield* Flow.submit(asleep, "x", limited(60))
        const { deadlineAt } = yield* FlowExecutions.get(id)
        return [
          yield* S.errorOf(asleep, "x"),
          new Flow.DeadlineExceeded({ execution: id, deadlineAt: deadlineAt ?? 0 })
        ]
      })
      const [error, expected] = yield* program(Flow.layer(asleep), late)
      assert.deepStrictEqual(error, expected)
    })
  )

  scenario(
    "dbos: workflow-timeout-startWorkflow-params",
    Effect.gen(function* () {
      const exit = yield* program(Flow.layer(asleep), S.through(Flow.execute(asleep, "x", limited(60))))
      const error = yield* Effect.flip(exit)
      assert.strictEqual(error._tag, "DeadlineExceeded")
    })
  )

  scenario(
    "temporal: workflow execution timeout, which runs the undos",
    Effect.gen(function* () {
      yield* program(Flow.layer(asleep), Effect.flatMap(Flow.submit(asleep, "x", limited(60)), S.isLate))
      assert.deepStrictEqual(yield* Diary.read, ["x", "x undone"])
    })
  )

  scenario(
    "temporal: workflow execution timeout, of all runs that continue as new",
    Effect.gen(function* () {
      const again = { name: "chapters", input: Schema.String }
      const chapters = S.flow(
        "chapters",
        (text) => Effect.andThen(Flow.sleep("nap", seconds(8)), Flow.continueAs(again, `${text}+`)),
        { key: () => "one" }
      )
      const late = Effect.gen(function* () {
        const id = yield* Flow.submit(chapters, "x", limited(120))
        yield* S.isLate(id)
        return (yield* FlowExecutions.get(id)).chapter
      })
      assert.isAtLeast(yield* program(Flow.layer(chapters), late), 2)
    })
  )

  scenario(
    "dbos: child-wf-timeout-simple",
    Effect.gen(function* () {
      const parent = starts(limited(60))
      assert.strictEqual(yield* program(both(parent), resultOf(parent, "x")), "the child is late")
      assert.deepStrictEqual(yield* Diary.read, ["child", "child undone", "the child is late"])
    })
  )

  scenario(
    "dbos: child-wf-timeout-before-parent",
    Effect.gen(function* () {
      const parent = starts(limited(60))
      const ends = Effect.gen(function* () {
        const id = yield* Flow.submit(parent, "x", limited(3_600))
        yield* S.reaches(id, "completed")
        yield* S.isLate(yield* S.firstOf({ flow: "asleep" }))
      })
      yield* program(both(parent), ends)
    })
  )

  scenario(
    "dbos: child-wf-timeout-after-parent",
    Effect.gen(function* () {
      const parent = starts(limited(3_600))
      const ends = Effect.gen(function* () {
        yield* S.isLate(yield* Flow.submit(parent, "x", limited(60)))
        yield* S.reaches(yield* S.firstOf({ flow: "asleep" }), "cancelled")
      })
      yield* program(both(parent), ends)
      assert.deepStrictEqual(yield* Diary.read, ["child", "child undone"])
    })
  )

  scenario(
    "dbos: child-wf-detach-deadline",
    Effect.gen(function* () {
      const parent = starts({ onParentEnd: "leave" })
      const ends = Effect.gen(function* () {
        yield* S.isLate(yield* Flow.submit(parent, "x", limited(60)))
        return yield* S.stateOf(yield* S.firstOf({ flow: "asleep" }))
      })
      assert.strictEqual(yield* program(both(parent), ends), "waiting")
    })
  )

  scenario(
    "dbos: enqueue-workflow-withWorkflowTimeout",
    Effect.gen(function* () {
      const queue = S.flow("queue", (text) => Effect.andThen(say(text), Flow.sleep("day", day)).pipe(Effect.as(text)), {
        limit: [{ concurrency: 1 }]
      })
      // It counts from the submit, so that who waits for a place knows when it is too late.
      const waits = Effect.gen(function* () {
        yield* S.waiting(queue, "first")
        yield* S.isLate(yield* Flow.submit(queue, "second", limited(60)))
      })
      yield* program(Flow.layer(queue), waits)
      assert.deepStrictEqual(yield* Diary.read, ["first"])
    })
  )

  scenario(
    "dbos: enqueue-workflow-with-workflowTimeout-recovery",
    Effect.gen(function* () {
      const id = yield* program(
        Flow.layer(asleep),
        Effect.tap(Flow.submit(asleep, "x", limited(60)), () => S.says("x"))
      )
      yield* program(Flow.layer(asleep), S.isLate(id))
      assert.deepStrictEqual(yield* Diary.read, ["x", "x undone"])
    })
  )
})
