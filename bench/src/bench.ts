/**
 * Measures this project beside its peers: `npx -y pnpm@12 bench [suite ...] [--rounds 5] [--seconds 1] [--quick]`.
 *
 * Writes the figures of each suite to `bench/results/<suite>.json`, and docs/performance.md from them. `--quick`: one round of little,
 * which shows that a suite works, and is not kept.
 */
import { parseArgs } from "node:util"
import * as Bench from "./harness/Bench.ts"
import * as Machine from "./harness/Machine.ts"
import * as Page from "./harness/Page.ts"
import * as Results from "./harness/Results.ts"
import type { Suite } from "./harness/Suite.ts"
import * as Turns from "./harness/Turns.ts"

const refuse = (message: string): never => {
  console.error(message)
  process.exit(1)
}

const parsed = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: "string", default: "5" },
        seconds: { type: "string", default: "1" },
        quick: { type: "boolean", default: false }
      }
    })
  } catch (cause) {
    return refuse(cause instanceof Error ? cause.message : String(cause))
  }
}

const { positionals, values: given } = parsed()
const isSuite = (name: string): name is Results.SuiteName => Results.suiteNames.some((known) => known === name)
const unknown = positionals.filter((name) => !isSuite(name))
if (unknown.length > 0) refuse(`no suite is called ${unknown.join(", ")}: they are ${Results.suiteNames.join(", ")}`)
const chosen = positionals.length === 0 ? Results.suiteNames : positionals.filter(isSuite)

const above = (name: string, text: string) => {
  const value = Number(text)
  return value > 0 ? value : refuse(`--${name} is a number above zero, not ${text}`)
}
const options: Bench.Options = given.quick
  ? { rounds: 1, seconds: 0.3, scale: 0.02 }
  : { rounds: Math.ceil(above("rounds", given.rounds)), seconds: above("seconds", given.seconds), scale: 1 }

const failed: Array<string> = []

/** The rows of a suite, as far as it came. */
const measure = async (suite: Suite) => {
  const bench = Bench.make(options)
  const rows: Array<Results.Row> = []
  try {
    for await (const contest of suite.contests(bench)) {
      console.log(`  … ${contest.what}`)
      const outcome = await Turns.run(contest, options.rounds)
      rows.push(...outcome.rows)
      failed.push(...outcome.failed.map((who) => `${contest.what}: ${who}`))
      for (const row of outcome.rows) console.log(Turns.lines(row))
    }
  } catch (cause) {
    // What was measured before is still printed, and the other suites still run.
    console.error(cause)
    failed.push(`suite ${suite.title}`)
  } finally {
    await bench.close()
  }
  return rows
}

for (const name of chosen) {
  console.log(`\n== ${name}`)
  const suite: Suite = (await import(`./suites/${name}.ts`)).suite
  const before = Machine.load()
  const began = performance.now()
  const broken = failed.length
  const rows = await measure(suite)
  console.log(
    `  ${((performance.now() - began) / 1000).toFixed(0)} s, load ${before} before and ${Machine.load()} after`
  )
  if (given.quick) continue
  if (failed.length > broken) console.log(`  not all of ${name} could be measured`)
  const { about, peers, title } = suite
  const { rounds, seconds } = options
  const commit = Machine.commit()
  const date = new Date().toISOString()
  const machine = Machine.machine(before)
  const versions = Machine.versions(peers)
  Results.write({ suite: name, title, about, commit, date, machine, rounds, seconds, versions, rows })
  Page.write()
}

if (given.quick) console.log("\na quick look: nothing was kept")
if (failed.length > 0) {
  console.error(`\ncould not be measured:\n${failed.map((one) => `  ${one}`).join("\n")}`)
  process.exitCode = 1
}
process.exit()
