import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, program, resultOf, say, scenario, scenarios, seconds } = S

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

/** Waits until an execution waits. */
const submitted = <Fl extends ReturnType<typeof S.flow>>(flow: Fl, text = "x") =>
  Effect.tap(Flow.submit(flow, text), (id) => S.reaches(id, "waiting"))

scenarios("signals", () => {
  scenario(
    "temporal: signal/basic",
    Effect.gen(function* () {
      const sends = Effect.gen(function* () {
        yield* submitted(asks)
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
        const id = yield* submitted(asks)
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
        const id = yield* submitted(handles)
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
        yield* submitted(asks, "other")
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
        const id = yield* submitted(asks)
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
        const id = yield* submitted(three)
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
        Effect.tap(submitted(both), (id) => FlowExecutions.signal(id, "box", "first"))
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
        yield* submitted(topics)
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
        const id = yield* submitted(one)
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
      const id = yield* program(Flow.layer(asks), submitted(asks))
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
        const id = yield* submitted(sleeps)
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

/** A promise that is resolved or rejected. */
const Outcome = Schema.Union([Schema.Struct({ resolved: Schema.String }), Schema.Struct({ rejected: Schema.String })])
const awakeable = Flow.signal("awakeable", Outcome)

const awaited = (key: string) =>
  Effect.flatMap(awakeable.receive({ key }), (outcome) =>
    "resolved" in outcome ? Effect.succeed(outcome.resolved) : Effect.fail(new S.Refused({ why: outcome.rejected }))
  )
const holds = S.flow("holds", () => awaited("one"), { signals: [awakeable] })

scenarios("awakeables and durable promises", () => {
  scenario(
    "restate: Signals resolve",
    Effect.gen(function* () {
      const resolves = Effect.gen(function* () {
        const id = yield* submitted(holds)
        yield* FlowExecutions.signal(id, "awakeable[one]", { resolved: "hello" })
        return yield* resultOf(holds, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(holds), resolves), "hello")
    })
  )

  scenario(
    "restate: Signals reject",
    Effect.gen(function* () {
      const rejects = Effect.gen(function* () {
        const id = yield* submitted(holds)
        yield* FlowExecutions.signal(id, "awakeable[one]", { rejected: "boom" })
        return yield* S.errorOf(holds, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(holds), rejects), new S.Refused({ why: "boom" }))
    })
  )

  scenario(
    "restate: AwakeableIngressEndpointTest completeWithSuccess",
    Effect.gen(function* () {
      const completes = Effect.gen(function* () {
        const id = yield* submitted(holds)
        // Its name is read from what the execution waits for, as a page for people does it.
        const [wait] = (yield* FlowExecutions.inspect(id)).now
        yield* FlowExecutions.signal(id, wait?.path ?? "", { resolved: "solved!" })
        return yield* resultOf(holds, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(holds), completes), "solved!")
    })
  )

  scenario(
    "restate: AwakeableIngressEndpointTest completeWithFailure",
    Effect.gen(function* () {
      const completes = Effect.gen(function* () {
        const id = yield* submitted(holds)
        const wrong = yield* Effect.flip(FlowExecutions.signal(id, "awakeable[one]", { failed: "what" }))
        yield* FlowExecutions.signal(id, "awakeable[one]", { rejected: "my bad!" })
        return [wrong._tag, yield* S.errorOf(holds, "x")]
      })
      const expected = ["InvalidSignal", new S.Refused({ why: "my bad!" })]
      assert.deepStrictEqual(yield* program(Flow.layer(holds), completes), expected)
    })
  )

  scenario(
    "restate: WorkflowAPI setAndResolve",
    Effect.gen(function* () {
      const resolves = Effect.gen(function* () {
        const id = yield* submitted(holds)
        const { signal } = yield* Flow.handle(holds, "x")
        yield* signal(awakeable, { resolved: "Till" }, { key: "one" })
        const results = [yield* resultOf(holds, "x"), yield* resultOf(holds, "x")]
        // Submitted again it is the same one, with its result.
        assert.strictEqual(yield* Flow.submit(holds, "x"), id)
        return [...results, (yield* FlowExecutions.get(id)).result]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(holds), resolves), ["Till", "Till", "Till"])
    })
  )

  scenario(
    "restate: durable promise resolved before it is awaited",
    Effect.gen(function* () {
      const later = S.flow("later", () => Effect.andThen(Flow.sleep("nap", seconds(2)), awaited("one")), {
        signals: [awakeable]
      })
      const early = Effect.gen(function* () {
        const id = yield* submitted(later)
        yield* FlowExecutions.signal(id, "awakeable[one]", { resolved: "early" })
        const other = yield* Effect.flip(FlowExecutions.signal(id, "awakeable[one]", { resolved: "late" }))
        return [other._tag, yield* resultOf(later, "x")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(later), early), ["SignalConflict", "early"])
    })
  )
})

/** Two named waits, and what they are combined to. */
const both = <A extends Schema.Json, C extends Flow.FlowContext<unknown>>(
  body: Effect.Effect<A, typeof S.Failure.Type, C>
) => S.flow("combines", () => body, { signals: [awakeable] })
const send = (id: string, key: string, outcome: typeof Outcome.Type) =>
  FlowExecutions.signal(id, `awakeable[${key}]`, outcome)
/** The outcome of a branch, as a value. */
const settled = <E extends { readonly _tag: string }, C extends Flow.FlowContext<unknown>>(
  effect: Effect.Effect<string, E, C>
) =>
  Effect.match(effect, {
    onSuccess: (value) => `ok:${value}`,
    onFailure: (error) => `err:${error instanceof S.Refused ? error.why : error._tag}`
  })

scenarios("combinators", () => {
  scenario(
    "restate: Combinators awakeableOrTimeoutUsingAwaitAny",
    Effect.gen(function* () {
      const first = both(
        Flow.race("any", { it: awaited("one"), over: Effect.as(Flow.sleep("over", seconds(1)), "timeout") })
      )
      assert.strictEqual(yield* program(Flow.layer(first), resultOf(first, "x")), "timeout")
    })
  )

  scenario(
    "restate: Combinators awakeableOrTimeoutUsingAwakeableTimeoutCommand",
    Effect.gen(function* () {
      const limited = both(Flow.timeout("limit", seconds(1), awaited("one")))
      assert.instanceOf(yield* program(Flow.layer(limited), S.errorOf(limited, "x")), Flow.FlowTimeout)
    })
  )

  scenario(
    "restate: Combinators signalFirstCompleted",
    Effect.gen(function* () {
      const first = both(Flow.race("first", { one: awaited("one"), two: awaited("two"), three: awaited("three") }))
      const sends = Effect.gen(function* () {
        const id = yield* submitted(first)
        yield* send(id, "two", { resolved: "first" })
        return yield* resultOf(first, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(first), sends), "first")
    })
  )

  scenario(
    "restate: Combinators signalAllSuccessfulOrFirstFailed",
    Effect.gen(function* () {
      const every = both(Flow.all("all", [awaited("one"), awaited("two")], { concurrency: 2 }))
      const sends = Effect.gen(function* () {
        const well = yield* submitted(every, "well")
        yield* send(well, "two", { resolved: "2" })
        yield* send(well, "one", { resolved: "1" })
        const bad = yield* submitted(every, "bad")
        yield* send(bad, "two", { rejected: "no" })
        return [yield* resultOf(every, "well"), yield* S.errorOf(every, "bad")]
      })
      const expected = [["1", "2"], new S.Refused({ why: "no" })]
      assert.deepStrictEqual(yield* program(Flow.layer(every), sends), expected)
    })
  )

  scenario(
    "restate: Combinators signalAllCompleted",
    Effect.gen(function* () {
      const keys = ["one", "two", "three"]
      const options = { key: (key: string) => key, concurrency: 3 }
      const every = both(Flow.forEach("all", keys, options, (key) => settled(awaited(key))))
      const sends = Effect.gen(function* () {
        const id = yield* submitted(every)
        yield* send(id, "one", { resolved: "val0" })
        yield* send(id, "two", { rejected: "err1" })
        yield* send(id, "three", { resolved: "val2" })
        return yield* resultOf(every, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(every), sends), ["ok:val0", "err:err1", "ok:val2"])
    })
  )

  scenario(
    "restate: Combinators mixedRunWinsRaceAgainstSignal",
    Effect.gen(function* () {
      const first = both(Flow.race("first", { run: say("ran"), signal: awaited("one") }))
      assert.strictEqual(yield* program(Flow.layer(first), resultOf(first, "x")), "ran")
    })
  )

  scenario(
    "restate: Combinators mixedAllSucceededRunAndSignal",
    Effect.gen(function* () {
      const every = both(Flow.all("all", { run: say("runval"), signal: awaited("one") }, { concurrency: 2 }))
      const sends = Effect.gen(function* () {
        const id = yield* submitted(every)
        yield* send(id, "one", { resolved: "sigval" })
        return yield* resultOf(every, "x")
      })
      assert.deepStrictEqual(yield* program(Flow.layer(every), sends), { run: "runval", signal: "sigval" })
    })
  )

  scenario(
    "restate: Combinators mixedAllCompletedRunSignalAndFailedRun",
    Effect.gen(function* () {
      const members = [settled(say("runval")), settled(awaited("one")), settled(S.refuse("fail"))] as const
      const every = both(Effect.map(Flow.all("all", members, { concurrency: 3 }), (all) => all.join("|")))
      const sends = Effect.gen(function* () {
        const id = yield* Flow.submit(every, "x")
        yield* send(id, "one", { resolved: "sigval" })
        return yield* resultOf(every, "x")
      })
      assert.strictEqual(yield* program(Flow.layer(every), sends), "ok:runval|ok:sigval|err:fail")
    })
  )

  scenario(
    "dbos: promise-all-settled-manysteps",
    Effect.gen(function* () {
      const many = Array.from({ length: 20 }, (_, n) => `${n}`)
      const every = S.flow("every", () =>
        Flow.forEach("each", many, { key: (text) => text, concurrency: "unbounded" }, (text) =>
          settled(
            Effect.gen(function* () {
              return Number(text) % 2 === 0 ? yield* say(text) : yield* S.refuse(text)
            })
          )
        )
      )
      const results = yield* program(Flow.layer(every), resultOf(every, "x"))
      assert.deepStrictEqual(
        results,
        many.map((text) => (Number(text) % 2 === 0 ? `ok:${text}` : `err:${text}`))
      )
      assert.strictEqual((yield* Diary.read).length, 20)
    })
  )
})
