import { OptionError } from "@signalbox/transport/OptionError"
import { assert } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import * as S from "../support/Scenarios.ts"

const { Diary, pass, program, resultOf, say, scenario, scenarios, seconds } = S

const go = Flow.signal("go", Schema.Void)
const once = S.flow("once", (text) => say(text))
/** One that begins says so, and holds its place until it is let go. */
const heldBy = (limit: ReadonlyArray<Flow.FlowLimit<string>>) =>
  S.flow("held", (text) => Effect.andThen(say(text), Effect.as(go.receive(), text)), { limit, signals: [go] })
const held = heldBy([{ concurrency: 1 }])

/** The order in which executions begin that are queued behind a first one. */
const orderOf = Effect.fnUntraced(function* (
  flow: typeof held,
  queued: ReadonlyArray<readonly [text: string, priority: number | undefined]>
) {
  const first = yield* S.waiting(flow, "first")
  for (const [text, priority] of queued) {
    yield* S.elapse(2)
    yield* FlowExecutions.signal(yield* Flow.submit(flow, text, { priority }), "go", null)
  }
  yield* FlowExecutions.signal(first, "go", null)
  for (const [text] of queued) yield* resultOf(flow, text)
  return (yield* Diary.read).slice(1)
})

scenarios("delays and priorities", () => {
  scenario(
    "dbos: test_delay",
    Effect.gen(function* () {
      const delays = Effect.gen(function* () {
        const id = yield* Flow.submit(once, "x", { after: seconds(60) })
        yield* pass(5)
        const before = [yield* S.stateOf(id), yield* Diary.read]
        return [...before, yield* resultOf(once, "x")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(once), delays), ["queued", [], "x"])
    })
  )

  scenario(
    "dbos: test_delay_cancel_resume",
    Effect.gen(function* () {
      const cancels = Effect.gen(function* () {
        const later = { after: seconds(60) }
        const [cancelled, resumed] = [yield* Flow.submit(once, "a", later), yield* Flow.submit(once, "b", later)]
        yield* FlowExecutions.cancel(cancelled)
        yield* FlowExecutions.suspend(resumed)
        yield* pass(70)
        assert.deepStrictEqual(yield* Diary.read, [])
        yield* FlowExecutions.resume(resumed)
        yield* S.reaches(resumed, "completed")
        return yield* S.stateOf(cancelled)
      })
      assert.strictEqual(yield* program(Flow.layer(once), cancels), "cancelled")
      assert.deepStrictEqual(yield* Diary.read, ["b"])
    })
  )

  scenario(
    "restate: ServiceToServiceCommunication oneWayCallWithDelay",
    Effect.gen(function* () {
      const proxy = S.flow("proxy", () =>
        Effect.as(Flow.start(once, "sent", { after: seconds(60), onParentEnd: "leave" }), "proxied")
      )
      const both = [Flow.layer(proxy), Flow.layer(once)]
      const sends = Effect.andThen(resultOf(proxy, "x"), S.firstOf({ flow: "once" }))
      const id = yield* program(
        both,
        Effect.tap(sends, () => Effect.map(Diary.read, assert.isEmpty))
      )
      yield* program(both, S.reaches(id, "completed"))
      assert.deepStrictEqual(yield* Diary.read, ["sent"])
    })
  )

  scenario(
    "temporal: start delay, a signal is there when it starts",
    Effect.gen(function* () {
      const waits = S.flow("waits", (text) => Effect.as(go.receive(), text), { signals: [go] })
      const sends = Effect.gen(function* () {
        const id = yield* Flow.submit(waits, "x", { after: seconds(60) })
        yield* FlowExecutions.signal(id, "go", null)
        yield* pass(5)
        return [yield* S.stateOf(id), yield* resultOf(waits, "x")]
      })
      assert.deepStrictEqual(yield* program(Flow.layer(waits), sends), ["queued", "x"])
    })
  )

  scenario(
    "dbos: test_priorityqueue",
    Effect.gen(function* () {
      const queued = [
        ["low", -5],
        ["a", undefined],
        ["b", 0],
        ["high", 7]
      ] as const
      assert.deepStrictEqual(yield* program(Flow.layer(held), orderOf(held, queued)), ["high", "a", "b", "low"])
    })
  )

  scenario(
    "temporal: priority and fairness, keys take turns",
    Effect.gen(function* () {
      const fair = heldBy([{ key: (text) => text.slice(0, 1), concurrency: 1 }, { concurrency: 1 }])
      const queued = ["a1", "a2", "b1", "b2"].map((text) => [text, text === "a2" ? 9 : 0] as const)
      // It is the first of its own key, and the other key has its turn all the same.
      assert.deepStrictEqual(yield* program(Flow.layer(fair), orderOf(fair, queued)), ["a2", "b1", "a1", "b2"])
    })
  )
})

scenarios("batches and bursts", () => {
  scenario(
    "dbos: enqueueWorkflows is idempotent under redelivery",
    Effect.gen(function* () {
      const twice = Effect.gen(function* () {
        const first = yield* Flow.submitMany(once, ["a", "b"])
        const second = yield* Flow.submitMany(once, ["c", "b", "a"])
        for (const text of ["a", "b", "c"]) yield* resultOf(once, text)
        return [second[2], second[1]].join() === first.join()
      })
      assert.isTrue(yield* program(Flow.layer(once), twice))
      assert.sameMembers([...(yield* Diary.read)], ["a", "b", "c"])
    })
  )

  scenario(
    "dbos: enqueueWorkflows rejects rows it cannot durably enqueue",
    Effect.gen(function* () {
      const strict = Flow.make("strict", {
        version: 1,
        input: Schema.NonEmptyString,
        success: Schema.String,
        error: Schema.Never,
        idempotencyKey: (text) => text,
        run: (text) => say(text)
      })
      const rejects = Effect.gen(function* () {
        const error = yield* Effect.flip(Flow.submitMany(strict, ["a", ""]))
        assert.deepInclude(error, { _tag: "InvalidInput", path: "1" })
        return (yield* FlowExecutions.list()).executions
      })
      assert.deepStrictEqual(yield* program(Flow.layer(strict), rejects), [])
    })
  )

  const debounce = { key: "a", quiet: seconds(60), most: seconds(80) } as const
  const burst = (text: string, key = "a") => Flow.submit(once, text, { debounce: { ...debounce, key } })

  scenario(
    "dbos: test-debouncer-workflow",
    Effect.gen(function* () {
      const bursts = Effect.gen(function* () {
        const ids = [yield* burst("one"), yield* burst("two"), yield* burst("three")]
        yield* S.reaches(ids[0] ?? "", "completed")
        const next = yield* burst("four")
        yield* S.reaches(next, "completed")
        return new Set([...ids, next]).size
      })
      assert.strictEqual(yield* program(Flow.layer(once), bursts), 2)
      assert.deepStrictEqual(yield* Diary.read, ["three", "four"])
    })
  )

  scenario(
    "dbos: test-debouncer-timeout",
    Effect.gen(function* () {
      // It is never quiet for as long as it should be.
      const bursts = Effect.gen(function* () {
        const first = yield* burst("0")
        for (let n = 1; (yield* S.stateOf(first)) === "queued"; n++) {
          assert.isBelow(n, 50)
          yield* Effect.andThen(pass(5), burst(`${n}`))
        }
      })
      yield* program(Flow.layer(once), bursts)
    })
  )

  scenario(
    "dbos: test-multiple-debouncers",
    Effect.gen(function* () {
      const bursts = Effect.gen(function* () {
        const one = yield* burst("one")
        const other = yield* burst("other", "b")
        yield* burst("last")
        for (const id of [one, other]) yield* S.reaches(id, "completed")
      })
      yield* program(Flow.layer(once), bursts)
      assert.sameMembers([...(yield* Diary.read)], ["other", "last"])
    })
  )

  scenario(
    "dbos: test-debouncer-queue",
    Effect.gen(function* () {
      const bursts = Effect.gen(function* () {
        const first = yield* S.waiting(held, "first")
        const id = yield* Flow.submit(held, "one", { debounce: { ...debounce, quiet: seconds(1) } })
        yield* S.eventually(Effect.map(FlowExecutions.get(id), ({ queuedAt }) => queuedAt !== null))
        // It waits for its place, and takes the last input all the same.
        assert.strictEqual(yield* Flow.submit(held, "two", { debounce }), id)
        yield* FlowExecutions.signal(first, "go", null)
        yield* S.says("two")
      })
      yield* program(Flow.layer(held), bursts)
      assert.deepStrictEqual(yield* Diary.read, ["first", "two"])
    })
  )

  scenario(
    "dbos: test-debounce-cancel-then-redebounce",
    Effect.gen(function* () {
      const again = Effect.gen(function* () {
        const cancelled = yield* burst("one")
        yield* FlowExecutions.cancel(cancelled)
        yield* S.elapse(2)
        yield* S.reaches(yield* burst("two"), "completed")
        return yield* S.stateOf(cancelled)
      })
      assert.strictEqual(yield* program(Flow.layer(once), again), "cancelled")
      assert.deepStrictEqual(yield* Diary.read, ["two"])
    })
  )

  scenario(
    "dbos: test-debounce-rejects-caller-dedup-and-delay",
    Effect.gen(function* () {
      const both = { debounce, after: 1 }
      // @ts-expect-error the burst decides when it starts
      const exit = yield* program(Flow.layer(once), Effect.exit(Flow.submit(once, "x", both)))
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : null
      assert.instanceOf(error, OptionError)
      assert.strictEqual(error.option, "after")
    })
  )
})
