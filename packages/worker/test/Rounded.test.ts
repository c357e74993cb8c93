/** Numbers that JavaScript rounded when it read an item are not saved in place of those that it was given. */
import { assert, describe, it } from "@effect/vitest"
import type { Release } from "@signalbox/api/robot/StepRunSession"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defineTask } from "../src/Promises.ts"
import * as Task from "../src/Task.ts"
import { runOne } from "./support/RunOne.ts"

const item = { payload: { id: 12345678901234567000, rows: [{ n: 1 }] }, rounded: [["id"]] }
const json = { input: Schema.Json, output: Schema.Json }

const failed = (what: string): Release => ({
  state: "FAILED",
  exception: {
    type: "APPLICATION",
    code: "NumberRounded",
    message: `${what}.id: JavaScript rounded this number of the work item, so that saving it would change it; send the number as text when you create the item`
  },
  dropOutputs: true
})

describe("a number that was rounded", () => {
  it.effect("is not stored by setPayload, which names its path", () =>
    Effect.gen(function* () {
      const task = Task.make("marks", {
        ...json,
        run: (given) => given.setPayload({ ...item.payload, isSeen: true })
      })
      const { actions, release } = yield* runOne(task, item)
      assert.deepStrictEqual(release, failed("payload"))
      assert.deepStrictEqual(actions, [])
    })
  )

  it.effect("is not passed on in an output that copies the payload", () =>
    Effect.gen(function* () {
      const task = defineTask({ name: "copies", run: async ({ payload }) => payload })
      const { actions, release } = yield* runOne(task, item)
      assert.deepStrictEqual(release, failed("output"))
      assert.deepStrictEqual(actions, [])
    })
  )

  it.effect("keeps nobody from saving another value, or saving without it", () =>
    Effect.gen(function* () {
      const task = defineTask({
        name: "saves",
        run: async ({ output, setPayload }) => {
          await setPayload({ id: "12345678901234567890", rows: item.payload.rows })
          await setPayload({ rows: item.payload.rows })
          await output({ id: 7 })
          await output(item.payload.rows)
        }
      })
      const { actions, release } = yield* runOne(task, item)
      assert.deepStrictEqual(release, { state: "COMPLETED" })
      assert.lengthOf(actions, 4)
    })
  )
})
