/** What the local workers run. `signalbox dev` loads this file again whenever it changes. */
import * as Task from "@signalbox/worker/Task"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

export const greet = Task.make("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.Struct({ greeting: Schema.String }),
  run: ({ payload: { name } }) =>
    name === ""
      ? Effect.fail(new Task.ApplicationFailure({ code: "NO_NAME", message: "name: give at least one character" }))
      : Effect.succeed({ greeting: `Hello, ${name}` })
})

export const tasks = [greet]
