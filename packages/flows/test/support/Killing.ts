/**
 * Processes that run workflows, and are killed while they do.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** Starts a script of this folder; killed with the scope at the latest. */
export const start = Effect.fnUntraced(function* (args: ReadonlyArray<string>, file = "worker.ts") {
  const script = fileURLToPath(new URL(file, import.meta.url))
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "pipe"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  let output = ""
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<string>((resolve) => child.on("close", () => resolve(output)))
  return {
    /** Ends the process without giving it a chance to do anything, and waits until it is gone. */
    kill: Effect.andThen(
      Effect.sync(() => child.kill("SIGKILL")),
      Effect.promise(() => ended)
    ),
    /** What it wrote until it ended by itself. */
    output: Effect.promise(() => ended)
  }
})

/** What began, in order. */
export const begun = (notes: string): ReadonlyArray<string> =>
  existsSync(notes) ? readFileSync(notes, "utf8").trim().split("\n") : []

export const open = (gate: string) => Effect.sync(() => writeFileSync(gate, ""))
