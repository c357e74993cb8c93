/**
 * Durable flows beside DBOS and Restate: a chain of steps and a fan of steps, with an idempotency key on each flow.
 */
import { freePort } from "@signalbox/testkit/FreePort"
import { join } from "node:path"
import type { Bench } from "../harness/Bench.ts"
import { type Counts, counts, type Fsync, fsyncOf } from "../harness/Postgres.ts"
import { median } from "../harness/Statistics.ts"
import type { Contender, Contest, Figure, Measured, Suite } from "../harness/Suite.ts"
import * as Written from "../harness/Written.ts"
import type { Task } from "../programs/flows/Contender.ts"

const rate: Readonly<Record<string, Figure>> = {
  perSecond: { unit: "flows/s", better: "more" },
  p50: { what: "p50", unit: "ms", better: "less" },
  p99: { what: "p99", unit: "ms", better: "less" },
  cpu: { what: "CPU of the process for each", unit: "ms", better: "less" }
}
const { p50, p99 } = rate
const latency = { p50, p99 } as Readonly<Record<string, Figure>>
/** One long flow may take longer than a round is long: its time says more than a rate. */
const long: Readonly<Record<string, Figure>> = {
  p50: { what: "the whole flow", unit: "ms", better: "less" },
  cpu: { what: "CPU of the process for a flow", unit: "ms", better: "less" }
}

type Asked = Omit<Task, "concurrency" | "seconds"> & Partial<Task>

interface Engine extends Omit<Contender, "measure"> {
  readonly ask: (task: Asked) => Promise<Measured>
}

/** Several processes share the load. */
const together =
  (
    asks: ReadonlyArray<(task: Task) => Promise<Record<"perSecond" | "p50" | "p99" | "cpu", number>>>,
    seconds: number
  ) =>
  async (task: Asked): Promise<Measured> => {
    const concurrency = Math.ceil((task.concurrency ?? 1) / asks.length)
    const all = await Promise.all(asks.map((ask) => ask({ seconds, ...task, concurrency })))
    return {
      perSecond: all.reduce((sum, one) => sum + one.perSecond, 0),
      p50: median(all.map((one) => one.p50)),
      p99: Math.max(...all.map((one) => one.p99)),
      cpu: median(all.map((one) => one.cpu))
    }
  }

const engines = async (bench: Bench) => {
  const { seconds } = bench
  const engine = (
    name: string,
    conditions: string,
    programs: ReadonlyArray<readonly [string, ...Array<string>]>
  ): Engine => ({
    name,
    conditions,
    peer: !name.startsWith("signalbox"),
    ask: together(
      programs.map(([script, ...args]) => {
        const program = bench.program(`flows/${script}.ts`, args)
        return (task: Task) => program.ask(task)
      }),
      seconds
    )
  })
  const onPostgres = async (fsync: Fsync) => ({
    signalbox: engine(`signalbox, Postgres, fsync ${fsync}`, fsyncOf[fsync], [
      ["signalbox", "postgres", await bench.database(fsync)]
    ]),
    dbos: engine(`DBOS, Postgres, fsync ${fsync}`, fsyncOf[fsync], [["dbos", await bench.database(fsync)]])
  })
  const three = await bench.database("on")
  const cluster = await bench.database("on")
  const ports = [await freePort(), await freePort(), await freePort()]
  return {
    sqlite: engine(
      "signalbox, SQLite",
      "SQLite, WAL; a commit waits for fdatasync of the log, which concurrent writers share",
      [["signalbox", "sqlite", join(bench.folder("flows"), "flows.db")]]
    ),
    on: await onPostgres("on"),
    off: await onPostgres("off"),
    three: engine(
      "signalbox, Postgres, fsync on, ×3",
      `${fsyncOf.on}; three processes, each with a third of the callers`,
      ports.map(() => ["signalbox", "postgres", three] as const)
    ),
    cluster: engine(
      "signalbox, cluster, fsync on, ×3",
      `${fsyncOf.on}; three runners of a cluster, each with a third of the callers`,
      ports.map((port) => ["signalbox", "cluster", cluster, String(port)] as const)
    ),
    restate: engine(
      "Restate",
      "its server on its own storage in a folder, as it is by default; CPU is that of the handlers, without the server",
      [["restate", bench.folder("restate")]]
    )
  }
}

const steps = 100

/** What is written for a step, of flows of a hundred, in processes of their own, since counting takes time. */
const writes = async (bench: Bench): Promise<Contest> => {
  const url = await bench.database("on", { counted: true })
  const peerUrl = await bench.database("on", { counted: true })
  const onSqlite = bench.program("flows/signalbox.ts", ["counted", join(bench.folder("counted"), "flows.db")])
  const onPostgres = bench.program("flows/signalbox.ts", ["postgres", url])
  const dbos = bench.program("flows/dbos.ts", [peerUrl])
  const task: Task = { shape: "chain", size: steps, flows: bench.scaled(5), concurrency: 1, seconds: 0 }
  const counted = (ask: (task: Task) => Promise<unknown>, look: () => Promise<Counts>) => async () => {
    await ask({ ...task, flows: 1 })
    return Written.between(look, () => ask(task).then(() => steps * (task.flows ?? 1)))
  }
  return {
    what: `A step of a flow of ${steps}, fsync on`,
    figures: Written.figures,
    warm: false,
    rounds: 2,
    contenders: [
      {
        name: "signalbox, SQLite",
        conditions: Written.how.sqlite,
        measure: counted(
          (some) => onSqlite.ask(some),
          () => onSqlite.ask({ ...task, shape: "counts" })
        )
      },
      {
        name: "signalbox, Postgres",
        conditions: Written.how.postgres,
        measure: counted(
          (some) => onPostgres.ask(some),
          () => counts(url)
        )
      },
      {
        name: "DBOS, Postgres",
        peer: true,
        conditions: Written.how.postgres,
        measure: counted(
          (some) => dbos.ask(some),
          () => counts(peerUrl)
        )
      }
    ]
  }
}

export const suite: Suite = {
  title: "Durable flows",
  about:
    "A chain: each step takes the result of the one before. A fan: all steps at the same time. Each engine has its defaults, and each flow " +
    "an idempotency key, by which a repeated call would join its execution. A latency is from the call to the result of the flow.",
  peers: ["@dbos-inc/dbos-sdk", "@restatedev/restate-sdk", "@restatedev/restate-server"],
  contests: async function* (bench) {
    const { cluster, off, on, restate, sqlite, three } = await engines(bench)
    const durable = [sqlite, on.signalbox, on.dbos, restate]
    const contest = (what: string, figures: Contest["figures"], all: ReadonlyArray<Engine>, task: Asked): Contest => ({
      what,
      figures,
      contenders: all.map(({ ask, ...one }) => ({ ...one, measure: () => ask(task) }))
    })
    const two: Asked = { shape: "chain", size: 2 }
    yield contest("Flows of 2 steps, 1 at once", rate, durable, two)
    yield contest("Flows of 2 steps, 32 at once", rate, [...durable, three, cluster], { ...two, concurrency: 32 })
    yield contest("Flows of 2 steps, 1 at once, fsync off", rate, [off.signalbox, off.dbos], two)
    yield contest("Flows of 2 steps, 32 at once, fsync off", rate, [off.signalbox, off.dbos], {
      ...two,
      concurrency: 32
    })
    yield contest("Latency of a flow of one step at no load", latency, durable, { shape: "chain", size: 1 })
    for (const size of [100, bench.scaled(1000, 200)]) {
      yield {
        ...contest(`A flow of ${size} steps`, long, durable, { shape: "chain", size, seconds: 0.01 }),
        warm: size === 100
      }
    }
    for (const size of [10, bench.scaled(1000, 200)]) {
      const seconds = size === 10 ? bench.seconds : 0.01
      yield {
        ...contest(`A fan-out of ${size} steps`, long, durable, { shape: "fan", size, seconds }),
        warm: size === 10
      }
    }
    yield await writes(bench)
  }
}
