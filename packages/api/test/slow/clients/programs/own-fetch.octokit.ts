/** Reaches the service through a proxy, or any `fetch`, with headers that a gateway asks for and a name of its own. */
import { Octokit } from "octokit"
import { fetch as fetchBy, ProxyAgent, type RequestInit } from "undici"

type Options = ConstructorParameters<typeof Octokit>[0]

export const throughFetch = async (
  fetch: typeof globalThis.fetch,
  options?: Options
) => {
  const octokit = new Octokit({
    ...options,
    request: { fetch },
    userAgent: "invoices/2.1"
  })
  octokit.hook.before("request", ({ headers }) => {
    headers["x-team"] = "billing"
  })
  return (await octokit.rest.users.getAuthenticated()).data.login
}

export const throughProxy = async (proxy: string, options?: Options) => {
  const dispatcher = new ProxyAgent(proxy)
  const octokit = new Octokit({
    ...options,
    request: {
      fetch: (url: string, init: RequestInit) =>
        fetchBy(url, { ...init, dispatcher })
    }
  })
  const { data } = await octokit.rest.users.getAuthenticated()
  await dispatcher.close()
  return data.login
}
