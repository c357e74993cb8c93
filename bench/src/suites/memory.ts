/**
 * What processes need while nothing happens: a room, a worker, and an engine of durable flows with many executions that sleep.
 */
import { join } from "node:path"
import type { Bench } from "../harness/Bench.ts"
import { fsyncOf } from "../harness/Postgres.ts"
import type { Program } from "../harness/Processes.ts"
import type { Idle } from "../harness/Program.ts"
import type { Contender, Figure, Measured, Suite } from "../harness/Suite.ts"
import type { Served } from "../programs/room.ts"
import type { Task } from "../programs/waiting.ts"

const figures: Readonly<Record<string, Figure>> = {
  resident: { what: "resident", unit: "MB", better: "less" },
  heap: { what: "heap after a collection", unit: "MB", better: "less" },
  cpu: { what: "CPU of a minute", unit: "ms", better: "less" }
}

const execArgv = ["--expose-gc"]

/** The CPU of a minute below which a process counts as doing nothing, in milliseconds. */
const quietMillis = 3000

interface Told {
  readonly name: string
  readonly conditions: string
  readonly peer?: boolean
}

/** A program that is left alone. */
const alone = (bench: Bench, program: Program<unknown>, told: Told): Contender => ({
  ...told,
  measure: () => program.ask<Measured>({ idleSeconds: 3 * bench.seconds } satisfies Idle)
})

/** A program that is left alone once so many executions sleep in it. */
const asleep = (bench: Bench, program: Program<unknown>, count: number, told: Told): Contender => {
  let filled: Promise<void> | undefined
  const fill = async () => {
    const many = count === 0 ? 0 : bench.scaled(count)
    for (let n = 0; n < many; n += 10_000) await program.ask({ submit: Math.min(10_000, many - n) } satisfies Task)
    // Until the last has fallen asleep: many are submitted faster than they begin.
    for (let seconds = 0; seconds < 180; seconds++) {
      const { cpu } = await program.ask<{ readonly cpu: number }>({ idleSeconds: 1 } satisfies Idle)
      if (cpu < quietMillis) break
    }
  }
  const { measure, ...rest } = alone(bench, program, told)
  return {
    ...rest,
    measure: async () => {
      filled ??= fill()
      await filled
      return measure()
    }
  }
}

const sqlite = "SQLite, WAL; a commit waits for fdatasync of the log"

export const suite: Suite = {
  title: "Memory",
  about:
    "Processes that are left alone for a while in each round, from the TypeScript sources. The heap is what a collection leaves; resident is " +
    "what the system counts, with what Node has not given back. CPU is what a minute of doing nothing costs.",
  peers: ["fastify", "graphile-worker", "pg-boss", "@dbos-inc/dbos-sdk"],
  contests: async function* (bench) {
    const program = (script: string, ...args: ReadonlyArray<string>) =>
      bench.program<Served>(script, args, { execArgv })
    const room = program("room.ts", bench.folder("room"))
    yield {
      what: "An idle room",
      figures,
      contenders: [
        alone(bench, room, { name: "signalbox, SQLite", conditions: `${sqlite}; no worker is linked` }),
        alone(bench, program("fastify.ts", bench.folder("fastify")), {
          name: "fastify, SQLite",
          peer: true,
          conditions: "the app of the server suite: one table of many, three routes, a histogram"
        }),
        alone(bench, program("room.ts", bench.folder("room"), await bench.database("on")), {
          name: "signalbox, Postgres",
          conditions: fsyncOf.on
        })
      ]
    }
    const { ready } = await room.running()
    yield {
      what: "An idle worker",
      figures,
      contenders: [
        alone(bench, program("idleWorker.ts", ready.origin, ready.linkToken), {
          name: "signalbox, worker",
          conditions: "one task in TypeScript, linked to a room over HTTP"
        }),
        alone(bench, program("idlePeer.ts", "graphile", await bench.database("on")), {
          name: "graphile-worker",
          peer: true,
          conditions: `${fsyncOf.on}; one task, its defaults`
        }),
        alone(bench, program("idlePeer.ts", "pgBoss", await bench.database("on")), {
          name: "pg-boss",
          peer: true,
          conditions: `${fsyncOf.on}; one queue, its defaults: a poll every 2 s`
        })
      ]
    }
    const engine = async (name: string, count: number): Promise<ReadonlyArray<Contender>> => [
      asleep(bench, program("waiting.ts", "sqlite", join(bench.folder("flows"), "flows.db")), count, {
        name: "signalbox, SQLite",
        conditions: `${sqlite}; ${name}`
      }),
      asleep(bench, program("waiting.ts", "postgres", await bench.database("off")), count, {
        name: "signalbox, Postgres",
        conditions: `${fsyncOf.off}; ${name}`
      })
    ]
    const dbos = async (count: number) =>
      asleep(bench, program("waitingDbos.ts", await bench.database("off")), count, {
        name: "DBOS, Postgres",
        peer: true,
        conditions: `${fsyncOf.off}; its sleeping workflows stay in the process`
      })
    yield {
      what: "An engine of flows where nothing sleeps",
      figures,
      contenders: [...(await engine("no executions", 0)), await dbos(0)]
    }
    yield {
      what: `${bench.scaled(10_000).toLocaleString("en")} sleeping flows`,
      figures,
      contenders: [...(await engine("sleeping for twelve hours", 10_000)), await dbos(10_000)]
    }
    // DBOS would take many minutes to start as many.
    yield {
      what: `${bench.scaled(100_000).toLocaleString("en")} sleeping flows`,
      figures,
      contenders: await engine("sleeping for twelve hours", 100_000)
    }
  }
}
