import { assert, describe, it } from "@effect/vitest"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Testing from "../src/Testing.ts"

const note = Flow.step("note", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  run: Effect.succeed
})
let count = 0
const impure = Flow.make("impure", {
  version: 1,
  input: Schema.Void,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: () => "",
  run: () => note(++count)
})

const slow = Flow.make("slow", {
  version: 1,
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: String,
  run: Effect.fnUntraced(function* (minutes) {
    yield* Flow.sleep("minutes", `${minutes} minutes`)
    return DateTime.toEpochMillis(yield* Flow.now("end"))
  })
})

const elapse = <A, E, R>(effect: Effect.Effect<A, E, R>) => Testing.elapse(effect)

describe("under signalbox/Testing", () => {
  it.effect("time moves to the start of an execution, and to its deadline", () =>
    Effect.gen(function* () {
      const begun = DateTime.toEpochMillis(yield* DateTime.now)
      const end = yield* elapse(Flow.execute(slow, 3, { after: "20 minutes" }))
      assert.strictEqual(Math.floor((end - begun) / 60_000), 23)
      const late = yield* elapse(Effect.flip(Flow.execute(slow, 30, { deadline: "15 minutes" })))
      assert.strictEqual(late._tag, "DeadlineExceeded")
    }).pipe(
      Effect.provide(
        Flow.layer(slow).pipe(Layer.provideMerge(FlowEngine.layerMemory), Layer.provideMerge(Testing.layer()))
      )
    )
  )

  it.effect("a plain run of a body that cannot be replayed dies and says why", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Flow.run(impure, undefined))
      assert.match(
        String(exit),
        /FlowChanged.*reached note with a different input than the recorded one: 2 instead of 1/
      )
      assert.isTrue((yield* Effect.exit(Flow.run(impure, undefined, { verify: false })))._tag === "Success")
    }).pipe(Effect.provide(Testing.layer()))
  )
})
