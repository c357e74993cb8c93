/**
 * What a deployment of a process changes, and what that means for the items that wait in its queue.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { ProcessId, WorkItemId } from "../../contract/Ids.ts"
import type { ProcessDefinition, StepDefinition } from "../../contract/Processes.ts"
import * as Processes from "../../Processes.ts"
import * as WorkItems from "../../WorkItems.ts"
import type { Codec } from "./Codec.ts"
import { definitionOf } from "./Definition.ts"
import type { Process } from "./Value.ts"

/** One difference between the definition in the workspace and the process. */
export type Change =
  | { readonly part: "step"; readonly name: string; readonly action: "add" | "remove" }
  /** `options`: what differs, such as `retry` or `task`. */
  | { readonly part: "step"; readonly name: string; readonly action: "change"; readonly options: ReadonlyArray<string> }
  | {
      readonly part:
        | "order"
        | "description"
        | "default_work_item"
        | "input_schema"
        | "check_payloads"
        | "forward_done_items"
        | "pause_after_failures"
        | "concurrency"
        | "rate"
        | "sensitive"
        | "sensitive_files"
    }

/** Items in the queue of the process. All wait for its first step; items of runs keep the steps of their run. */
export interface Waiting {
  /** The first step as it is deployed, for which they were made; null: the process has no steps. */
  readonly step: string | null
  /** Whether the new definition removes this step. */
  readonly isRemoved: boolean
  /** How many, up to 10,000. */
  readonly count: number
  /** How many of these have a payload that the new first step does not accept. */
  readonly unfit: number
  /** Whether there are more than 10,000. */
  readonly hasMore: boolean
}

export interface Plan {
  readonly process: string
  readonly action: "create" | "change" | "unchanged"
  readonly changes: ReadonlyArray<Change>
  readonly waiting: Waiting
}

/** A plan, and what is needed to apply it. */
export interface Prepared {
  readonly plan: Plan
  readonly definition: ProcessDefinition
  readonly deployed: { readonly id: ProcessId; readonly revision: string } | null
  /** The items that wait, and whether the new first step accepts them. */
  readonly items: ReadonlyArray<{ readonly id: WorkItemId; readonly fits: boolean }>
}

const mostRead = 10_000

/** The same text for the same JSON, whatever the order of its keys. */
const canonical = (json: unknown): string =>
  JSON.stringify(json, (_, value: unknown) =>
    Predicate.isObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value
  )

/** A step with its defaults, so that one that says them is equal to one that does not. */
const normalisedStep = ({ task, ...step }: StepDefinition) => ({
  failed_outputs: step.failed_outputs ?? "pass_on",
  forward_done_items: step.forward_done_items ?? null,
  task: { name: task.name, package_id: task.package_id ?? null },
  task_package_version: step.task_package_version ?? null,
  worker_group: step.worker_group?.id ?? null,
  worker: { labels: (step.worker?.labels ?? []).toSorted() },
  max_parallel: step.max_parallel ?? 1,
  timeout_seconds: step.timeout_seconds ?? null,
  retry: step.retry ?? null,
  start_after: step.start_after ?? "items",
  env: step.env ?? {},
  environment: step.environment ?? null,
  pause_after_failures: step.pause_after_failures ?? null,
  concurrency: step.concurrency ?? null,
  rate: step.rate ?? null
})

const normalised = (definition: ProcessDefinition) => ({
  description: definition.description ?? null,
  default_work_item: definition.default_work_item ?? null,
  input_schema: definition.input_schema ?? null,
  check_payloads: definition.check_payloads ?? false,
  forward_done_items: definition.forward_done_items ?? false,
  pause_after_failures: definition.pause_after_failures ?? null,
  concurrency: definition.concurrency ?? null,
  rate: definition.rate ?? null,
  sensitive: definition.sensitive ?? [],
  sensitive_files: definition.sensitive_files ?? true
})

/** The members in which two objects of one shape differ, of these. */
const differing = <K extends string>(
  keys: ReadonlyArray<K>,
  before: Readonly<Record<K, unknown>>,
  after: Readonly<Record<K, unknown>>
) => keys.filter((key) => canonical(before[key]) !== canonical(after[key]))

const stepOptions = [
  "task",
  "task_package_version",
  "worker_group",
  "worker",
  "max_parallel",
  "timeout_seconds",
  "retry",
  "start_after",
  "failed_outputs",
  "forward_done_items",
  "env",
  "environment",
  "pause_after_failures",
  "concurrency",
  "rate"
] as const
const otherParts = [
  "description",
  "default_work_item",
  "input_schema",
  "check_payloads",
  "forward_done_items",
  "pause_after_failures",
  "concurrency",
  "rate",
  "sensitive",
  "sensitive_files"
] as const

const changesOf = (before: ProcessDefinition, after: ProcessDefinition): ReadonlyArray<Change> => {
  const known = new Map(before.steps.map((step) => [step.name, step]))
  const wanted = new Set(after.steps.map(({ name }) => name))
  const kept = before.steps.filter(({ name }) => wanted.has(name)).map(({ name }) => name)
  const order = after.steps.filter(({ name }) => known.has(name)).map(({ name }) => name)
  const ofSteps = after.steps.flatMap((step): ReadonlyArray<Change> => {
    const { name } = step
    const old = known.get(name)
    if (old === undefined) return [{ part: "step", name, action: "add" }]
    const options = differing(stepOptions, normalisedStep(old), normalisedStep(step))
    return options.length === 0 ? [] : [{ part: "step", name, action: "change", options }]
  })
  const removed = before.steps.filter(({ name }) => !wanted.has(name))
  return [
    ...removed.map(({ name }): Change => ({ part: "step", name, action: "remove" })),
    ...ofSteps,
    ...(kept.join("\0") === order.join("\0") ? [] : [{ part: "order" } as const]),
    ...differing(otherParts, normalised(before), normalised(after)).map((part): Change => ({ part }))
  ]
}

/** The id of the process of this name; null when there is none. */
export const findByName = (name: string) =>
  Effect.map(
    Stream.runHead(Stream.filter(Processes.stream({ limit: 500, name }), (process) => process.name === name)),
    (found) => (found._tag === "None" ? null : found.value.id)
  )

const readWaiting = (process: ProcessId, { decodeInput }: Codec) =>
  WorkItems.stream({ process, state: "new", includeData: true, limit: 500 }).pipe(
    Stream.take(mostRead + 1),
    Stream.map(({ id, masked = [], payload }) => ({
      id,
      // Of what the key does not see nobody here can say that it does not fit.
      fits: masked.length > 0 || "value" in decodeInput(payload ?? null)
    })),
    Stream.runCollect
  )

const noneWait: Waiting = { step: null, isRemoved: false, count: 0, unfit: 0, hasMore: false }

/** Compares a process with what the workspace has under its name. Changes nothing. */
export const prepare = Effect.fnUntraced(function* (process: Process) {
  const definition = yield* definitionOf(process)
  const id = yield* findByName(process.name)
  if (id === null) {
    const changes = definition.steps.map(({ name }): Change => ({ part: "step", name, action: "add" }))
    const plan: Plan = { process: process.name, action: "create", changes, waiting: noneWait }
    const prepared: Prepared = { plan, definition, deployed: null, items: [] }
    return prepared
  }
  const before = yield* Processes.getDefinition(id)
  const deployed = { id, revision: before.revision }
  const changes = changesOf(before, definition)
  if (changes.length === 0) {
    const plan: Plan = { process: process.name, action: "unchanged", changes, waiting: noneWait }
    const prepared: Prepared = { plan, definition, deployed, items: [] }
    return prepared
  }
  const read = yield* readWaiting(id, process.codec)
  const items = read.slice(0, mostRead)
  const step = before.steps[0]?.name ?? null
  const waiting: Waiting = {
    step,
    isRemoved: step !== null && !definition.steps.some(({ name }) => name === step),
    count: items.length,
    unfit: items.filter(({ fits }) => !fits).length,
    hasMore: read.length > mostRead
  }
  const prepared: Prepared = {
    plan: { process: process.name, action: "change", changes, waiting },
    definition,
    deployed,
    items
  }
  return prepared
})
