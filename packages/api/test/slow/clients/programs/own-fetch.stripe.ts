/** Reaches the service through a proxy, or any `fetch`, with headers that a gateway asks for and a name of its own. */
import { HttpsProxyAgent } from "https-proxy-agent"
import { Stripe } from "stripe"

export const throughFetch = async (
  fetch: typeof globalThis.fetch,
  key: string,
  config?: Stripe.StripeConfig
) => {
  const withTeam: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set("x-team", "billing")
    return fetch(input, { ...init, headers })
  }
  const stripe = new Stripe(key, {
    ...config,
    httpClient: Stripe.createFetchHttpClient(withTeam),
    appInfo: { name: "invoices", version: "2.1" }
  })
  return (await stripe.accounts.retrieveCurrent()).id
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
