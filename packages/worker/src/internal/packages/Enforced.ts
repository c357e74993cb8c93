/** The limits of tasks on this machine. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type { Limits } from "../../Limits.ts"
import * as MemoryGroup from "./MemoryGroup.ts"
import * as Programs from "./Programs.ts"

/** Why limits are not enforced on this machine; null: they are. */
export interface Enforcement {
  /** CPU time, open files and file size. */
  readonly processes: string | null
  readonly memory: string | null
}

/** What the limits need, as the worker finds it. */
export interface Enforced {
  readonly limits: Limits
  /** The path of prlimit; null: nothing of a process is limited. */
  readonly prlimit: string | null
  /** Whether control groups of tasks may limit memory. */
  readonly memory: boolean
}

const noPrlimit = "there is no program prlimit on PATH (util-linux)"

const limitsProcesses = ({ cpuSeconds, fileBytes, openFiles }: Limits) =>
  cpuSeconds !== undefined || fileBytes !== undefined || openFiles !== undefined

const findPrlimit = Effect.suspend(() =>
  process.platform === "linux" ? Programs.find("prlimit", process.env["PATH"] ?? "", "/") : Effect.succeed(null)
)

/**
 * Looks at what this machine can enforce, without changing anything.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Limits from "@signalbox/worker/Limits"
 *
 * export const why = Effect.map(Limits.inspect, ({ memory }) => memory ?? "memory can be limited")
 * ```
 */
export const inspect: Effect.Effect<Enforcement, never, FileSystem.FileSystem> = Effect.gen(function* () {
  const prlimit = yield* findPrlimit
  return { processes: prlimit === null ? noPrlimit : null, memory: yield* MemoryGroup.inspect }
})

/** Prepares this machine for the limits, and logs once which of them it cannot enforce. */
export const prepare = Effect.fnUntraced(function* (limits: Limits) {
  const warn = (what: string, why: string) =>
    Effect.annotateLogs(Effect.logWarning(`the limits of ${what} are not enforced on this machine`), { why })
  const prlimit = limitsProcesses(limits) ? yield* findPrlimit : null
  if (prlimit === null && limitsProcesses(limits)) yield* warn("CPU time, open files and file size", noPrlimit)
  const memory = limits.memoryBytes === undefined ? null : yield* MemoryGroup.prepare
  if (memory !== null) yield* warn("memory", memory)
  const enforced: Enforced = { limits, prlimit, memory: limits.memoryBytes !== undefined && memory === null }
  return enforced
})

/** Nothing is limited. */
export const none: Enforced = { limits: {}, prlimit: null, memory: false }
