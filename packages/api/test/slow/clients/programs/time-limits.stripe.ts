/** Waits for the end of a refund, at most as long as it may take, and no longer than the person wants to. */
import { setTimeout } from "node:timers/promises"
import { Stripe } from "stripe"

export const main = async (
  refund: string,
  timeout: number,
  signal: AbortSignal,
  key: string,
  config?: Stripe.StripeConfig
) => {
  const stripe = new Stripe(key, config)
  const ends = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
  try {
    while (true) {
      const { status } = await stripe.refunds.retrieve(refund, {}, { timeout })
      if (status !== "pending") return status
      await setTimeout(1_000, undefined, { signal: ends })
    }
  } catch (error) {
    if (signal.aborted) return "cancelled"
    if (ends.aborted) return "still running"
    throw error
  }
}
