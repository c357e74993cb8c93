/**
 * How long `signalbox --version` takes, and how long `signalbox up` takes until it is ready, beside a bare fastify on SQLite, in turns.
 * Each on a new folder and again on the same; wall clock and CPU, medians, and their ratios. Builds the command first, and starts
 * each once before, since the first start of a version compiles what later ones read.
 *
 * `node bench/src/start.ts [rounds]` (default 15)
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { row } from "./Table.ts"

const rounds = Number(process.argv[2] ?? 15)
const folder = mkdtempSync(join(tmpdir(), "signalbox-start-"))
const root = join(import.meta.dirname, "../..")
const bin = join(root, "packages/signalbox/dist/bin.js")
execFileSync("npx", ["-y", "pnpm@12", "--filter=signalbox", "run", "prepack"], { cwd: root, stdio: "inherit" })

interface Start {
  readonly wall: number
  readonly cpu: number
}

/** Until the first line is printed; the CPU of all threads by then, in steps of 10 ms. */
const startAnd =
  (end: NodeJS.Signals) =>
  (...args: ReadonlyArray<string>): Promise<Start> =>
    new Promise((resolve, reject) => {
      const begun = performance.now()
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
      child.once("error", reject)
      child.stdout.once("data", () => {
        const wall = performance.now() - begun
        const [user = 0, system = 0] = readFileSync(`/proc/${child.pid}/stat`, "utf8")
          .split(" ")
          .slice(13, 15)
          .map(Number)
        child.once("exit", () => resolve({ wall, cpu: (user + system) * 10 }))
        child.kill(end)
      })
    })

let round = 0
/** Killed at once, so that its end takes no time. */
let start = startAnd("SIGKILL")
const contenders: Readonly<Record<string, () => Promise<Start>>> = {
  nothing: () => start("-e", "console.log(0)"),
  "signalbox --version": () => start(bin, "--version"),
  "bare fastify, new file": () => start(join(import.meta.dirname, "bareFastify.ts"), join(folder, `new${round}.db`)),
  "signalbox up, new folder": () => start(bin, "up", "--json", "--port=0", `--data=${join(folder, `new${round}`)}`),
  "bare fastify, again": () => start(join(import.meta.dirname, "bareFastify.ts"), join(folder, "new0.db")),
  "signalbox up, again": () => start(bin, "up", "--json", "--port=0", `--data=${join(folder, "new0")}`)
}

start = startAnd("SIGTERM")
for (const contender of Object.values(contenders)) await contender()
start = startAnd("SIGKILL")
const starts = new Map<string, Array<Start>>()
for (round = 1; round <= rounds; round++) {
  for (const [name, contender] of Object.entries(contenders)) {
    starts.set(name, [...(starts.get(name) ?? []), await contender()])
  }
}
const median = (numbers: ReadonlyArray<number>) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
const medians = new Map<string, Start>()
for (const [name, all] of starts) {
  const of = { wall: median(all.map(({ wall }) => wall)), cpu: median(all.map(({ cpu }) => cpu)) }
  medians.set(name, of)
  const least = Math.min(...all.map(({ wall }) => wall))
  console.log(`${name}: ${of.wall.toFixed(0)} ms (least ${least.toFixed(0)}), CPU ${of.cpu} ms`)
}
for (const [ours, theirs] of [
  ["signalbox up, new folder", "bare fastify, new file"],
  ["signalbox up, again", "bare fastify, again"]
] as const) {
  const [up, bare] = [medians.get(ours), medians.get(theirs)]
  if (up === undefined || bare === undefined) continue
  row(ours, `${up.wall.toFixed(0)} ms`, { ratio: up.wall / bare.wall, than: theirs })
  console.log(`${ours}: ${(up.wall / bare.wall).toFixed(2)} of ${theirs}, CPU ${(up.cpu / bare.cpu).toFixed(2)}`)
}
rmSync(folder, { recursive: true, force: true })
