/** What executions say of themselves: states and feeds, and who reads them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flow from "../src/Flow.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowStates from "../src/FlowStates.ts"
import { Diary, defectOf, note, Refused } from "./support/Flows.ts"
import { inProcess } from "./support/Engines.ts"
import { memory, restarting } from "./support/Running.ts"
import { advance, throughTime } from "./support/Time.ts"

const progress = Flow.state("progress", Schema.Finite)
const lines = Flow.feed("lines", Schema.String)
const go = Flow.signal("go", Schema.Void)

/** A flow of no input that says something. */
const saysIn = <S extends Schema.ConstraintCodec<unknown, unknown, never, never>, C extends Flow.FlowContext<unknown>>(
  success: S,
  run: () => Effect.Effect<S["Type"], Refused, C>,
  states: ReadonlyArray<Flow.AnyState> = [progress, lines]
) =>
  Flow.make("says", {
    version: 1,
    input: Schema.Void,
    success,
    error: Refused,
    idempotencyKey: () => "one",
    signals: [go],
    states,
    run
  })

const result = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.flatten(throughTime(effect))
const valuesOf = (said: ReadonlyArray<{ readonly value: unknown }>) => said.map(({ value }) => value)
const linesOf = (id: string) => Effect.map(FlowStates.feed(id, "lines", { after: 0 }), valuesOf)

describe("a state", () => {
  it.effect("is read from outside while the execution waits", () =>
    Effect.gen(function* () {
      const flow = saysIn(Schema.Void, () =>
        Effect.gen(function* () {
          yield* progress.set(1)
          yield* Flow.sleep("nap", "1 hour")
          yield* progress.set(2)
          yield* go.receive()
        })
      )
      yield* Effect.gen(function* () {
        yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        const handle = yield* Flow.handle(flow, "one")
        assert.deepStrictEqual(yield* handle.state(progress), Option.some(1))
        yield* advance("1 hour")
        assert.deepStrictEqual(yield* handle.state(progress), Option.some(2))
        assert.deepStrictEqual(yield* handle.state(progress, { key: "other" }), Option.none())
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("has a value for each key, also in branches", () =>
    Effect.gen(function* () {
      const flow = saysIn(Schema.Void, () =>
        Effect.asVoid(
          Flow.forEach("part", ["a", "b/c"], { key: (key) => key, concurrency: 2 }, (key) =>
            Effect.andThen(progress.set(key.length, { key }), go.receive())
          )
        )
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        const handle = yield* Flow.handle(flow, "one")
        assert.deepStrictEqual(yield* handle.state(progress, { key: "b/c" }), Option.some(3))
        const names = (yield* FlowStates.states(id)).map(({ name }) => name)
        assert.deepStrictEqual(names, ["progress[a]", "progress[b/c]"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("that is set a thousand times between two steps is written once, with its last value", () =>
    Effect.gen(function* () {
      const flow = saysIn(Schema.Void, () =>
        Effect.gen(function* () {
          for (let n = 0; n < 1_000; n++) yield* progress.set(n)
          yield* go.receive()
        })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        // The body yields to others between so many calls.
        const waits = Effect.map(FlowExecutions.inspect(id), ({ now }) => now.length > 0)
        yield* Effect.repeat(Effect.andThen(Effect.yieldNow, waits), { until: (waiting) => waiting })
        assert.deepStrictEqual(valuesOf(yield* FlowStates.states(id)), [999])
        const steps = yield* FlowExecutions.steps(id)
        assert.deepStrictEqual(
          steps.map(({ path }) => path),
          ["go"]
        )
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("is there after the end of the execution, whatever that was", () =>
    Effect.gen(function* () {
      const flow = saysIn(Schema.Void, () =>
        Effect.gen(function* () {
          yield* Flow.compensate(note("done"), () => progress.set(2))
          yield* progress.set(1)
          return yield* new Refused({ why: "no" })
        })
      )
      yield* Effect.gen(function* () {
        yield* Effect.flip(result(Flow.execute(flow, undefined)))
        const handle = yield* Flow.handle(flow, "one")
        assert.deepStrictEqual(yield* handle.state(progress), Option.some(2))
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("a feed", () => {
  const counting = (count: number, feed: Flow.Feed<typeof Schema.String>) =>
    saysIn(
      Schema.Void,
      () =>
        Effect.gen(function* () {
          for (let n = 1; n <= count; n++) {
            yield* feed.append(`line ${n}`)
            yield* Flow.sleep("nap", "1 hour")
          }
          for (let n = count + 1; n <= 2 * count; n++) yield* feed.append(`line ${n}`)
        }),
      [feed]
    )

  it.effect("has all items in their order", () =>
    Effect.gen(function* () {
      const flow = counting(3, lines)
      yield* Effect.gen(function* () {
        yield* result(Flow.execute(flow, undefined))
        const handle = yield* Flow.handle(flow, "one")
        const all = yield* handle.feed(lines)
        assert.deepStrictEqual(valuesOf(all), ["line 1", "line 2", "line 3", "line 4", "line 5", "line 6"])
        const after = all[1]?.cursor ?? 0
        assert.deepStrictEqual(valuesOf(yield* handle.feed(lines, { after, limit: 2 })), ["line 3", "line 4"])
        assert.deepStrictEqual(valuesOf(yield* handle.feed(lines, { limit: 2 })), ["line 5", "line 6"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("keeps as many items as it says", () =>
    Effect.gen(function* () {
      const short = Flow.feed("short", Schema.String, { count: 2 })
      const flow = counting(5, short)
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("2 hours")
        assert.deepStrictEqual(valuesOf(yield* FlowStates.feed(id, "short")), ["line 2", "line 3"])
        yield* result(Flow.execute(flow, undefined))
        assert.deepStrictEqual(valuesOf(yield* FlowStates.feed(id, "short")), ["line 9", "line 10"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("keeps items as long as it says", () =>
    Effect.gen(function* () {
      const brief = Flow.feed("brief", Schema.String, { age: "150 minutes" })
      const flow = counting(9, brief)
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("4 hours")
        const kept = ["line 3", "line 4", "line 5"]
        assert.deepStrictEqual(valuesOf(yield* FlowStates.feed(id, "brief")), kept)
        const handle = yield* Flow.handle(flow, "one")
        assert.deepStrictEqual(valuesOf(yield* handle.feed(brief)), kept)
        yield* advance("40 minutes")
        // It is not shown any more, although nothing was appended since.
        assert.deepStrictEqual(valuesOf(yield* handle.feed(brief)), kept.slice(1))
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("what is said again", () => {
  it.effect("after a restart is not doubled, at any point", () =>
    Effect.gen(function* () {
      const flow = saysIn(Schema.Void, () =>
        Effect.gen(function* () {
          yield* lines.append("first")
          yield* lines.append("second")
          yield* note("one")
          yield* lines.append("third")
          yield* Flow.forEach("item", ["a", "b"], { key: (item) => item, concurrency: 2 }, (item) =>
            Effect.gen(function* () {
              yield* lines.append(`${item} begins`)
              yield* Flow.sleep("nap", item === "a" ? "1 hour" : "2 hours")
              yield* lines.append(`${item} ends`)
            })
          )
          yield* Flow.sleep("nap", "1 hour")
          yield* lines.append("last")
        })
      )
      const inNext = <A, E, R>(effect: Effect.Effect<A, E, R>) => inProcess(Flow.layer(flow), effect)
      const id = yield* inNext(Flow.submit(flow, undefined))
      for (let n = 0; n < 12; n++) yield* inNext(advance("20 minutes"))
      yield* inNext(result(Flow.execute(flow, undefined)))
      assert.deepStrictEqual(yield* inNext(linesOf(id)), [
        "first",
        "second",
        "third",
        "a begins",
        "b begins",
        "a ends",
        "b ends",
        "last"
      ])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("of code that is added to a running flow is said from where its record ends", () =>
    Effect.gen(function* () {
      const flowOf = (says: boolean) =>
        saysIn(Schema.Void, () =>
          Effect.gen(function* () {
            if (says) yield* lines.append("before the first nap")
            yield* Flow.sleep("nap", "1 hour")
            if (says) yield* lines.append("before the second nap")
            yield* Flow.sleep("nap", "1 hour")
            if (says) yield* lines.append("at the end")
          })
        )
      const before = flowOf(false)
      const id = yield* inProcess(
        Flow.layer(before),
        Effect.tap(Flow.submit(before, undefined), () => advance("90 minutes"))
      )
      const after = flowOf(true)
      const said = yield* inProcess(
        Flow.layer(after),
        Effect.andThen(result(Flow.execute(after, undefined)), linesOf(id))
      )
      assert.deepStrictEqual(said, ["at the end"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("after a retry comes from the step that is repeated on", () =>
    Effect.gen(function* () {
      let isBroken = true
      const fragile = Flow.step("fragile", {
        input: Schema.Void,
        success: Schema.Void,
        error: Refused,
        run: () => (isBroken ? Effect.fail(new Refused({ why: "broken" })) : Effect.void)
      })
      const flow = saysIn(Schema.Void, () =>
        Effect.gen(function* () {
          yield* lines.append("one")
          yield* note("noted")
          yield* lines.append("two")
          yield* fragile().pipe(Effect.tapError(() => lines.append("broken")))
          yield* lines.append("three")
        })
      )
      yield* Effect.gen(function* () {
        yield* Effect.flip(result(Flow.execute(flow, undefined)))
        const handle = yield* Flow.handle(flow, "one")
        isBroken = false
        yield* handle.retry()
        yield* result(handle.result)
        assert.deepStrictEqual(yield* linesOf(handle.id), ["one", "two", "broken", "three"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("by the next chapter is new, and what the one before has said stays", () =>
    Effect.gen(function* () {
      const flow = Flow.make("chapters", {
        version: 1,
        input: Schema.Finite,
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        states: [lines],
        run: Effect.fnUntraced(function* (n) {
          yield* lines.append(`chapter ${n}`)
          yield* Flow.sleep("nap", "1 hour")
          yield* lines.append(`chapter ${n} ends`)
          if (n < 3) return yield* Flow.continueAs({ name: "chapters", input: Schema.Finite }, n + 1)
        })
      })
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, 1)
        yield* result(Flow.execute(flow, 1))
        const all = [1, 2, 3].flatMap((n) => [`chapter ${n}`, `chapter ${n} ends`])
        assert.deepStrictEqual(yield* linesOf(id), all)
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )
})

describe("who watches an execution", () => {
  const flow = saysIn(Schema.Void, () =>
    Effect.gen(function* () {
      for (let n = 1; n <= 3; n++) {
        yield* progress.set(n)
        yield* lines.append(`line ${n}`)
        yield* Flow.sleep("nap", "1 hour")
      }
      yield* lines.append("the end")
    })
  )
  const all = [1, "line 1", 2, "line 2", 3, "line 3", "the end"]

  it.effect("gets everything that it says, until it has ended", () =>
    Effect.gen(function* () {
      yield* Effect.gen(function* () {
        yield* Flow.submit(flow, undefined)
        const handle = yield* Flow.handle(flow, "one")
        const watching = yield* Effect.forkChild(Stream.runCollect(handle.watch()))
        yield* result(handle.result)
        const said = yield* result(Fiber.join(watching))
        assert.deepStrictEqual(valuesOf(said), all)
        assert.deepStrictEqual(
          said.map(({ cursor }) => cursor),
          [1, 2, 3, 4, 5, 6, 7]
        )
        assert.deepInclude(said[1], { name: "lines", kind: "feed" })
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("continues from its cursor, in another process, and gets nothing twice", () =>
    Effect.gen(function* () {
      const inNext = <A, E, R>(effect: Effect.Effect<A, E, R>) => inProcess(Flow.layer(flow), effect)
      yield* inNext(Flow.submit(flow, undefined))
      const got: Array<Flow.Watched> = []
      const some = Effect.gen(function* () {
        const handle = yield* Flow.handle(flow, "one")
        const watching = handle.watch({ after: got.at(-1)?.cursor }).pipe(
          Stream.tap((said) => Effect.sync(() => got.push(said))),
          Stream.runDrain
        )
        const fiber = yield* Effect.forkChild(watching)
        yield* advance("25 minutes")
        yield* Fiber.interrupt(fiber)
      })
      for (let n = 0; n < 9; n++) yield* inNext(some)
      assert.deepStrictEqual(valuesOf(got), all)
    }).pipe(Effect.provide(restarting))
  )

  it.effect("of one that has ended gets its last states and all items", () =>
    Effect.gen(function* () {
      yield* Effect.gen(function* () {
        yield* result(Flow.execute(flow, undefined))
        const handle = yield* Flow.handle(flow, "one")
        const said = yield* Stream.runCollect(handle.watch())
        assert.deepStrictEqual(valuesOf(said), ["line 1", "line 2", 3, "line 3", "the end"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("of one that does not exist gets an error", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Stream.runDrain(FlowStates.watch("nobody")))
      assert.strictEqual(error._tag, "ExecutionNotFound")
    }).pipe(Effect.provide(memory))
  )
})

describe("the rules of states and feeds", () => {
  const defect = <A, E>(flow: Effect.Effect<A, E, Diary>) => Effect.provide(defectOf(flow), Diary.layer)

  it.effect("one that the flow does not list is a defect that says so", () =>
    Effect.gen(function* () {
      const { message } =
        (yield* defect(
          Flow.run(
            saysIn(Schema.Void, () => progress.set(1), []),
            undefined
          )
        )) ?? {}
      assert.include(message, "the flow says progress and does not list it")
    })
  )

  it.effect("a value that does not fit, or is too large, is a defect, in a script too", () =>
    Effect.gen(function* () {
      const wrong = saysIn(Schema.Void, () => progress.set(Number.NaN))
      assert.include((yield* defect(Flow.run(wrong, undefined)))?.message, "the state progress does not fit its schema")
      const large = saysIn(Schema.Void, () => lines.append("x".repeat(1_000_001)))
      const { message } = (yield* defect(Flow.run(large, undefined))) ?? {}
      assert.include(message, "an item of the feed lines is 1000003 bytes of JSON")
    })
  )

  it.effect("a step cannot set one", () =>
    Effect.gen(function* () {
      const step = Flow.step("step", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        // The types refuse it.
        run: () => progress.set(1) as Effect.Effect<void>
      })
      const { message } =
        (yield* defect(
          Flow.run(
            saysIn(Schema.Void, () => step()),
            undefined
          )
        )) ?? {}
      assert.include(message, "was set in the run of a step")
    })
  )

  it("two with one name, and invalid options, are refused where they are defined", () => {
    const twice = [progress, Flow.feed("progress", Schema.String)]
    assert.throws(
      () => saysIn(Schema.Void, () => Effect.void as never, twice),
      "two states or feeds with the name progress"
    )
    assert.throws(() => Flow.state("a/b", Schema.String), 'no "/", "[", "]" or "#"')
    assert.throws(() => Flow.feed("", Schema.String), "1 to 200 characters")
    assert.throws(() => Flow.feed("x", Schema.String, { count: 10_001 }), "count is 1 to 10000, not 10001")
    assert.throws(() => Flow.feed("x", Schema.String, { age: 0 }), "age is longer than 0")
  })

  it.effect("a script, and a check of a history, say nothing and take no notice of it", () =>
    Effect.gen(function* () {
      const flow = saysIn(Schema.Finite, () =>
        Effect.gen(function* () {
          yield* progress.set(1)
          const length = yield* note("three")
          yield* lines.append("noted")
          return length
        })
      )
      assert.strictEqual(yield* Flow.run(flow, undefined, { verify: true }), 5)
      yield* Effect.gen(function* () {
        yield* result(Flow.execute(flow, undefined))
        const { id } = yield* Flow.handle(flow, "one")
        yield* Flow.check(flow, yield* FlowExecutions.history(id))
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(Layer.merge(memory, Diary.layer)))
  )
})
