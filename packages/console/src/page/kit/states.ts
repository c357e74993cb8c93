/** States of resources: their lamps and their names. */
import * as text from "../text/text.ts"

/** The lamp of a state. */
export type Lamp = "done" | "busy" | "late" | "failed" | "idle"

const lamps: Readonly<Record<string, Lamp>> = {
  new: "idle",
  pending: "idle",
  awaiting_worker: "idle",
  in_progress: "busy",
  stopping: "late",
  completed: "done",
  done: "done",
  unresolved: "failed",
  failed: "failed",
  offline: "idle",
  idle: "done",
  online: "done",
  busy: "busy",
  open: "failed",
  muted: "idle",
  resolved: "done",
  waiting: "idle",
  cancelled: "late",
  paused: "late",
  queued: "idle",
  running: "busy",
  undoing: "busy",
  halted: "failed",
  suspended: "late",
  succeeded: "done",
  retrying: "late",
  interrupted: "idle"
}

export const lampOf = (state: string): Lamp => lamps[state] ?? "idle"

export const stateText = (state: string): string => text.states[state] ?? state.replaceAll("_", " ")
