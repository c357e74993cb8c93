/** A client with promises beside a server that responds as told, in real time and without pauses. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { type Client, connect, type Options } from "../../src/Promise.ts"
import { type FaultServer, make } from "./FaultServer.ts"

/** No pauses between attempts. */
export const policy = { baseMillis: 0, capMillis: 0, maxRetryAfterMillis: 0 }

export const optionsOf = (server: FaultServer): Options => ({
  baseUrl: server.origin,
  apiKey: "key",
  workspaceId: "workspace",
  policy
})

/** Runs a test with a client, which is closed after it. No frames of Effect are below the test, which looks at stacks. */
export const withRoom = async (
  use: (room: Client, server: FaultServer) => Promise<void>,
  options: Partial<Options> = {}
): Promise<void> => {
  const scope = Scope.makeUnsafe()
  try {
    const server = await Effect.runPromise(Scope.provide(make, scope))
    await using room = connect({ ...optionsOf(server), ...options })
    await use(room, server)
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** What a promise rejects with. */
export const rejectionOf = async (promise: Promise<unknown>): Promise<unknown> => {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error(`resolved to ${JSON.stringify(value)}`)
}

/** All that an iterable emits. */
export const collect = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}
