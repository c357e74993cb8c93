import { assert, describe, it } from "@effect/vitest"
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
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

describe("under signalbox/Testing", () => {
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
