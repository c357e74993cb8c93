// The same flows, each with another step before the recorded one, and under the same version.
import * as Flow from "@signalbox/flows/Flow"
import { defineFlow, defineStep } from "@signalbox/flows/Promises"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { approval, count, decision, measure, Order } from "./deployed.ts"

const verify = Flow.step("verify", {
  input: Schema.Finite,
  success: Schema.Void,
  error: Schema.Never,
  run: () => Effect.die(new Error("a check runs no step"))
})

export const letters = Flow.make("letters", {
  version: 1,
  input: Order,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: ({ number }) => String(number),
  signals: [approval],
  run: Effect.fnUntraced(function* (order) {
    yield* verify(order.number)
    yield* count(order)
    return (yield* approval.receive()).by
  })
})

const weigh = defineStep({
  name: "weigh",
  input: Schema.Finite,
  output: Schema.Finite,
  run: () => Promise.reject(new Error("a check runs no step"))
})

export const parcels = defineFlow({
  name: "parcels",
  input: Schema.Finite,
  output: Schema.String,
  key: String,
  signals: [decision],
  run: async (ctx, grams) => {
    await ctx.step(weigh, grams)
    await ctx.step(measure, grams)
    return (await ctx.signal(decision)).by
  }
})
