/**
 * The same operation with 1, 10 and 100 times as many items, executions or steps: what grows with them shows.
 */
import { join } from "node:path"
import type { Bench } from "../harness/Bench.ts"
import { fsyncOf } from "../harness/Postgres.ts"
import type { Program } from "../harness/Processes.ts"
import type { Contender, Contest, Figure, Measured, Suite } from "../harness/Suite.ts"
import type { Task as FlowTask } from "../programs/flows/Contender.ts"
import { operations as ofItems } from "../programs/support/ItemOperations.ts"
import { operations as ofFlows } from "../programs/support/FlowOperations.ts"

const millis: Readonly<Record<string, Figure>> = { millis: { unit: "ms", better: "less" } }

const sqlite = "SQLite, WAL; a commit waits for fdatasync of the log"
const times = [1, 10, 100]
const shown = (n: number) => n.toLocaleString("en")

/** The sizes of one thing on one database, smallest first, each in a program of its own. */
const sizes = (base: number, programOf: (count: number) => Program<null>) =>
  times.map((factor) => ({
    count: base * factor,
    name: `${factor}×: ${shown(base * factor)}`,
    program: programOf(base * factor)
  }))

const contests = function* (
  bench: Bench,
  where: string,
  conditions: string,
  all: ReturnType<typeof sizes>,
  operations: Readonly<Record<string, string>>
): Iterable<Contest> {
  for (const [operation, what] of Object.entries(operations)) {
    yield {
      what: `${what}, ${where}`,
      figures: millis,
      reference: all[0]?.name ?? "",
      contenders: all.map(({ name, program }): Contender => ({
        name,
        conditions,
        measure: () => program.ask<Measured>({ operation, calls: bench.scaled(40, 5) })
      }))
    }
  }
}

/** One execution that grows: what a step costs. */
const long = (bench: Bench, what: string, shape: "chain" | "fan", base: number): Contest => {
  const program = bench.program("flows/signalbox.ts", ["sqlite", join(bench.folder("long"), "flows.db")])
  const name = (factor: number) => `${factor}×: ${shown(base * factor)} steps`
  return {
    what,
    figures: millis,
    warm: false,
    reference: name(1),
    contenders: times.map((factor) => ({
      name: name(factor),
      conditions: sqlite,
      measure: async () => {
        const size = base * factor
        const task: FlowTask = { shape, size, concurrency: 1, seconds: 0.01 }
        const { p50 } = await program.ask<{ readonly p50: number }>(task)
        return { millis: p50 / size }
      }
    }))
  }
}

export const suite: Suite = {
  title: "Growth",
  about:
    "The same operation, one call at a time, beside 1, 10 and 100 times as many items that are done, or executions that have ended; and what a step " +
    "costs in an execution that has as many. The ratio is to the smallest size.",
  peers: [],
  contests: async function* (bench) {
    const base = bench.scaled(10_000, 1000)
    const items = sizes(base, (count) => bench.program("grown.ts", [bench.folder("grown"), "", String(count)]))
    yield* contests(bench, "SQLite", `${sqlite}; so many items in one run`, items, ofItems)
    await Promise.all(items.map(({ program }) => program.end()))

    const urls = [await bench.database("off"), await bench.database("off"), await bench.database("off")]
    const onPostgres = sizes(base, (count) =>
      bench.program("grown.ts", [bench.folder("grown"), urls[times.indexOf(count / base)] ?? "", String(count)])
    )
    yield* contests(bench, "Postgres", `${fsyncOf.off}; so many items in one run`, onPostgres, ofItems)
    await Promise.all(onPostgres.map(({ program }) => program.end()))

    const flows = sizes(base, (count) =>
      bench.program("grownFlows.ts", ["sqlite", join(bench.folder("grown"), "flows.db"), String(count)])
    )
    yield* contests(bench, "SQLite", `${sqlite}; so many executions that have ended`, flows, ofFlows)
    await Promise.all(flows.map(({ program }) => program.end()))

    yield long(bench, "A step of a chain, in a flow of so many", "chain", bench.scaled(100, 10))
    yield long(bench, "A step of a fan-out, in a flow of so many", "fan", bench.scaled(10, 2))
  }
}
