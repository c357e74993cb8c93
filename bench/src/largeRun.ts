/**
 * A run of very many items on SQLite: `node bench/src/largeRun.ts --items 1000000 [--sample 20000] [--at-once 32] [--url postgres://…]`.
 *
 * Creates the items through the API, as many in a request as it takes, starts a run of all, has a worker over HTTP process so many of them,
 * and stops the run. Prints how long each took, and how long reads of the run take meanwhile.
 */
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Task from "@signalbox/worker/Task"
import * as Worker from "@signalbox/worker/Worker"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { ApiKeys } from "../../packages/control-room/src/internal/store/access/ApiKeys.ts"
import { Workspaces } from "../../packages/control-room/src/internal/store/access/Workspaces.ts"
import { Workers } from "../../packages/control-room/src/internal/store/workers/Workers.ts"
import { quantile } from "./harness/Statistics.ts"
import * as Room from "./programs/support/Room.ts"
import { payload } from "./programs/support/Work.ts"

const { values } = parseArgs({
  options: {
    items: { type: "string", default: "1000000" },
    sample: { type: "string", default: "20000" },
    "at-once": { type: "string", default: "32" },
    url: { type: "string" }
  }
})
const [items, sample, atOnce] = [values.items, values.sample, values["at-once"]].map(Number) as [number, number, number]
const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
const room = Room.start(folder, values.url ?? null)
const { key, origin, token, workspace } = await room.runPromise(
  Effect.gen(function* () {
    const workspace = yield* (yield* Workspaces).create("bench")
    const { key } = yield* (yield* ApiKeys).create(workspace.id, "bench", Permission.literals)
    const { link_token: token } = yield* (yield* Workers).createLinkToken(workspace.id, "9999-12-31T23:59:59.999Z")
    return { key, origin: yield* Room.origin, token, workspace: workspace.id }
  })
)

const headers = { authorization: `RC-WSKEY ${key}`, "content-type": "application/json" }
const ask = async <A>(path: string, body?: unknown): Promise<A> => {
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
  const response = await fetch(`${origin}/api/v1/workspaces/${workspace}/${path}`, { ...sent, headers })
  if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as A
}
const timed = async <A>(what: string, call: () => Promise<A>) => {
  const cpu = process.cpuUsage()
  const before = performance.now()
  const result = await call()
  const { system, user } = process.cpuUsage(cpu)
  const seconds = (millis: number) => `${(millis / 1000).toFixed(2)} s`
  console.log(`${what}: ${seconds(performance.now() - before)}, CPU ${seconds((user + system) / 1000)}`)
  return result
}

let done = 0
let reached: (() => void) | undefined
const task = Task.make("quiet", {
  input: Schema.Unknown,
  output: Schema.Unknown,
  run: () =>
    Effect.sync(() => {
      if (++done === sample) reached?.()
    })
})

const steps = [{ name: "work", task: { name: "quiet" }, max_parallel: atOnce }]
const { id: processId } = await ask<{ readonly id: string }>("processes", { name: "large", steps })
const inRequest = 1000
await timed(`creating ${items} items`, async () => {
  let next = 0
  const lane = async () => {
    while (next < items) {
      const from = next
      next += inRequest
      const payloads = Array.from({ length: Math.min(inRequest, items - from) }, (_, n) => payload(from + n))
      await ask("work-items/bulk", { process: { id: processId }, payloads })
    }
  }
  await Promise.all([lane(), lane()])
})
const run = await timed("starting the run", () =>
  ask<{ readonly id: string }>(`processes/${processId}/process-runs`, { type: "with_inputs" })
)

const working = ManagedRuntime.make(
  Layer.provide(
    Worker.layer({ origin, linkToken: Redacted.make(token), name: "worker", tasks: [task], capacity: atOnce }),
    Layer.succeedContext(await room.context())
  )
)
await timed(`processing ${sample} of them`, async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  reached = resolve
  await working.context()
  await promise
})
for (const path of [
  `process-runs/${run.id}`,
  `process-runs/${run.id}/steps`,
  `work-items?process_run_id=${run.id}&limit=100`
]) {
  const times: Array<number> = []
  for (let n = 0; n < 50; n++) {
    const before = performance.now()
    await ask(path)
    times.push(performance.now() - before)
  }
  const shown = [0.5, 0.99].map((part) => quantile(times, part).toFixed(1))
  console.log(`GET ${path.replace(run.id, ":id")} meanwhile, p50 and p99: ${shown.join(", ")} ms`)
}
await timed("stopping the run", () =>
  ask(`process-runs/${run.id}/stop`, { set_remaining_work_items_as_done: false, terminate_ongoing_activity_runs: true })
)
console.log(`${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MB resident`)
await working.dispose()
await room.dispose()
rmSync(folder, { recursive: true, force: true })
