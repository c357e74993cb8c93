import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flow from "../../src/Flow.ts"
import type { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as FlowStates from "../../src/FlowStates.ts"
import * as S from "../support/Scenarios.ts"

const { program, resultOf, scenario, scenarios, seconds } = S

const lines = Flow.feed("lines", Schema.String)
const others = Flow.feed("others", Schema.String)
const inc = Flow.inbox("inc", Schema.Finite)
const states = [lines, others]
type Body = Effect.Effect<Schema.Json, typeof S.Failure.Type, Flow.FlowContext<S.Diary>>
const saying = (body: Body) => S.flow("saying", () => body, { states, signals: [inc] })

/** Says two lines, and naps between them. */
const talks = saying(
  Effect.gen(function* () {
    yield* lines.append("one")
    yield* Flow.sleep("nap", seconds(2))
    yield* lines.append("two")
    return "done"
  })
)
/** Says two lines, and waits between them. */
const holds = saying(
  Effect.gen(function* () {
    yield* lines.append("one")
    yield* inc.receive()
    yield* lines.append("two")
    return "done"
  })
)
const ends = (id: string) => Effect.andThen(FlowExecutions.signal(id, "inc", 1), resultOf(holds, "x"))
const valuesOf = (items: ReadonlyArray<{ readonly value: unknown }>) => items.map(({ value }) => value)
const ended = (
  body: Body,
  read: (handle: Flow.Handle<Schema.Json, unknown>) => Effect.Effect<void, unknown, FlowEngine>
) =>
  Effect.gen(function* () {
    const flow = saying(body)
    const reads = Effect.andThen(resultOf(flow, "x"), Effect.flatMap(Flow.handle(flow, "x"), read))
    yield* program(Flow.layer(flow), reads)
  })

scenarios("streams", () => {
  scenario(
    "dbos: basic-stream-write-read",
    ended(Effect.as(Effect.andThen(lines.append("one"), lines.append("two")), "done"), ({ feed }) =>
      Effect.map(feed(lines), (items) => assert.deepStrictEqual(valuesOf(items), ["one", "two"]))
    )
  )

  scenario(
    "dbos: stream-read-offset",
    ended(
      Effect.as(
        Effect.forEach(["a", "b", "c"], (text) => lines.append(text)),
        "done"
      ),
      ({ feed }) =>
        Effect.gen(function* () {
          const [first] = yield* feed(lines, { after: 0, limit: 1 })
          const rest = yield* feed(lines, { after: first?.cursor })
          assert.deepStrictEqual([first?.value, ...valuesOf(rest)], ["a", "b", "c"])
        })
    )
  )

  scenario(
    "dbos: multiple-keys",
    ended(Effect.as(Effect.andThen(lines.append("one"), others.append("other")), "done"), ({ feed, id }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual([yield* feed(lines), yield* feed(others)].map(valuesOf), [["one"], ["other"]])
        assert.deepStrictEqual(yield* FlowStates.feeds(id), ["lines", "others"])
      })
    )
  )

  scenario(
    "dbos: empty-stream",
    ended(Effect.succeed("done"), ({ feed, watch }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual([...(yield* feed(lines)), ...(yield* Stream.runCollect(watch()))], [])
      })
    )
  )

  scenario(
    "dbos: concurrent-write-read",
    Effect.gen(function* () {
      const reads = Effect.gen(function* () {
        yield* Flow.submit(talks, "x")
        const { watch } = yield* Flow.handle(talks, "x")
        const reader = yield* Effect.forkChild(Stream.runCollect(watch()))
        yield* resultOf(talks, "x")
        return valuesOf(yield* Fiber.join(reader))
      })
      assert.deepStrictEqual(yield* program(Flow.layer(talks), reads), ["one", "two"])
    })
  )

  scenario(
    "dbos: workflow-recovery, of a stream",
    Effect.gen(function* () {
      const id = yield* program(Flow.layer(holds), S.waiting(holds))
      const reads = Effect.andThen(ends(id), FlowStates.feed(id, "lines"))
      assert.deepStrictEqual(valuesOf(yield* program(Flow.layer(holds), reads)), ["one", "two"])
    })
  )

  scenario(
    "dbos: workflow-recovery, of a stream that steps write to",
    Effect.gen(function* () {
      const counting = Flow.step("counting", {
        input: Schema.Finite,
        success: Schema.Finite,
        error: Schema.Never,
        run: (n) => Effect.as(lines.append("in step"), n)
      })
      const steps = saying(
        Effect.gen(function* () {
          yield* lines.append(`step ${yield* counting(1)}`)
          yield* inc.receive()
          yield* lines.append(`step ${yield* counting(2)}`)
          return "done"
        })
      )
      const id = yield* program(Flow.layer(steps), S.waiting(steps))
      yield* program(Flow.layer(steps), Effect.andThen(FlowExecutions.signal(id, "inc", 1), resultOf(steps, "x")))
      const items = yield* program(Flow.layer(steps), FlowStates.feed(id, "lines", { after: 0 }))
      assert.deepStrictEqual(valuesOf(items), ["in step", "step 1", "in step", "step 2"])
      assert.deepStrictEqual(
        items.map(({ cursor }) => cursor),
        [1, 2, 3, 4]
      )
    })
  )

  scenario(
    "dbos: read-stream-offset-api, over a restart",
    Effect.gen(function* () {
      const begins = Effect.flatMap(S.waiting(holds), (id) =>
        Effect.map(FlowStates.next(id), (page) => ({ id, ...page }))
      )
      const { cursor, id, items } = yield* program(Flow.layer(holds), begins)
      const rest = Effect.gen(function* () {
        yield* ends(id)
        const { watch } = yield* Flow.handle(holds, "x")
        return yield* Stream.runCollect(watch({ after: cursor }))
      })
      const others = yield* program(Flow.layer(holds), rest)
      assert.deepStrictEqual([valuesOf(items), valuesOf(others)], [["one"], ["two"]])
    })
  )

  scenario(
    "dbos: read-stream-notices-cancellation",
    Effect.gen(function* () {
      const waits = saying(Effect.andThen(lines.append("one"), inc.receive()))
      const reads = Effect.gen(function* () {
        const id = yield* S.waiting(waits)
        const reader = yield* Effect.forkChild(Stream.runCollect(FlowStates.watch(id)))
        yield* FlowExecutions.cancel(id)
        return valuesOf(yield* Effect.flatten(S.through(Fiber.join(reader))))
      })
      assert.deepStrictEqual(yield* program(Flow.layer(waits), reads), ["one"])
    })
  )

  scenario(
    "dbos: read-stream-nonexistent-workflow-raises",
    Effect.gen(function* () {
      const error = yield* program([], Effect.flip(Stream.runDrain(FlowStates.watch("nobody"))))
      assert.strictEqual(error._tag, "ExecutionNotFound")
    })
  )

  scenario(
    "dbos: test-get-all-stream-entries",
    Effect.gen(function* () {
      const short = Flow.feed("short", Schema.Finite, { count: 2 })
      const flow = S.flow(
        "short",
        () =>
          Effect.as(
            Effect.forEach([1, 2, 3], (n) => short.append(n)),
            "done"
          ),
        {
          states: [short]
        }
      )
      const reads = Effect.gen(function* () {
        yield* resultOf(flow, "x")
        return yield* Effect.flatMap(Flow.handle(flow, "x"), ({ feed }) => feed(short, { after: 0 }))
      })
      // A feed keeps as many as it says.
      assert.deepStrictEqual(valuesOf(yield* program(Flow.layer(flow), reads)), [2, 3])
    })
  )
})
