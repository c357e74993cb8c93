/**
 * Executions as diagrams.
 */
import { partsOf } from "./internal/model/Path.ts"
import type { Entry } from "./internal/model/Execution.ts"

type Step = Pick<Entry, "path" | "kind" | "attempt" | "state" | "startedAt" | "endedAt">

interface Group {
  readonly title: string
  readonly steps: Array<Step>
  readonly groups: Map<string, Group>
}

/** Escapes a text for quotes: Mermaid gives no other character a meaning there. */
const text = (value: string) =>
  value
    .replaceAll("&", "#amp;")
    .replaceAll('"', "#quot;")
    .replace(/\p{Cc}+/gu, " ")

const time = ({ endedAt, startedAt }: Step) =>
  endedAt === null ? "running" : `${((endedAt - startedAt) / 1000).toFixed(1)} s`

const box = ["[", "]"] as const
const round = ["([", "])"] as const
const hexagon = ["{{", "}}"] as const
const slanted = ["[/", "/]"] as const

const shapes: Record<Step["kind"], readonly [open: string, close: string]> = {
  step: box,
  sleep: round,
  run: round,
  child: round,
  signal: hexagon,
  inbox: hexagon,
  patch: box,
  cancel: box,
  outcome: box
}

/** Steps of undos are slanted. */
const shapeOf = ({ kind, path }: Step) =>
  partsOf(path).some((part) => part.endsWith("/undo/")) ? slanted : shapes[kind]

/**
 * Returns a Mermaid flow chart of recorded steps: a `forEach`, a sub-flow and an undo are groups, failed steps are marked, and
 * attempts and seconds are shown.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as FlowDiagram from "@signalbox/flows/FlowDiagram"
 * import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
 *
 * export const diagram = (execution: string) =>
 *   Effect.map(FlowExecutions.steps(execution), FlowDiagram.mermaid)
 * ```
 */
export const mermaid = (steps: ReadonlyArray<Step>): string => {
  const last = new Map(steps.map((step) => [step.path, step]))
  const order = [...last.values()].sort((one, other) => one.startedAt - other.startedAt)
  const root: Group = { title: "", steps: [], groups: new Map() }
  for (const step of order) {
    const parts = partsOf(step.path)
    let group = root
    for (const [index, part] of parts.slice(1).entries()) {
      const title = part.slice(parts[index]?.length ?? 0, -1)
      const inner = group.groups.get(part) ?? { title, steps: [], groups: new Map() }
      group.groups.set(part, inner)
      group = inner
    }
    group.steps.push(step)
  }
  const ids = new Map(order.map((step, index) => [step, `s${index}`]))
  const lines = ["flowchart TD"]
  const failed: Array<string> = []
  let groups = 0
  const draw = (group: Group, indent: string): void => {
    let before: string | undefined
    for (const step of group.steps) {
      const id = ids.get(step) ?? ""
      const [open, close] = shapeOf(step)
      const name = step.path.slice(partsOf(step.path).at(-1)?.length ?? 0)
      const attempts = step.attempt > 1 ? `, attempt ${step.attempt}` : ""
      lines.push(`${indent}${id}${open}"${text(name)}<br/>${time(step)}${attempts}"${close}`)
      if (before !== undefined) lines.push(`${indent}${before} --> ${id}`)
      before = id
      if (step.state === "failed") failed.push(id)
    }
    for (const inner of group.groups.values()) {
      lines.push(`${indent}subgraph g${groups++}["${text(inner.title)}"]`)
      draw(inner, `${indent}  `)
      lines.push(`${indent}end`)
    }
  }
  draw(root, "  ")
  if (failed.length > 0) {
    lines.push("  classDef failed stroke:#c00,stroke-width:2px", `  class ${failed.join(",")} failed`)
  }
  return `${lines.join("\n")}\n`
}
