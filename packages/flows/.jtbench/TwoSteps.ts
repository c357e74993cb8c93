/**
 * The flow of two steps, as users of this project write it.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "@signalbox/flows/Flow"
import { describe, double } from "./Contender.ts"

const Doubled = Schema.Struct({ doubled: Schema.Finite })
const Described = Schema.Struct({ doubled: Schema.Finite, text: Schema.String })

const doubleStep = Flow.step("double", {
  input: Schema.Finite,
  success: Doubled,
  error: Schema.Never,
  run: (n) => Effect.succeed(double(n))
})

const describeStep = Flow.step("describe", {
  input: Doubled,
  success: Described,
  error: Schema.Never,
  run: ({ doubled }) => Effect.succeed(describe(doubled))
})

export const twoSteps = Flow.make("two-steps", {
  version: 1,
  input: Schema.Struct({ n: Schema.Finite, key: Schema.String }),
  success: Described,
  error: Schema.Never,
  idempotencyKey: ({ key }) => key,
  run: Effect.fnUntraced(function* ({ n }) {
    const doubled = yield* doubleStep(n)
    return yield* describeStep(doubled)
  })
})
