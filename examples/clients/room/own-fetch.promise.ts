/** Reaches the room through a proxy, or any `fetch`, with headers that a gateway asks for and a name of its own. */
import { connect, type ConnectionOptions } from "@signalbox/api/promise"
import { layer } from "@signalbox/api/node"

export const throughFetch = async (
  fetch: typeof globalThis.fetch,
  options?: ConnectionOptions
) => {
  await using room = connect({
    ...options,
    fetch,
    headers: { "x-team": "billing" },
    userAgent: "invoices/2.1"
  })
  return (await room.workspaces.get()).name
}

export const throughProxy = async (
  proxy: string,
  options?: ConnectionOptions
) => {
  await using room = connect({
    ...options,
    connect: (to) => layer({ ...to, proxy })
  })
  return (await room.workspaces.get()).name
}
