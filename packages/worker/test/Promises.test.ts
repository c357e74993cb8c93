/**
 * Tasks of promises: what they give and what they throw, over an item in memory.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as TestClock from "effect/testing/TestClock"
import { expectTypeOf } from "vitest"
import { ApplicationError, BusinessError, defineTask } from "../src/Promises.ts"
import * as Task from "../src/Task.ts"
import { runOne } from "./support/RunOne.ts"

const payloadsOf = (actions: ReadonlyArray<{ readonly did: string; readonly payload?: unknown }>) =>
  actions.flatMap((action) => (action.did === "output" ? [action.payload] : []))

/** A schema of another library: an amount above zero. */
const amount: StandardSchemaV1<unknown, { readonly amount: number }> = {
  "~standard": {
    version: 1,
    vendor: "handmade",
    validate: (value) => {
      const given = typeof value === "object" && value !== null && "amount" in value ? value.amount : undefined
      return typeof given === "number" && given > 0
        ? { value: { amount: given } }
        : { issues: [{ message: "expected an amount above zero", path: ["amount"] }] }
    }
  }
}

describe("defineTask", () => {
  it("makes tasks that a tasks file may export", () => {
    assert.isTrue(Task.isTask(defineTask({ name: "nothing", run: () => undefined })))
  })

  const ways = {
    "a value that it returns": defineTask({ name: "t", run: ({ payload }) => ({ got: payload }) }),
    "a promise of one": defineTask({ name: "t", run: async ({ payload }) => ({ got: payload }) }),
    "what it gives to output": defineTask({
      name: "t",
      run: async ({ output, payload }) => {
        await output({ got: payload })
      }
    }),
    "what it yields": defineTask({
      name: "t",
      async *run({ payload }) {
        yield { got: payload }
      }
    })
  }
  for (const [way, task] of Object.entries(ways)) {
    it.effect(`takes ${way} as an output`, () =>
      Effect.gen(function* () {
        const { actions, release } = yield* runOne(task, { payload: 1 })
        assert.deepStrictEqual(release, { state: "COMPLETED" })
        assert.deepStrictEqual(payloadsOf(actions), [{ got: 1 }])
      })
    )
  }

  it.effect("keeps the order of many outputs, and their files", () =>
    Effect.gen(function* () {
      const many = defineTask({
        name: "many",
        async *run({ output }) {
          await output({ n: 0 }, { files: [{ name: "zero.txt", bytes: new TextEncoder().encode("zero") }] })
          for (let n = 1; n < 20; n++) yield { n }
        }
      })
      const { actions } = yield* runOne(many, { payload: null })
      assert.deepStrictEqual(
        payloadsOf(actions),
        Array.from({ length: 20 }, (_, n) => ({ n }))
      )
      assert.deepInclude(actions, { did: "file", on: "output-1", name: "zero.txt", text: "zero" })
    })
  )

  it.effect("reads, attaches and removes files", () =>
    Effect.gen(function* () {
      const files = defineTask({
        name: "files",
        run: async ({ files }) => {
          const text = await files.text("a.txt")
          const chunks: Array<number> = []
          for await (const bytes of files.read("a.txt")) chunks.push(bytes.length)
          await files.attach({ name: "b.txt", bytes: new TextEncoder().encode(text.toUpperCase()) })
          await files.remove("a.txt")
          return {
            text,
            bytes: chunks.reduce((sum, length) => sum + length, 0),
            names: files.list().map(({ name }) => name)
          }
        }
      })
      const { actions } = yield* runOne(files, { payload: null, files: [{ name: "a.txt", text: "abc" }] })
      assert.deepStrictEqual(payloadsOf(actions), [{ text: "abc", bytes: 3, names: ["a.txt"] }])
      assert.deepInclude(actions, { did: "file", on: "one", name: "b.txt", text: "ABC" })
      assert.deepInclude(actions, { did: "remove", file: "0", of: "one" })
    })
  )

  const thrown = {
    "a BusinessError": [new BusinessError("BAD", "no good"), { type: "BUSINESS", code: "BAD", message: "no good" }],
    "an ApplicationError": [
      new ApplicationError("AWAY", "try later"),
      { type: "APPLICATION", code: "AWAY", message: "try later" }
    ],
    "any other error": [new RangeError("too far"), { type: "APPLICATION", code: "RangeError", message: "too far" }],
    "a plain Error": [new Error("oh"), { type: "APPLICATION", code: "UNEXPECTED", message: "oh" }]
  } as const
  for (const [what, [error, exception]] of Object.entries(thrown)) {
    it.effect(`fails the item with ${what} that it throws`, () =>
      Effect.gen(function* () {
        const task = defineTask({
          name: "t",
          run: async () => {
            throw error
          }
        })
        const { actions, release } = yield* runOne(task, { payload: null })
        assert.deepStrictEqual(release, { state: "FAILED", exception })
        assert.deepStrictEqual(payloadsOf(actions), [])
      })
    )
  }

  it.effect("checks payloads and outputs by a Standard Schema", () =>
    Effect.gen(function* () {
      let ran = 0
      const half = defineTask({
        name: "half",
        input: amount,
        output: amount,
        run: ({ payload }) => {
          ran++
          expectTypeOf(payload).toEqualTypeOf<{ readonly amount: number }>()
          return { amount: payload.amount - 1 }
        }
      })
      const good = yield* runOne(half, { payload: { amount: 2 } })
      assert.deepStrictEqual(payloadsOf(good.actions), [{ amount: 1 }])
      const refused = yield* runOne(half, { payload: { amount: 0 } })
      assert.strictEqual(ran, 1)
      assert.deepInclude(refused.release, { state: "FAILED" })
      assert.include(JSON.stringify(refused.release), "INVALID_INPUT")
      assert.include(JSON.stringify(refused.release), "amount: expected an amount above zero")
      const wrong = yield* runOne(half, { payload: { amount: 1 } })
      assert.include(JSON.stringify(wrong.release), "INVALID_OUTPUT")
    })
  )

  it.effect("decodes by a schema of effect", () =>
    Effect.gen(function* () {
      const year = defineTask({
        name: "year",
        input: Schema.Struct({ day: Schema.Date }),
        run: ({ payload }) => payload.day.getUTCFullYear()
      })
      const { actions } = yield* runOne(year, { payload: { day: "2026-11-20T00:00:00.000Z" } })
      assert.deepStrictEqual(payloadsOf(actions), [2026])
    })
  )

  it.effect("aborts its signal, and what it waits for, when the step run is stopped", () =>
    Effect.gen(function* () {
      let stopped: ReadonlyArray<unknown> = []
      const waiting = defineTask({
        name: "waiting",
        run: async ({ signal, sleep }) => {
          await sleep("1 hour").catch(() => {
            stopped = [signal.aborted]
          })
        }
      })
      const fiber = yield* Effect.forkChild(runOne(waiting, { payload: null }))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      assert.deepStrictEqual(stopped, [true])
    })
  )

  it.effect("tells the time of the worker", () =>
    Effect.gen(function* () {
      const timed = defineTask({
        name: "timed",
        run: async ({ now, sleep }) => {
          await sleep("2 days")
          return { at: now().toISOString() }
        }
      })
      const fiber = yield* Effect.forkChild(runOne(timed, { payload: null }))
      yield* TestClock.adjust("2 days")
      assert.deepStrictEqual(payloadsOf((yield* Fiber.join(fiber)).actions), [{ at: "1970-01-03T00:00:00.000Z" }])
    })
  )
})
