import * as Task from "@signalbox/worker/Task"
import { Console, Effect, Schema } from "effect"
import * as Process from "signalbox/Process"

const greet = Task.make("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.Struct({ greeting: Schema.String }),
  run: ({ payload }) => Effect.succeed({ greeting: `Hello, ${payload.name}` })
})
const hello = Process.make("hello", { steps: [greet] })
const greetings = Process.run(hello, [{ name: "Ada" }, { name: "Grace" }])
const program = Effect.flatMap(greetings, ({ outputs }) => Console.log(outputs.map((output) => output.payload)))
await Effect.runPromise(Effect.provide(program, Process.layer(hello, { data: ".signalbox/hello", port: 0 })))
