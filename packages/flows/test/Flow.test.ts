import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import * as Flow from "../src/Flow.ts"
import { FlowDefect } from "../src/FlowDefect.ts"
import { FlowEvents } from "../src/FlowEvents.ts"

/** Remembers what steps did. */
class Diary extends Context.Service<Diary, Ref.Ref<ReadonlyArray<string>>>()("test/Diary") {
  static readonly layer = Layer.effect(Diary, Ref.make<ReadonlyArray<string>>([]))
  static readonly write = (line: string) =>
    Effect.flatMap(
      Diary,
      Ref.update((lines) => [...lines, line])
    )
  static readonly read = Effect.flatMap(Diary, (diary) => Ref.get(diary))
}

class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {}

const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.Finite,
  error: Refused,
  run: Effect.fnUntraced(function* (text) {
    if (text === "") return yield* new Refused({ why: "nothing to note" })
    yield* Diary.write(text)
    return text.length
  })
})

/** A flow of no input around a body. */
const flowOf = <S extends Schema.ConstraintCodec<unknown, unknown>, C extends Flow.FlowContext<unknown>>(
  success: S,
  body: () => Effect.Effect<S["Type"], Refused, C>
) =>
  Flow.make("test", {
    version: 1,
    input: Schema.Void,
    success,
    error: Refused,
    idempotencyKey: () => "one",
    run: body
  })

const defectOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), (exit) => {
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), "expected a defect")
    const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert.instanceOf(defect, FlowDefect)
    return defect
  })

/** The paths of the steps that an effect runs, in the order in which they start. */
const pathsOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const paths: Array<string> = []
  yield* Effect.provideService(effect, FlowEvents, {
    publish: (event) =>
      Effect.sync(() => {
        if (event._tag === "StepStarted") paths.push(event.path)
      })
  })
  return paths
})

describe("run", () => {
  it.effect("returns the result of the body, with the services of the steps", () =>
    Effect.gen(function* () {
      const flow = Flow.make("sum", {
        version: 1,
        input: Schema.Array(Schema.String),
        success: Schema.Finite,
        error: Refused,
        idempotencyKey: (texts) => texts.join(),
        run: Effect.fnUntraced(function* ([first = "", second = ""]) {
          return (yield* note(first, { key: "1" })) + (yield* note(second, { key: "2" }))
        })
      })
      assert.strictEqual(yield* Flow.run(flow, ["ab", "cde"]), 5)
      assert.deepStrictEqual(yield* Diary.read, ["ab", "cde"])
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("fails with the very error of the step", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Flow.run(
          flowOf(Schema.Finite, () => note("")),
          undefined
        )
      )
      assert.instanceOf(error, Refused)
      assert.strictEqual(error.why, "nothing to note")
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("lets a body handle errors of steps", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () =>
        Effect.catchTag(note(""), "Refused", () => note("instead", { key: "2" }))
      )
      assert.strictEqual(yield* Flow.run(flow, undefined), 7)
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("dies when the input does not fit, and names the place but not the value", () =>
    Effect.gen(function* () {
      const flow = Flow.make("small", {
        version: 1,
        input: Schema.Struct({ count: Schema.Finite.check(Schema.isLessThan(10)) }),
        success: Schema.Void,
        error: Schema.Never,
        idempotencyKey: () => "one",
        run: () => Effect.void
      })
      const { message } = yield* defectOf(Flow.run(flow, { count: 4711 }))
      assert.match(message, /the input of the flow small does not fit its schema/)
      assert.match(message, /count/)
      assert.notMatch(message, /4711/)
    })
  )

  it.effect("creates a new execution each time", () =>
    Effect.gen(function* () {
      const ids = new Set<string>()
      const flow = flowOf(Schema.Finite, () => note("once"))
      const listener = {
        publish: (event: { executionId: string }) => Effect.sync(() => void ids.add(event.executionId))
      }
      yield* Effect.replicateEffect(Flow.run(flow, undefined), 3).pipe(Effect.provideService(FlowEvents, listener))
      assert.strictEqual(ids.size, 3)
      for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("has a span for the flow and one for each step below it", () =>
    Effect.gen(function* () {
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      yield* Flow.run(
        flowOf(Schema.Finite, () => note("traced", { key: "k" })),
        undefined
      ).pipe(Effect.provideService(Tracer.Tracer, tracer))
      assert.deepStrictEqual(
        spans.map((span) => span.name),
        ["flow test", "step note"]
      )
      assert.strictEqual(spans[1]?.attributes.get("flow.path"), "note[k]")
      assert.strictEqual(spans[0]?.attributes.get("flow.execution_id"), spans[1]?.attributes.get("flow.execution_id"))
    }).pipe(Effect.provide(Diary.layer))
  )
})

describe("inputs and results of a step", () => {
  const giving = <S extends Schema.ConstraintCodec<unknown, unknown>>(success: S, value: S["Type"]) => {
    const give = Flow.step("give", {
      input: Schema.Void,
      success,
      error: Schema.Never,
      run: () => Effect.succeed(value)
    })
    return Flow.run(
      flowOf(Schema.Void, () => Effect.asVoid(give(undefined))),
      undefined
    )
  }

  it.effect("are what their JSON decodes to", () =>
    Effect.gen(function* () {
      const Day = Schema.Struct({ at: Schema.Date, name: Schema.String })
      const seen: Array<unknown> = []
      const today = Flow.step("today", {
        input: Day,
        success: Day,
        error: Schema.Never,
        run: (day) => {
          seen.push(day)
          return Effect.succeed(day)
        }
      })
      const at = new Date("2026-11-20T08:00:00.000Z")
      const day = { at, name: "Friday", extra: "not of the schema" }
      const flow = flowOf(Schema.Void, () => Effect.map(today(day), (result) => void seen.push(result)))
      yield* Flow.run(flow, undefined)
      assert.deepStrictEqual(seen, [
        { at, name: "Friday" },
        { at, name: "Friday" }
      ])
    })
  )

  it.effect("dies when the input does not fit", () =>
    Effect.gen(function* () {
      const short = Flow.step("short", {
        input: Schema.String.check(Schema.isMaxLength(3)),
        success: Schema.Void,
        error: Schema.Never,
        run: () => Effect.void
      })
      const { message } = yield* defectOf(
        Flow.run(
          flowOf(Schema.Void, () => short("too long", { key: "a" })),
          undefined
        )
      )
      assert.match(message, /the input of the step short\[a\] does not fit/)
      assert.notMatch(message, /too long/)
    })
  )

  it.effect("dies when the result is no JSON", () =>
    Effect.gen(function* () {
      const { message } = yield* defectOf(giving(Schema.Unknown, () => "a function"))
      assert.match(message, /the result of the step give does not fit/)
    })
  )

  it.effect("takes a result of 1 MB and refuses a byte more", () =>
    Effect.gen(function* () {
      yield* giving(Schema.String, "x".repeat(999_998))
      const { message } = yield* defectOf(giving(Schema.String, "x".repeat(999_999)))
      assert.match(message, /the result of the step give is 1000001 bytes of JSON, more than 1000000: store large data/)
      const umlauts = yield* defectOf(giving(Schema.String, "ü".repeat(500_000)))
      assert.match(umlauts.message, /1000002 bytes/)
    })
  )

  it.effect("takes inputs and results of many parts", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 300_000 }, (_, index) => index % 10)
      yield* giving(Schema.Array(Schema.Finite), many)
    })
  )

  it.effect("refuses a secret, wherever it is in the result, the input or the error", () =>
    Effect.gen(function* () {
      const Key = Schema.Struct({ keys: Schema.Array(Schema.Redacted(Schema.String)) })
      const keys = { keys: [Redacted.make("hunter2")] }
      const result = yield* defectOf(giving(Key, keys))
      assert.match(result.message, /the result of the step give contains a Redacted/)
      for (const holder of [Option.some(keys), new Map([["a", keys]]), new Set([keys]), Redacted.make(keys)]) {
        const deep = yield* defectOf(giving(Schema.Unknown, holder))
        assert.match(deep.message, /the result of the step give contains a Redacted/)
      }

      class Leak extends Schema.TaggedError<Leak>()("Leak", { key: Schema.Redacted(Schema.String) }) {}
      const use = Flow.step("use", {
        input: Key,
        success: Schema.Void,
        error: Schema.Never,
        run: () => Effect.void
      })
      const input = yield* defectOf(
        Flow.run(
          flowOf(Schema.Void, () => use(keys)),
          undefined
        )
      )
      assert.match(input.message, /the input of the step use contains a Redacted/)
      const fail = Flow.step("fail", {
        input: Schema.Void,
        success: Schema.Void,
        error: Leak,
        run: () => Effect.fail(new Leak({ key: Redacted.make("hunter2") }))
      })
      const error = yield* defectOf(
        Flow.run(
          flowOf(Schema.Void, () => Effect.orDie(fail(undefined))),
          undefined
        )
      )
      assert.match(error.message, /the error of the step fail contains a Redacted/)
    })
  )

  it.effect("dies with the original as the cause when an error does not fit", () =>
    Effect.gen(function* () {
      class Short extends Schema.TaggedError<Short>()("Short", { why: Schema.String }) {}
      const original = new Short({ why: "far too long" })
      const fail = Flow.step("fail", {
        input: Schema.Void,
        success: Schema.Void,
        error: Short.check(Schema.makeFilter((error) => error.why.length < 3)),
        run: () => Effect.fail(original)
      })
      const defect = yield* defectOf(
        Flow.run(
          flowOf(Schema.Void, () => Effect.orDie(fail(undefined))),
          undefined
        )
      )
      assert.match(defect.message, /the error of the step fail does not fit its schema/)
      assert.strictEqual(defect.cause, original)
    })
  )

  it.effect("does not let a step call a step", () =>
    Effect.gen(function* () {
      const outer = Flow.step("outer", {
        input: Schema.Void,
        success: Schema.DateTimeUtc,
        error: Schema.Never,
        run: () => Flow.now("inner")
      })
      const flow = flowOf(Schema.Void, () => Effect.asVoid(outer(undefined)))
      // @ts-expect-error the requirement that nothing provides shows up in the type
      // @effect-diagnostics-next-line missingEffectContext:off
      const ready: Effect.Effect<void, Refused> = Flow.run(flow, undefined)
      assert.match((yield* defectOf(ready)).message, /a step was called outside the body of a flow/)
    })
  )
})

describe("retry and timeout", () => {
  const failing = (times: number, options: { attempts: number; backoff?: number }) => {
    let calls = 0
    return Flow.step("failing", {
      input: Schema.Void,
      success: Schema.Finite,
      error: Refused,
      retry: { delay: "1 second", while: (error) => error.why === "busy", ...options },
      run: () =>
        Effect.suspend(() => (++calls <= times ? Effect.fail(new Refused({ why: "busy" })) : Effect.succeed(calls)))
    })
  }

  it.effect("runs a step again after growing pauses", () =>
    Effect.gen(function* () {
      const step = failing(2, { attempts: 3 })
      const fiber = yield* Effect.forkChild(
        Flow.run(
          flowOf(Schema.Finite, () => step(undefined)),
          undefined
        )
      )
      yield* TestClock.adjust(2_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(fiber), 3)
    })
  )

  it.effect("keeps pauses equal with a backoff of 1", () =>
    Effect.gen(function* () {
      const step = failing(3, { attempts: 4, backoff: 1 })
      const fiber = yield* Effect.forkChild(
        Flow.run(
          flowOf(Schema.Finite, () => step(undefined)),
          undefined
        )
      )
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), 4)
    })
  )

  it.effect("fails after the last attempt", () =>
    Effect.gen(function* () {
      const step = failing(9, { attempts: 2 })
      const flow = flowOf(Schema.Finite, () => step(undefined))
      const fiber = yield* Effect.forkChild(Effect.flip(Flow.run(flow, undefined)))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).why, "busy")
    })
  )

  it.effect("does not repeat what is not worth it, nor defects", () =>
    Effect.gen(function* () {
      let calls = 0
      const step = Flow.step("final", {
        input: Schema.Boolean,
        success: Schema.Void,
        error: Refused,
        retry: { attempts: 5, while: (error) => error.why === "busy" },
        run: (dies) => {
          calls++
          return dies ? Effect.die("broken") : Effect.fail(new Refused({ why: "never" }))
        }
      })
      yield* Effect.exit(
        Flow.run(
          flowOf(Schema.Void, () => step(false)),
          undefined
        )
      )
      yield* Effect.exit(
        Flow.run(
          flowOf(Schema.Void, () => step(true)),
          undefined
        )
      )
      assert.strictEqual(calls, 2)
    })
  )

  it.effect("interrupts an attempt that takes too long, and fails with StepTimeout", () =>
    Effect.gen(function* () {
      let interrupted = 0
      const slow = Flow.step("slow", {
        input: Schema.Void,
        success: Schema.Void,
        error: Schema.Never,
        timeout: "10 seconds",
        retry: { attempts: 2, delay: "1 second", while: (error) => error._tag === "StepTimeout" },
        run: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))
      })
      const flow = Flow.make("test", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: slow.error,
        idempotencyKey: () => "one",
        run: () => slow(undefined)
      })
      const fiber = yield* Effect.forkChild(Effect.flip(Flow.run(flow, undefined)))
      yield* TestClock.adjust("21 seconds")
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error.message, "the step slow took longer than 10000 ms")
      assert.strictEqual(interrupted, 2)
    })
  )
})

describe("paths", () => {
  it.effect("are made of the names and keys of what is around a step", () =>
    Effect.gen(function* () {
      const part = Flow.make("part", {
        version: 1,
        input: Schema.String,
        success: Schema.Finite,
        error: Refused,
        idempotencyKey: (text) => text,
        run: (text) => note(text)
      })
      const flow = flowOf(
        Schema.Void,
        Effect.fnUntraced(function* () {
          yield* Flow.forEach("file", ["a.csv", "dir/b[1].csv"], { key: (file) => file }, (file) =>
            Effect.andThen(note(file), note(file, { key: "again" }))
          )
          yield* Flow.all("both", { left: note("l"), right: Flow.call(part, "r") })
          yield* Flow.all("pair", [note("0"), Flow.sleep("nap", 0)])
          yield* Flow.call(part, "p", { key: "k" })
          yield* Flow.now("end")
        })
      )
      assert.deepStrictEqual(yield* pathsOf(Flow.run(flow, undefined)), [
        "file[a.csv]/note",
        "file[a.csv]/note[again]",
        "file[dir/b[1\\].csv]/note",
        "file[dir/b[1\\].csv]/note[again]",
        "both[left]/note",
        "both[right]/part",
        "both[right]/part/note",
        "pair[0]/note",
        "pair[1]/nap",
        "part[k]",
        "part[k]/note",
        "end"
      ])
    }).pipe(Effect.provide(Diary.layer))
  )

  const twice = (body: () => Effect.Effect<unknown, Refused, Flow.FlowContext<Diary>>) =>
    defectOf(
      Flow.run(
        flowOf(Schema.Void, () => Effect.asVoid(body())),
        undefined
      )
    ).pipe(
      Effect.map((defect) => defect.message),
      Effect.provide(Diary.layer)
    )

  it.effect("used twice are a defect that says which, and what to do", () =>
    Effect.gen(function* () {
      const message = yield* twice(() => Effect.andThen(note("a", { key: "k" }), note("b", { key: "k" })))
      assert.match(message, /the path note\[k\] is used twice/)
      assert.match(message, /give each use a different key/)
    })
  )

  it.effect("count for keys, loops, sub-flows and sleeps", () =>
    Effect.gen(function* () {
      assert.match(
        yield* twice(() => Flow.forEach("f", ["a", "a"], { key: (x) => x }, (x) => note(x))),
        /path f\[a\] is used twice/
      )
      assert.match(
        yield* twice(() => Effect.andThen(Flow.sleep("nap", 0, { key: "k" }), Flow.sleep("nap", 0, { key: "k" }))),
        /path nap\[k\] is used twice/
      )
    })
  )

  it.effect("are numbered where a call has no key", () =>
    Effect.gen(function* () {
      const flow = flowOf(
        Schema.Void,
        Effect.fnUntraced(function* () {
          yield* note("a")
          yield* note("b")
          yield* Flow.sleep("nap", 0)
          yield* Flow.sleep("nap", 0)
          for (const text of ["c", "d"]) yield* Flow.forEach("f", [text], { key: (x) => x }, (x) => note(x))
        })
      )
      assert.deepStrictEqual(yield* pathsOf(Flow.run(flow, undefined)), [
        "note",
        "note#2",
        "nap",
        "nap#2",
        "f[c]/note",
        "f#2[d]/note"
      ])
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("are separate for executions, and no two keys make equal paths", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Finite, () => note("a"))
      yield* Flow.run(flow, undefined)
      yield* Flow.run(flow, undefined)
      const tricky = flowOf(Schema.Void, () =>
        Effect.asVoid(Effect.all([note("1", { key: "a]" }), note("2", { key: "a\\]" }), note("3", { key: "a" })]))
      )
      yield* Flow.run(tricky, undefined)
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("take no slashes, brackets or number signs from names", () =>
    Effect.gen(function* () {
      for (const name of ["a/b", "a[b]", "a#2", ""]) {
        const message = yield* twice(() => Flow.sleep(name, 0))
        assert.match(message, /cannot be part of a path/)
      }
    })
  )
})

describe("forEach and all", () => {
  it.effect("run as many at a time as asked, and keep the order of results", () =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const slow = Flow.step("slow", {
        input: Schema.Finite,
        success: Schema.Finite,
        error: Schema.Never,
        run: (millis) =>
          Effect.gen(function* () {
            most = Math.max(most, ++running)
            yield* Effect.sleep(millis)
            running--
            return millis
          })
      })
      const flow = flowOf(Schema.Array(Schema.Finite), () =>
        Flow.forEach("n", [40, 10, 30, 20], { key: String, concurrency: 2 }, (millis) => slow(millis))
      )
      const fiber = yield* Effect.forkChild(Flow.run(flow, undefined))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(fiber), [40, 10, 30, 20])
      assert.strictEqual(most, 2)
    })
  )

  it.effect("are one after the other by default, and interrupt the rest when one fails", () =>
    Effect.gen(function* () {
      const flow = flowOf(Schema.Void, () =>
        Effect.asVoid(Flow.forEach("n", ["a", "", "b"], { key: (_, index) => `${index}` }, (text) => note(text)))
      )
      yield* Effect.flip(Flow.run(flow, undefined))
      assert.deepStrictEqual(yield* Diary.read, ["a"])
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("all returns the shape of its members", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const flow = flowOf(
        Schema.Void,
        Effect.fnUntraced(function* () {
          seen.push(yield* Flow.all("record", { a: note("x"), b: Flow.sleep("nap", 0) }, { concurrency: "unbounded" }))
          seen.push(yield* Flow.all("tuple", [note("xy"), note("xyz")]))
          seen.push(yield* Flow.all("nothing", []))
        })
      )
      yield* Flow.run(flow, undefined)
      assert.deepStrictEqual(seen, [{ a: 1, b: undefined }, [2, 3], []])
    }).pipe(Effect.provide(Diary.layer))
  )
})

describe("time and sub-flows", () => {
  it.effect("sleep waits, now returns the time", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2026-11-20T08:00:00.000Z"))
      const flow = flowOf(
        Schema.String,
        Effect.fnUntraced(function* () {
          yield* Flow.sleep("nap", "1 day")
          return DateTime.formatIso(yield* Flow.now("woke"))
        })
      )
      const fiber = yield* Effect.forkChild(Flow.run(flow, undefined))
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* Fiber.join(fiber), "2026-11-21T08:00:00.000Z")
    })
  )

  it.effect("a sub-flow hands on its result and its error, and records both", () =>
    Effect.gen(function* () {
      const part = Flow.make("part", {
        version: 1,
        input: Schema.String,
        success: Schema.String.check(Schema.isMaxLength(3)),
        error: Refused,
        idempotencyKey: (text) => text,
        run: (text) => Effect.as(note(text), text)
      })
      const run = (text: string) =>
        Flow.run(
          flowOf(Schema.String, () => Flow.call(part, text)),
          undefined
        )
      assert.strictEqual(yield* run("abc"), "abc")
      assert.instanceOf(yield* Effect.flip(run("")), Refused)
      assert.match((yield* defectOf(run("abcd"))).message, /the result of the flow part does not fit/)
    }).pipe(Effect.provide(Diary.layer))
  )

  it.effect("a step can run a whole flow", () =>
    Effect.gen(function* () {
      const inner = flowOf(Schema.Finite, () => note("inner"))
      const nested = Flow.step("note", {
        input: Schema.Void,
        success: Schema.Finite,
        error: Refused,
        run: () => Flow.run(inner, undefined)
      })
      assert.strictEqual(
        yield* Flow.run(
          flowOf(Schema.Finite, () => nested(undefined)),
          undefined
        ),
        5
      )
    }).pipe(Effect.provide(Diary.layer))
  )
})
