/** Deletes a customer, and tells what came of it; what it cannot tell is logged with what the support asks for. */
import { Stripe } from "stripe"

export const main = async (
  customer: string,
  key: string,
  config?: Stripe.StripeConfig
) => {
  const stripe = new Stripe(key, config)
  try {
    await stripe.customers.del(customer)
    return "deleted"
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error
    if (error.statusCode === 404) return "there was none"
    if (error.statusCode === 409) return "it is in use"
    if (error instanceof Stripe.errors.StripeRateLimitError)
      return `too early, in ${Number(error.headers?.["retry-after"]) * 1_000} ms again`
    console.error(error.statusCode, error.code, error.requestId)
    throw error
  }
}
