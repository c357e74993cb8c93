/**
 * Many clients of the room of the first argument, in one process, as cheap as they can be: workers of one task that wait for work and send
 * heartbeats, and readers of the stream of changes. They never take more than a connection each needs.
 */
import { Agent, request as send } from "node:http"
import { serve } from "../harness/Program.ts"
import { quantile } from "../harness/Statistics.ts"
import type { Measured } from "../harness/Suite.ts"
import type { Served } from "./room.ts"

export type Task =
  /** Links workers, which wait for work from then on, and sees how many wait. */
  | { readonly link: number }
  /** Starts runs of one item, one after the other: how long until a worker has the step run. */
  | { readonly work: number }
  /** Opens streams. */
  | { readonly watch: number }
  /** Makes changes, one after the other: how long until the last of the streams, and 99 of 100 of them, have heard. */
  | { readonly tell: number }

const served = JSON.parse(process.argv[2] ?? "{}") as Served
const { origin, key, workspaceId } = served
const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
const workspace = `/api/v1/workspaces/${workspaceId}`
const taskName = "idle"

const post = <A>(path: string, authorization: string | null, body: unknown) =>
  new Promise<A>((resolve, reject) => {
    const headers = { "content-type": "application/json", ...(authorization === null ? {} : { authorization }) }
    const outgoing = send(`${origin}${path}`, { method: "POST", agent, headers }, (answer) => {
      let text = ""
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
      answer.once("end", () =>
        answer.statusCode === 200 ? resolve(JSON.parse(text) as A) : reject(new Error(`${path}: ${text}`))
      )
    })
    outgoing.once("error", reject)
    outgoing.end(JSON.stringify(body))
  })
const own = `RC-WSKEY ${key}`

/** So many at a time. */
const each = async (count: number, at: number, what: (n: number) => Promise<unknown>) => {
  let next = 0
  const lane = async () => {
    while (next < count) await what(next++)
  }
  await Promise.all(Array.from({ length: at }, lane))
}

const heartbeatMillis = 3000
const waitSeconds = 20
let leased: (() => void) | undefined

interface Leases {
  readonly leases: ReadonlyArray<{ readonly step_run_id: string; readonly lease_token: string }>
}

const work = async (authorization: string) => {
  const beat = () => void post("/worker-v1/heartbeat", authorization, { step_run_ids: [] })
  setTimeout(() => setInterval(beat, heartbeatMillis), Math.random() * heartbeatMillis)
  for (;;) {
    const ask = { free: 1, tasks: [taskName], wait_seconds: waitSeconds }
    const { leases } = await post<Leases>("/worker-v1/lease", authorization, ask)
    if (leases.length === 0) continue
    leased?.()
    for (const { lease_token, step_run_id } of leases) {
      const path = `/worker-v1/step-runs/${step_run_id}`
      await post(`${path}/start`, authorization, { lease_token })
      await post(`${path}/finish`, authorization, {
        lease_token,
        error: { code: "ROBOT_FAILURE", message: "not done" }
      })
    }
  }
}

const link = (count: number) =>
  each(count, 8, async (n) => {
    const { link_token } = await post<{ readonly link_token: string }>(`${workspace}/workers/link-tokens`, own, {})
    const told = { link_token, name: `worker ${n}`, tasks: [taskName] }
    const { worker_token } = await post<{ readonly worker_token: string }>("/worker-v1/link", null, told)
    void work(`Bearer ${worker_token}`)
  })

let processId: string | undefined
const started = async () => {
  const steps = [{ name: "s", task: { name: taskName } }]
  processId ??= (await post<{ readonly id: string }>(`${workspace}/processes`, own, { name: "one", steps })).id
  await post(`${workspace}/processes/${processId}/process-runs`, own, { type: "with_payloads", payloads: [1] })
}

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const assigned = async (count: number): Promise<Measured> => {
  const times: Array<number> = []
  for (let n = 0; n < count; n++) {
    const { promise, resolve } = Promise.withResolvers<void>()
    leased = resolve
    const before = performance.now()
    await started()
    await promise
    times.push(performance.now() - before)
    await pause(100)
  }
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

/** A key may have so many streams. */
const streamsOfKey = 32
let heard: (() => void) | undefined
let streams = 0

const watchOne = (authorization: string) =>
  new Promise<void>((resolve, reject) => {
    const outgoing = send(`${origin}${workspace}/changes`, { agent, headers: { authorization } }, (answer) => {
      if (answer.statusCode !== 200) return reject(new Error(`the stream was refused: ${answer.statusCode}`))
      streams++
      // The first event says that the reader has to load everything.
      answer.once("data", () => {
        resolve()
        answer.on("data", (chunk: Buffer) => {
          if (chunk.includes('"processes"')) heard?.()
        })
      })
      answer.once("close", () => streams--)
    })
    outgoing.once("error", reject)
    outgoing.end()
  })

const watch = (count: number) =>
  each(Math.ceil(count / streamsOfKey), 4, async (n) => {
    const asked = { name: `reader ${n}`, permissions: ["Processes.read_processes"] }
    const { key } = await post<{ readonly key: string }>(`${workspace}/api-keys`, own, asked)
    for (let m = n * streamsOfKey; m < Math.min(count, (n + 1) * streamsOfKey); m++) await watchOne(`RC-WSKEY ${key}`)
  })

const tell = async (count: number): Promise<Measured> => {
  const lasts: Array<number> = []
  const most: Array<number> = []
  for (let n = 0; n < count; n++) {
    const times: Array<number> = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = performance.now()
    heard = () => {
      times.push(performance.now() - before)
      if (times.length === streams) resolve()
    }
    await post(`${workspace}/processes`, own, { name: `told ${crypto.randomUUID()}`, steps: [] })
    await promise
    lasts.push(quantile(times, 1))
    most.push(quantile(times, 0.99))
    await pause(600)
  }
  return { last: quantile(lasts, 0.5), p99: quantile(most, 0.5) }
}

serve(async (task: Task) => {
  if ("link" in task) return link(task.link).then(() => null)
  if ("watch" in task) return watch(task.watch).then(() => null)
  return "work" in task ? assigned(task.work) : tell(task.tell)
})
