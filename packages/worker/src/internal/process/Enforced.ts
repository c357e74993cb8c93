/** The limits of tasks on this machine. */
import * as Effect from "effect/Effect"
import type { Limits } from "../../Limits.ts"
import * as MemoryGroup from "./MemoryGroup.ts"
import * as Programs from "./Programs.ts"

/** What the limits need, as the worker finds it. */
export interface Enforced {
  readonly limits: Limits
  /** The path of prlimit; null: nothing of a process is limited. */
  readonly prlimit: string | null
  /** Whether control groups of tasks may limit memory. */
  readonly memory: boolean
}

const limitsProcesses = ({ cpuSeconds, fileBytes, openFiles }: Limits) =>
  cpuSeconds !== undefined || fileBytes !== undefined || openFiles !== undefined

/** Prepares this machine for the limits, and logs once which of them it cannot enforce. */
export const prepare = Effect.fnUntraced(function* (limits: Limits) {
  const warn = (what: string, why: string) =>
    Effect.annotateLogs(Effect.logWarning(`the limits of ${what} are not enforced on this machine`), { why })
  const prlimit = limitsProcesses(limits) ? yield* Programs.prlimit : null
  if (prlimit === null && limitsProcesses(limits)) yield* warn("CPU time, open files and file size", Programs.noPrlimit)
  const memory = limits.memoryBytes === undefined ? null : yield* MemoryGroup.prepare
  if (memory !== null) yield* warn("memory", memory)
  const enforced: Enforced = { limits, prlimit, memory: limits.memoryBytes !== undefined && memory === null }
  return enforced
})

/** Nothing is limited. */
export const none: Enforced = { limits: {}, prlimit: null, memory: false }
