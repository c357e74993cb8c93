/**
 * Items per second from reserve to release: a process of one step, its tasks in TypeScript, through a worker and the
 * service, on SQLite and on Postgres; and on the same Postgres the same work as jobs of graphile-worker and of pg-boss. Each
 * contender is a separate process with a separate database; they take turns, and the medians of the rounds are compared.
 *
 * `DATABASE_URL` names a Postgres; default: one that is started for this, which never waits for the disk.
 * `node src/tasks.ts [items] [rounds] [part of a name]`.
 */
import { startServer } from "@signalbox/testkit/Postgres"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Client } from "pg"
import { row } from "./Table.ts"

/** What a contender is to do. */
export interface Contest {
  readonly who: "signalbox" | "graphile" | "pgBoss"
  readonly items: number
  /** After this it is counted what a peer has done so far. */
  readonly seconds: number
  /** Whether each item creates an output. */
  readonly outputs: boolean
  /** Concurrent step runs of the worker. */
  readonly concurrency: number
  /** Null: SQLite in the folder. */
  readonly database: string | null
  readonly folder: string
  /** Of the peer. */
  readonly options: Readonly<Record<string, unknown>>
}

/** What it did. */
export interface Result {
  readonly items: number
  readonly seconds: number
}

type Contender = Pick<Contest, "who" | "options"> & {
  readonly name: string
  readonly concurrency?: number
  readonly sqlite?: true
}

const ours = (concurrency: number, sqlite = false): Contender => ({
  who: "signalbox",
  name: `signalbox, ${sqlite ? "SQLite" : "Postgres"}, ${concurrency} at once`,
  concurrency,
  options: {},
  ...(sqlite ? { sqlite } : {})
})

const contenders: ReadonlyArray<Contender> = [
  ours(1, true),
  ours(32, true),
  ours(100, true),
  ours(1),
  ours(32),
  ours(100),
  { who: "graphile", name: "graphile-worker, defaults (1 at once)", options: {} },
  { who: "graphile", name: "graphile-worker, 32 at once", options: { concurrency: 32, maxPoolSize: 34 } },
  {
    who: "graphile",
    name: "graphile-worker, 32 at once, local queue of 100",
    options: {
      concurrency: 32,
      maxPoolSize: 34,
      preset: { worker: { localQueue: { size: 100 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } }
    }
  },
  { who: "pgBoss", name: "pg-boss, defaults (1 every 2 s)", options: {} },
  { who: "pgBoss", name: "pg-boss, 32 at once", options: { localConcurrency: 32, pollingIntervalSeconds: 0.5 } },
  {
    who: "pgBoss",
    name: "pg-boss, batches of 32, fetched at once",
    options: { batchSize: 32, burstWhenBatchFull: true }
  }
]

const [items = "20000", rounds = "3", only = ""] = process.argv.slice(2)
const chosen = contenders.filter(({ name }) => name.includes(only))
const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
const given = process.env["DATABASE_URL"]
const server = given === undefined ? await startServer() : null
const url = given ?? server?.url ?? ""
const admin = new Client(url)
admin.on("error", () => {})
await admin.connect()

let turns = 0
const compete = async ({ concurrency = 1, options, sqlite, who }: Contender, outputs: boolean) => {
  const turn = `bench_${process.pid}_${turns++}`
  await admin.query(`CREATE DATABASE ${turn}`)
  const database = new URL(url)
  database.pathname = turn
  const contest: Contest = {
    who,
    options,
    // One after the other takes long enough with fewer.
    items: concurrency > 1 || who !== "signalbox" ? Number(items) : Math.ceil(Number(items) / 20),
    seconds: 5,
    outputs,
    concurrency,
    database: sqlite === true ? null : database.href,
    folder: join(folder, turn)
  }
  const script = join(import.meta.dirname, "tasksOf.ts")
  const child = spawn(process.execPath, [script, JSON.stringify(contest)], { stdio: ["ignore", "pipe", "inherit"] })
  const ended = once(child, "exit")
  // A peer logs a line for each item.
  let last = ""
  for await (const line of createInterface({ input: child.stdout })) last = line
  const [code] = await ended
  if (code !== 0) throw new Error(`${who} ended with ${code}: ${last}`)
  await admin.query(`DROP DATABASE ${turn} WITH (FORCE)`)
  rmSync(contest.folder, { recursive: true, force: true })
  const result = JSON.parse(last) as Result
  return result.items / result.seconds
}

const sorted = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)
const median = (values: ReadonlyArray<number>): number => sorted(values)[Math.floor(values.length / 2)] ?? 0

for (const outputs of [false, true]) {
  const results = new Map<string, Array<number>>(chosen.map(({ name }) => [name, []]))
  for (let round = 0; round < Number(rounds); round++) {
    for (const contender of chosen) results.get(contender.name)?.push(await compete(contender, outputs))
  }
  const reference = median(results.get("graphile-worker, defaults (1 at once)") ?? [])
  console.log(
    `items per second, ${outputs ? "an output each" : "no outputs"}`.padEnd(50) + " median      spread   ratio"
  )
  for (const [name, values] of results) {
    const [low = 0] = sorted(values)
    const spread = `${low.toFixed(0)}-${(sorted(values).at(-1) ?? 0).toFixed(0)}`
    const ratio = reference === 0 ? "-" : (median(values) / reference).toFixed(2)
    row(`items, ${outputs ? "an output each" : "no outputs"}: ${name}`, `${median(values).toFixed(0)}/s`, {
      ratio: median(values) / reference,
      than: "graphile-worker, defaults"
    })
    console.log(name.padEnd(50) + median(values).toFixed(0).padStart(7) + spread.padStart(12) + ratio.padStart(8))
  }
}
await admin.end()
await server?.remove()
rmSync(folder, { recursive: true, force: true })
process.exit(0)
