/**
 * Workers that are killed in the middle of items: nothing is lost, nothing is done twice, and others continue soon.
 *
 * Each round of kills takes the ten seconds after which a worker is lost, so the short form has one.
 */
import { afterEach, assert, it } from "@effect/vitest"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as Workers from "@signalbox/api/Workers"
import * as WorkItems from "@signalbox/api/WorkItems"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { ChildProcess } from "node:child_process"
import { join } from "node:path"
import { clientOf, type Ready, type RoomHere, start, temporaryFolder, upHere } from "../support/Cli.ts"

const kills = sized(2, 100)
const items = sized(40, 2000)
/** This many concurrent step runs; there are twice as many workers, so that others remain when these are killed. */
const crew = sized(2, 5)
const slowTasks = join(import.meta.dirname, "..", "support", "slowTasks.ts")

const alive = new Set<ChildProcess>()
const folder = temporaryFolder("killed")
let room: RoomHere | undefined
afterEach(async () => {
  for (const child of alive) child.kill("SIGKILL")
  alive.clear()
  await room?.end()
  folder.remove()
})

/**
 * A worker with a separate folder; with its token it links itself, without it continues with the identity in the
 * folder.
 */
const startWorker = (ready: Ready, name: string, linkToken: string | null) => {
  const child = start(
    [
      "worker",
      "start",
      "--url",
      new URL(ready.base_url).origin,
      "--data",
      join(folder.folder, name),
      "--name",
      name,
      "--tasks",
      slowTasks
    ],
    linkToken === null ? {} : { SIGNALBOX_LINK_TOKEN: linkToken }
  )
  alive.add(child)
  child.once("exit", () => alive.delete(child))
  return child
}

const inProgress = (run: ProcessRunId) =>
  StepRuns.stream(run).pipe(
    Stream.filter(({ state }) => state === "in_progress"),
    Stream.map(({ id }) => id),
    Stream.runCollect
  )

/** Waits until as many step runs as there are workers are in progress, none of them one of `before`. */
const allBusy = (run: ProcessRunId, before: ReadonlySet<string>) =>
  inProgress(run).pipe(
    Effect.tap(
      Effect.flatMap(ProcessRuns.get(run), ({ state }) =>
        state === "completed" ? Effect.die(new Error("all items are done before the kills: give more")) : Effect.void
      )
    ),
    Effect.flatMap((ids) => {
      const fresh = ids.filter((id) => !before.has(id))
      return fresh.length === crew ? Effect.succeed(fresh) : Effect.fail("waiting" as const)
    }),
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.timeout("60 seconds")
  )

const busyWorkers = Workers.stream().pipe(
  Stream.filter(({ state }) => state === "busy"),
  Stream.map(({ name }) => name),
  Stream.runCollect
)

const result = Effect.fnUntraced(function* (run: ProcessRunId) {
  const outputs = yield* Stream.runCollect(Outputs.stream(run))
  return outputs.flatMap(({ payload }) =>
    typeof payload === "object" && payload !== null && "n" in payload ? [Number(payload.n)] : []
  )
})

it.live(
  `${kills} kills over ${items} items of a step with retry`,
  () =>
    Effect.gen(function* () {
      const service = yield* Effect.promise(() => upHere(join(folder.folder, "data"), ["--workers", "0"]))
      room = service
      const { ready } = service
      yield* Effect.gen(function* () {
        const { id } = yield* Processes.create({
          name: "killed",
          steps: [
            { name: "slow", task: { name: "slow" }, max_parallel: crew, retry: { max_attempts: 100, delay_seconds: 0 } }
          ]
        })
        const waiting = yield* Effect.forEach(
          Array.from({ length: items }, (_, n) => n),
          (n) => WorkItems.create({ process: id, payload: { n } }),
          { concurrency: 16 }
        )
        assert.strictEqual(waiting.length, items)
        const started = yield* ProcessRuns.start(id, { inputs: true })
        assert.isTrue(started.started)
        if (!started.started) return
        const run = started.id
        const workers = new Map<string, ChildProcess>()
        for (let index = 0; index < 2 * crew; index++) {
          const { link_token } = yield* Workers.createLinkToken()
          workers.set(`worker-${index}`, startWorker(ready, `worker-${index}`, link_token))
        }
        const waits: Array<number> = []
        const before = new Set<string>()
        for (let killed = 0; killed < kills; killed += crew) {
          for (const id of yield* allBusy(run, before)) before.add(id)
          yield* Effect.sleep(yield* Random.nextIntBetween(0, 400))
          const at = Date.now()
          for (const name of yield* busyWorkers) {
            workers.get(name)?.kill("SIGKILL")
            workers.set(name, startWorker(ready, name, null))
          }
          yield* allBusy(run, before)
          waits.push(Date.now() - at)
        }
        const slowest = Math.max(...waits)
        yield* Effect.log(`after ${waits.length} rounds of ${crew} kills, all were at work again within ${slowest} ms`)
        const ended = yield* ProcessRuns.awaitEnd(run, { timeout: "5 minutes" })
        assert.strictEqual(ended.state, "completed")
        const made = yield* result(run)
        assert.strictEqual(made.length, items, "lost or done twice")
        assert.strictEqual(new Set(made).size, items)
        const lost = yield* StepRuns.stream(run).pipe(
          Stream.filter(({ error }) => error?.code === "WORKER_LOST"),
          Stream.runCount
        )
        assert.strictEqual(lost, kills)
      }).pipe(Effect.provide(clientOf(ready)))
    }),
  900_000
)
