/**
 * What a room needs for many clients that do nothing most of the time: workers that wait for work, and readers of the stream of changes.
 */
import type { Bench } from "../harness/Bench.ts"
import { cpuMillis, type Program } from "../harness/Processes.ts"
import type { Idle } from "../harness/Program.ts"
import type { Contender, Figure, Measured, Suite } from "../harness/Suite.ts"
import type { Task } from "../programs/crowd.ts"
import type { Served } from "../programs/room.ts"

const idle: Readonly<Record<string, Figure>> = {
  resident: { what: "resident", unit: "MB", better: "less" },
  heap: { what: "heap after a collection", unit: "MB", better: "less" },
  cpu: { what: "CPU of a minute", unit: "ms", better: "less" }
}
const cpu: Figure = { what: "CPU of the room for each, with what passes meanwhile", unit: "ms", better: "less" }
const work: Readonly<Record<string, Figure>> = {
  p50: { what: "until one has it, p50", unit: "ms", better: "less" },
  p99: { what: "until one has it, p99", unit: "ms", better: "less" },
  cpu
}
const telling: Readonly<Record<string, Figure>> = {
  p99: { what: "until 99 of 100 have it", unit: "ms", better: "less" },
  last: { what: "until all have it", unit: "ms", better: "less" },
  cpu
}

interface Told {
  readonly name: string
  readonly conditions: string
}

/** A room of its own, and a crowd in another process, which comes when something is asked of it first. */
const crowded = (bench: Bench, arrive: Task, told: Told) => {
  const room = bench.program<Served>("room.ts", [bench.folder("room")], { execArgv: ["--expose-gc"] })
  let arrived: Promise<Program<null>> | undefined
  const arriving = async () => {
    const crowd = bench.program("crowd.ts", [JSON.stringify((await room.running()).ready)])
    await crowd.ask(arrive)
    await new Promise((resolve) => setTimeout(resolve, 3000))
    return crowd
  }
  const present = () => (arrived ??= arriving())
  const left: Contender = {
    ...told,
    measure: () => present().then(() => room.ask<Measured>({ idleSeconds: 10 * bench.seconds } satisfies Idle))
  }
  /** The crowd does something so often. */
  const busy = (task: Task, times: number): Contender => ({
    ...told,
    measure: async () => {
      const crowd = await present()
      const { pid } = await room.running()
      const before = cpuMillis(pid)
      const measured = await crowd.ask<Measured>(task)
      const after = cpuMillis(pid)
      return { ...measured, cpu: before === undefined || after === undefined ? undefined : (after - before) / times }
    }
  })
  const end = async () => {
    await (await arrived)?.end()
    await room.end()
  }
  return { busy, end, left }
}

const sqlite = "SQLite, WAL; a commit waits for fdatasync of the log"
const runs = 20
const changes = 5

export const suite: Suite = {
  title: "Crowds",
  about:
    "One room, with few and with many clients that wait, all of them in one other process on the same machine: workers of one task, each with a " +
    "heartbeat every three seconds and a request of 20 seconds for work; and readers of the changes of a workspace, of which a key has 32.",
  peers: [],
  contests: async function* (bench) {
    const crowdsOf = (what: string, counts: ReadonlyArray<number>, arrive: (count: number) => Task) =>
      counts.map((count) =>
        crowded(bench, arrive(count), { name: `${count.toLocaleString("en")} ${what}`, conditions: sqlite })
      )
    const reference = (what: string) => `10 ${what}`
    const workers = crowdsOf("workers", [10, bench.scaled(1000, 20)], (link) => ({ link }))
    yield {
      what: "A room with idle workers",
      figures: idle,
      reference: reference("workers"),
      warm: false,
      contenders: workers.map(({ left }) => left)
    }
    yield {
      what: "A run of one item, where workers are idle",
      figures: work,
      reference: reference("workers"),
      contenders: workers.map(({ busy }) => busy({ work: runs }, runs))
    }
    await Promise.all(workers.map(({ end }) => end()))
    const streams = crowdsOf("streams", [10, bench.scaled(1000, 20), bench.scaled(10_000, 40)], (watch) => ({ watch }))
    yield {
      what: "A room with streams of changes",
      figures: idle,
      reference: reference("streams"),
      warm: false,
      contenders: streams.map(({ left }) => left)
    }
    yield {
      what: "A change that is told to streams",
      figures: telling,
      reference: reference("streams"),
      contenders: streams.map(({ busy }) => busy({ tell: changes }, changes))
    }
    await Promise.all(streams.map(({ end }) => end()))
  }
}
