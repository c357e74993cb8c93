/** What a task may use of its machine, and what of that this machine can enforce. */
export { inspect, type Enforcement } from "./internal/packages/Enforced.ts"

/** Of each program of a task package; an absent one is not limited. */
export interface Limits {
  /** Seconds of CPU time of each process. */
  readonly cpuSeconds?: number
  /** How many files each process may have open. */
  readonly openFiles?: number
  /** Bytes of each file that is written. */
  readonly fileBytes?: number
  /** Bytes of memory of all processes of the task together. Address space is never limited, which browsers would not bear. */
  readonly memoryBytes?: number
}
