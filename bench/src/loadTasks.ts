/** The task of `load.ts`. */
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const work = Task.make("work", {
  input: Schema.Unknown,
  output: Schema.Struct({ done: Schema.Boolean }),
  run: () => Effect.succeed({ done: true })
})

export const tasks = [work]
