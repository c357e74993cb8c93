/** The conformance suite of flows: the same flows return the same results, with the same effects, on every engine. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import * as Flow from "../../src/Flow.ts"
import { FlowDefect } from "../../src/FlowDefect.ts"
import type { FlowEngine } from "../../src/FlowEngine.ts"
import { FlowHalted } from "../../src/FlowErrors.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { engineOf } from "../../src/internal/EngineOf.ts"
import type { Codec } from "../../src/internal/Values.ts"
import { throughTime } from "./Time.ts"

/** Remembers what steps did, in their order. */
export class Diary extends Context.Service<Diary, Ref.Ref<ReadonlyArray<string>>>()("test/Diary") {
  static readonly layer = Layer.effect(Diary, Ref.make<ReadonlyArray<string>>([]))
  static readonly write = (line: string) =>
    Effect.flatMap(
      Diary,
      Ref.update((lines) => [...lines, line])
    )
  static readonly read = Effect.flatMap(Diary, (diary) => Ref.get(diary))
}

export class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {}

/** Writes a line and returns its length; refuses the empty line. */
export const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.Finite,
  error: Refused,
  run: Effect.fnUntraced(function* (text) {
    if (text === "") return yield* new Refused({ why: "nothing to note" })
    yield* Diary.write(text)
    return text.length
  })
})

/** Writes a line when it begins and one when it has taken its time. */
export const work = Flow.step("work", {
  input: Schema.Struct({ name: Schema.String, seconds: Schema.Finite }),
  success: Schema.String,
  error: Schema.Never,
  run: Effect.fnUntraced(function* ({ name, seconds }) {
    yield* Diary.write(`${name} begins`)
    yield* Effect.sleep(seconds * 1000)
    yield* Diary.write(`${name} ends`)
    return name
  })
})

const anyError = Schema.Union([Refused, Flow.FlowTimeout])

/** A flow of no input around a body. */
export const flowOf = <S extends Codec, C extends Flow.FlowContext<unknown>>(
  success: S,
  body: () => Effect.Effect<S["Type"], typeof anyError.Type, C>,
  signals: ReadonlyArray<Flow.Signal<Codec>> = []
) =>
  Flow.make("test", {
    version: 1,
    input: Schema.Void,
    success,
    error: anyError,
    idempotencyKey: () => "one",
    signals,
    run: body
  })

export interface Runner<R> {
  readonly run: <I extends Codec, S extends Codec, E extends Codec>(
    flow: Flow.Flow<I, S, E, Diary>,
    input: I["Type"]
  ) => Effect.Effect<S["Type"], E["Type"] | unknown, R | Diary>
  /** Sends a signal that is awaited at a path. */
  readonly answering: <A, E, R2>(
    signal: { readonly name: string; readonly path: string; readonly value: Schema.Json },
    effect: Effect.Effect<A, E, R2>
  ) => Effect.Effect<A, unknown, R2 | R>
  /** Whether defects halt an execution, for a person. */
  readonly halts: boolean
}

/** On any engine. */
export const durable: Runner<FlowEngine> = {
  run: (flow, input) => Effect.provide(Flow.execute(flow, input), Flow.layer(flow)),
  answering: ({ name, value }, effect) =>
    Effect.gen(function* () {
      const { engine } = yield* engineOf
      const begun = yield* Effect.forkChild(
        Effect.gen(function* () {
          while (true) {
            const execution = yield* engine.journal.findKey("test", "one")
            if (execution !== null) return yield* FlowExecutions.signal(execution.id, name, value)
            yield* Effect.sleep("50 millis")
          }
        })
      )
      const result = yield* effect
      yield* Fiber.join(begun)
      return result
    }),
  halts: true
}

/** `layer` is built for each test. */
export const conformance = <R>(name: string, runner: Runner<R>, layer: Layer.Layer<R, unknown>, isVirtual = true) => {
  const through = <A, E, R>(effect: Effect.Effect<A, E, R>) => (isVirtual ? throughTime(effect) : Effect.exit(effect))
  /** Of seconds; where time is real they are short. */
  const time = (seconds: number) => seconds * (isVirtual ? 1_000 : 40)
  const working = (name: string, seconds: number) => work({ name, seconds: time(seconds) / 1_000 })
  const test = (title: string, body: Effect.Effect<void, unknown, R | Diary>) =>
    (isVirtual ? it.effect : it.live)(title, () =>
      Effect.provide(body, Layer.merge(Layer.fresh(layer), Layer.fresh(Diary.layer)))
    )

  const exitOf = <S extends Codec, E extends Codec>(flow: Flow.Flow<typeof Schema.Void, S, E, Diary>) =>
    through(runner.run(flow, undefined))
  const resultOf = <S extends Codec, E extends Codec>(flow: Flow.Flow<typeof Schema.Void, S, E, Diary>) =>
    Effect.flatten(exitOf(flow))
  /** What a defect says, or what halts the execution because of it. */
  const defectOf = <S extends Codec, E extends Codec>(flow: Flow.Flow<typeof Schema.Void, S, E, Diary>) =>
    Effect.map(exitOf(flow), (exit) => {
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      if (runner.halts) {
        assert.instanceOf(error, FlowHalted)
        assert.strictEqual(error.tag, "FlowDefect")
      } else {
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), "expected a defect")
        assert.instanceOf(error, FlowDefect)
      }
      return error
    })

  // Where time is real they mostly wait.
  describe(`flows, ${name}`, { concurrent: !isVirtual }, () => {
    test(
      "return the result of the body, decoded by their schemas",
      Effect.gen(function* () {
        const flow = Flow.make("sum", {
          version: 1,
          input: Schema.Struct({ texts: Schema.Array(Schema.String), day: Schema.Date }),
          success: Schema.Struct({ sum: Schema.Finite, day: Schema.Date }),
          error: Refused,
          idempotencyKey: ({ texts }) => texts.join(),
          run: Effect.fnUntraced(function* ({ day, texts: [first = "", second = ""] }) {
            const sum = (yield* note(first, { key: "1" })) + (yield* note(second, { key: "2" }))
            return { sum, day }
          })
        })
        const day = new Date("2026-11-20T08:00:00.000Z")
        const exit = yield* through(runner.run(flow, { texts: ["ab", "cde"], day }))
        assert.deepStrictEqual(exit, Exit.succeed({ sum: 5, day }))
        assert.deepStrictEqual(yield* Diary.read, ["ab", "cde"])
      })
    )

    test(
      "fail with the very error of the step",
      Effect.gen(function* () {
        const failing = yield* exitOf(flowOf(Schema.Finite, () => note("")))
        const error = Exit.isFailure(failing) ? Cause.squash(failing.cause) : undefined
        assert.instanceOf(error, Refused)
        assert.strictEqual(error.why, "nothing to note")
      })
    )

    test(
      "let a body handle the error of a step",
      Effect.gen(function* () {
        const flow = flowOf(Schema.Finite, () =>
          Effect.catchTag(note(""), "Refused", () => note("instead", { key: "2" }))
        )
        assert.strictEqual(yield* resultOf(flow), 7)
      })
    )

    test(
      "repeat a step after growing pauses, as often as it says",
      Effect.gen(function* () {
        const flaky = Flow.step("flaky", {
          input: Schema.Void,
          success: Schema.String,
          error: Refused,
          retry: { attempts: 4, delay: time(10), while: ({ why }) => why !== "never" },
          run: Effect.fnUntraced(function* () {
            yield* Diary.write(`${yield* Clock.currentTimeMillis}`)
            const tries = (yield* Diary.read).length
            return tries < 3 ? yield* new Refused({ why: `try ${tries}` }) : "well"
          })
        })
        assert.strictEqual(yield* resultOf(flowOf(Schema.String, () => flaky(undefined))), "well")
        const [first = "", second = "", third = ""] = yield* Diary.read
        assert.isAtLeast(Number(second) - Number(first), time(10))
        assert.isAtLeast(Number(third) - Number(second), time(20))
        assert.strictEqual((yield* Diary.read).length, 3)
      })
    )

    test(
      "do not repeat what is not worth it",
      Effect.gen(function* () {
        const flaky = Flow.step("flaky", {
          input: Schema.Void,
          success: Schema.Void,
          error: Refused,
          retry: { attempts: 4, while: ({ why }) => why !== "never" },
          run: () => Effect.andThen(Diary.write("tried"), Effect.fail(new Refused({ why: "never" })))
        })
        assert.isTrue(Exit.isFailure(yield* exitOf(flowOf(Schema.Void, () => flaky(undefined)))))
        assert.deepStrictEqual(yield* Diary.read, ["tried"])
      })
    )

    test(
      "may repeat a step themselves, by another call with a number",
      Effect.gen(function* () {
        const again = flowOf(Schema.Finite, () => Effect.retry(note(""), { times: 2 }))
        const exit = yield* exitOf(again)
        assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, Refused)
      })
    )

    test(
      "limit the attempts of a step in time",
      Effect.gen(function* () {
        const slow = Flow.step("slow", {
          input: Schema.Void,
          success: Schema.Void,
          error: Schema.Never,
          timeout: time(5),
          run: () => Effect.sleep("1 hour")
        })
        const flow = flowOf(Schema.String, () =>
          Effect.gen(function* () {
            const result = yield* Effect.result(slow(undefined))
            return Result.isFailure(result) ? result.failure.step : "in time"
          })
        )
        assert.strictEqual(yield* resultOf(flow), "slow")
      })
    )

    test(
      "run the members of forEach concurrently, with results in the order of the items",
      Effect.gen(function* () {
        const flow = flowOf(Schema.Array(Schema.String), () =>
          Flow.forEach("item", [3, 1, 2], { key: String, concurrency: 3 }, (seconds) =>
            working(String(seconds), seconds)
          )
        )
        assert.deepStrictEqual(yield* resultOf(flow), ["3", "1", "2"])
        assert.deepStrictEqual([...(yield* Diary.read)].sort(), [
          "1 begins",
          "1 ends",
          "2 begins",
          "2 ends",
          "3 begins",
          "3 ends"
        ])
      })
    )

    test(
      "wait and run steps concurrently, and repeat no step because of that",
      Effect.gen(function* () {
        const flow = flowOf(Schema.Struct({ slept: Schema.String, worked: Schema.String }), () =>
          Flow.all(
            "both",
            {
              slept: Effect.as(Flow.sleep("nap", time(2)), "slept"),
              worked: working("long", 30)
            },
            { concurrency: 2 }
          )
        )
        assert.deepStrictEqual(yield* resultOf(flow), { slept: "slept", worked: "long" })
        assert.deepStrictEqual(yield* Diary.read, ["long begins", "long ends"])
      })
    )

    test(
      "sleep as long as they say, and know the time of their steps",
      Effect.gen(function* () {
        const flow = flowOf(Schema.Finite, () =>
          Effect.gen(function* () {
            const before = yield* Flow.now("before")
            yield* note("once")
            yield* Flow.sleep("night", time(40))
            const after = yield* Flow.now("after")
            return DateTime.toEpochMillis(after) - DateTime.toEpochMillis(before)
          })
        )
        assert.isAtLeast(yield* resultOf(flow), time(40))
        assert.deepStrictEqual(yield* Diary.read, ["once"])
      })
    )

    test(
      "fail with FlowTimeout when a part takes too long, and continue",
      Effect.gen(function* () {
        const flow = flowOf(Schema.Array(Schema.Finite), () =>
          Effect.gen(function* () {
            const late = yield* Flow.timeout("limit", time(10), working("long", 600)).pipe(
              Effect.as(0),
              Effect.catchTag("FlowTimeout", (error) => Effect.succeed(error.afterMillis))
            )
            const inTime = yield* Flow.timeout("limit", time(100), note("quick"), { key: "2" })
            return [late, inTime]
          })
        )
        assert.deepStrictEqual(yield* resultOf(flow), [time(10), 5])
        assert.deepStrictEqual(yield* Diary.read, ["long begins", "quick"])
      })
    )

    test(
      "limit waiting in time, too",
      Effect.gen(function* () {
        const flow = flowOf(Schema.String, () =>
          Effect.gen(function* () {
            yield* note("asked")
            return yield* Flow.timeout("decision", time(20), Effect.as(Flow.sleep("month", time(3_000)), "slept")).pipe(
              Effect.catchTag("FlowTimeout", () => Effect.succeed("nobody"))
            )
          })
        )
        assert.strictEqual(yield* resultOf(flow), "nobody")
        assert.deepStrictEqual(yield* Diary.read, ["asked"])
      })
    )

    test(
      "continue with the first member of a race, and interrupt the others",
      Effect.gen(function* () {
        const flow = flowOf(Schema.String, () =>
          Effect.gen(function* () {
            const first = yield* Flow.race("which", {
              slow: working("slow", 300),
              quick: Effect.gen(function* () {
                yield* working("quick", 2)
                yield* Flow.sleep("nap", time(3))
                return "quick"
              })
            })
            yield* note("after")
            return first
          })
        )
        assert.strictEqual(yield* resultOf(flow), "quick")
        assert.deepStrictEqual([...(yield* Diary.read)].sort(), ["after", "quick begins", "quick ends", "slow begins"])
      })
    )

    test(
      "fail when the first member of a race to end fails",
      Effect.gen(function* () {
        const flow = flowOf(Schema.Union([Schema.String, Schema.Finite]), () =>
          Flow.race("which", [working("slow", 300), note("")])
        )
        const exit = yield* exitOf(flow)
        assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, Refused)
      })
    )

    test(
      "wait for a signal with a key",
      Effect.gen(function* () {
        const shipped = Flow.signal("day", Schema.Date)
        const flow = flowOf(
          Schema.Struct({ day: Schema.Date, length: Schema.Finite }),
          () =>
            Effect.gen(function* () {
              const length = yield* note("asked")
              const [day] = yield* Flow.forEach("order", ["7"], { key: (id) => id }, (key) => shipped.receive({ key }))
              return { day: day ?? new Date(0), length }
            }),
          [shipped]
        )
        const day = "2026-11-20T08:00:00.000Z"
        const signal = { name: "day[7]", path: "order[7]/day[7]", value: day }
        assert.deepStrictEqual(yield* runner.answering(signal, resultOf(flow)), {
          day: new Date(day),
          length: 5
        })
        assert.deepStrictEqual(yield* Diary.read, ["asked"])
      })
    )

    test(
      "wait for what a person decides, or for the time to be over",
      Effect.gen(function* () {
        const approval = Flow.approval("approval")
        const flow = flowOf(
          Flow.Approval,
          () =>
            Flow.race("decision", {
              person: approval.receive(),
              nobody: Effect.as(Flow.sleep("deadline", time(3_000)), { approved: false, by: "nobody", comment: null })
            }),
          [approval]
        )
        const yes = { approved: true, by: "kim", comment: "fine" }
        const signal = { name: "approval", path: "decision[person]/approval", value: yes }
        assert.deepStrictEqual(yield* runner.answering(signal, resultOf(flow)), yes)
      })
    )

    test(
      "undo in reverse order when they fail, what concurrent and raced parts did included",
      Effect.gen(function* () {
        const done = (name: string) =>
          Flow.compensate(note(name, { key: name }), (length) => note(`undo ${name} (${length})`))
        const flow = flowOf(Schema.Void, () =>
          Effect.gen(function* () {
            yield* done("one")
            yield* Flow.forEach("item", ["a", "b"], { key: (item) => item }, (item) => done(item))
            yield* Flow.race("race", [done("won")])
            yield* note("")
          })
        )
        const exit = yield* exitOf(flow)
        assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, Refused)
        assert.deepStrictEqual(yield* Diary.read, [
          "one",
          "a",
          "b",
          "won",
          "undo won (3)",
          "undo b (1)",
          "undo a (1)",
          "undo one (3)"
        ])
      })
    )

    test(
      "undo nothing when they succeed, and not what failed",
      Effect.gen(function* () {
        const flow = flowOf(Schema.Finite, () =>
          Effect.gen(function* () {
            yield* Effect.ignore(Flow.compensate(note(""), () => note("undone", { key: "never" })))
            return yield* Flow.compensate(note("kept", { key: "2" }), () => note("undone"))
          })
        )
        assert.strictEqual(yield* resultOf(flow), 4)
        assert.deepStrictEqual(yield* Diary.read, ["kept"])
      })
    )

    test(
      "continue undoing when an undo fails",
      Effect.gen(function* () {
        const flow = flowOf(Schema.Void, () =>
          Effect.gen(function* () {
            yield* Flow.compensate(note("one", { key: "1" }), () => note("undo one"))
            yield* Flow.compensate(note("two", { key: "2" }), () => note(""))
            yield* Flow.timeout("limit", time(10), working("three", 200))
          })
        )
        const exit = yield* exitOf(flow)
        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        // A script ends then; an execution is halted until a person has fixed the cause.
        if (runner.halts) assert.propertyVal(error, "tag", "UndoFailed")
        else assert.instanceOf(error, Flow.FlowTimeout)
        assert.deepStrictEqual(yield* Diary.read, ["one", "two", "three begins", "undo one"])
      })
    )

    test(
      "contain other flows",
      Effect.gen(function* () {
        const inner = Flow.make("inner", {
          version: 3,
          input: Schema.Struct({ day: Schema.Date }),
          success: Schema.Date,
          error: Refused,
          idempotencyKey: () => "any",
          run: Effect.fnUntraced(function* ({ day }) {
            yield* note(day.toISOString().slice(0, 10))
            yield* Flow.sleep("nap", time(30))
            return day
          })
        })
        const day = new Date("2026-11-20T00:00:00.000Z")
        const flow = flowOf(Schema.Array(Schema.Date), () =>
          Flow.all("both", [Flow.call(inner, { day }), Flow.call(inner, { day }, { key: "again" })])
        )
        assert.deepStrictEqual(yield* resultOf(flow), [day, day])
        assert.deepStrictEqual(yield* Diary.read, ["2026-11-20", "2026-11-20"])
      })
    )

    test(
      "die with the step and the original when a step fails with what it did not declare",
      Effect.gen(function* () {
        const error = { _tag: "Known" as const, secret: Number.NaN }
        const wrong = Flow.step("wrong", {
          input: Schema.Void,
          success: Schema.Void,
          error: Schema.Struct({ _tag: Schema.Literal("Known"), secret: Schema.Finite }),
          // What the compiler lets through: the right shape by type, not by value.
          run: () => Effect.fail(error)
        })
        const flow = flowOf(Schema.Void, () => Effect.catch(wrong(undefined), () => Effect.void))
        const defect = yield* defectOf(flow)
        assert.match(defect.message, /the error of the step wrong does not fit its schema/)
        if (!runner.halts) assert.propertyVal(defect, "cause", error)
      })
    )

    test(
      "refuse a path that is used twice, and say what to do",
      Effect.gen(function* () {
        const { message } = yield* defectOf(
          flowOf(Schema.Finite, () => Effect.andThen(note("a", { key: "k" }), note("b", { key: "k" })))
        )
        assert.match(message, /the path note\[k\] is used twice.*key/)
        assert.deepStrictEqual(yield* Diary.read, ["a"])
      })
    )

    test(
      "refuse results that are secret",
      Effect.gen(function* () {
        const secret = Flow.step("secret", {
          input: Schema.Void,
          success: Schema.Struct({ key: Schema.Redacted(Schema.String) }),
          error: Schema.Never,
          run: () => Effect.succeed({ key: Redacted.make("hush") })
        })
        const { message } = yield* defectOf(flowOf(Schema.Void, () => Effect.asVoid(secret(undefined))))
        assert.match(message, /the result of the step secret contains a Redacted/)
      })
    )

    test(
      "refuse results that are too large",
      Effect.gen(function* () {
        const large = Flow.step("large", {
          input: Schema.Void,
          success: Schema.String,
          error: Schema.Never,
          run: () => Effect.succeed("x".repeat(1_000_000))
        })
        const { message } = yield* defectOf(flowOf(Schema.Void, () => Effect.asVoid(large(undefined))))
        assert.match(message, /the result of the step large is 1000002 bytes of JSON/)
      })
    )

    test(
      "send the same idempotency keys when a step is tried again",
      Effect.gen(function* () {
        const posting = Flow.step("posting", {
          input: Schema.Void,
          success: Schema.Void,
          error: Refused,
          retry: { attempts: 2, delay: time(1) },
          run: Effect.fnUntraced(function* () {
            const keys = yield* IdempotencyKeys
            yield* Diary.write(yield* keys.next)
            yield* Diary.write(yield* keys.next)
            if ((yield* Diary.read).length === 2) return yield* new Refused({ why: "lost" })
          })
        })
        yield* resultOf(flowOf(Schema.Void, () => posting(undefined, { key: "a" })))
        const [first = "", second = "", ...again] = yield* Diary.read
        assert.deepStrictEqual(again, [first, second])
        assert.match(first, /^[0-9a-f-]{36}\/posting\[a\]\/1$/)
        assert.match(second, /^[0-9a-f-]{36}\/posting\[a\]\/2$/)
      })
    )

    test(
      "make a key that a header can hold of any path",
      Effect.gen(function* () {
        const posting = Flow.step("posting", {
          input: Schema.Void,
          success: Schema.Void,
          error: Schema.Never,
          run: () => Effect.flatMap(IdempotencyKeys, (keys) => Effect.flatMap(keys.next, Diary.write))
        })
        yield* resultOf(
          flowOf(Schema.Void, () =>
            Effect.andThen(posting(undefined, { key: "ö und ü" }), posting(undefined, { key: "x".repeat(400) }))
          )
        )
        const keys = yield* Diary.read
        assert.strictEqual(new Set(keys).size, 2)
        for (const key of keys) assert.match(key, /^[!-~]{1,255}$/)
      })
    )
  })
}
