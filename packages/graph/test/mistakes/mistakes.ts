/** Mistakes in programs of the graph, and what the compiler says of them (`Mistakes.test.ts`). */
// @effect-diagnostics missingEffectContext:off
import * as Batch from "@signalbox/graph/Batch"
import { connectGraph, driveOf, type GraphClient, me } from "@signalbox/graph/promise"
import * as Users from "@signalbox/graph/Users"
import * as Effect from "effect/Effect"

declare const graph: GraphClient

export const pathAsText = () =>
  // @ts-expect-error Argument of type 'string' is not assignable to parameter of type 'ItemAddress'.
  graph.drives.item(me, "/Reports/May.pdf")

export const ownerThatIsNone = () =>
  // @ts-expect-error Object literal may only specify known properties, and 'siteId' does not exist in type 'Owner'.
  driveOf({ siteId: "contoso" })

export const noForAwait = () => {
  // @ts-expect-error Type 'AsyncIterable<DriveItem>' must have a '[Symbol.iterator]()' method that returns an iterator.
  for (const file of graph.drives.children(me, { path: "/Inbox" })) console.log(file)
}

export const optionsInThePlaceOfFields = () =>
  // @ts-expect-error Object literal may only specify known properties, and 'signal' does not exist in type 'Selection<DriveItem>'.
  graph.drives.item(me, { path: "/Inbox" }, { signal: AbortSignal.timeout(1000) })

export const bytesInThePlaceOfAPath = () =>
  // @ts-expect-error Argument of type 'Uint8Array<ArrayBuffer>' is not assignable to parameter of type 'string'.
  graph.files.upload(me, { path: "/Inbox/a.txt" }, new Uint8Array([1]))

export const valueOfACallThatMayHaveFailed = async () => {
  const [first] = await graph.batch.all(["u1"], (id) => ({ path: `/users/${id}` }))
  // @ts-expect-error Property 'value' does not exist on type 'BatchResult<PartAnswer>'.
  // Property 'value' does not exist on type 'BatchFailure'.
  return first?.value
}

export const credentialsWithoutTheirName = () =>
  // @ts-expect-error Object literal may only specify known properties, and 'tenant' does not exist in type 'GraphOptions'.
  connectGraph({ tenant: "contoso.example", clientId: "...", clientSecret: "..." })

export const callInThePlaceOfAPart =
  // @ts-expect-error Object literal may only specify known properties, and 'path' does not exist in type 'Part<unknown>'.
  Batch.send({ me: { path: "/me" } })

export const noLayer = () =>
  // @ts-expect-error Argument of type 'Effect<User, GraphError, Graph>' is not assignable to parameter of type
  // 'Effect<User, GraphError, never>'
  Effect.runPromise(Users.me())
