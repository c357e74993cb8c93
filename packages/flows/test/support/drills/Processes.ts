/**
 * Processes that run the family: started, asked, stopped, continued and killed.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { firstBuild } from "./Family.ts"
import { type Order, type Plan, Reply } from "./Orders.ts"

const script = fileURLToPath(new URL("worker.ts", import.meta.url))
/** Most of what a process costs is the compilation of what it loads. */
const cache = join(tmpdir(), "signalbox-drills-cache")
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Reply))

/** The process ended before it replied. */
export class Gone extends Data.TaggedError("Gone")<{ readonly output: string }> {}
/** The order was refused. */
export class Refusal extends Data.TaggedError("Refusal")<{ readonly message: string }> {}

export const planOf = (plan: Pick<Plan, "store" | "effects"> & Partial<Plan>): Plan => ({
  ...firstBuild,
  alsoBefore: false,
  cluster: false,
  first: false,
  leaseMillis: null,
  mortal: false,
  cancels: false,
  ...plan
})

/** Starts a process of a script, and waits until it takes orders or is gone; killed with the scope at the latest. */
export const startScript = Effect.fnUntraced(function* <O>(
  script: string,
  plan: unknown,
  wrap: ReadonlyArray<string> = []
) {
  const [program = process.execPath, ...args] = [...wrap, process.execPath, script, JSON.stringify(plan)]
  const waiting = new Map<number, (reply: Effect.Effect<Schema.Json, Gone | Refusal>) => void>()
  let output = ""
  let count = 0
  let isGone = false
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, NODE_COMPILE_CACHE: cache } })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once("close", (code, signal) => {
      isGone = true
      for (const reply of waiting.values()) reply(Effect.fail(new Gone({ output })))
      resolve(signal ?? code)
    })
  )
  child.stdin.on("error", () => {})
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === '{"ready":true}') return resolve()
      if (!line.startsWith('{"id"')) return void (output += `${line}\n`)
      const { id, ok, value } = decode(line)
      waiting.get(id)?.(ok ? Effect.succeed(value) : Effect.fail(new Refusal({ message: String(value) })))
      waiting.delete(id)
    })
    void ended.then(() => resolve())
  })
  yield* Effect.promise(() => ready)
  const signal = (name: NodeJS.Signals) => Effect.sync(() => void child.kill(name))
  const hasEnded = Effect.promise(() => ended)
  return {
    pid: child.pid ?? 0,
    isGone: () => isGone,
    output: () => output,
    ask: (order: O): Effect.Effect<Schema.Json, Gone | Refusal> =>
      Effect.callback((resume) => {
        if (isGone) return resume(Effect.fail(new Gone({ output })))
        const id = count++
        waiting.set(id, resume)
        child.stdin.write(`${JSON.stringify({ id, order })}\n`)
      }),
    signal,
    /** Resolves to the signal that ended it, or to its exit code. */
    ended: hasEnded,
    kill: Effect.andThen(signal("SIGKILL"), hasEnded)
  }
})

/** Starts a process that runs the family. */
export const start = (plan: Plan, wrap: ReadonlyArray<string> = []) => startScript<Order>(script, plan, wrap)

export type Process = Effect.Success<ReturnType<typeof start>>

/** Asks a process for as long as it takes: one after the other, when they go. */
export const askAny = Effect.fnUntraced(function* (order: Order, anyone: () => Pick<Process, "ask">) {
  for (;;) {
    const exit = yield* Effect.exit(anyone().ask(order))
    if (Exit.isSuccess(exit)) return exit.value
    yield* Effect.sleep("50 millis")
  }
})
