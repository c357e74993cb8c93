/**
 * The management of executions over HTTP, for programs without Effect.
 */
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { Calls } from "./Calls.ts"

/** A listener for `createServer` of `node:http`. Its types are not named, since not every program has those of Node. */
export type NodeHandler = (
  request: { readonly method?: string | undefined; readonly url?: string | undefined },
  response: { readonly headersSent: boolean }
) => void

export interface ManagementOptions {
  /** At least 16 characters; `signalbox flows` sends it. */
  readonly token: string
  /** The path that the routes are mounted at, such as `/flows`; default: none. */
  readonly prefix?: string
}

const optionsOf = ({ prefix, token }: ManagementOptions) => ({ token: Redacted.make(token), prefix })

// Loaded when it is used: programs without a server need none of it.
const load = () => import("../../FlowManagement.ts")

export const toNodeHandler = async ({ call, scope }: Calls, options: ManagementOptions): Promise<NodeHandler> => {
  const { toNodeHandler } = await load()
  const handler = await call(Scope.provide(toNodeHandler(optionsOf(options)), scope))
  type Listener = Parameters<typeof handler>
  // Servers of Node call it with their own requests and responses.
  return (request, response) => handler(request as Listener[0], response as Listener[1])
}

export const toWebHandler = async ({ call, scope }: Calls, options: ManagementOptions) => {
  const { toWebHandler } = await load()
  return call(Scope.provide(toWebHandler(optionsOf(options)), scope))
}
