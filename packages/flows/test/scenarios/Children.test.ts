import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, refuse, resultOf, say, scenario, scenarios, seconds, take } = S

const word = Flow.signal("word", Schema.String)
const child = S.flow("child", (text) => Effect.map(say(text), (said) => `${said} done`), { signals: [word] })
const blocked = S.flow(
  "blocked",
  (text) =>
    Effect.andThen(
      Flow.compensate(say(text), () => say(`${text} undone`)),
      word.receive()
    ),
  { signals: [word] }
)
const onlyChild = (flow: string) =>
  Effect.map(FlowExecutions.list({ flow }), ({ executions }) => {
    assert.strictEqual(executions.length, 1)
    return executions[0]?.id ?? ""
  })

/** Starts a blocked child and waits for it. */
const waits = (onParentEnd: "cancel" | "leave") =>
  S.flow("waits", () => Effect.flatMap(Flow.start(blocked, "child", { onParentEnd }), ({ result }) => result))
const cancelled = (onParentEnd: "cancel" | "leave") =>
  Effect.gen(function* () {
    const parent = waits(onParentEnd)
    const cancels = Effect.gen(function* () {
      const id = yield* Flow.submit(parent, "x")
      yield* S.says("child")
      const there = yield* onlyChild("blocked")
      yield* S.reaches(there, "waiting")
      yield* FlowExecutions.cancel(id)
      yield* S.reaches(id, "cancelled")
      if (onParentEnd === "cancel") yield* S.reaches(there, "cancelled")
      return yield* S.stateOf(there)
    })
    return yield* program([Flow.layer(parent), Flow.layer(blocked)], cancels)
  })

scenarios("children", () => {
  scenario(
    "temporal: child_workflow/result",
    Effect.gen(function* () {
      const parent = S.flow("parent", () => Effect.flatMap(Flow.start(child, "a"), ({ result }) => result))
      assert.strictEqual(yield* program([Flow.layer(parent), Flow.layer(child)], resultOf(parent, "x")), "a done")
    })
  )

  scenario(
    "temporal: child_workflow/start",
    Effect.gen(function* () {
      const parent = S.flow("parent", () =>
        Effect.map(Flow.start(child, "a", { onParentEnd: "leave" }), ({ id }) => id)
      )
      const starts = Effect.gen(function* () {
        const id = yield* resultOf(parent, "x")
        yield* S.reaches(String(id), "completed")
        return [id, (yield* FlowExecutions.get(String(id))).result]
      })
      const [id, result] = yield* program([Flow.layer(parent), Flow.layer(child)], starts)
      assert.isString(id)
      assert.strictEqual(result, "a done")
    })
  )

  scenario(
    "temporal: child_workflow/handle",
    Effect.gen(function* () {
      const parent = S.flow("parent", () =>
        Effect.map(Flow.start(child, "a", { onParentEnd: "leave" }), (started) => Object.keys(started).toSorted())
      )
      const both = [Flow.layer(parent), Flow.layer(child)]
      assert.deepStrictEqual(yield* program(both, resultOf(parent, "x")), ["cancel", "id", "result", "signal"])
    })
  )

  scenario(
    "temporal: child_workflow/signal",
    Effect.gen(function* () {
      const parent = S.flow("parent", () =>
        Effect.flatMap(Flow.start(blocked, "a"), (started) =>
          Effect.andThen(started.signal(word, "unblock"), started.result)
        )
      )
      assert.strictEqual(yield* program([Flow.layer(parent), Flow.layer(blocked)], resultOf(parent, "x")), "unblock")
    })
  )

  scenario(
    "temporal: child_workflow/retry",
    Effect.gen(function* () {
      const fails = S.flow("fails", (text) => refuse(text))
      const once = (attempt: number) => Effect.flatMap(Flow.start(fails, `attempt ${attempt}`), ({ result }) => result)
      const parent = S.flow("parent", () =>
        once(1).pipe(
          Effect.catchTag("Refused", () => once(2)),
          Effect.catchTag("Refused", () => once(3))
        )
      )
      const error = yield* program([Flow.layer(parent), Flow.layer(fails)], S.errorOf(parent, "x"))
      assert.deepStrictEqual(error, new S.Refused({ why: "attempt 3" }))
      assert.deepStrictEqual(yield* Diary.read, ["attempt 1", "attempt 2", "attempt 3"])
    })
  )

  scenario(
    "temporal: child_workflow/throws_on_execute",
    Effect.gen(function* () {
      const fails = S.flow("fails", (text) => refuse(text))
      const parent = S.flow("parent", () =>
        Effect.flatMap(Flow.start(fails, "no"), ({ result }) =>
          Effect.catchTag(result, "Refused", ({ why }) => Effect.succeed(`caught ${why}`))
        )
      )
      const both = [Flow.layer(parent), Flow.layer(fails)]
      assert.strictEqual(yield* program(both, resultOf(parent, "x")), "caught no")
    })
  )

  scenario(
    "temporal: child_workflow/throws_on_start",
    Effect.gen(function* () {
      // A key that is in use is the same execution; an input that does not fit starts none.
      const picky = Flow.make("picky", {
        version: 1,
        input: Schema.String.check(Schema.isMaxLength(3)),
        success: Schema.Json,
        error: Schema.Never,
        idempotencyKey: (text) => text,
        run: (text) => say(text)
      })
      const parent = S.flow("parent", () =>
        Effect.gen(function* () {
          const one = yield* Flow.start(picky, "one", { key: "same" })
          const two = yield* Flow.start(picky, "two", { key: "same" })
          const tag = yield* Effect.flip(Flow.start(picky, "too long"))
          return [one.id === two.id, tag._tag]
        }).pipe(Effect.catch(() => Effect.succeed("started")))
      )
      const both = [Flow.layer(parent), Flow.layer(picky)]
      assert.deepStrictEqual(yield* program(both, resultOf(parent, "x")), [true, "InvalidInput"])
    })
  )

  scenario(
    "temporal: child_workflow/throws_on_termination",
    Effect.gen(function* () {
      const parent = waits("cancel")
      const terminates = Effect.gen(function* () {
        yield* Flow.submit(parent, "x")
        yield* S.says("child")
        yield* FlowExecutions.terminate(yield* onlyChild("blocked"))
        return yield* S.errorOf(parent, "x")
      })
      const error = yield* program([Flow.layer(parent), Flow.layer(blocked)], terminates)
      assert.instanceOf(error, Flow.FlowCancelled)
      assert.deepStrictEqual(yield* Diary.read, ["child"])
    })
  )

  scenario(
    "temporal: child_workflow/throws_on_timeout",
    Effect.gen(function* () {
      const parent = S.flow("parent", () =>
        Effect.flatMap(Flow.start(blocked, "child"), ({ result }) => Flow.timeout("limit", seconds(2), result))
      )
      const limits = Effect.gen(function* () {
        const exit = yield* S.through(Flow.execute(parent, "x"))
        yield* S.reaches(yield* onlyChild("blocked"), "cancelled")
        return exit
      })
      const exit = yield* program([Flow.layer(parent), Flow.layer(blocked)], limits)
      assert.deepStrictEqual(exit, Exit.fail(new Flow.FlowTimeout({ path: "limit", afterMillis: seconds(2) })))
    })
  )

  scenario(
    "temporal: child_workflow/cancel_abandon",
    Effect.gen(function* () {
      assert.strictEqual(yield* cancelled("leave"), "waiting")
      assert.deepStrictEqual(yield* Diary.read, ["child"])
    })
  )

  scenario(
    "temporal: child_workflow/cancel_try_cancel",
    Effect.gen(function* () {
      assert.strictEqual(yield* cancelled("cancel"), "cancelled")
      assert.deepStrictEqual(yield* Diary.read, ["child", "child undone"])
    })
  )

  scenario(
    "temporal: child_workflow/cancel_wait_requested",
    Effect.gen(function* () {
      const parent = S.flow("parent", () =>
        Effect.gen(function* () {
          const started = yield* Flow.start(blocked, "child")
          yield* Flow.sleep("nap", seconds(1))
          yield* started.cancel
          return yield* Effect.catchTag(started.result, "FlowCancelled", ({ _tag }) => Effect.succeed(_tag))
        })
      )
      const both = [Flow.layer(parent), Flow.layer(blocked)]
      assert.strictEqual(yield* program(both, resultOf(parent, "x")), "FlowCancelled")
    })
  )

  scenario(
    "temporal: child_workflow/cancel_wait_completed",
    Effect.gen(function* () {
      const long = S.flow("long", (name) => take({ name, seconds: 3 }))
      const parent = S.flow("parent", () =>
        Effect.gen(function* () {
          const started = yield* Flow.start(long, "long")
          yield* Flow.sleep("nap", seconds(1))
          yield* started.cancel
          yield* Effect.ignore(started.result)
          return yield* say("after")
        })
      )
      yield* program([Flow.layer(parent), Flow.layer(long)], resultOf(parent, "x"))
      assert.deepStrictEqual(yield* Diary.read, ["long begins", "long ends", "after"])
    })
  )

  scenario(
    "temporal: bugs/go/child_workflow_cancel_panic",
    Effect.gen(function* () {
      const parent = S.flow("parent", () =>
        Effect.gen(function* () {
          const started = yield* Flow.start(blocked, "child")
          yield* started.cancel
          yield* started.cancel
          return yield* Effect.catchTag(started.result, "FlowCancelled", ({ _tag }) => Effect.succeed(_tag))
        })
      )
      const both = [Flow.layer(parent), Flow.layer(blocked)]
      assert.strictEqual(yield* program(both, resultOf(parent, "x")), "FlowCancelled")
    })
  )
})
