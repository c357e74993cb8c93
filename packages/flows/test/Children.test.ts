import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Flow from "../src/Flow.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", { by: Schema.String }) {}

const log: Array<string> = []
const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: (text) =>
    Effect.sync(() => {
      log.push(text)
      return text
    })
})
const price = Flow.signal("price", Schema.Finite)
const offers = Flow.inbox("offers", Schema.String)

const common = {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  idempotencyKey: (text: string) => text
} as const

/** Takes a day; what it does is undone when it is cancelled. */
const child = Flow.make("child", {
  ...common,
  error: Refused,
  run: Effect.fnUntraced(function* (text) {
    yield* Flow.compensate(note(`${text} begun`), () => note(`${text} undone`))
    yield* Flow.sleep("day", "1 day")
    if (text === "bad") return yield* Effect.fail(new Refused({ by: text }))
    return `${text} done`
  })
})
const priced = Flow.make("priced", {
  ...common,
  error: Schema.Never,
  signals: [price, offers],
  run: Effect.fnUntraced(function* () {
    const value = yield* price.receive()
    const [one, two] = [yield* offers.receive(), yield* offers.receive()]
    return `${value} ${one} ${two}`
  })
})
const broken = Flow.make("broken", { ...common, error: Schema.Never, run: () => Effect.die(new Error("a typo")) })

const parents = {
  waits: Flow.make("waits", {
    ...common,
    error: Flow.errorsOf(child, Flow.FlowCancelled),
    run: Effect.fnUntraced(function* (text) {
      const started = yield* Flow.start(child, text)
      yield* note(`${text} runs beside`)
      return yield* started.result
    })
  }),
  leaves: Flow.make("leaves", {
    ...common,
    error: Flow.InvalidInput,
    run: Effect.fnUntraced(function* (text) {
      yield* Flow.start(child, `${text} cancelled`)
      yield* Flow.start(child, `${text} left`, { onParentEnd: "leave" })
      yield* Flow.sleep("hour", "1 hour")
      return text
    })
  }),
  twice: Flow.make("twice", {
    ...common,
    error: Flow.errorsOf(child, Flow.FlowCancelled),
    run: Effect.fnUntraced(function* (text) {
      const one = yield* Flow.start(child, text, { key: "same" })
      const two = yield* Flow.start(child, text, { key: "same" })
      return `${one.id === two.id} ${yield* two.result}`
    })
  }),
  sends: Flow.make("sends", {
    ...common,
    error: Flow.errorsOf(priced, Flow.FlowCancelled, Flow.SignalConflict, Flow.ExecutionConflict),
    run: Effect.fnUntraced(function* (text) {
      const started = yield* Flow.start(priced, text)
      yield* started.signal(offers, "a")
      yield* started.signal(offers, "b")
      yield* started.signal(price, 12)
      return yield* started.result
    })
  }),
  finds: Flow.make("finds", {
    ...common,
    error: Flow.errorsOf(
      priced,
      Flow.ExecutionNotFound,
      Flow.FlowCancelled,
      Flow.SignalConflict,
      Flow.ExecutionConflict
    ),
    run: Effect.fnUntraced(function* (text) {
      const found = yield* Flow.find(priced, text)
      yield* found.signal(offers, "a")
      yield* found.signal(offers, "b")
      yield* found.signal(price, 12)
      return yield* found.result
    })
  }),
  cancels: Flow.make("cancels", {
    ...common,
    error: Flow.errorsOf(child),
    run: Effect.fnUntraced(function* (text) {
      const started = yield* Flow.start(child, text)
      yield* Flow.sleep("hour", "1 hour")
      yield* started.cancel
      return yield* Effect.catchTag(started.result, "FlowCancelled", () => Effect.succeed("cancelled"))
    })
  }),
  many: Flow.make("many", {
    ...common,
    error: Flow.errorsOf(child, Flow.FlowCancelled),
    run: (text) =>
      Effect.map(
        Flow.forEach("item", ["a", "b", "c", "d", "e"], { key: String, concurrency: "unbounded" }, (item) =>
          Effect.flatMap(Flow.start(child, `${text} ${item}`), ({ result }) => result)
        ),
        (all) => all.join()
      )
  }),
  hopes: Flow.make("hopes", {
    ...common,
    error: Flow.errorsOf(broken, Flow.FlowCancelled),
    run: (text) => Effect.flatMap(Flow.start(broken, text), ({ result }) => result)
  })
}

const engine = Layer.fresh(
  Layer.mergeAll(
    Flow.layer(child),
    Flow.layer(priced),
    Flow.layer(broken),
    Flow.layer(parents.waits),
    Flow.layer(parents.leaves),
    Flow.layer(parents.twice),
    Flow.layer(parents.sends),
    Flow.layer(parents.finds),
    Flow.layer(parents.cancels),
    Flow.layer(parents.many),
    Flow.layer(parents.hopes)
  ).pipe(Layer.provideMerge(FlowEngine.layerMemory))
)
const childIn = (flow: string) => Effect.map(FlowExecutions.list({ flow }), ({ executions }) => executions)

describe("a child execution", () => {
  it.effect("runs beside its parent, which awaits its result", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(parents.waits, "x")
      yield* TestClock.adjust("1 hour")
      assert.includeMembers(log, ["x runs beside", "x begun"])
      const [started] = yield* childIn("child")
      assert.strictEqual(started?.parent, id)
      assert.strictEqual(started?.key, `${id}/child`)
      const seen = yield* FlowExecutions.inspect(id)
      assert.deepStrictEqual(
        seen.now.map(({ kind, path, subject }) => ({ kind, path, subject })),
        [{ kind: "child", path: "child/result", subject: `execution ${started?.id}` }]
      )
      assert.strictEqual(seen.steps[0]?.kind, "child")
      yield* TestClock.adjust("1 day")
      assert.strictEqual(yield* Flow.execute(parents.waits, "x"), "x done")
    }).pipe(Effect.provide(engine))
  )

  it.effect("passes its typed error to its parent", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.exit(Flow.execute(parents.waits, "bad")))
      yield* TestClock.adjust("2 days")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.fail(new Refused({ by: "bad" })))
    }).pipe(Effect.provide(engine))
  )

  it.effect("is cancelled when its parent ends, unless it is to be left", () =>
    Effect.gen(function* () {
      yield* Flow.submit(parents.leaves, "end")
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual((yield* childIn("child")).map(({ state }) => state).toSorted(), ["cancelled", "waiting"])
      assert.include(log, "end cancelled undone")
      yield* TestClock.adjust("1 day")
      assert.notInclude(log, "end left undone")
      assert.deepStrictEqual((yield* childIn("child")).map(({ state }) => state).toSorted(), ["cancelled", "completed"])
    }).pipe(Effect.provide(engine))
  )

  for (const [command, run] of [
    ["cancelled", FlowExecutions.cancel],
    ["terminated", FlowExecutions.terminate]
  ] as const) {
    it.effect(`is cancelled when its parent is ${command}`, () =>
      Effect.gen(function* () {
        const id = yield* Flow.submit(parents.waits, command)
        yield* TestClock.adjust("1 hour")
        yield* run(id)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* childIn("child"))[0]?.state, "cancelled")
        assert.include(log, `${command} undone`)
      }).pipe(Effect.provide(engine))
    )
  }

  it.effect("is one for one key", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Flow.execute(parents.twice, "y"))
      yield* TestClock.adjust("2 days")
      assert.strictEqual(yield* Fiber.join(fiber), "true y done")
      assert.strictEqual((yield* childIn("child")).length, 1)
    }).pipe(Effect.provide(engine))
  )

  it.effect("is sent signals and messages", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Flow.execute(parents.sends, "s"), "12 a b")
    }).pipe(Effect.provide(engine))
  )

  it.effect("that another program started is found by its flow and key, and lives on when the finder ends", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(priced, "f")
      const finder = yield* Flow.submit(parents.finds, "f")
      assert.strictEqual(yield* Flow.execute(parents.finds, "f"), "12 a b")
      assert.strictEqual((yield* FlowExecutions.get(id)).parent, null)
      const waiting = yield* Flow.submit(priced, "g")
      assert.notStrictEqual(finder, waiting)
      yield* FlowExecutions.cancel(yield* Flow.submit(parents.finds, "g"))
      yield* TestClock.adjust("1 minute")
      assert.notStrictEqual((yield* FlowExecutions.get(waiting)).state, "cancelled")
    }).pipe(Effect.provide(engine))
  )

  it.effect("that does not exist is an error of the finder, also when it is started later", () =>
    Effect.gen(function* () {
      const missing = yield* Effect.flip(Flow.execute(parents.finds, "late"))
      assert.deepStrictEqual(missing, new Flow.ExecutionNotFound({ execution: "priced late" }))
      yield* Flow.submit(priced, "late")
      assert.deepStrictEqual(yield* Effect.flip(Flow.execute(parents.finds, "late")), missing)
      assert.deepStrictEqual(
        yield* Effect.flip(Flow.run(parents.finds, "plain")),
        new Flow.ExecutionNotFound({ execution: "priced plain" })
      )
    }).pipe(Effect.provide(engine))
  )

  it.effect("is cancelled by its parent, which continues", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Flow.execute(parents.cancels, "c"))
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(yield* Fiber.join(fiber), "cancelled")
      assert.include(log, "c undone")
    }).pipe(Effect.provide(engine))
  )

  it.effect("wakes its parent among many", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Flow.execute(parents.many, "m"))
      yield* TestClock.adjust("2 days")
      assert.strictEqual(yield* Fiber.join(fiber), "m a done,m b done,m c done,m d done,m e done")
    }).pipe(Effect.provide(engine))
  )

  it.effect("that is halted is waited for, and the parent says so", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(parents.hopes, "h")
      yield* TestClock.adjust("1 hour")
      const { execution, summary } = yield* FlowExecutions.inspect(id)
      assert.strictEqual(execution.state, "waiting")
      assert.match(summary, /waits in broken\/result for the execution .*, which is halted: a typo/)
      const [halted] = yield* childIn("broken")
      yield* FlowExecutions.terminate(halted?.id ?? "")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* FlowExecutions.get(id)).state, "failed")
    }).pipe(Effect.provide(engine))
  )

  it.effect("in a plain run runs beside, in memory", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(
        Effect.all(
          [
            Flow.run(parents.waits, "plain"),
            Effect.flip(Flow.run(parents.waits, "bad")),
            Flow.run(parents.twice, "plain2"),
            Flow.run(parents.sends, "plain3"),
            Flow.run(parents.cancels, "plain4"),
            Flow.run(parents.leaves, "plain5")
          ],
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust("2 days")
      assert.deepStrictEqual(yield* Fiber.join(fiber), [
        "plain done",
        new Refused({ by: "bad" }),
        "true plain2 done",
        "12 a b",
        "cancelled",
        "plain5"
      ])
      assert.includeMembers(log, ["plain4 undone", "plain5 cancelled undone"])
    })
  )
})
