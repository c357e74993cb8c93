/**
 * A durable flow of two steps beside DBOS and Restate: latency of one at a time, and flows per second of 32 at a time. Each
 * contender is a separate process with its defaults, and a repeated call would join the execution, in
 * all of them. They take turns, and the medians of the rounds are compared. The Postgres, which four of them share, has
 * its default durability. Then what 10,000 executions need that wait.
 */
import { startServer } from "@signalbox/testkit/Postgres"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { cpus, loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { type Measured, quantile, type Task } from "./flows/Contender.ts"
import { row } from "./Table.ts"

const rounds = Number(process.argv[2] ?? 15)
const tasks = { "1 at a time": { seconds: 1, concurrency: 1 }, "32 at a time": { seconds: 1, concurrency: 32 } }

const folder = await mkdtemp(join(tmpdir(), "signalbox-flows-"))
const postgres = await startServer({ durable: true })

interface Contender {
  readonly child: ChildProcess
  /** Fails when the process ends before its time. */
  readonly gone: Promise<never>
}

const start = async (script: string, ...args: ReadonlyArray<string>): Promise<Contender> => {
  const child = fork(join(import.meta.dirname, "flows", script), args, { execArgv: ["--no-deprecation"] })
  const gone = once(child, "exit").then(() => Promise.reject(new Error(`${script} ${args[0]} ended too early`)))
  // Reported by the callers that wait for a response; at the end there are none.
  gone.catch(() => {})
  await Promise.race([once(child, "message"), gone])
  return { child, gone }
}

/** The processes of each; those of one share the load. */
const contenders = {
  "signalbox, SQLite": [await start("signalbox.ts", "sqlite", join(folder, "flows.db"))],
  "signalbox, Postgres": [await start("signalbox.ts", "one", postgres.url)],
  "signalbox, Postgres ×3": [
    await start("signalbox.ts", "three", postgres.url),
    await start("signalbox.ts", "three", postgres.url),
    await start("signalbox.ts", "three", postgres.url)
  ],
  "signalbox, cluster ×3": [
    await start("signalbox.ts", "cluster", postgres.url, "34431"),
    await start("signalbox.ts", "cluster", postgres.url, "34432"),
    await start("signalbox.ts", "cluster", postgres.url, "34433")
  ],
  DBOS: [await start("dbos.ts", postgres.url)],
  Restate: [await start("restate.ts", join(folder, "restate"))]
}
type Name = keyof typeof contenders
const names = Object.keys(contenders) as ReadonlyArray<Name>

const askOne = async ({ child, gone }: Contender, task: Task): Promise<Measured> => {
  const answer = once(child, "message")
  child.send(task)
  const [measured] = await Promise.race([answer, gone])
  return measured
}

const ask = async (name: Name, task: Task): Promise<Measured> => {
  const all = contenders[name]
  const concurrency = Math.ceil(task.concurrency / all.length)
  const measured = await Promise.all(all.map((one) => askOne(one, { ...task, concurrency })))
  return {
    perSecond: measured.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50: median(measured.map(({ p50 }) => p50)),
    p95: Math.max(...measured.map(({ p95 }) => p95)),
    cpu: median(measured.map(({ cpu }) => cpu))
  }
}

const median = (values: ReadonlyArray<number>) => quantile(values, 0.5)
const spread = (values: ReadonlyArray<number>, digits: number) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}-${Math.max(...values).toFixed(digits)})`

console.log(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, ${rounds} rounds, medians (and spread)`)
for (const name of names)
  for (const { concurrency } of Object.values(tasks)) await ask(name, { seconds: 3, concurrency })

for (const [title, task] of Object.entries(tasks)) {
  const results = new Map<Name, Array<Measured>>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) results.get(name)?.push(await ask(name, task))
  }
  const figures = names.map((name) => {
    const measured = results.get(name) ?? []
    return {
      name,
      perSecond: measured.map(({ perSecond }) => perSecond),
      p50: measured.map(({ p50 }) => p50),
      p95: measured.map(({ p95 }) => p95)
    }
  })
  console.log(`\n${title.padEnd(21)}${["flows/s", "p50 ms", "p95 ms"].map((text) => text.padStart(21)).join("")}`)
  for (const { name, p50, p95, perSecond } of figures) {
    console.log(
      `${name.padEnd(21)}${[spread(perSecond, 0), spread(p50, 1), spread(p95, 1)].map((text) => text.padStart(21)).join("")}`
    )
  }
  const of = (name: Name) => median(figures.find((one) => one.name === name)?.perSecond ?? [])
  for (const peer of ["DBOS", "Restate"] as const) {
    const ratios = names
      .filter((name) => name.startsWith("signalbox"))
      .map((name) => `${name.replace("signalbox, ", "")} ${(of(name) / of(peer)).toFixed(2)}`)
    console.log(`flows/s as a multiple of ${peer}: ${ratios.join(", ")}`)
  }
  for (const name of names.filter((name) => name.startsWith("signalbox"))) {
    row(`${title}: ${name}`, `${of(name).toFixed(0)}/s`, { ratio: of(name) / of("DBOS"), than: "DBOS" })
  }
  const ofLeases = of("signalbox, cluster ×3") / of("signalbox, Postgres ×3")
  console.log(`flows/s of the cluster as a multiple of Postgres ×3: ${ofLeases.toFixed(2)}`)
}
console.log(`\nload at the end ${loadavg()[0]?.toFixed(1)}`)

for (const { child } of Object.values(contenders).flat()) {
  const ended = once(child, "exit")
  child.disconnect()
  await ended
}
await postgres.remove()

const waiting = join(folder, "waiting.db")
for (const [title, file, count] of [
  ["a process where nothing waits", join(folder, "nothing.db"), 0],
  ["10,000 executions that sleep or await a signal", waiting, 10_000],
  ["a new process with all of them", waiting, 0]
] as const) {
  console.log(`\n${title}`)
  await once(
    fork(join(import.meta.dirname, "flows", "waiting.ts"), [file, String(count)], { execArgv: ["--expose-gc"] }),
    "exit"
  )
}
await rm(folder, { recursive: true, force: true })
