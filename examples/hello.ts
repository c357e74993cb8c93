import * as Task from "@signalbox/worker/Task"
import { Effect, Schema } from "effect"
import * as Process from "signalbox/Process"

const greet = Task.make("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.Struct({ greeting: Schema.String }),
  run: ({ payload }) => Effect.succeed({ greeting: `Hello, ${payload.name}` })
})
const hello = Process.make("hello", { steps: [greet] })
const room = Process.layer(hello, { data: ".signalbox/hello", port: 0 })
const run = Process.run(hello, [{ name: "Ada" }, { name: "Grace" }])
const { outputs } = await Effect.runPromise(Effect.provide(run, room))
console.log(outputs.map((output) => output.payload))
