import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Takes a while, so that a kill hits it in the middle of an item. */
const slow = Task.make("slow", {
  input: Schema.Struct({ n: Schema.Finite }),
  output: Schema.Struct({ n: Schema.Finite }),
  run: ({ payload }) => Effect.as(Effect.sleep("200 millis"), payload)
})

export const tasks = [slow]
