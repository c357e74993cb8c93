/**
 * Items from their reservation to their release beside the same work as jobs of graphile-worker and pg-boss.
 */
import type { Bench } from "../harness/Bench.ts"
import { type Counts, counts, type Fsync, fsyncOf } from "../harness/Postgres.ts"
import * as Written from "../harness/Written.ts"
import type { Contender, Contest, Figure, Measured, Suite } from "../harness/Suite.ts"
import type { Work } from "../programs/support/Work.ts"

const sqlite = "SQLite, WAL; a commit waits for fdatasync of the log, which concurrent writers share"
const step = "a run of one step, its task in TypeScript, the worker over HTTP in one process with the service"

const rate: Readonly<Record<string, Figure>> = {
  perSecond: { unit: "/s", better: "more" },
  cpu: { what: "CPU of the process for each", unit: "ms", better: "less" }
}
const latency: Readonly<Record<string, Figure>> = {
  p50: { what: "p50", unit: "ms", better: "less" },
  p99: { what: "p99", unit: "ms", better: "less" }
}
type Asks = (work: Work) => Promise<Measured>

/** Programs that run as long as the suite, each on a database of its own. */
const programs = async (bench: Bench) => {
  const ours = (url: string | null): Asks => {
    const program = bench.program("items.ts", [bench.folder("items"), url ?? ""])
    return (work) => program.ask(work)
  }
  const peer = (script: string, url: string): Asks => {
    const program = bench.program(script, [url])
    return (work) => program.ask(work)
  }
  const on = async (fsync: Fsync) => ({
    signalbox: ours(await bench.database(fsync)),
    graphile: peer("graphile.ts", await bench.database(fsync)),
    pgBoss: peer("pgBoss.ts", await bench.database(fsync))
  })
  return { sqlite: ours(null), on: await on("on"), off: await on("off") }
}

type Programs = Awaited<ReturnType<typeof programs>>

const localQueue = { preset: { worker: { localQueue: { size: 100 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } } }
const inBatches = { batchSize: 32, burstWhenBatchFull: true }

/** The contenders for work with so many at once; `count` says about how many are done in a second. */
const contendersOf = (bench: Bench, all: Programs, fsync: Fsync, work: Pick<Work, "kind" | "concurrency" | "what">) => {
  const { graphile, pgBoss, signalbox } = all[fsync]
  const sized = (most: number): Work => ({
    ...work,
    items: bench.scaled(work.what === "latency" ? 100 : most * bench.seconds, 20)
  })
  const alone = work.concurrency === 1
  const conditions = fsyncOf[fsync]
  const ours: ReadonlyArray<Contender> = [
    ...(fsync === "on"
      ? [
          {
            name: "signalbox, SQLite",
            conditions: `${sqlite}; ${step}`,
            measure: () => all.sqlite(sized(alone ? 2000 : 3000))
          },
          ...(alone
            ? [
                {
                  name: "signalbox, SQLite, no retry",
                  conditions: "the same, a step without a retry, which begins no item ahead",
                  measure: () => all.sqlite({ ...sized(250), retry: false })
                }
              ]
            : [])
        ]
      : []),
    {
      name: `signalbox, Postgres, fsync ${fsync}`,
      conditions: `${conditions}; ${step}`,
      measure: () => signalbox(sized(alone ? 1000 : 1500))
    },
    ...(alone
      ? [
          {
            name: `signalbox, Postgres, fsync ${fsync}, no retry`,
            conditions: "the same, a step without a retry",
            measure: () => signalbox({ ...sized(150), retry: false })
          }
        ]
      : [])
  ]
  const plain: Contender = {
    name: `graphile-worker, fsync ${fsync}`,
    peer: true,
    conditions: `${conditions}; concurrency as in the row, no log lines, else its defaults`,
    measure: () => graphile(sized(alone ? 800 : 1500))
  }
  if (alone || work.kind === "failing") return [...ours, plain]
  return [
    ...ours,
    plain,
    {
      name: `graphile-worker, local queue, fsync ${fsync}`,
      peer: true,
      conditions: `${conditions}; a local queue of 100, completions in batches without delay`,
      measure: () => graphile({ ...sized(8000), options: localQueue })
    },
    {
      name: `pg-boss in batches, fsync ${fsync}`,
      peer: true,
      conditions: `${conditions}; batches of 32, fetched at once while they are full`,
      measure: () => pgBoss({ ...sized(6000), options: inBatches })
    }
  ] satisfies ReadonlyArray<Contender>
}

/** What is written for an item, in processes of their own, since counting takes time. */
const writes = async (bench: Bench): Promise<ReadonlyArray<Contest>> => {
  const url = await bench.database("on", { counted: true })
  const peerUrl = await bench.database("on", { counted: true })
  const onSqlite = bench.program("items.ts", [bench.folder("counted"), "", "sqlite"])
  const onPostgres = bench.program("items.ts", [bench.folder("counted"), url])
  const graphile = bench.program("graphile.ts", [peerUrl])
  const items = bench.scaled(200, 20)
  const counted = (ask: Asks, look: () => Promise<Counts>) => async (work: Work) => {
    // What is made once, such as the process, does not count.
    await ask({ ...work, items: 10 })
    return Written.between(look, () => ask(work).then(() => work.items))
  }
  const ofSqlite = counted(
    (work) => onSqlite.ask(work),
    () => onSqlite.ask<Counts>({ what: "counts" })
  )
  const ofPostgres = counted(
    (work) => onPostgres.ask(work),
    () => counts(url)
  )
  const ofGraphile = counted(
    (work) => graphile.ask(work),
    () => counts(peerUrl)
  )
  const contenders = (work: Work): ReadonlyArray<Contender> => [
    { name: "signalbox, SQLite", conditions: Written.how.sqlite, measure: () => ofSqlite(work) },
    { name: "signalbox, Postgres", conditions: Written.how.postgres, measure: () => ofPostgres(work) },
    {
      name: "graphile-worker",
      peer: true,
      conditions: "the same views, with what adds the jobs",
      measure: () => ofGraphile(work)
    }
  ]
  return ([1, 32] as const).flatMap((concurrency) =>
    (["quiet", "output"] as const).map((kind) => ({
      what: `An item, ${concurrency} at once, ${kind === "output" ? "an output each" : "no output"}`,
      figures: Written.figures,
      warm: false,
      rounds: 2,
      contenders: contenders({ what: "rate", kind, items, concurrency })
    }))
  )
}

const kinds = { quiet: "no output", output: "an output each", failing: "each fails" }

/** What is raced, in the order of the page. */
const races: ReadonlyArray<readonly [Work["kind"], number, Fsync]> = [
  ["quiet", 1, "on"],
  ["quiet", 32, "on"],
  ["quiet", 100, "on"],
  ["output", 1, "on"],
  ["output", 32, "on"],
  ["failing", 32, "on"],
  ["quiet", 1, "off"],
  ["quiet", 32, "off"]
]

export const suite: Suite = {
  title: "The queue",
  about:
    "Items a second from the first reservation to the last release, and the same work as jobs of peers: an output is a further job there. " +
    "Items and jobs have three attempts; a failing one has none left. Latency is of one at a time with nothing else to do, from the call that " +
    "starts a run, or adds a job, to its recorded end.",
  peers: ["graphile-worker", "pg-boss"],
  contests: async function* (bench) {
    const all = await programs(bench)
    for (const [kind, concurrency, fsync] of races) {
      yield {
        what: `Items, ${concurrency} at once, ${kinds[kind]}, fsync ${fsync}`,
        figures: rate,
        contenders: contendersOf(bench, all, fsync, { what: "rate", kind, concurrency })
      }
    }
    yield {
      what: "Latency of one item at no load, fsync on",
      figures: latency,
      warm: false,
      contenders: contendersOf(bench, all, "on", { what: "latency", kind: "quiet", concurrency: 1 })
    }
    yield* await writes(bench)
  }
}
