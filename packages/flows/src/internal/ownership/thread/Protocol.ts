/**
 * Shared by a process and the thread that renews its lease.
 */
import type { Standing } from "../../model/Execution.ts"

/** The interval at which the event loop shows that it runs. */
export const beatMillis = 500
/** An event loop that is late for longer stands still. */
export const noticedMillis = 5_000

/** `workerData` of the thread. */
export interface Given {
  readonly url: string
  readonly schema: string
  /** What the process shows of its event loop (`Marks.ts`). */
  readonly memory: SharedArrayBuffer
  readonly leaseMillis: number
  readonly stallLimitMillis: number
}

/** A message to the thread: whose lease it renews; null for none. */
export type Order = { readonly _tag: "Follow"; readonly process: string | null } | { readonly _tag: "End" }

/** A message of the thread. */
export type Report =
  | ({ readonly _tag: "Stood" } & Standing)
  /** The first of several failures of its connection. */
  | { readonly _tag: "Unreachable"; readonly message: string }
  | { readonly _tag: "Ended"; readonly message: string }
