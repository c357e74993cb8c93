/**
 * Runs simulations: `pnpm simulate --seeds 1000000 --from 1`, or one with its trace: `pnpm simulate --seed 42`. A run ends
 * after `--most` seeds that failed, 20 by default.
 */
import { parseArgs } from "node:util"
import * as Simulation from "./Simulation.ts"

const { values } = parseArgs({
  options: { seeds: { type: "string" }, from: { type: "string" }, seed: { type: "string" }, most: { type: "string" } }
})

if (values.seed !== undefined) {
  const { hash, millis, states, tasks, trace, violations } = Simulation.run(Number(values.seed), { trace: true })
  console.log(trace.join("\n"))
  console.log(`${states.join(", ")}; ${tasks} tasks in ${millis} ms of virtual time; hash ${hash}`)
  for (const violation of violations) console.log(`VIOLATION ${violation}`)
  process.exitCode = violations.length === 0 ? 0 : 1
} else {
  const from = Number(values.from ?? 1)
  const seeds = Number(values.seeds ?? 1_000)
  const most = Number(values.most ?? 20)
  const begun = performance.now()
  const states = new Map<string, number>()
  let failed = 0
  let run = 0
  for (let seed = from; seed < from + seeds && failed < most; seed++) {
    const report = Simulation.run(seed)
    run++
    for (const state of report.states) states.set(state, (states.get(state) ?? 0) + 1)
    const differs = seed % 20 === 0 && Simulation.run(seed).hash !== report.hash
    if (report.violations.length === 0 && !differs) continue
    failed++
    console.log(`seed ${seed}: ${differs ? "another trace when it is run again" : report.violations.join("\n  ")}`)
  }
  const seconds = (performance.now() - begun) / 1_000
  console.log(`${run} seeds, ${failed} failed, ${Math.round(run / seconds)} a second; ${JSON.stringify([...states])}`)
  process.exitCode = failed === 0 ? 0 : 1
}
