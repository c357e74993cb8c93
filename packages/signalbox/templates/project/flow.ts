/** A flow around the process: one work item for each name, one run of them all, and its outputs. */
import * as Flow from "@signalbox/flows/Flow"
import * as ProcessSteps from "@signalbox/flows/ProcessSteps"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { greetings } from "./process.ts"

export const greetAll = Flow.make("greet all", {
  version: 1,
  input: Schema.Struct({ names: Schema.Array(Schema.String) }),
  success: Schema.Array(Schema.String),
  error: ProcessSteps.error,
  idempotencyKey: ({ names }) => names.join(),
  run: Effect.fnUntraced(function* ({ names }) {
    const payloads = names.map((name) => ({ name }))
    const { outputs } = yield* ProcessSteps.run(greetings, payloads, { failures: "settle" })
    return outputs.map((output) => output.payload.greeting)
  })
})
