/** A durable flow around the process: finds the customer, asks a person, and runs the process for the customer. */
import * as Flow from "@signalbox/flows/Flow"
import * as ProcessSteps from "@signalbox/flows/ProcessSteps"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { findCustomer } from "./customers.ts"
import { greetings } from "./process.ts"

/** Business: a person declined, or nobody decided in time. */
export class WelcomeDeclined extends Schema.TaggedError<WelcomeDeclined>()("WelcomeDeclined", {
  by: Schema.String
}) {
  override get message() {
    return `the welcome was declined by ${this.by}`
  }
}

export const approval = Flow.approval("approval")

export const welcome = Flow.make("welcome", {
  version: 1,
  input: Schema.Struct({ customer: Schema.NonEmptyString }),
  success: Schema.Struct({ approvedBy: Schema.String, greetings: Schema.Array(Schema.String) }),
  error: Schema.Union([Flow.errorsOf(findCustomer), ProcessSteps.error, WelcomeDeclined]),
  // A second start for a customer joins the first one, also when it has ended; `npm run flows -- retry` runs a failed one again.
  idempotencyKey: ({ customer }) => customer,
  signals: [approval],
  run: Effect.fnUntraced(function* ({ customer }) {
    const { name } = yield* findCustomer(customer)
    const { approved, by } = yield* Flow.race("decision", {
      person: approval.receive(),
      timeout: Effect.as(Flow.sleep("deadline", "2 days"), { approved: false, by: "the deadline", comment: null })
    })
    if (!approved) return yield* new WelcomeDeclined({ by })
    const { outputs } = yield* ProcessSteps.run(greetings, [{ name }])
    return { approvedBy: by, greetings: outputs.map((output) => output.payload.greeting) }
  })
})
