/** Signals and approvals. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../../src/Flow.ts"
import { Diary, flowOf, note } from "../Flows.ts"
import type { Bench } from "./Bench.ts"

export const signals = <R>({ resultOf, runner, test, time }: Bench<R>) => {
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
}
