/** Promises of an execution that are resolved or rejected from outside, as signals. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flow from "../../src/Flow.ts"
import { Refused } from "./Flows.ts"

/** A promise that is resolved or rejected. */
export const Outcome = Schema.Union([
  Schema.Struct({ resolved: Schema.String }),
  Schema.Struct({ rejected: Schema.String })
])
export const awakeable = Flow.signal("awakeable", Outcome)

export const awaited = (key: string) =>
  Effect.flatMap(awakeable.receive({ key }), (outcome) =>
    "resolved" in outcome ? Effect.succeed(outcome.resolved) : Effect.fail(new Refused({ why: outcome.rejected }))
  )
