import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { program, resultOf, say, scenario, scenarios, seconds } = S

const word = Flow.signal("word", Schema.String)
const box = Flow.inbox("box", Schema.String)
const signals = [word, box]

const asks = S.flow("asks", () => word.receive(), { signals })
const reads = (count: number) =>
  S.flow(
    "reads",
    () =>
      Effect.gen(function* () {
        const read: Array<string> = []
        while (read.length < count) read.push(yield* box.receive())
        return read
      }),
    { signals }
  )

scenarios("signals", () => {
  scenario(
    "temporal: signal/basic",
    Effect.gen(function* () {
      const sends = Effect.gen(function* () {
        yield* S.waiting(asks)
        const { signal } = yield* Flow.handle(asks, "x")
        yield* signal(word, "hello")
        return yield* resultOf(asks, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(asks), sends), "hello")
    })
  )

  scenario(
    "temporal: signal/external",
    Effect.gen(function* () {
      const sends = Effect.gen(function* () {
        const id = yield* S.waiting(asks)
        // As JSON, by who knows nothing of the code.
        yield* FlowExecutions.signal(id, "word", "from outside")
        const missing = yield* Effect.flip(FlowExecutions.signal("nobody", "word", "x"))
        return [missing._tag, yield* resultOf(asks, "x")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(asks), sends), ["ExecutionNotFound", "from outside"])
    })
  )

  scenario(
    "temporal: signal/activities",
    Effect.gen(function* () {
      const handles = S.flow(
        "handles",
        () =>
          Effect.flatMap(box.receive(), (text) =>
            Flow.forEach("each", ["a", "b", "c"], { key: (item) => item, concurrency: 3 }, (item) => say(text + item))
          ),
        { signals }
      )
      const sends = Effect.gen(function* () {
        const id = yield* S.waiting(handles)
        yield* FlowExecutions.signal(id, "box", "do ")
        return yield* resultOf(handles, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(handles), sends), ["do a", "do b", "do c"])
    })
  )

  scenario(
    "temporal: signal/child_workflow",
    Effect.gen(function* () {
      const parent = S.flow("parent", () =>
        Effect.gen(function* () {
          const child = yield* Flow.start(asks, "child")
          yield* child.signal(word, "unblocked")
          return yield* child.result
        })
      )
      const both = [Flow.layer(parent), Flow.layer(asks)]
      assert.strictEqual(yield* program(both, resultOf(parent, "x")), "unblocked")
    })
  )

  scenario(
    "temporal: signal/workflow_to_workflow",
    Effect.gen(function* () {
      // The other one is there already: by its key it is joined, and not cancelled with who sends.
      const sender = S.flow("sender", () =>
        Effect.gen(function* () {
          const other = yield* Flow.start(asks, "other", { key: "other" })
          yield* other.signal(word, "from a flow")
          return "sent"
        })
      )
      const sends = Effect.gen(function* () {
        yield* S.waiting(asks, "other")
        yield* resultOf(sender, "x")
        return yield* resultOf(asks, "other")
      })
      const both = [Flow.layer(sender), Flow.layer(asks)]
      assert.strictEqual(yield* program(both, sends), "from a flow")
    })
  )

  scenario(
    "temporal: signal/signal_with_start",
    Effect.gen(function* () {
      const starts = Effect.gen(function* () {
        const id = yield* Flow.signalWithStart(asks, "x", word, "first")
        assert.strictEqual(yield* resultOf(asks, "x"), "first")
        return (yield* Flow.handle(asks, "x")).id === id
      })
      assert.isTrue(yield* program(Flow.layer(asks), starts))
    })
  )

  scenario(
    "temporal: signal/signal_with_start, of one that runs",
    Effect.gen(function* () {
      const two = reads(2)
      const starts = Effect.gen(function* () {
        const one = yield* Flow.signalWithStart(two, "x", box, "a")
        const other = yield* Flow.signalWithStart(two, "x", box, "b")
        assert.strictEqual(one, other)
        return yield* resultOf(two, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(two), starts), ["a", "b"])
    })
  )

  scenario(
    "temporal: signal/prevent_close",
    Effect.gen(function* () {
      const ends = Effect.gen(function* () {
        const id = yield* S.waiting(asks)
        yield* FlowExecutions.signal(id, "word", "ends it")
        yield* S.reaches(id, "completed")
        // A sender learns that nobody will read it.
        return (yield* Effect.flip(FlowExecutions.signal(id, "box", "late")))._tag
      })
      assert.strictEqual(yield* program(Flow.layer(asks), ends), "ExecutionConflict")
    })
  )

  scenario(
    "dbos: simple-workflow-notifications",
    Effect.gen(function* () {
      const three = reads(3)
      const sends = Effect.gen(function* () {
        const id = yield* S.waiting(three)
        for (const text of ["one", "two", "three"]) yield* FlowExecutions.signal(id, "box", text)
        return yield* resultOf(three, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(three), sends), ["one", "two", "three"])
    })
  )

  scenario(
    "dbos: send-idempotency-key",
    Effect.gen(function* () {
      const two = reads(2)
      const sends = Effect.gen(function* () {
        const id = yield* Flow.submit(two, "x")
        yield* FlowExecutions.signal(id, "box", "once", { id: "m1" })
        yield* FlowExecutions.signal(id, "box", "once", { id: "m1" })
        yield* FlowExecutions.signal(id, "box", "again", { id: "m2" })
        return yield* resultOf(two, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(two), sends), ["once", "again"])
    })
  )

  scenario(
    "dbos: send-idempotency-key-scoped-per-destination",
    Effect.gen(function* () {
      const one = reads(1)
      const sends = Effect.gen(function* () {
        for (const key of ["a", "b"]) {
          const id = yield* Flow.submit(one, key)
          yield* FlowExecutions.signal(id, "box", `to ${key}`, { id: "the same" })
        }
        return [yield* resultOf(one, "a"), yield* resultOf(one, "b")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(one), sends), [["to a"], ["to b"]])
    })
  )

  scenario(
    "dbos: recv-timeout",
    Effect.gen(function* () {
      const waits = S.flow(
        "waits",
        () => Flow.race("first", { message: box.receive(), over: Effect.as(Flow.sleep("limit", seconds(1)), null) }),
        { signals }
      )
      assert.isNull(yield* program(Flow.layer(waits), resultOf(waits, "x")))
    })
  )

  scenario(
    "dbos: workflow-recv-oaoo",
    Effect.gen(function* () {
      const both = S.flow(
        "both",
        () => Effect.flatMap(box.receive(), (first) => Effect.map(box.receive(), (second) => `${first} ${second}`)),
        { signals }
      )
      const id = yield* program(
        Flow.layer(both),
        Effect.tap(S.waiting(both), (id) => FlowExecutions.signal(id, "box", "first"))
      )
      const sends = Effect.andThen(FlowExecutions.signal(id, "box", "second"), resultOf(both, "x"))
      assert.strictEqual(yield* program(Flow.layer(both), sends), "first second")
    })
  )

  scenario(
    "dbos: notification-oaoo",
    Effect.gen(function* () {
      const one = reads(1)
      const sender = S.flow("sender", () =>
        Effect.gen(function* () {
          const other = yield* Flow.start(one, "other", { key: "other", onParentEnd: "leave" })
          yield* other.signal(box, "hello")
          yield* Flow.sleep("nap", seconds(3))
          return "sent"
        })
      )
      const both = [Flow.layer(sender), Flow.layer(one)]
      yield* program(both, Effect.andThen(Flow.submit(sender, "x"), Effect.asVoid(resultOf(one, "other"))))
      const again = Effect.gen(function* () {
        yield* resultOf(sender, "x")
        const { id } = yield* Flow.handle(one, "other")
        return (yield* FlowExecutions.history(id)).messages.length
      })
      // The replay of who sent it sends nothing.
      assert.strictEqual(yield* program(both, again), 1)
    })
  )

  scenario(
    "dbos: DBOSClient-send-topic",
    Effect.gen(function* () {
      const topics = S.flow(
        "topics",
        () => Flow.all("both", [word.receive({ key: "b" }), word.receive({ key: "a" })], { concurrency: 2 }),
        { signals }
      )
      const sends = Effect.gen(function* () {
        yield* S.waiting(topics)
        const { signal } = yield* Flow.handle(topics, "x")
        yield* signal(word, "of a", { key: "a" })
        yield* signal(word, "of b", { key: "b" })
        return yield* resultOf(topics, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(topics), sends), ["of b", "of a"])
    })
  )

  scenario(
    "dbos: duplicate-notifications",
    Effect.gen(function* () {
      const one = reads(1)
      const sends = Effect.gen(function* () {
        const id = yield* S.waiting(one)
        const message = FlowExecutions.signal(id, "box", "hello", { id: "m" })
        // The first may have ended the execution.
        yield* Effect.all([message, message, message].map(Effect.exit), { concurrency: "unbounded" })
        return yield* resultOf(one, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(one), sends), ["hello"])
    })
  )

  scenario(
    "dbos: recv-recovery-with-two-processes-on-local",
    Effect.gen(function* () {
      const id = yield* program(Flow.layer(asks), S.waiting(asks))
      yield* program(Flow.layer(asks), S.reaches(id, "waiting"))
      const sends = Effect.andThen(FlowExecutions.signal(id, "word", "to the third"), resultOf(asks, "x"))
      assert.strictEqual(yield* program(Flow.layer(asks), sends), "to the third")
    })
  )

  scenario(
    "dbos: test-get-all-notifications",
    Effect.gen(function* () {
      const sleeps = S.flow("sleeps", () => Effect.as(Flow.sleep("day", seconds(36_000)), ""), { signals })
      const lists = Effect.gen(function* () {
        const id = yield* S.waiting(sleeps)
        yield* FlowExecutions.signal(id, "box", "one", { id: "m1" })
        yield* FlowExecutions.signal(id, "word", "two")
        const { messages } = yield* FlowExecutions.history(id)
        return messages.map(({ kind, name, value }) => [kind, name, value])
      })
      assert.deepStrictEqual(yield* program(Flow.layer(sleeps), lists), [
        ["inbox", "box", "one"],
        ["signal", "word", "two"]
      ])
    })
  )
})
