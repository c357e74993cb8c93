/** What the code of a running step says: details for its next attempt, and items of feeds. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Flow from "../src/Flow.ts"
import { FlowEngine, over } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import * as FlowStates from "../src/FlowStates.ts"
import { Journal } from "../src/internal/journal/Journal.ts"
import * as Sqlite from "../src/internal/journal/Sqlite.ts"
import * as Local from "../src/internal/ownership/Local.ts"
import { defineStep } from "../src/Promises.ts"
import type { RetryOptions } from "../src/Retry.ts"
import { inProcess } from "./support/Engines.ts"
import { defectOf, Diary, Refused } from "./support/Flows.ts"
import { memory, restarting, stateOf } from "./support/Running.ts"
import { advance, throughTime } from "./support/Time.ts"

const lines = Flow.feed("lines", Schema.String)
const count = Flow.state("count", Schema.Finite)

type Code<E, R> = (details: Flow.Details<number>) => Effect.Effect<unknown, E, R>

/** A flow of one step, which may record numbers. */
const works = <E extends Refused = never, R = never>(code: Code<E, R>, retry?: RetryOptions<Refused>) => {
  const step = Flow.step("work", {
    input: Schema.Void,
    success: Schema.Null,
    error: Refused,
    retry: retry ?? { attempts: 1 },
    run: () => Effect.as(Effect.flatMap(Flow.details(Schema.Finite), code), null)
  })
  return saying(() => step(undefined))
}

/** A flow of no input that says something. */
const saying = <C extends Flow.FlowContext<unknown>>(run: () => Effect.Effect<null, Refused, C>) =>
  Flow.make("works", {
    version: 1,
    input: Schema.Void,
    success: Schema.Null,
    error: Refused,
    idempotencyKey: () => "one",
    states: [lines, count],
    run
  })

const result = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.flatten(throughTime(effect))
const detailsOf = (id: string) =>
  Effect.map(FlowExecutions.steps(id), (steps) => steps.map(({ attempt, details }) => [attempt, details]))
const linesOf = (id: string) =>
  Effect.map(FlowStates.feed(id, "lines", { after: 0 }), (items) => items.map(({ value }) => value))
const noteLast = ({ last }: Flow.Details<number>) => Diary.write(`last ${Option.getOrElse(last, () => "none")}`)
const refused = Effect.fail(new Refused({ why: "no" }))

describe("details of a step", () => {
  it.effect("are shown while it has not ended, and deleted with its end", () =>
    Effect.gen(function* () {
      const flow = works(
        Effect.fnUntraced(function* (details) {
          yield* noteLast(details)
          const attempt = (yield* Diary.read).length
          yield* details.record(attempt)
          yield* Effect.sleep("1 hour")
          if (attempt < 3) return yield* refused
        }),
        { attempts: 3, delay: "1 hour" }
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 minute")
        assert.deepStrictEqual(yield* detailsOf(id), [[1, 1]])
        yield* advance("1 hour")
        const {
          now: [paused]
        } = yield* FlowExecutions.inspect(id)
        assert.deepStrictEqual([paused?.kind, paused?.details], ["pause", 1])
        yield* advance("1 hour")
        yield* advance("1 minute")
        const { now, summary } = yield* FlowExecutions.inspect(id)
        assert.deepStrictEqual([now[0]?.kind, now[0]?.details], ["attempt", 2])
        assert.include(summary, "attempt 2")
        assert.include(summary, "recorded 2")
        assert.deepStrictEqual(yield* detailsOf(id), [
          [1, 1],
          [2, 2]
        ])
        yield* result(Flow.execute(flow, undefined))
        assert.deepStrictEqual(yield* detailsOf(id), [
          [1, undefined],
          [2, undefined],
          [3, undefined]
        ])
        assert.deepStrictEqual(yield* Diary.read, ["last none", "last 1", "last 2"])
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("are written once a second, however often it records, and with the failure of its attempt", () =>
    Effect.gen(function* () {
      const journal = Context.get(yield* Layer.build(Layer.fresh(Sqlite.layerMemory)), Journal)
      const written: Array<unknown> = []
      const noting = Journal.of({
        ...journal,
        write: (fence, write) => {
          for (const { details, state } of write.entries) if (details !== undefined) written.push([state, details])
          return journal.write(fence, write)
        }
      })
      const engine = Layer.fresh(over(Layer.succeed(Journal, noting), Local.layer))
      const flow = works(
        Effect.fnUntraced(function* ({ last, record }) {
          if (Option.isSome(last)) return
          for (let n = 0; n < 9; n++) {
            for (let part = 1; part < 100; part++) yield* record(n + part / 100)
            yield* record(n)
            yield* Effect.sleep("300 millis")
          }
          yield* record(9)
          return yield* refused
        }),
        { attempts: 2, delay: "1 hour" }
      )
      yield* result(Flow.execute(flow, undefined)).pipe(Effect.provide(Layer.provideMerge(Flow.layer(flow), engine)))
      assert.deepStrictEqual(written, [
        ["running", 0],
        ["running", 3],
        ["running", 6],
        ["retrying", 9],
        ["running", 9],
        ["succeeded", null]
      ])
    })
  )

  it.effect("are read by the next process when it ends within the step", () =>
    Effect.gen(function* () {
      const flow = works(
        Effect.fnUntraced(function* (details) {
          yield* noteLast(details)
          if (Option.isSome(details.last)) return
          yield* details.record(1)
          yield* Effect.sleep("500 millis")
          yield* details.record(2)
          return yield* Effect.never
        })
      )
      yield* inProcess(Flow.layer(flow), Effect.andThen(Flow.submit(flow, undefined), advance("1 second")))
      yield* inProcess(Flow.layer(flow), result(Flow.execute(flow, undefined)))
      assert.deepStrictEqual(yield* Diary.read, ["last none", "last 2"])
    }).pipe(Effect.provide(restarting))
  )

  it.effect("that do not fit its schema any more are absent, which is logged", () =>
    Effect.gen(function* () {
      const retry = { attempts: 2, delay: "1 hour" } as const
      const before = works(({ record }) => Effect.andThen(record(1.5), refused), retry)
      const today = Flow.step("work", {
        input: Schema.Void,
        success: Schema.Null,
        error: Refused,
        run: Effect.fnUntraced(function* () {
          const { last } = yield* Flow.details(Schema.Struct({ row: Schema.Int }))
          yield* Diary.write(last._tag)
          return null
        })
      })
      const flow = saying(() => today(undefined))
      const warnings: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void warnings.push(String(message)))])
      yield* inProcess(Flow.layer(before), Effect.andThen(Flow.submit(before, undefined), advance("1 second")))
      yield* inProcess(Flow.layer(flow), result(Flow.execute(flow, undefined))).pipe(Effect.provide(logger))
      assert.deepStrictEqual(yield* Diary.read, ["None"])
      assert.include(warnings.join(), "the details of the step work of the execution")
      assert.include(warnings.join(), "number is recorded; ignored")
      assert.notInclude(warnings.join(), "1.5")
    }).pipe(Effect.provide(restarting))
  )

  it.effect("are written while a suspend waits for it", () =>
    Effect.gen(function* () {
      const flow = works(({ record }) =>
        Effect.andThen(Effect.sleep("1 minute"), Effect.andThen(record(7), Effect.sleep("1 hour")))
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1 second")
        yield* FlowExecutions.suspend(id)
        yield* advance("61 seconds")
        const running = yield* Effect.all([stateOf(id), detailsOf(id)])
        yield* advance("1 hour")
        assert.deepStrictEqual(running, ["running", [[1, 7]]])
        assert.strictEqual(yield* stateOf(id), "suspended")
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("are deleted when its branch is cancelled", () =>
    Effect.gen(function* () {
      const slow = Flow.step("slow", {
        input: Schema.Void,
        success: Schema.Null,
        error: Schema.Never,
        run: Effect.fnUntraced(function* () {
          const { record } = yield* Flow.details(Schema.Finite)
          yield* record(1)
          yield* Effect.sleep("1 second")
          yield* record(2)
          return yield* Effect.never
        })
      })
      const flow = saying(() =>
        Flow.race("first", { slow: slow(undefined), nap: Effect.as(Flow.sleep("nap", 1_500), null) })
      )
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(flow, undefined)
        yield* advance("1200 millis")
        assert.deepInclude(yield* detailsOf(id), [1, 2])
        yield* result(Flow.execute(flow, undefined))
        assert.isTrue((yield* detailsOf(id)).every(([, details]) => details === undefined))
      }).pipe(Effect.provide(Flow.layer(flow)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("are refused when they are a secret, or too large", () =>
    Effect.gen(function* () {
      const wrong = (schema: Flow.Codec, value: unknown) =>
        Effect.flatMap(Flow.details(schema), ({ record }) => record(value))
      const messageOf = (code: Effect.Effect<void>) =>
        Effect.map(
          defectOf(
            Flow.run(
              works(() => code),
              undefined
            )
          ),
          (defect) => defect?.message
        )
      assert.include(
        yield* messageOf(wrong(Schema.Redacted(Schema.String), Redacted.make("x"))),
        "the details of the step work"
      )
      assert.include(yield* messageOf(wrong(Schema.String, "x".repeat(1_000_001))), "1000003 bytes of JSON")
    })
  )

  it.effect("are not recorded outside of steps", () =>
    Effect.gen(function* () {
      const { last, record } = yield* Flow.details(Schema.String)
      assert.isTrue(Option.isNone(last))
      yield* record("x")
      assert.isTrue(Option.isNone((yield* Flow.details(Schema.String)).last))
    })
  )

  it.live(
    "of promises are those of an attempt that has not ended: what goes on after its timeout records nothing",
    () =>
      Effect.gen(function* () {
        const Row = Schema.Struct({ row: Schema.Int })
        const seen: Array<number | undefined> = []
        const second = Promise.withResolvers<void>()
        const late = Promise.withResolvers<void>()
        const step = defineStep({
          name: "work",
          input: Schema.Null,
          output: Schema.Null,
          retry: { attempts: 3, delay: 0 },
          timeout: "200 millis",
          run: async (_, { append, details }) => {
            const { last, record } = await details(Row)
            seen.push(last?.row)
            await append(lines, `attempt ${seen.length}`)
            if (seen.length === 1) {
              await record({ row: 1 })
              await second.promise
              await record({ row: 99 })
              await append(lines, "late")
              late.resolve()
            }
            if (seen.length === 2) {
              second.resolve()
              await late.promise
              throw new Error("again")
            }
            return null
          }
        })
        const flow = saying(() => Effect.orDie(step(null)))
        yield* Effect.gen(function* () {
          yield* Flow.execute(flow, undefined)
          const { id } = yield* Flow.handle(flow, "one")
          assert.deepStrictEqual(seen, [undefined, 1, 1])
          assert.deepStrictEqual(yield* linesOf(id), ["attempt 1", "attempt 2", "attempt 3"])
        }).pipe(Effect.provide(Flow.layer(flow)))
      }).pipe(Effect.provide(FlowEngine.layerMemory))
  )
})

describe("a feed, from a step", () => {
  /** Appends, fails once, and appends again. */
  const append = Flow.step("append", {
    input: Schema.String,
    success: Schema.Null,
    error: Refused,
    retry: { attempts: 2, delay: "1 hour" },
    run: Effect.fnUntraced(function* (name) {
      const attempt = (yield* Diary.read).filter((line) => line === name).length + 1
      yield* Diary.write(name)
      yield* lines.append(`${name}, attempt ${attempt}`)
      yield* Effect.sleep("1 minute")
      if (attempt === 1) return yield* refused
      return null
    })
  })
  const both = saying(() =>
    Effect.gen(function* () {
      yield* lines.append("body 1")
      yield* append("a")
      yield* lines.append("body 2")
      yield* append("b")
      yield* lines.append("body 3")
      return null
    })
  )
  const all = ["body 1", "a, attempt 1", "a, attempt 2", "body 2", "b, attempt 1", "b, attempt 2", "body 3"]

  it.effect("has the items of all attempts, among those of the body, while the step runs", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(both, undefined)
      yield* advance("2 seconds")
      const first = yield* linesOf(id)
      yield* result(Flow.execute(both, undefined))
      assert.deepStrictEqual(first, all.slice(0, 2))
      const items = yield* FlowStates.feed(id, "lines", { after: 0 })
      assert.deepStrictEqual(
        items.map(({ cursor, value }) => [cursor, value]),
        all.map((value, n) => [n + 1, value])
      )
    }).pipe(Effect.provide(Layer.provideMerge(Flow.layer(both), memory)))
  )

  it.effect("has each of them once when the body is run again, by the next process and by a check", () =>
    Effect.gen(function* () {
      const process = <A, E, R>(effect: Effect.Effect<A, E, R>) => inProcess(Flow.layer(both), effect)
      const id = yield* process(Effect.tap(Flow.submit(both, undefined), () => advance("10 minutes")))
      yield* process(advance("61 minutes"))
      yield* process(result(Flow.execute(both, undefined)))
      yield* process(
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* linesOf(id), all)
          yield* Flow.check(both, yield* FlowExecutions.history(id))
          assert.deepStrictEqual(yield* linesOf(id), all)
        })
      )
    }).pipe(Effect.provide(restarting))
  )

  it.effect("has what was said before the step failed with a defect", () =>
    Effect.gen(function* () {
      const dies = works(() => Effect.andThen(lines.append("before"), Effect.die(new Error("broken"))))
      yield* Effect.gen(function* () {
        const id = yield* Flow.submit(dies, undefined)
        yield* advance("1 second")
        assert.strictEqual(yield* stateOf(id), "halted")
        assert.deepStrictEqual(yield* linesOf(id), ["before"])
      }).pipe(Effect.provide(Flow.layer(dies)))
    }).pipe(Effect.provide(memory))
  )

  it.effect("is listed by the flow, and a state is not set", () =>
    Effect.gen(function* () {
      const other = Flow.feed("other", Schema.String)
      const messageOf = (code: Effect.Effect<void>) =>
        Effect.map(
          defectOf(
            Flow.run(
              works(() => code),
              undefined
            )
          ),
          (defect) => defect?.message
        )
      assert.include(yield* messageOf(other.append("x")), "the flow says other and does not list it")
      // The types refuse it.
      assert.include(yield* messageOf(count.set(1) as Effect.Effect<void>), "A step appends to feeds")
      assert.include((yield* defectOf(lines.append("x")))?.message, "outside of a flow")
    })
  )

  it.effect("is nowhere in a script, which checks its items", () =>
    Effect.gen(function* () {
      yield* result(
        Flow.run(
          works(() => lines.append("x")),
          undefined,
          { verify: true }
        )
      )
      const large = works(() => lines.append("x".repeat(1_000_001)))
      assert.include(
        (yield* defectOf(Flow.run(large, undefined)))?.message,
        "an item of the feed lines is 1000003 bytes"
      )
    })
  )
})
