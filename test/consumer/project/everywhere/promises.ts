/** The client with promises, over the `fetch` of whatever runs it. */
import { connect, InvalidSignature, NotFound, receiveWebhook } from "@signalbox/api/promise"
import { busyOnce, type Given, isScan, type Outcome, people, scan } from "./given.ts"

export const promises = async ({ delivery, room: options }: Given): Promise<Outcome> => {
  const retries: Array<string> = []
  await using room = connect({
    ...options,
    fetch: busyOnce(/work-items$/),
    onRetry: ({ attempt, status }) => retries.push(`${status} ${attempt}`)
  })
  const name = `promises ${crypto.randomUUID()}`
  const process = await room.processes.put({ name, steps: [{ name: "greet", task: { name: "greet" } }] })

  const items: Array<string> = []
  for (const payload of people) items.push((await room.workItems.create({ process: process.id, payload })).id)
  const [first = ""] = items
  await room.workItems.attachFile(first, { name: "scan.bin", bytes: scan })
  await room.workItems.attachFile(first, new File([scan], "blob.bin"))

  await room.assets.put(name, new File(["{}"], "prices.json"))

  const pages: Array<number> = []
  for (let page = await room.workItems.list({ process: process.id, limit: 2 }); ;) {
    pages.push(page.data.length)
    const next = await page.nextPage()
    if (next === null) break
    page = next
  }

  const files: Record<string, boolean> = {}
  for (const file of (await room.workItems.get(first)).files) {
    const chunks: Array<Uint8Array> = []
    for await (const chunk of room.files.download(file)) chunks.push(chunk)
    files[file.name] = await isScan(chunks)
  }

  const run = await room.processRuns.start(process.id, { workItems: items })
  if (!run.started) throw new Error("the run was not started")
  await room.processRuns.awaitEnd(run.id, { timeout: "1 minute" })
  const greetings: Array<string> = []
  for await (const { payload } of room.outputs.stream(run.id)) greetings.push(JSON.stringify(payload))

  // No worker has this task.
  const stuck = await room.processes.put({ name: `${name}, stuck`, steps: [{ name: "wait", task: { name: "none" } }] })
  const endless = await room.processRuns.start(stuck.id)
  if (!endless.started) throw new Error("the run was not started")
  const waiting = new AbortController()
  await using impatient = connect({ ...options, onResponse: () => waiting.abort(new Error("enough")) })
  const ended = await impatient.processRuns
    .awaitEnd(endless.id, undefined, { signal: waiting.signal })
    .then(() => "it ended", String)
  const missing = await room.processRuns
    .get("01900000-0000-7000-8000-000000000000")
    .catch((error: unknown) => (error instanceof NotFound ? error.code : error))

  const receive = (body: string) =>
    receiveWebhook({ ...delivery, body }).then(
      ({ action }) => action,
      (error: unknown) => (error instanceof InvalidSignature ? error.reason : String(error))
    )
  const webhooks = [await receive(delivery.body), await receive(`${delivery.body} `)]
  return { greetings, pages, files, retries, isAborted: ended === "Error: enough", missing, webhooks }
}
