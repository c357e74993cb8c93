/**
 * How long `signalbox up` takes until it is ready, beside a bare fastify on SQLite, on a new folder and again on the same; and
 * `signalbox --version`. Of the command as it is packed.
 */
import { execFileSync, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Contender, Figure, Measured, Suite } from "../harness/Suite.ts"

const root = join(import.meta.dirname, "../../..")
const bin = join(root, "packages/signalbox/dist/bin.js")
const fastify = join(import.meta.dirname, "../programs/bareFastify.ts")

const figures: Readonly<Record<string, Figure>> = {
  wall: { unit: "ms", better: "less" },
  cpu: { what: "CPU of all threads", unit: "ms", better: "less" }
}

/** Until the first line is printed; the CPU by then, in steps of 10 ms. */
const start = (end: NodeJS.Signals, ...args: ReadonlyArray<string>) =>
  new Promise<Measured>((resolve, reject) => {
    const begun = performance.now()
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
    child.once("error", reject)
    child.once("exit", (code) => reject(new Error(`${args[0]} ended with ${code} before it was ready`)))
    child.stdout.once("data", () => {
      const wall = performance.now() - begun
      child.removeAllListeners("exit")
      const [user = 0, system = 0] = readFileSync(`/proc/${child.pid}/stat`, "utf8")
        .split(" ")
        .slice(13, 15)
        .map(Number)
      child.once("exit", () => resolve({ wall, cpu: (user + system) * 10 }))
      child.kill(end)
    })
  })

/** The first start of a version compiles what later ones read, and stores it at its end; later ones are killed, so that their end takes no time. */
const starting = (args: () => ReadonlyArray<string>) => {
  let end: NodeJS.Signals = "SIGTERM"
  return () => {
    const measured = start(end, ...args())
    end = "SIGKILL"
    return measured
  }
}

export const suite: Suite = {
  title: "The start",
  about:
    "From the start of the process to the line that says it is ready. The room is packed, so from JavaScript; the app of fastify is one file.",
  peers: ["fastify"],
  contests: async function* (bench) {
    execFileSync("npx", ["-y", "pnpm@12", "--filter=signalbox", "run", "prepack"], { cwd: root, stdio: "ignore" })
    const up = (folder: string) => [bin, "up", "--json", "--port=0", `--data=${folder}`]
    const packed = "packed; SQLite, WAL; migrations, a key and a worker"
    const bare = "SQLite, WAL, PRAGMA synchronous = FULL; one table and one route"
    const room = (name: string, args: () => ReadonlyArray<string>): Contender => ({
      name,
      conditions: packed,
      measure: starting(args)
    })
    const app = (args: () => ReadonlyArray<string>): Contender => ({
      name: "bare fastify",
      peer: true,
      conditions: bare,
      measure: starting(args)
    })
    const [again, file] = [bench.folder("again"), join(bench.folder("fastify"), "again.db")]
    yield {
      what: "Ready, in a new folder",
      figures,
      contenders: [
        room("signalbox up", () => up(bench.folder("new"))),
        app(() => [fastify, join(bench.folder("fastify"), "new.db")])
      ]
    }
    yield {
      what: "Ready, again in the same folder",
      figures,
      contenders: [room("signalbox up", () => up(again)), app(() => [fastify, file])]
    }
    yield {
      what: "The first line of a command",
      figures,
      contenders: [
        room("signalbox --version", () => [bin, "--version"]),
        {
          name: "node -e",
          peer: true,
          conditions: "an empty program",
          measure: starting(() => ["-e", "console.log(0)"])
        }
      ]
    }
  }
}
