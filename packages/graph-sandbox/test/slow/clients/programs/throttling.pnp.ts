/** Says when a call is sent again, and gives it up after a time. */
import { GraphDefault } from "@pnp/nodejs"
import { InjectHeaders } from "@pnp/queryable"
import { graphfi } from "../support/pnp.ts"

export const main = async (
  path: string,
  millis: number,
  baseUrl: string,
  token: string
) => {
  const told: Array<string> = []
  const graph = graphfi().using(
    GraphDefault({ baseUrl }),
    InjectHeaders({ authorization: `Bearer ${token}` })
  )
  const item = graph.me.drive.getItemByPath(path.slice(1))
  item.on.log((message) => {
    if (message.startsWith("Attempt")) told.push(message)
  })
  const signal = AbortSignal.timeout(millis)
  item.on.pre(async (url, init, result) => [url, { ...init, signal }, result])
  try {
    const { name } = await item()
    return [...told, String(name)]
  } catch (error) {
    if (signal.aborted) return [...told, "given up"]
    throw error
  }
}
