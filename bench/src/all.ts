/**
 * Runs each benchmark with its defaults, one after the other, and writes one table of their figures to `bench/results.md`. It takes
 * an hour or so on two cores, with nothing beside it.
 *
 * `npx -y pnpm@12 bench [name ...]`: only these.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { arch, cpus, loadavg, platform, tmpdir } from "node:os"
import { join } from "node:path"
import { tableOf, variable } from "./Table.ts"

const benchmarks = [
  "client",
  "bundle",
  "start",
  "service",
  "pages",
  "onePath",
  "bulk",
  "bulkOperations",
  "blobs",
  "tasks",
  "environments",
  "flows",
  "load"
]

const named = process.argv.slice(2)
const unknown = named.filter((name) => !benchmarks.includes(name))
if (unknown.length > 0) {
  console.error(`no benchmark is called ${unknown.join(", ")}: they are ${benchmarks.join(", ")}`)
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
const rows = join(folder, "rows.jsonl")
writeFileSync(rows, "")
const failed: Array<string> = []
const load = () => `load ${loadavg()[0]?.toFixed(1)}`
const before = load()

for (const name of named.length === 0 ? benchmarks : named) {
  console.log(`\n== ${name} (${load()})`)
  const began = performance.now()
  const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`)], {
    stdio: "inherit",
    env: { ...process.env, [variable]: rows }
  })
  const [code] = await once(child, "exit")
  console.log(`${((performance.now() - began) / 1000).toFixed(0)} s`)
  if (code !== 0) failed.push(name)
}

const machine = `Node ${process.version}, ${platform()} ${arch()}, ${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${before} before, ${load()} after`
const text = `${new Date().toISOString()}: ${machine}\n\n${tableOf(rows)}\n`
const results = join(import.meta.dirname, "..", "results.md")
writeFileSync(results, text)
rmSync(folder, { recursive: true, force: true })
console.log(`\n${text}\nwritten to ${results}`)
if (failed.length > 0) {
  console.error(`did not end well: ${failed.join(", ")}`)
  process.exitCode = 1
}
