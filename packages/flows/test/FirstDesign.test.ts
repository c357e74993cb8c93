/**
 * A database of the first design, with executions that wait, retry, undo and were run again, as `fixtures/first-design.sql`
 * has it: every one continues, and no POST is doubled. (Its process was killed while an undo ran.)
 */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { IdempotencyKeys } from "@signalbox/api/Idempotency"
import * as Flow from "../src/Flow.ts"
import { FlowCancelled } from "../src/FlowErrors.ts"
import { FlowEngine } from "../src/FlowEngine.ts"
import * as FlowExecutions from "../src/FlowExecutions.ts"
import { temporaryFile } from "./support/Files.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {}

/** The POSTs of this process: what, and under which key. */
class Posts extends Context.Service<Posts, Ref.Ref<ReadonlyArray<string>>>()("test/Posts") {
  static readonly layer = Layer.effect(Posts, Ref.make<ReadonlyArray<string>>([]))
}

const posted = Effect.fnUntraced(function* (what: string) {
  const key = yield* (yield* IdempotencyKeys).next
  yield* Ref.update(yield* Posts, (posts) => [...posts, `${what} under ${key}`])
})

const post = Flow.step("post", {
  input: Schema.String,
  success: Schema.String,
  error: Refused,
  run: (what) => Effect.as(posted(what), `posted ${what}`)
})
const flaky = Flow.step("flaky", {
  input: Schema.Void,
  success: Schema.String,
  error: Refused,
  retry: { attempts: 5, delay: "1 hour" },
  run: () => Effect.as(posted("flaky"), "in the end")
})
const slow = Flow.step("slow", { input: Schema.String, success: Schema.Void, error: Schema.Never, run: posted })

const go = Flow.signal("go", Schema.String)

const flow = <C extends Flow.FlowContext<unknown>>(name: string, run: () => Effect.Effect<string, Refused, C>) =>
  Flow.make(name, {
    version: 1,
    input: Schema.String,
    success: Schema.String,
    error: Refused,
    idempotencyKey: (key) => key,
    signals: [go],
    run
  })

const sleeper = flow(
  "sleeper",
  Effect.fnUntraced(function* () {
    yield* post("sleeper 1", { key: "1" })
    yield* Flow.sleep("nap", "30 days")
    return yield* post("sleeper 2", { key: "2" })
  })
)
const asker = flow(
  "asker",
  Effect.fnUntraced(function* () {
    yield* post("asker 1", { key: "1" })
    return yield* post(`asker ${yield* go.receive()}`, { key: "2" })
  })
)
const early = flow(
  "early",
  Effect.fnUntraced(function* () {
    yield* post("early 1", { key: "1" })
    yield* Flow.sleep("nap", "30 days")
    return yield* post(`early ${yield* go.receive()}`, { key: "2" })
  })
)
const retrier = flow(
  "retrier",
  Effect.fnUntraced(function* () {
    yield* post("retrier 1", { key: "1" })
    return yield* flaky(undefined)
  })
)
const undoer = flow(
  "undoer",
  Effect.fnUntraced(function* () {
    yield* Flow.compensate(post("undoer 1", { key: "1" }), () => post("undo of 1"))
    yield* Flow.compensate(post("undoer 2", { key: "2" }), () =>
      Effect.andThen(post("undo of 2"), slow("slow undo of 2"))
    )
    return yield* Effect.fail(new Refused({ why: "always" }))
  })
)
const second = flow(
  "second",
  Effect.fnUntraced(function* () {
    yield* post("second 1", { key: "1" })
    yield* Flow.forEach("item", ["a", "b"], { key: (item) => item, concurrency: 2 }, (item) =>
      post(item === "a" ? "second a" : "bad b")
    )
    yield* Flow.sleep("nap", "30 days")
    return yield* post("second 2", { key: "2" })
  })
)
const racer = flow(
  "racer",
  Effect.fnUntraced(function* () {
    const first = yield* Flow.race("first", {
      person: go.receive(),
      nobody: Effect.as(Flow.sleep("deadline", "30 days"), "nobody")
    })
    return yield* post(`racer ${first}`)
  })
)
const limited = flow("limited", () =>
  Flow.timeout("limit", "30 days", go.receive()).pipe(Effect.catchTag("FlowTimeout", () => Effect.succeed("too late")))
)
const done = flow("done", () => post("done 1"))
const failed = flow("failed", () => post("bad failed"))
const canceled = flow("canceled", () => Effect.as(Flow.sleep("nap", "30 days"), ""))

const flows = Layer.mergeAll(
  Flow.layer(sleeper),
  Flow.layer(asker),
  Flow.layer(early),
  Flow.layer(retrier),
  Flow.layer(undoer),
  Flow.layer(second),
  Flow.layer(racer),
  Flow.layer(limited),
  Flow.layer(done),
  Flow.layer(failed),
  Flow.layer(canceled)
)

/** The ids that the fixture has. */
const ids = {
  sleeper: "6c394578-2bc5-46b2-97ac-53274c11c3b2",
  asker: "49a4abbe-de99-4dd7-8921-dd5789fca05f",
  early: "2a27339a-c4b0-46e1-8705-02412c88aa68",
  retrier: "a06aaf47-685f-4832-bf0f-f90f0c7205c7",
  undoer: "8d9a0573-a648-4d6e-8541-f399f854b076",
  second: "7773006e-0860-474d-a61d-40efb60deea1",
  racer: "00233aba-ad2c-4fec-a546-bc40c3c1a258"
}

const written = Effect.map(temporaryFile, (file) => {
  const database = new DatabaseSync(file)
  database.exec(readFileSync(new URL("fixtures/first-design.sql", import.meta.url), "utf8"))
  database.close()
  return file
})

/** Lets virtual time go by, with pauses for the disk. */
const through = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect)
  for (let step = 0; fiber.pollUnsafe() === undefined; step++) {
    if (step > 200) return yield* Effect.die(new Error("it does not end"))
    yield* TestClock.adjust("1 day")
    yield* TestClock.withLive(Effect.sleep("4 millis"))
  }
  return yield* Fiber.await(fiber)
})

const test = (title: string, body: Effect.Effect<void, unknown, FlowEngine | Posts>) =>
  it.effect(title, () =>
    Effect.gen(function* () {
      // The fixture was written then.
      yield* TestClock.setTime(Date.parse("2026-11-22T07:41:00Z"))
      const engine = FlowEngine.layerSqlite({ file: yield* written })
      yield* Effect.provide(body, Layer.fresh(Layer.provideMerge(flows, Layer.merge(engine, Posts.layer))))
    })
  )

const posts = Effect.flatMap(Posts, Ref.get)

describe("a database of the first design", () => {
  test(
    "an execution that slept continues at its time",
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* through(Flow.execute(sleeper, "one")), Exit.succeed("posted sleeper 2"))
      const own = (yield* posts).filter((line) => line.startsWith("sleeper"))
      assert.deepStrictEqual(own, [`sleeper 2 under ${ids.sleeper}/post[2]/1`])
    })
  )

  test(
    "an execution that awaited a signal takes it",
    Effect.gen(function* () {
      yield* FlowExecutions.signal(ids.asker, "go", "now")
      assert.deepStrictEqual(yield* through(Flow.execute(asker, "one")), Exit.succeed("posted asker now"))
    })
  )

  test(
    "a signal that had come early is there",
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* through(Flow.execute(early, "one")), Exit.succeed("posted early at once"))
    })
  )

  test(
    "a step that paused between attempts is tried again, under the same key",
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* through(Flow.execute(retrier, "one")), Exit.succeed("in the end"))
      const own = (yield* posts).filter((line) => /flaky|retrier/.test(line))
      assert.deepStrictEqual(own, [`flaky under ${ids.retrier}/flaky/1`])
    })
  )

  test(
    "undoing continues where it stopped",
    Effect.gen(function* () {
      const exit = yield* through(Flow.execute(undoer, "one"))
      assert.deepStrictEqual(exit, Exit.fail(new Refused({ why: "always" })))
      const own = (yield* posts).filter((line) => line.includes("undo"))
      assert.deepStrictEqual(own, [
        `slow undo of 2 under ${ids.undoer}/post[2]/undo/slow/1`,
        `undo of 1 under ${ids.undoer}/post[1]/undo/post/1`
      ])
    })
  )

  test(
    "of an execution that was run again the newest generation continues, and the older one is its history",
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* through(Flow.execute(second, "one")), Exit.succeed("posted second 2"))
      const own = (yield* posts).filter((line) => /second|bad b/.test(line))
      assert.deepStrictEqual(own, [`second 2 under ${ids.second}/post[2]/1`])
      const { execution } = yield* FlowExecutions.inspect(ids.second)
      assert.strictEqual(execution.round, 1)
    })
  )

  test(
    "a race and a limit are decided by their timers",
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* through(Flow.execute(racer, "one")), Exit.succeed("posted racer nobody"))
      assert.deepStrictEqual(yield* through(Flow.execute(limited, "one")), Exit.succeed("too late"))
    })
  )

  test(
    "what had ended is as it was",
    Effect.gen(function* () {
      assert.strictEqual(yield* Flow.execute(done, "one"), "posted done 1")
      assert.deepStrictEqual(
        yield* Effect.exit(Flow.execute(failed, "one")),
        Exit.fail(new Refused({ why: "bad failed" }))
      )
      const exit = yield* Effect.exit(Flow.execute(canceled, "one"))
      assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, FlowCancelled)
    })
  )
})
