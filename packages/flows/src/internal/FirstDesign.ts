/**
 * Converts executions of the first design to entries of the journal: they continue as if the journal had recorded them from the
 * beginning, under the same idempotency keys.
 */
import type * as Schema from "effect/Schema"
import type { Failure } from "../FlowEvents.ts"
import type { Entry, EntryKind, NewMessage, State } from "./Journal.ts"
import { isBelow, partsOf } from "./Paths.ts"
import { outcomePath } from "./Replay.ts"

export interface OldExecution {
  readonly id: string
  readonly flow: string
  readonly version: number
  readonly key: string
  readonly generation: number
  readonly input: Schema.Json
  /** The previous generation, and the step from which it was run again. */
  readonly resumes: { readonly execution: string; readonly before: string } | null
  readonly state: "running" | "completed" | "failed" | "canceled"
  readonly phase: "active" | "waiting" | "halted"
  readonly cancelled: boolean
  readonly value: Schema.Json
  readonly failure: Failure | null
  readonly startedAt: number
  readonly endedAt: number | null
}

export interface OldStep {
  readonly path: string
  readonly attempt: number
  readonly name: string
  readonly kind: "step" | "flow" | "sleep" | "signal" | "wait" | "compensation"
  readonly input: Schema.Json
  readonly state: "succeeded" | "failed"
  readonly value: Schema.Json
  readonly failure: Failure | null
  readonly startedAt: number
  readonly endedAt: number
}

export interface OldDeferred {
  readonly name: string
  readonly due: number | null
  /** The value of a signal that has arrived. */
  readonly result: Schema.Json
  readonly isDone: boolean
}

export interface OldWait {
  readonly path: string
  /** `signal`, or `run in` and a workspace. */
  readonly kind: string
  readonly subject: string
}

export interface OldRows {
  readonly steps: ReadonlyArray<OldStep>
  readonly deferreds: ReadonlyArray<OldDeferred>
  readonly waits: ReadonlyArray<OldWait>
}

export interface Carried {
  readonly state: State
  readonly entries: ReadonlyArray<Entry>
  readonly messages: ReadonlyArray<NewMessage>
}

/** Returns the name of a step from its path: the last segment, without its key. */
const nameOf = (path: string): string => {
  const own = path.slice(partsOf(path).at(-1)?.length ?? 0)
  const bracket = own.indexOf("[")
  return bracket === -1 ? own : own.slice(0, bracket)
}

const kinds: Readonly<Record<Exclude<OldStep["kind"], "flow" | "compensation">, EntryKind>> = {
  step: "step",
  sleep: "sleep",
  signal: "signal",
  wait: "run"
}

const kindOf = ({ kind, name }: OldStep): EntryKind =>
  kind === "compensation" || kind === "flow" ? (name === "awaitCompletion" ? "run" : "step") : kinds[kind]

const lastAttempts = (steps: ReadonlyArray<OldStep>): ReadonlyArray<OldStep> => {
  const last = new Map(steps.map((step) => [step.path, step]))
  return steps.filter((step) => last.get(step.path) === step)
}

/** Returns the path of the call that an undo belongs to. */
const undoneBy = (path: string): string | null => {
  const part = partsOf(path).findLast((one) => one.endsWith("/undo/"))
  return part === undefined ? null : part.slice(0, -"/undo/".length)
}

/** Returns the steps that a generation kept from the previous one. */
export const seedsOf = (steps: ReadonlyArray<OldStep>, from: string): ReadonlyArray<OldStep> => {
  const undone = steps.flatMap(({ kind, path }) => (kind === "compensation" ? [undoneBy(path)] : []))
  const starts = (path: string) =>
    path === from ||
    isBelow(path, from) ||
    undone.some((root) => root !== null && (path === root || isBelow(path, root)))
  const rows = lastAttempts(steps.filter(({ kind }) => kind !== "compensation"))
  const index = rows.findIndex(({ path }) => starts(path))
  const end = rows[index]?.endedAt ?? Infinity
  return rows.filter((row, position) => {
    const before = index === -1 || position < index
    const beside = row.state === "succeeded" && row.startedAt < end
    return !starts(row.path) && row.kind !== "flow" && (before || beside)
  })
}

const empty = {
  redo: 0,
  value: null,
  failure: null,
  ended: null,
  endedAt: null,
  due: null,
  subject: null,
  host: null
} as const

const clockPrefix = "DurableClock/"
const signalPrefix = "signal/"
const beforeAttempt = /\/attempt (\d+)$/

/** Converts one generation. `seeds` are the steps kept from the previous one, in the order of their ends. */
export const carryOver = (
  execution: OldExecution,
  { deferreds, steps, waits }: OldRows,
  seeds: ReadonlyArray<OldStep>
): Carried => {
  const own = steps.filter(({ kind }) => kind !== "flow")
  const byPath = new Map(own.map((step) => [step.path, step]))
  const seeded = new Set(seeds.map(({ path }) => path))
  // Steps of both generations keep the order of the first one.
  const ordered = [
    ...seeds.flatMap((seed) => {
      const attempts = own.filter(({ path }) => path === seed.path)
      return attempts.length > 0 ? attempts : [seed]
    }),
    ...own.filter(({ path }) => !seeded.has(path))
  ]
  const timers = deferreds.filter(({ due, isDone, name }) => due !== null && !isDone && name.startsWith(clockPrefix))
  const dueOf = new Map(timers.map(({ due, name }) => [name.slice(clockPrefix.length), due ?? 0]))

  const entries: Array<Entry> = []
  let position = 0
  const ends = ordered.map(({ endedAt }) => endedAt)
  const place = (startedAt: number, before: number) =>
    2 * ends.slice(0, before).filter((at) => at <= startedAt).length + 1
  let undoing = false
  for (const [index, step] of ordered.entries()) {
    if (step.kind === "compensation" && !undoing) {
      undoing = true
      entries.push({
        ...empty,
        path: outcomePath,
        attempt: 1,
        name: "outcome",
        kind: "outcome",
        input: null,
        state: "succeeded",
        value: { cancelled: execution.cancelled, error: null },
        begun: 2 * index + 1,
        ended: 2 * index + 1,
        startedAt: step.startedAt,
        endedAt: step.startedAt
      })
    }
    const next = dueOf.get(`${step.path}/attempt ${step.attempt + 1}`)
    const isLast = byPath.get(step.path) === step || !byPath.has(step.path)
    const retrying = step.state === "failed" && (next !== undefined || !isLast)
    position = 2 * (index + 1)
    entries.push({
      ...empty,
      path: step.path,
      attempt: step.attempt,
      name: step.name,
      kind: kindOf(step),
      input: step.input,
      state: retrying ? "retrying" : step.state,
      value: step.value,
      failure: step.failure,
      begun: place(step.startedAt, index),
      ended: retrying ? null : position,
      startedAt: step.startedAt,
      endedAt: step.endedAt,
      due: retrying ? (next ?? step.endedAt) : null
    })
  }

  const isOver = (path: string) =>
    byPath.has(path) || seeded.has(path) || own.some((step) => step.path !== path && isBelow(path, step.path))
  const open = (path: string, name: string, kind: EntryKind, more: Partial<Entry>) => {
    if (execution.state !== "running" || isOver(path) || entries.some((entry) => entry.path === path)) return
    entries.push({
      ...empty,
      path,
      attempt: 1,
      name,
      kind,
      input: null,
      state: "running",
      begun: ++position,
      startedAt: execution.startedAt,
      ...more
    })
  }
  for (const { kind, path, subject } of waits) {
    if (kind === "signal") open(path, subject, "signal", {})
    else if (kind.startsWith("run in ")) {
      open(path, nameOf(path), "run", { subject: `${kind} ${subject}`, due: dueOf.get(path) ?? null })
    }
  }
  for (const [path, due] of dueOf) if (!beforeAttempt.test(path)) open(path, nameOf(path), "sleep", { due })

  const messages: Array<NewMessage> = deferreds.flatMap(({ isDone, name, result }) =>
    isDone && name.startsWith(signalPrefix) && !isOver(name.slice(signalPrefix.length))
      ? [{ kind: "signal" as const, name: name.slice(signalPrefix.length), id: "", value: result }]
      : []
  )
  const running = execution.state === "running"
  if (running && execution.cancelled && !undoing) messages.push({ kind: "cancel", name: "", id: "", value: null })
  const changed = execution.failure?.tag === "FlowChanged"
  const state: State = running
    ? execution.phase === "halted"
      ? "halted"
      : "waiting"
    : execution.state === "canceled"
      ? "cancelled"
      : execution.state === "failed" && changed
        ? "halted"
        : execution.state
  return { state, entries, messages }
}
