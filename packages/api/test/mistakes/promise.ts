/** Mistakes of programs with promises, and what the compiler says of them (`Mistakes.test.ts`). */
import { type Client, connect } from "@signalbox/api/promise"
import * as Schema from "effect/Schema"

declare const room: Client

export const functionInAPayload = () =>
  // @ts-expect-error Type '() => number' is not assignable to type 'Jsonable | undefined'.
  room.workItems.create({ process: "0199...", payload: { total: () => 1 } })

export const bigintInAPayload = () =>
  // @ts-expect-error Type 'bigint' is not assignable to type 'Jsonable | undefined'.
  room.workItems.create({ process: "0199...", payload: { cents: 12n } })

export const mapAsAPayload = () =>
  // @ts-expect-error Type 'Map<string, number>' is not assignable to type 'Jsonable | undefined'.
  room.workItems.create({ process: "0199...", payload: new Map([["total", 1]]) })

const load = async () => ({ total: 1 })
export const promiseAsAPayload = () =>
  // @ts-expect-error Type 'Promise<{ total: number; }>' is not assignable to type 'Jsonable | undefined'.
  room.workItems.create({ process: "0199...", payload: load() })

/** It is its ISO text. */
export const dateInAPayload = () => room.workItems.create({ process: "0199...", payload: { due: new Date() } })

export const noProcess = () =>
  // @ts-expect-error Property 'process' is missing in type '{ payload: { day: number; }; }' but required in type 'NewWorkItem'.
  room.workItems.create({ payload: { day: 1 } })

export const misspelledFilter = () =>
  // @ts-expect-error Object literal may only specify known properties, but 'stat' does not exist in type 'WorkItemPage'.
  // Did you mean to write 'state'?
  room.workItems.list({ stat: "failed" })

export const misspelledState = () =>
  // @ts-expect-error Type '"Failed"' is not assignable to type '"done" | "failed" | "in_progress" | "new" | "pending" | undefined'.
  // Did you mean '"failed"'?
  room.workItems.list({ state: "Failed" })

export const optionsInThePlaceOfTheFilter = () =>
  // @ts-expect-error Object literal may only specify known properties, and 'signal' does not exist in type 'WorkItemPage'.
  room.workItems.list({ signal: AbortSignal.timeout(1000) })

export const optionsInThePlaceOfTheSchema = () =>
  // @ts-expect-error Object literal may only specify known properties, and 'signal' does not exist in type 'WithoutSchema'.
  room.workItems.get("0199...", { signal: AbortSignal.timeout(1000) })

export const noAwait = async () => {
  const item = room.workItems.create({ process: "0199..." })
  // @ts-expect-error Property 'id' does not exist on type 'ApiPromise<WorkItem>'.
  return item.id
}

export const pageAsAList = async () => {
  const items = await room.workItems.list()
  // @ts-expect-error Property 'length' does not exist on type 'ListPage<WorkItemListed>'.
  return items.length
}

export const streamWithoutAwait = () => {
  // @ts-expect-error Type 'AsyncIterable<WorkItemListed>' must have a '[Symbol.iterator]()' method that returns an iterator.
  for (const item of room.workItems.stream()) console.log(item)
}

export const otherTypeThanTheSchema = async () => {
  const schema = Schema.Struct({ total: Schema.Finite })
  const { payload } = await room.workItems.get("0199...", { schema })
  // @ts-expect-error Property 'sum' does not exist on type '{ readonly total: number; }'.
  return payload.sum
}

export const noSchema = async () => {
  const { payload } = await room.workItems.create({ process: "0199..." })
  // @ts-expect-error 'payload' is possibly 'null'.
  return payload.total
}

export const runThatWasPerhapsNotStarted = async () => {
  const run = await room.processRuns.start("0199...")
  // @ts-expect-error Property 'id' does not exist on type 'Started'.
  // Property 'id' does not exist on type 'NothingStarted'.
  return room.processRuns.awaitEnd(run.id)
}

export const onePayloadInTheInputOfARun = () =>
  // @ts-expect-error Object literal may only specify known properties, and 'payload' does not exist in type 'RunInput'.
  room.processRuns.start("0199...", { payload: { day: 1 } })

export const bytesWithoutAName = () =>
  // @ts-expect-error Argument of type 'Uint8Array<ArrayBuffer>' is not assignable to parameter of type 'UploadSource'.
  room.workItems.attachFile("0199...", new Uint8Array([1]))

export const pathAsAMember = () =>
  // @ts-expect-error Object literal may only specify known properties, and 'path' does not exist in type
  // 'File | NamedBlob | NamedBytes | SizedBytes'.
  room.workItems.attachFile("0199...", { path: "scan.pdf" })

export const nameAsAStep = () =>
  // @ts-expect-error Type 'string' is not assignable to type 'NewStep'.
  room.processes.put({ name: "invoices", steps: ["read mail"] })

export const optionThatNobodyKnows = () =>
  // @ts-expect-error Object literal may only specify known properties, and 'timeout' does not exist in type 'ConnectionOptions | Options'.
  connect({ fetch: globalThis.fetch, timeout: 10 })

export const partOfTheRoom = () =>
  // @ts-expect-error Argument of type '{ baseUrl: string; apiKey: string; }' is not assignable to parameter of type
  // 'ConnectionOptions | Options | undefined'.
  // Property 'workspaceId' is missing in type '{ baseUrl: string; apiKey: string; }' but required in type 'Options'.
  connect({ baseUrl: "http://127.0.0.1:4700", apiKey: "..." })
