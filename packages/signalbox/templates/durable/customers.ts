/** A step of your own: asks the service of customers, over HTTP, who a customer is. */
import * as Flow from "@signalbox/flows/Flow"
import * as Retry from "@signalbox/flows/Retry"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as HttpClient from "effect/http/HttpClient"

/** Business: the customer does not exist. The step is not retried. */
export class CustomerUnknown extends Schema.TaggedError<CustomerUnknown>()("CustomerUnknown", {
  customer: Schema.String
}) {
  override get message() {
    return `there is no customer ${this.customer}`
  }
}

/** Technical: the service refused or did not respond. `Retry.http` decides by these fields whether and when the step runs again. */
export class CustomersFailed extends Schema.TaggedError<CustomersFailed>()("CustomersFailed", {
  status: Schema.Int,
  retryAfterMillis: Schema.NullOr(Schema.Finite)
}) {
  override get message() {
    return `the service of customers responded with ${this.status}`
  }
}

const Customer = Schema.Struct({ name: Schema.String })

const url = Effect.orDie(Config.String("CUSTOMERS_URL"))

export const findCustomer = Flow.step("findCustomer", {
  input: Schema.String,
  success: Customer,
  error: Schema.Union([CustomerUnknown, CustomersFailed]),
  retry: { attempts: 20, delay: Retry.http, jitter: 0.2, within: "1 day" },
  timeout: "10 seconds",
  run: Effect.fnUntraced(
    function* (customer) {
      const response = yield* HttpClient.get(`${yield* url}/customers/${encodeURIComponent(customer)}`)
      const { headers, status } = response
      if (status === 404) return yield* new CustomerUnknown({ customer })
      if (status >= 400) return yield* new CustomersFailed({ status, retryAfterMillis: Retry.afterMillis(headers) })
      return yield* Effect.orDie(Schema.decodeUnknownEffect(Customer)(yield* response.json))
    },
    Effect.catchTag("HttpClientError", () => Effect.fail(new CustomersFailed({ status: 503, retryAfterMillis: null })))
  )
})
