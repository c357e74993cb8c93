/** Starts, deadlines and bursts on Postgres, in processes one after the other and beside each other. */
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import * as FlowExecutions from "../../src/FlowExecutions.ts"
import { Diary } from "../support/Flows.ts"
import { inProcess, Store } from "../support/Engines.ts"
import { errorOf, stateOf } from "../support/Running.ts"
import { until } from "../support/Polling.ts"
import { throughTime } from "../support/Time.ts"

const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  run: Effect.fnUntraced(function* (text) {
    yield* Diary.write(`${text} ${Math.floor(DateTime.toEpochMillis(yield* DateTime.now) / 60_000)}`)
    return text
  })
})

const flowOf = (limit: ReadonlyArray<Flow.FlowLimit<string>> = []) =>
  Flow.make("when", {
    version: 1,
    input: Schema.String,
    success: Schema.String,
    error: Schema.Never,
    idempotencyKey: (text) => text,
    limit,
    run: Effect.fnUntraced(function* (text) {
      yield* Flow.compensate(note(text), () => note(`undo ${text}`))
      yield* Flow.sleep("day", "1 day")
      return text
    })
  })
const flow = flowOf()
const oneByOne = flowOf([{ concurrency: 1 }])

const stored = Layer.merge(Layer.fresh(Store.postgres), Layer.fresh(Diary.layer))

const isWaiting = (id: string) => throughTime(until(Effect.map(stateOf(id), (state) => state === "waiting")))

/** What was written: a step may run again where time jumps over the lease of its process. */
const textsOf = (lines: ReadonlyArray<string>) => new Set(lines.map((line) => line.split(" ").slice(0, -1).join(" ")))

describe("on Postgres", () => {
  it.effect("what one process submits for later, another one starts, and ends at its deadline", () =>
    Effect.gen(function* () {
      const [, , unbegun] = yield* inProcess(
        Flow.layer(flow),
        Effect.all([
          Flow.submit(flow, "a", { after: "30 minutes" }),
          Flow.submit(flow, "b", { after: "20 minutes", deadline: "12 hours" }),
          Flow.submit(flow, "c", { after: "50 minutes", deadline: "40 minutes" })
        ])
      )
      yield* inProcess(
        Flow.layer(flow),
        Effect.gen(function* () {
          const handle = yield* Flow.handle(flow, "b")
          assert.instanceOf(errorOf(yield* throughTime(handle.result)), Flow.DeadlineExceeded)
          const other = yield* Flow.handle(flow, "a")
          assert.strictEqual(yield* yield* throughTime(other.result), "a")
          assert.deepInclude(yield* FlowExecutions.get(unbegun), { state: "failed", error: null })
          const lines = yield* Diary.read
          assert.deepStrictEqual(textsOf(lines), new Set(["a", "b", "undo b"]))
          const earliest = { a: 30, b: 20, "undo b": 720 }
          for (const [text, minute] of Object.entries(earliest)) {
            for (const line of lines.filter((line) => line.startsWith(text))) {
              assert.isAtLeast(Number(line.split(" ").at(-1)), minute)
            }
          }
        })
      )
    }).pipe(Effect.provide(stored))
  )

  it.effect("what starts later enters the queue of its limits, in the order of priorities", () =>
    inProcess(
      Flow.layer(oneByOne),
      Effect.gen(function* () {
        yield* isWaiting(yield* Flow.submit(oneByOne, "first"))
        yield* Flow.submitMany(oneByOne, ["a", "b"], { after: "10 minutes" })
        yield* Flow.submit(oneByOne, "urgent", { after: "20 minutes", priority: 1 })
        yield* Flow.submit(oneByOne, "gone", { deadline: "30 minutes", priority: 9 })
        for (const text of ["a", "b"]) {
          const handle = yield* Flow.handle(oneByOne, text)
          yield* throughTime(handle.result)
        }
        const begun = [...textsOf(yield* Diary.read)].filter((text) => !text.startsWith("undo"))
        assert.deepStrictEqual(begun.slice(0, 2), ["first", "urgent"])
        assert.deepStrictEqual(begun.slice(2).toSorted(), ["a", "b"])
      })
    ).pipe(Effect.provide(stored))
  )

  it.effect("the calls of a burst in several processes are one execution", () =>
    Effect.gen(function* () {
      const debounce = { key: "k", quiet: "10 minutes", most: "1 hour" } as const
      const call = (text: string) => Flow.submit(flow, text, { debounce })
      const first = yield* inProcess(Flow.layer(flow), call("a"))
      yield* inProcess(
        Flow.layer(flow),
        Effect.gen(function* () {
          const ids = yield* Effect.forEach(["b", "c", "d"], call, { concurrency: "unbounded" })
          assert.deepStrictEqual(new Set(ids), new Set([first]))
          yield* call("last")
          yield* isWaiting(first)
          assert.deepStrictEqual(textsOf(yield* Diary.read), new Set(["last"]))
          assert.notStrictEqual(yield* call("next"), first)
        })
      )
    }).pipe(Effect.provide(stored))
  )
})
