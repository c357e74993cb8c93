import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Schema } from "effect"
import { Embedded, Flow, Ids, Processes, Steps, Task } from "signalbox"

const greet = Task.make("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.Struct({ greeting: Schema.String }),
  run: ({ payload }) => Effect.succeed({ greeting: `Hello, ${payload.name}` })
})

const hello = Flow.make("hello", {
  version: 1,
  input: Schema.Struct({ process: Ids.ProcessId, names: Schema.Array(Schema.String) }),
  success: Steps.collectOutputs.success,
  error: Steps.startRun.error,
  idempotencyKey: ({ names }) => names.join(),
  run: Effect.fnUntraced(function* ({ names, process }) {
    const workItems = yield* Flow.forEach("name", names, { key: (name) => name }, (name) =>
      Steps.createWorkItem({ process, payload: { name } })
    )
    const run = yield* Steps.startRun({ process, workItems })
    yield* Steps.awaitCompletion({ run })
    return yield* Steps.collectOutputs({ run })
  })
})

Effect.gen(function* () {
  const { id } = yield* Processes.put({ name: "hello", steps: [{ name: "greet", task: { name: "greet" } }] })
  const outputs = yield* Flow.run(hello, { process: id, names: ["Ada", "Grace"] })
  yield* Console.log(outputs.map((output) => output.payload))
}).pipe(Effect.provide(Embedded.layer({ data: ".signalbox/hello", port: 0, tasks: [greet] })), NodeRuntime.runMain)
