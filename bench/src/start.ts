/**
 * How long `signalbox --version` takes, and how long `signalbox up` takes until it is ready, beside a bare fastify on SQLite, in turns.
 * Each on a new folder and again on the same; wall clock and CPU, medians. Builds the command first.
 *
 * `node bench/src/start.ts [rounds]` (default 11)
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const rounds = Number(process.argv[2] ?? 11)
const folder = mkdtempSync(join(tmpdir(), "signalbox-start-"))
const root = join(import.meta.dirname, "../..")
const bin = join(root, "packages/signalbox/dist/bin.js")
execFileSync("pnpm", ["--filter=signalbox", "run", "prepack"], { cwd: root, stdio: "inherit" })

interface Start {
  readonly wall: number
  readonly cpu: number
}

/** Until the first line is printed; the CPU of all threads by then, in steps of 10 ms. */
const start = (...args: ReadonlyArray<string>): Promise<Start> =>
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
      child.kill("SIGKILL")
    })
  })

let round = 0
const contenders: Readonly<Record<string, () => Promise<Start>>> = {
  nothing: () => start("-e", "console.log(0)"),
  "signalbox --version": () => start(bin, "--version"),
  "bare fastify, new file": () => start(join(import.meta.dirname, "bareFastify.ts"), join(folder, `new${round}.db`)),
  "signalbox up, new folder": () => start(bin, "up", "--json", "--port=0", `--data=${join(folder, `new${round}`)}`),
  "bare fastify, again": () => start(join(import.meta.dirname, "bareFastify.ts"), join(folder, "new0.db")),
  "signalbox up, again": () => start(bin, "up", "--json", "--port=0", `--data=${join(folder, "new0")}`)
}

const starts = new Map<string, Array<Start>>()
for (; round < rounds; round++) {
  for (const [name, contender] of Object.entries(contenders)) {
    starts.set(name, [...(starts.get(name) ?? []), await contender()])
  }
}
const median = (numbers: ReadonlyArray<number>) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
for (const [name, all] of starts) {
  const wall = median(all.map(({ wall }) => wall))
  const least = Math.min(...all.map(({ wall }) => wall))
  console.log(`${name}: ${wall.toFixed(0)} ms (least ${least.toFixed(0)}), CPU ${median(all.map(({ cpu }) => cpu))} ms`)
}
rmSync(folder, { recursive: true, force: true })
