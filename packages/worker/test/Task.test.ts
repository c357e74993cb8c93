import { assert, describe, it } from "@effect/vitest"
import { ControlRoomError, Unexpected } from "@signalbox/api/ControlRoomError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { expectTypeOf } from "vitest"
import { runItem } from "../src/internal/items/ItemLoop.ts"
import { runItems } from "../src/internal/tasks/ItemRun.ts"
import * as SessionSource from "../src/internal/items/SessionSource.ts"
import { ApplicationFailure, BusinessFailure } from "../src/Task.ts"
import * as Task from "../src/Task.ts"
import * as MemorySession from "./support/MemorySession.ts"
import { one, runIn, runOne } from "./support/RunOne.ts"

const Order = Schema.Struct({ customer: Schema.Struct({ email: Schema.String }), due: Schema.Date })
const order = { customer: { email: "a@example.com" }, due: "2026-11-20T00:00:00.000Z" }

class Odd extends Schema.TaggedError<Odd>()("Odd", { message: Schema.String }) {}

const failing = <E>(failure: Effect.Effect<never, E>) =>
  Task.make("failing", { input: Schema.Json, output: Schema.Json, run: () => failure })

describe("inputs", () => {
  const due = Task.make("due", {
    input: Order,
    output: Schema.Struct({ day: Schema.Finite, at: Schema.Date }),
    run: (item) => Effect.succeed({ day: item.payload.due.getUTCDate(), at: item.payload.due })
  })

  it.effect("decodes the payload and encodes the output", () =>
    Effect.gen(function* () {
      const { actions, release } = yield* runOne(due, { payload: order })
      assert.deepStrictEqual(release, { state: "COMPLETED" })
      assert.deepStrictEqual(actions, [
        { did: "output", of: "one", payload: { day: 20, at: "2026-11-20T00:00:00.000Z" } }
      ])
    })
  )

  const refused: ReadonlyArray<readonly [string, Schema.Json, string]> = [
    ["a missing key", { customer: {}, due: order.due }, "payload.customer.email: Missing key"],
    ["a wrong type", { customer: { email: 4711 }, due: order.due }, "payload.customer.email: Expected string"],
    ["no payload", null, "payload: Expected object"]
  ]
  for (const [what, payload, message] of refused) {
    it.effect(`fails as INVALID_INPUT on ${what}, naming the field`, () =>
      Effect.gen(function* () {
        const { actions, release } = yield* runOne(due, { payload })
        assert.deepStrictEqual(release, {
          state: "FAILED",
          exception: { type: "BUSINESS", code: "INVALID_INPUT", message }
        })
        assert.deepStrictEqual(actions, [])
      })
    )
  }

  it.effect("never shows the refused value", () =>
    Effect.gen(function* () {
      const task = Task.make("strict", {
        input: Schema.Struct({ pin: Schema.String.check(Schema.isMaxLength(4)), kind: Schema.Literals(["a", "b"]) }),
        output: Schema.Void,
        run: () => Effect.void
      })
      for (const payload of [
        { pin: "hunter2", kind: "a" },
        { pin: "1", kind: "hunter2" }
      ]) {
        const { release } = yield* runOne(task, { payload })
        assert.strictEqual(release.state, "FAILED")
        assert.notInclude(JSON.stringify(release), "hunter2")
      }
    })
  )
})

describe("outputs", () => {
  it.effect("creates none for void", () =>
    Effect.gen(function* () {
      const task = Task.make("quiet", { input: Schema.Json, output: Schema.Void, run: () => Effect.void })
      const { actions, release } = yield* runOne(task, { payload: 1 })
      assert.deepStrictEqual(release, { state: "COMPLETED" })
      assert.deepStrictEqual(actions, [])
    })
  )

  it.effect("creates those of a stream in order, each with its files before the next", () =>
    Effect.gen(function* () {
      const bytes = new TextEncoder().encode("n\n")
      const task = Task.make("split", {
        input: Schema.Array(Schema.Finite),
        output: Schema.Struct({ n: Schema.Finite }),
        run: (item) =>
          Stream.map(Stream.fromIterable(item.payload), (n) =>
            n === 2
              ? { n }
              : Task.output(
                  { n },
                  {
                    files: [
                      { name: `${n}.csv`, bytes },
                      { name: `${n}.txt`, size: 2, stream: Stream.succeed(bytes) }
                    ]
                  }
                )
          )
      })
      const { actions, release } = yield* runOne(task, { payload: [1, 2, 3] })
      assert.deepStrictEqual(release, { state: "COMPLETED" })
      assert.deepStrictEqual(actions, [
        { did: "output", of: "one", payload: { n: 1 } },
        { did: "file", on: "output-1", name: "1.csv", text: "n\n" },
        { did: "file", on: "output-1", name: "1.txt", text: "n\n" },
        { did: "output", of: "one", payload: { n: 2 } },
        { did: "output", of: "one", payload: { n: 3 } },
        { did: "file", on: "output-5", name: "3.csv", text: "n\n" },
        { did: "file", on: "output-5", name: "3.txt", text: "n\n" }
      ])
    })
  )

  it.effect("creates an output as soon as the stream emits it", () =>
    Effect.gen(function* () {
      const task = Task.make("slow", {
        input: Schema.Json,
        output: Schema.Finite,
        run: () => Stream.concat(Stream.succeed(1), Stream.fromEffect(Effect.delay(Effect.succeed(2), "1 hour")))
      })
      const memory = MemorySession.make({ one: { payload: null } })
      const { actions } = memory
      const fiber = yield* Effect.forkChild(runIn(task, memory))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(actions.length, 1)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual((yield* Fiber.join(fiber)).release, { state: "COMPLETED" })
      assert.strictEqual(actions.filter(({ did }) => did === "output").length, 2)
    })
  )

  it.effect("keeps what a failing stream created before, and fails the item", () =>
    Effect.gen(function* () {
      const task = Task.make("half", {
        input: Schema.Json,
        output: Schema.Finite,
        run: () => Stream.concat(Stream.make(1, 2), Stream.fail(new Odd({ message: "no third" })))
      })
      const { actions, release } = yield* runOne(task, { payload: null })
      assert.strictEqual(actions.length, 2)
      assert.deepStrictEqual(release, {
        state: "FAILED",
        exception: { type: "APPLICATION", code: "Odd", message: "no third" },
        dropOutputs: true
      })
    })
  )

  it.effect("keeps what a declared failure follows", () =>
    Effect.gen(function* () {
      const task = Task.make("rejected", {
        input: Schema.Json,
        output: Schema.Finite,
        run: () => Stream.concat(Stream.make(1), Stream.fail(new ApplicationFailure({ code: "ERP", message: "down" })))
      })
      const { actions, release } = yield* runOne(task, { payload: null })
      assert.strictEqual(actions.length, 1)
      const exception = { type: "APPLICATION", code: "ERP", message: "down" } as const
      assert.deepStrictEqual(release, { state: "FAILED", exception })
    })
  )

  it.effect("drops outputs when the response to one was lost, whatever the task makes of it", () =>
    Effect.gen(function* () {
      const lost = MemorySession.make({ one: { payload: 1 } }, (call) =>
        call === "output" ? MemorySession.unreachable : undefined
      )
      const source = SessionSource.make(lost.session, one)
      const reserved = (yield* source.advance(null, true)) ?? assert.fail("no item")
      const { release } = yield* runItem(source, reserved, (item) =>
        Effect.mapError(item.createOutput(1), () => new BusinessFailure({ code: "NO", message: "no" }))
      )
      const exception = { type: "BUSINESS", code: "NO", message: "no" } as const
      assert.deepStrictEqual(release, { state: "FAILED", exception, dropOutputs: true })
    })
  )

  it.effect("fails as INVALID_OUTPUT when an output does not fit its schema", () =>
    Effect.gen(function* () {
      const task = Task.make("wrong", {
        input: Schema.Json,
        output: Schema.Struct({ n: Schema.Finite.check(Schema.isLessThan(10)) }),
        run: () => Effect.succeed({ n: 4711 })
      })
      const { actions, release } = yield* runOne(task, { payload: null })
      assert.deepStrictEqual(actions, [])
      assert.deepStrictEqual(release, {
        state: "FAILED",
        exception: { type: "APPLICATION", code: "INVALID_OUTPUT", message: "payload.n: Expected a value less than 10" },
        dropOutputs: true
      })
    })
  )
})

describe("files", () => {
  const read = Task.make("read", {
    input: Schema.Struct({ file: Schema.String }),
    output: Schema.Struct({ text: Schema.String, names: Schema.Array(Schema.String) }),
    run: (item) =>
      Effect.map(item.readText(item.payload.file), (text) => ({ text, names: item.files.map((file) => file.name) }))
  })
  const files = [
    { name: "a.txt", text: "old" },
    { name: "b.txt", text: "b" },
    { name: "a.txt", text: "Zürich €" }
  ]

  it.effect("reads the last file of a name as UTF-8", () =>
    Effect.gen(function* () {
      const { actions } = yield* runOne(read, { payload: { file: "a.txt" }, files })
      assert.deepStrictEqual(actions, [
        { did: "output", of: "one", payload: { text: "Zürich €", names: ["a.txt", "b.txt", "a.txt"] } }
      ])
    })
  )

  it.effect("names the files that there are when one is missing", () =>
    Effect.gen(function* () {
      const { release } = yield* runOne(read, { payload: { file: "c.txt" }, files: files.slice(0, 2) })
      assert.deepStrictEqual(release, {
        state: "FAILED",
        exception: {
          type: "APPLICATION",
          code: "FileMissing",
          message: 'the work item has no file "c.txt"; its files: "a.txt", "b.txt"'
        },
        dropOutputs: true
      })
    })
  )
})

describe("failures", () => {
  const cases: ReadonlyArray<readonly [string, Effect.Effect<never, unknown>, object]> = [
    [
      "BusinessFailure",
      new BusinessFailure({ code: "NO_EMAIL", message: "the order has no e-mail" }),
      { type: "BUSINESS", code: "NO_EMAIL", message: "the order has no e-mail" }
    ],
    [
      "ApplicationFailure",
      new ApplicationFailure({ code: "ERP_DOWN", message: "the ERP is down" }),
      { type: "APPLICATION", code: "ERP_DOWN", message: "the ERP is down" }
    ],
    [
      "another tagged error",
      new Odd({ message: "first line\n  second line" }),
      { type: "APPLICATION", code: "Odd", message: "first line second line" }
    ],
    [
      "an untagged error",
      // @effect-diagnostics-next-line globalErrorInEffectFailure:off -- what becomes of one is the point here
      Effect.fail(new Error("plain")),
      { type: "APPLICATION", code: "UNEXPECTED", message: "plain" }
    ],
    ["a string", Effect.fail("just text"), { type: "APPLICATION", code: "UNEXPECTED", message: "just text" }],
    [
      "a defect",
      Effect.die(new TypeError("x is not a function")),
      { type: "APPLICATION", code: "UNEXPECTED", message: "x is not a function" }
    ],
    [
      "a BusinessFailure as a defect",
      Effect.orDie(new BusinessFailure({ code: "B", message: "b" })),
      { type: "BUSINESS", code: "B", message: "b" }
    ]
  ]
  for (const [what, failure, exception] of cases) {
    it.effect(`maps ${what}`, () =>
      Effect.gen(function* () {
        const { release } = yield* runOne(failing(failure), { payload: null })
        // Only these two say that the outputs so far are meant.
        const dropped = /(Business|Application)Failure/.test(what) ? {} : { dropOutputs: true }
        assert.deepStrictEqual<unknown>(release, { state: "FAILED", exception, ...dropped })
      })
    )
  }

  it.effect("cuts a long message", () =>
    Effect.gen(function* () {
      const { release } = yield* runOne(failing(Effect.fail("x".repeat(10_000))), { payload: null })
      assert.strictEqual(release.state === "FAILED" && release.exception.message.length, 500)
    })
  )

  it.effect("fails the item when run itself throws", () =>
    Effect.gen(function* () {
      const task = Task.make("throws", {
        input: Schema.Json,
        output: Schema.Json,
        run: (): Effect.Effect<void> => {
          throw new RangeError("out of range")
        }
      })
      const { release } = yield* runOne(task, { payload: null })
      assert.deepStrictEqual(release, {
        state: "FAILED",
        exception: { type: "APPLICATION", code: "UNEXPECTED", message: "out of range" },
        dropOutputs: true
      })
    })
  )

  it.effect("does not turn an interruption into a failure of the item", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(runOne(failing(Effect.interrupt), { payload: null }))
      assert.isTrue(Exit.hasInterrupts(exit))
    })
  )

  it.effect("hands a lost lease on instead of failing the item, from our calls and from the task's", () =>
    Effect.gen(function* () {
      const task = Task.make("echo", {
        input: Schema.Json,
        output: Schema.Json,
        run: (item) => Effect.succeed(item.payload)
      })
      const memory = MemorySession.make({ one: { payload: 1 } }, (call) =>
        call === "output" ? MemorySession.leaseLost : undefined
      )
      const own = yield* Effect.flip(runIn(task, memory))
      const unexpected = new ControlRoomError({
        reason: new Unexpected({ status: 409, code: "LEASE_LOST", message: "the step run has ended" }),
        request: MemorySession.leaseLost.request
      })
      const through = yield* Effect.flip(runOne(failing(Effect.fail(unexpected)), { payload: null }))
      assert.deepStrictEqual([own._tag, through._tag], ["LeaseLost", "LeaseLost"])
    })
  )
})

describe("services", () => {
  class Prices extends Context.Service<Prices, { readonly of: (name: string) => number }>()("test/Prices") {}
  const price = Task.make("price", {
    input: Schema.String,
    output: Schema.Finite,
    run: Effect.fnUntraced(function* (item) {
      const prices = yield* Prices
      return prices.of(item.payload)
    })
  })

  it.effect("are provided from outside, and typed", () =>
    Effect.gen(function* () {
      expectTypeOf<Task.Services<typeof price>>().toEqualTypeOf<Prices>()
      const { actions } = yield* Effect.provideService(
        runOne(price, { payload: "tea" }),
        Prices,
        Prices.of({ of: (name) => name.length })
      )
      assert.deepStrictEqual(actions, [{ did: "output", of: "one", payload: 3 }])
    })
  )
})

describe("the items of a step run", () => {
  const half = Task.make("half", {
    input: Schema.Finite,
    output: Schema.Finite,
    run: (item) => {
      if (item.payload === 2) return Effect.die(new Error("two"))
      if (item.payload === 3) return Effect.fail(new BusinessFailure({ code: "ODD", message: "three" }))
      return Effect.succeed(item.payload / 2)
    }
  })
  const items = { one: { payload: 1 }, two: { payload: 2 }, three: { payload: 3 }, four: { payload: 4 } }

  it.effect("are all taken, whatever one of them fails with", () =>
    Effect.gen(function* () {
      const { actions, session, tools } = MemorySession.make(items)
      const counts = yield* runItems(half, session, SessionSource.make(session, one), Effect.succeed(true), tools)
      assert.deepStrictEqual(counts, { completed: 2, failed: 2, unexpected: 1 })
      assert.deepStrictEqual(
        actions.map((action) => (action.did === "release" ? `${action.item} ${action.how.state}` : action.did)),
        ["output", "one COMPLETED", "two FAILED", "three FAILED", "output", "four COMPLETED"]
      )
    })
  )

  it.effect("end after the reserved one when no more may be reserved", () =>
    Effect.gen(function* () {
      const { session, tools } = MemorySession.make(items)
      assert.deepStrictEqual(
        yield* runItems(half, session, SessionSource.make(session, one), Effect.succeed(false), tools),
        {
          completed: 1,
          failed: 0,
          unexpected: 0
        }
      )
    })
  )

  it.effect("wait for an unavailable service, and release once", () =>
    Effect.gen(function* () {
      let away = 5
      const { actions, session, tools } = MemorySession.make({ one: { payload: 1 } }, (call) =>
        call === "release" && away-- > 0 ? MemorySession.unreachable : undefined
      )
      const fiber = yield* Effect.forkChild(
        runItems(half, session, SessionSource.make(session, one), Effect.succeed(true), tools)
      )
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), { completed: 1, failed: 0, unexpected: 0 })
      assert.deepStrictEqual(
        actions.map((action) => action.did),
        ["output", "release"]
      )
    })
  )
})
