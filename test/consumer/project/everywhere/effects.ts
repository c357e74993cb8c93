/** The client with Effect, over the `fetch` of whatever runs it. */
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { ClientEvents } from "@signalbox/api/Events"
import * as Files from "@signalbox/api/Files"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WebhookSignature from "@signalbox/api/WebhookSignature"
import * as WorkItems from "@signalbox/api/WorkItems"
import { Deferred, Effect, Exit, Fiber, Redacted, Stream } from "effect"
import { busyOnce, type Given, isScan, type Outcome, people, scan } from "./given.ts"

const startOf = Effect.fn(function* (...args: Parameters<typeof ProcessRuns.start>) {
  const run = yield* ProcessRuns.start(...args)
  return run.started ? run.id : yield* Effect.die("the run was not started")
})

export const effects = ({ delivery, room }: Given): Promise<Outcome> => {
  const retries: Array<string> = []
  const program = Effect.gen(function* () {
    const name = `effects ${crypto.randomUUID()}`
    const process = yield* Processes.put({ name, steps: [{ name: "greet", task: { name: "greet" } }] })

    const items = yield* Effect.forEach(people, (payload) =>
      Effect.map(WorkItems.create({ process: process.id, payload }), ({ id }) => id)
    )
    const [first] = items
    if (first === undefined) return yield* Effect.die("there is no item")
    yield* WorkItems.attachFile(first, { name: "scan.bin", bytes: scan })
    const stream = Stream.fromIterable([scan.subarray(0, 100_000), scan.subarray(100_000)])
    yield* WorkItems.attachFile(first, { name: "blob.bin", size: scan.length, stream })

    const pages: Array<number> = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = yield* WorkItems.list({ process: process.id, limit: 2, cursor })
      pages.push(page.data.length)
      cursor = page.next
    }

    const { files } = yield* WorkItems.get(first)
    const received = yield* Effect.forEach(files, (file) =>
      Effect.map(
        Effect.flatMap(Stream.runCollect(Files.download(file)), (chunks) => Effect.promise(() => isScan(chunks))),
        (isWhole) => [file.name, isWhole] as const
      )
    )

    const run = yield* startOf(process.id, { workItems: items })
    yield* ProcessRuns.awaitEnd(run, { timeout: "1 minute" })
    const greetings = yield* Outputs.stream(run).pipe(
      Stream.map(({ payload }) => JSON.stringify(payload)),
      Stream.runCollect
    )

    // No worker has this task.
    const stuck = yield* Processes.put({ name: `${name}, stuck`, steps: [{ name: "wait", task: { name: "none" } }] })
    const endless = yield* startOf(stuck.id)
    const answered = yield* Deferred.make<void>()
    const onResponse = () => Deferred.doneUnsafe(answered, Exit.void)
    const waiting = yield* ProcessRuns.awaitEnd(endless).pipe(
      Effect.provideService(ClientEvents, { onResponse }),
      Effect.forkChild
    )
    yield* Deferred.await(answered)
    yield* Fiber.interrupt(waiting)
    const isAborted = Exit.hasInterrupts(yield* Fiber.await(waiting))
    const missing = yield* ProcessRuns.get(ProcessRunId.make("01900000-0000-7000-8000-000000000000")).pipe(
      Effect.as("found"),
      Effect.catchTag("NotFound", ({ code }) => Effect.succeed(code))
    )

    const receive = (body: string) =>
      WebhookSignature.receive({ ...delivery, body }).pipe(
        Effect.map(({ action }) => action),
        Effect.catchTag("InvalidSignature", ({ reason }) => Effect.succeed(reason))
      )
    const webhooks = [yield* receive(delivery.body), yield* receive(`${delivery.body} `)]
    return { greetings, pages, files: Object.fromEntries(received), retries, isAborted, missing, webhooks }
  })
  return program.pipe(
    Effect.provide(
      ControlRoom.layer({
        baseUrl: room.baseUrl,
        apiKey: Redacted.make(room.apiKey),
        workspaceId: WorkspaceId.make(room.workspaceId),
        fetch: busyOnce(/work-items$/),
        on: { onRetry: ({ attempt, status }) => retries.push(`${status} ${attempt}`) }
      })
    ),
    Effect.runPromise
  )
}
