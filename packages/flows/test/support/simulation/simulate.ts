/**
 * Runs simulations on all cores: `pnpm simulate --seeds 200000 --from 1`, or one with its trace: `pnpm simulate --seed 42`. A run ends
 * after `--most` seeds that failed, 20 by default, or by Ctrl-C; `--processes` says on how many cores.
 */
import { spawn } from "node:child_process"
import { availableParallelism } from "node:os"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as Simulation from "./Simulation.ts"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    most: { type: "string", default: "20" },
    processes: { type: "string", default: `${availableParallelism()}` },
    seed: { type: "string" },
    /** For the processes of a run: every how manieth seed is theirs. */
    every: { type: "string" }
  }
})
const from = Number(values.from)
const seeds = Number(values.seeds)

/** What the seeds of a process, or of all, have come to. */
interface Sum {
  seeds: number
  failed: number
  readonly counts: Record<string, number>
}
type Line =
  | { readonly _tag: "Failed"; readonly seed: number; readonly what: string }
  | { readonly _tag: "Done"; readonly counts: Record<string, number> }

const one = (seed: number) => {
  const { counts, hash, millis, states, trace, violations } = Simulation.open().run(seed, { trace: true })
  console.log(trace.join("\n"))
  console.log(`${states.join(", ")}; ${counts.tasks} tasks in ${millis} ms of virtual time; hash ${hash}`)
  for (const violation of violations) console.log(`VIOLATION ${violation}`)
  return violations.length
}

/** Runs each `step`th seed, and prints a line for each. */
const part = (step: number) => {
  const { run } = Simulation.open()
  const say = (line: Line) => console.log(JSON.stringify(line))
  for (let seed = from; seed < from + seeds; seed += step) {
    const { counts, hash, states, violations } = run(seed)
    const differs = (seed - from) % (20 * step) === 0 && run(seed).hash !== hash
    const what = differs ? "another trace when it is run again" : violations.join("\n  ")
    if (what !== "") say({ _tag: "Failed", seed, what })
    const ended = Object.fromEntries(
      [...Map.groupBy(states, (state) => state)].map(([state, all]) => [state, all.length])
    )
    say({ _tag: "Done", counts: { ...counts, ...ended } })
  }
}

const all = async (processes: number) => {
  const begun = performance.now()
  const sum: Sum = { seeds: 0, failed: 0, counts: {} }
  const children = Array.from({ length: Math.min(processes, seeds) }, (_, index) => {
    const range = ["--from", `${from + index}`, "--seeds", `${seeds - index}`, "--every", `${processes}`]
    return spawn(process.execPath, [fileURLToPath(import.meta.url), ...range], { stdio: ["ignore", "pipe", "inherit"] })
  })
  const stop = () => {
    for (const child of children) child.kill()
  }
  // Then it says what it has come to.
  process.once("SIGINT", stop).once("SIGTERM", stop)
  const exits = children.map(
    (child) => new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)))
  )
  for (const child of children) {
    createInterface({ input: child.stdout }).on("line", (text) => {
      // Written by `part`.
      const line = JSON.parse(text) as Line
      if (line._tag === "Failed") {
        console.log(`seed ${line.seed}: ${line.what}\n  its trace: pnpm simulate --seed ${line.seed}`)
        if (++sum.failed >= Number(values.most)) stop()
        return
      }
      sum.seeds++
      for (const [name, count] of Object.entries(line.counts)) sum.counts[name] = (sum.counts[name] ?? 0) + count
    })
  }
  const codes = await Promise.all(exits)
  const seconds = (performance.now() - begun) / 1_000
  const each = Object.entries(sum.counts).map(([name, count]) => `${(count / sum.seeds).toFixed(1)} ${name}`)
  console.log(
    `${sum.seeds} seeds in ${seconds.toFixed(0)} s on ${children.length} processes (${(sum.seeds / seconds).toFixed(1)} a second): ` +
      `${sum.failed} failed; per seed ${each.join(", ")}`
  )
  return sum.failed + codes.filter((code) => code !== 0).length
}

if (values.seed !== undefined) process.exitCode = one(Number(values.seed)) === 0 ? 0 : 1
else if (values.every !== undefined) part(Number(values.every))
else process.exitCode = (await all(Number(values.processes))) === 0 ? 0 : 1
