import * as Task from "@signalbox/worker/Task"
import { Effect, Schema } from "effect"

export const tasks = [
  Task.make("greet", {
    input: Schema.Struct({ name: Schema.String }),
    output: Schema.Struct({ greeting: Schema.String }),
    run: ({ payload }) => Effect.succeed({ greeting: `Hello, ${payload.name}` })
  })
]
