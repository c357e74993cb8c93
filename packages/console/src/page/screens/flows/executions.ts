/** Executions of flows in words, and what may be done with them in each state. */
import type { InspectionJson, PageJson } from "@signalbox/flows/FlowManagement"

export type Listed = PageJson["executions"][number]
export type Inspection = InspectionJson
export type Activity = InspectionJson["now"][number]
export type Entry = InspectionJson["steps"][number]
export type FlowState = Listed["state"]

/** Those that a person looks for first. */
export const states: ReadonlyArray<FlowState> = [
  "halted",
  "failed",
  "suspended",
  "running",
  "waiting",
  "queued",
  "undoing",
  "completed",
  "cancelled"
]

export type Command = "resume" | "retry" | "suspend" | "cancel"

const ofUnended = ["suspend", "cancel"] as const

/** The buttons of each state. A completed one is retried from a step. */
export const commandsOf: Readonly<Record<FlowState, ReadonlyArray<Command>>> = {
  queued: ofUnended,
  waiting: ofUnended,
  running: ofUnended,
  undoing: ["suspend"],
  halted: ["resume", "retry", "cancel"],
  suspended: ["resume", "cancel"],
  completed: [],
  failed: ["retry"],
  cancelled: ["retry"]
}

/** States in which an execution can be retried from a step. */
export const isRetriable = (state: FlowState): boolean =>
  state === "completed" || state === "failed" || state === "cancelled" || state === "halted"

/** A wait without an end is due at the last moment that a date can hold, which has a year of six digits. */
export const dueOf = ({ due }: { readonly due: string | null }): string | null =>
  due === null || due.startsWith("+") ? null : due

/** A path as the branch that it is in, and its own name. Keys in brackets may have slashes. */
export const parted = (path: string): { readonly branch: string; readonly name: string } => {
  let depth = 0
  let at = 0
  for (let index = 0; index < path.length; index++) {
    const character = path[index]
    if (character === "\\") index++
    else if (character === "[") depth++
    else if (character === "]") depth--
    else if (character === "/" && depth === 0) at = index + 1
  }
  return { branch: path.slice(0, at), name: path.slice(at) }
}

/** The execution or the run that a wait is for. */
export const awaited = (subject: string | null): { readonly screen: "flows" | "runs"; readonly id: string } | null => {
  const [, kind, id = ""] = /^(execution|run)(?: in \S+)? (\S+)$/.exec(subject ?? "") ?? []
  return kind === undefined ? null : { screen: kind === "execution" ? "flows" : "runs", id }
}
