/** Two pages now, and those after them another time: the id of the last customer is kept. */
import { Stripe } from "stripe"

export const main = async (
  email: string,
  kept: string | undefined,
  key: string,
  config?: Stripe.StripeConfig
) => {
  const stripe = new Stripe(key, config)
  // Undefined is sent as nothing, but only its types without `exactOptionalPropertyTypes` say so.
  const list = (after?: string) =>
    stripe.customers.list({ email, limit: 2, starting_after: after as string })
  const first = await list(kept)
  const second = first.has_more ? await list(first.data.at(-1)?.id) : undefined
  const customers = [...first.data, ...(second?.data ?? [])]
  for (const { id, name } of customers) console.log(id, name)
  const ids = customers.map(({ id }) => id)
  return { ids, later: second?.has_more === true ? ids.at(-1) : undefined }
}
