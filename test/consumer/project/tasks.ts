import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export const greet = Task.make("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.Struct({ greeting: Schema.String }),
  run: ({ payload }) => Effect.succeed({ greeting: `Hello, ${payload.name}` })
})

export const tasks = [greet]
