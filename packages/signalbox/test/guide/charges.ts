import * as Flow from "@signalbox/flows/Flow"
import * as Retry from "@signalbox/flows/Retry"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as Schema from "effect/Schema"

class ChargeFailed extends Schema.TaggedError<ChargeFailed>()("ChargeFailed", {
  /** 503 when the service did not respond. */
  status: Schema.Int,
  /** The pause that the service asked for; null when it named none. */
  retryAfterMillis: Schema.NullOr(Schema.Finite)
}) {
  override get message() {
    return `the payment service responded with ${this.status}`
  }
}

const Charge = Schema.Struct({ id: Schema.String, cents: Schema.Int })

const charge = Flow.step("charge", {
  input: Charge,
  success: Schema.String,
  error: ChargeFailed,
  retry: { attempts: 20, delay: Retry.http, jitter: 0.5, within: "1 day" },
  timeout: "30 seconds",
  run: Effect.fnUntraced(
    function* (input) {
      const { headers, status, text } = yield* HttpClient.post(
        "https://payments.example/charges",
        {
          headers: { "idempotency-key": input.id },
          body: HttpBody.jsonUnsafe(input)
        }
      )
      if (status < 400) return yield* text
      const retryAfterMillis = Retry.afterMillis(headers)
      return yield* new ChargeFailed({ status, retryAfterMillis })
    },
    Effect.catchTag("HttpClientError", () =>
      Effect.fail(new ChargeFailed({ status: 503, retryAfterMillis: null }))
    )
  )
})

export const charges = Flow.make("charges", {
  version: 1,
  input: Charge,
  success: Schema.String,
  error: Flow.errorsOf(charge),
  idempotencyKey: ({ id }) => id,
  run: charge
})

const statuses = {
  InvalidInput: 400,
  FlowCancelled: 409,
  DeadlineExceeded: 504,
  FlowExpired: 410,
  FlowHalted: 500,
  ChargeFailed: 502,
  FlowNotRegistered: 503,
  FlowDraining: 503,
  StepTimeout: 504
}

export const respond = (input: typeof Charge.Type) =>
  Flow.execute(charges, input).pipe(
    Effect.map((receipt) => Response.json({ receipt }, { status: 201 })),
    Effect.catch((error) => {
      const status = statuses[error._tag]
      // Messages of 5xx are for operators: `signalbox flows show` has them.
      const text = status < 500 ? error.message : error._tag
      return Effect.succeed(Response.json({ error: text }, { status }))
    })
  )
