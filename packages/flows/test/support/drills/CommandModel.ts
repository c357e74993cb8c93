/**
 * What an execution may be after a sequence of commands: the table of `Commands.ts`, over everything that the execution may do by
 * itself between two of them.
 */
import { type Action, actions, type Command, type Standing } from "../../../src/internal/model/Commands.ts"

/** `suspending` and `undoing suspending`: a suspend was accepted, and its process has not carried it out yet. */
export type Phase =
  | "active"
  | "suspending"
  | "suspended"
  | "cancelling"
  | "undoing"
  | "undoing suspending"
  | "undoing suspended"
  | "completed"
  | "failed"
  | "cancelled"

const standings: Readonly<Record<Phase, Standing>> = {
  active: "running",
  suspending: "running",
  suspended: "suspended",
  cancelling: "cancelling",
  undoing: "undoing",
  "undoing suspending": "undoing",
  "undoing suspended": "suspended",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled"
}

/** What each may come to without a command. */
const progress: Readonly<Record<Phase, ReadonlyArray<Phase>>> = {
  active: ["undoing", "completed", "failed"],
  suspending: ["suspended", "undoing suspending", "completed", "failed"],
  suspended: [],
  // The cancel may come too late.
  cancelling: ["undoing", "cancelled", "completed", "failed"],
  undoing: ["failed", "cancelled"],
  "undoing suspending": ["undoing suspended", "failed", "cancelled"],
  "undoing suspended": [],
  completed: [],
  failed: [],
  cancelled: []
}

const isUndoing = (phase: Phase) => phase.startsWith("undoing")

const after = (command: Command, action: Action, phase: Phase): Phase => {
  switch (action) {
    case "send":
      return command === "cancel" ? "cancelling" : isUndoing(phase) ? "undoing suspending" : "suspending"
    case "withdraw":
    case "reopen":
      return isUndoing(phase) ? "undoing" : "active"
    case "reopen and send":
      return isUndoing(phase) ? "undoing" : "cancelling"
    case "end":
      return "cancelled"
    case "set aside":
      return "active"
    default:
      return phase
  }
}

/** Adds what the execution may have come to meanwhile. */
export const later = (phases: ReadonlySet<Phase>): ReadonlySet<Phase> => {
  const all = new Set(phases)
  for (const phase of all) for (const next of progress[phase]) all.add(next)
  return all
}

/** What remains possible after a command that was accepted or refused; empty: the model does not allow that. */
export const commanded = (phases: ReadonlySet<Phase>, command: Command, isAccepted: boolean): ReadonlySet<Phase> => {
  const open = [...later(phases)].filter((phase) => (actions[command][standings[phase]] === "refuse") !== isAccepted)
  return new Set(open.map((phase) => after(command, actions[command][standings[phase]], phase)))
}

/** Whether an execution that has come to rest may be in this state. */
export const mayRestIn = (phases: ReadonlySet<Phase>, state: string): boolean =>
  [...later(phases)].some((phase) => standings[phase] === state)
