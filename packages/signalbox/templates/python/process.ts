/** The process: its steps, in order, and how they are retried. Its types are those of its payloads and outputs. */
import * as Schema from "effect/Schema"
import * as Process from "signalbox/Process"
import { greet } from "./tasks.ts"

/** In Python: robots/letters. */
const write = Process.packageTask({
  package: "letters",
  task: "Write letter",
  input: Schema.Struct({ greeting: Schema.String }),
  output: Schema.Struct({ greeting: Schema.String, letter: Schema.String })
})

export const greetings = Process.make("greetings", {
  steps: [Process.step(greet, { retry: { max_attempts: 3, delay_seconds: 600 } }), write],
  check_payloads: true
})
