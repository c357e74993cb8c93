/** What a task may use of its machine, and what of that this machine can enforce. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as MemoryGroup from "./internal/process/MemoryGroup.ts"
import * as Programs from "./internal/process/Programs.ts"

/** Of each program of a task package; an absent one is not limited. */
export interface Limits {
  /** Seconds of CPU time of each process. */
  readonly cpuSeconds?: number | undefined
  /** How many files each process may have open. */
  readonly openFiles?: number | undefined
  /** Bytes of each file that is written. */
  readonly fileBytes?: number | undefined
  /** Bytes of memory of all processes of the task together. Address space is never limited, which browsers would not bear. */
  readonly memoryBytes?: number | undefined
}

/** Why limits are not enforced on this machine; null: they are. */
export interface Enforcement {
  /** CPU time, open files and file size. */
  readonly processes: string | null
  readonly memory: string | null
}

/**
 * Looks at what this machine can enforce, without changing anything.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Limits from "@signalbox/worker/Limits"
 *
 * export const why = Effect.map(
 *   Limits.inspect,
 *   ({ memory }) => memory ?? "memory can be limited"
 * )
 * ```
 */
export const inspect: Effect.Effect<Enforcement, never, FileSystem.FileSystem> = Effect.gen(function* () {
  const prlimit = yield* Programs.prlimit
  return { processes: prlimit === null ? Programs.noPrlimit : null, memory: yield* MemoryGroup.inspect }
})
