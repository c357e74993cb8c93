import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Takes as long as an item of many: many are ahead of it. */
const quick = Task.make("quick", {
  input: Schema.Struct({ n: Schema.Finite }),
  output: Schema.Struct({ n: Schema.Finite }),
  run: ({ payload }) => Effect.as(Effect.sleep("1 millis"), payload)
})

export const tasks = [quick]
