import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Flow from "@signalbox/flows/Flow"
import * as ProcessSteps from "@signalbox/flows/ProcessSteps"
import * as Task from "@signalbox/worker/Task"
import { Console, Effect, Schema } from "effect"
import * as Process from "signalbox/Process"

const greet = Task.make("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.Struct({ greeting: Schema.String }),
  run: ({ payload }) => Effect.succeed({ greeting: `Hello, ${payload.name}` })
})
const hello = Process.make("hello", { steps: [greet] })

const greetings = Flow.make("greetings", {
  version: 1,
  input: Schema.Struct({ names: Schema.Array(Schema.String) }),
  success: Schema.Array(Schema.String),
  error: ProcessSteps.error,
  idempotencyKey: ({ names }) => names.join(),
  run: Effect.fnUntraced(function* ({ names }) {
    const payloads = names.map((name) => ({ name }))
    const { outputs } = yield* ProcessSteps.run(hello, payloads, {
      failures: "settle"
    })
    return outputs.map((output) => output.payload.greeting)
  })
})

Flow.run(greetings, { names: ["Ada", "Grace"] }).pipe(
  Effect.flatMap(Console.log),
  Effect.provide(
    Process.layer(hello, { data: ".signalbox/greetings", port: 0 })
  ),
  NodeRuntime.runMain
)
