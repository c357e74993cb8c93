/** The flows, as users of this project write them. */
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { add, numbers, sum } from "./Contender.ts"

const next = Flow.step("next", {
  input: Schema.Finite,
  success: Schema.Finite,
  error: Schema.Never,
  run: (n) => Effect.succeed(add(n))
})

const common = {
  version: 1,
  input: Schema.Struct({ size: Schema.Finite, key: Schema.String }),
  success: Schema.Finite,
  error: Schema.Never,
  idempotencyKey: ({ key }: { readonly key: string }) => key
}

export const chain = Flow.make("chain", {
  ...common,
  run: Effect.fnUntraced(function* ({ size }: { readonly size: number }) {
    let at = 0
    for (let n = 0; n < size; n++) at = yield* next(at, { key: String(n) })
    return at
  })
})

export const fan = Flow.make("fan", {
  ...common,
  run: ({ size }: { readonly size: number }) =>
    Effect.map(
      Flow.forEach("branch", numbers(size), { key: String, concurrency: "unbounded" }, (n) => next(n)),
      sum
    )
})
