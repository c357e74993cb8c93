/** Creates the customer of an invoice, once: the program may run again after an answer was lost, or after a crash. */
import { Stripe } from "stripe"

export const main = async (
  invoice: string,
  key: string,
  config?: Stripe.StripeConfig
) => {
  const stripe = new Stripe(key, config)
  const customer = await stripe.customers.create(
    { metadata: { invoice } },
    { idempotencyKey: `invoice-${invoice}` }
  )
  console.log(customer.id)
  return customer.id
}
