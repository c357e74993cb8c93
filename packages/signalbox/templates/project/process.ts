/** The process: its steps, in order, and how they are retried. Its types are those of its payloads and outputs. */
import * as Process from "signalbox/Process"
import { greet } from "./tasks.ts"

export const greetings = Process.make("greetings", {
  steps: [Process.step(greet, { retry: { max_attempts: 3, delay_seconds: 600 } })],
  check_payloads: true
})
