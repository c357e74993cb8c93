/** Reaches the service through a proxy, or any `fetch`, with headers that a gateway asks for and a name of its own. */
import { HttpsProxyAgent } from "https-proxy-agent"
import { Stripe } from "stripe"

export const throughFetch = async (
  fetch: typeof globalThis.fetch,
  key: string,
  config?: Stripe.StripeConfig
) => {
  const stripe = new Stripe(key, {
    ...config,
    httpClient: Stripe.createFetchHttpClient(fetch),
    appInfo: { name: "invoices", version: "2.1" }
  })
  const headers = { "x-team": "billing" }
  return (await stripe.accounts.retrieveCurrent({}, { headers })).id
}

export const throughProxy = async (
  proxy: string,
  key: string,
  config?: Stripe.StripeConfig
) => {
  const stripe = new Stripe(key, {
    ...config,
    httpAgent: new HttpsProxyAgent(proxy)
  })
  return (await stripe.accounts.retrieveCurrent()).id
}
