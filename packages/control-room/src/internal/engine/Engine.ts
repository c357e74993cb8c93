/**
 * How a run moves: pure functions from the state that a command touches to the new run and the changes to write, or a
 * refusal. They know neither database nor clock nor HTTP. The caller applies the changes and the run in one transaction
 * that has the run locked.
 */
import type { StepRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import type { StepRunErrorCode } from "@signalbox/api/contract/StepRuns"
import type { WorkItemState } from "@signalbox/api/contract/WorkItems"
import * as Result from "effect/Result"
import { Draft, stopped } from "./Draft.ts"
import { failureIn } from "./Failures.ts"
import { isLimited } from "./Limits.ts"
import type {
  Change,
  Decision,
  Hand,
  Item,
  Outcome,
  Refusal,
  Release,
  Run,
  StepCounts,
  StepRun,
  Stop
} from "./State.ts"

const zero: StepCounts = { waiting: 0, open: 0, live: 0, held: 0 }

const refuse = (code: Refusal["code"], message: string): Result.Result<never, Refusal> => Result.fail({ code, message })

const leaseLost = (stepRun: StepRun): Result.Result<never, Refusal> =>
  refuse("LEASE_LOST", `the step run is ${stepRun.state}: this worker's lease has ended; stop the task`)

/** The refusal for the task of a step run that is not in progress; null for one that is. */
export const notRunning = ({ state }: StepRun): Refusal | null =>
  state === "in_progress" ? null : { code: "LEASE_LOST", message: `the step run is ${state}; stop the task` }

const notReserved = (item: Item): Refusal => ({
  code: "CONFLICT",
  message: `the work item is ${item.state} and not reserved by this step run; reserve it first`
})

/** A new run with `items` pending items in its first step. */
export const begin = (
  run: Omit<Run, "state" | "counts" | "failed" | "stop" | "startedAt" | "endedAt">,
  items: number
): Run => ({
  ...run,
  state: "new",
  counts: run.steps.map((_, index) => (index === 0 ? { ...zero, waiting: items, open: items } : zero)),
  failed: 0,
  stop: null,
  startedAt: null,
  endedAt: null
})

/** Whether a step may start: immediately, or when everything before it is settled. */
const gateOpen = (run: Run, step: number): boolean =>
  run.steps[step]?.start_after !== "previous_step" ||
  run.counts.slice(0, step).every((counts) => counts.open === 0 && counts.live === 0)

/** How many more step runs each step could have now, given enough due items. */
export const capacity = (run: Run): ReadonlyArray<number> =>
  run.counts.map((counts, step) =>
    run.state === "new" || run.state === "in_progress"
      ? Math.max(0, Math.min(counts.waiting, (run.steps[step]?.max_parallel ?? 1) - counts.live))
      : 0
  )

/**
 * The consequences of any command: step runs for waiting items, open gates, and the end of the run. `due` has, per
 * step, the oldest waiting items that are due, at most its `capacity`.
 */
export const settle = (run: Run, due: ReadonlyArray<ReadonlyArray<WorkItemId>>, now: string): Outcome => {
  const draft = new Draft(run, now)
  run.steps.forEach((_, step) => {
    const open = gateOpen(draft.run, step)
    const held = draft.run.counts[step]?.held ?? 0
    if (open && held > 0) {
      draft.changes.push({ _tag: "StepRunsQueued", step })
      draft.count(step, { held: -held })
    }
    for (const item of due[step] ?? []) {
      draft.changes.push({ _tag: "StepRunCreated", step, item, state: open ? "awaiting_worker" : "new" })
      draft.count(step, { waiting: -1, live: 1, held: open ? 0 : 1 })
    }
  })
  const active = run.state === "new" || run.state === "in_progress" || run.state === "stopping"
  if (active && draft.run.counts.every((counts) => counts.open === 0 && counts.live === 0)) {
    draft.moveRun(draft.run.failed > 0 ? "unresolved" : "completed", { endedAt: now })
  }
  return { run: draft.run, changes: draft.changes }
}

/** A worker starts a step run that it leased. */
export const startStepRun = (run: Run, stepRun: StepRun, item: Item | null, now: string): Decision => {
  if (stepRun.state !== "awaiting_worker" || item === null) return leaseLost(stepRun)
  const draft = new Draft(run, now)
  draft.moveStepRun(stepRun, "in_progress", null)
  draft.event(stepRun.id, "START")
  draft.begin(item, stepRun)
  if (run.state === "new") draft.moveRun("in_progress", { startedAt: now })
  return draft.result()
}

/** A worker builds the environment of a step run, or has: its time begins when the build has ended. */
export const build = (run: Run, stepRun: StepRun, state: "started" | "ended", now: string): Decision => {
  if (stepRun.state !== "in_progress") return leaseLost(stepRun)
  const draft = new Draft(run, now)
  const timeoutAt = state === "started" ? null : draft.timeoutOf(stepRun)
  draft.changes.push({ _tag: "StepRunLimited", id: stepRun.id, timeoutAt })
  return draft.result()
}

/** Reserves a further item for a task; `held` is an item that is already reserved, which is then returned. */
export const reserveNext = (
  run: Run,
  stepRun: StepRun,
  held: Item | null,
  next: Item | null,
  now: string
): Result.Result<Outcome & { readonly item: WorkItemId | null }, Refusal> => {
  if (stepRun.state !== "in_progress") return leaseLost(stepRun)
  if (held !== null || next === null || run.state !== "in_progress") {
    return Result.succeed({ run, changes: [], item: held?.id ?? null })
  }
  const draft = new Draft(run, now)
  draft.begin(next, stepRun)
  return Result.succeed({ run: draft.run, changes: draft.changes, item: next.id })
}

/** The open items of a step run, of which these are all, in their order. */
export const handOf = ({ state }: Pick<StepRun, "state">, items: ReadonlyArray<Item>): Hand => {
  const isItem = (item: Item) => state !== "in_progress" || item.state === "in_progress"
  return { item: items.find(isItem) ?? null, ahead: items.filter((item) => !isItem(item)) }
}

/**
 * Whether step runs of a step may have items ahead. Not without a retry: an item ahead may begin before the service knows of
 * it, and so once more. Not under a limit, which counts an item when it is given.
 */
export const mayHaveAhead = (run: Run, step: number): boolean => {
  const { [step]: of } = run.steps
  return of?.retry !== undefined && !isLimited(of)
}

/** How many items a step run may have ahead: its share of those that wait, once each step run that the step can have has one. */
export const shareAhead = (run: Run, step: number): number => {
  const { live = 0, waiting = 0 } = run.counts[step] ?? {}
  if (!mayHaveAhead(run, step) || run.state !== "in_progress") return 0
  const takers = Math.max(live, run.steps[step]?.max_parallel ?? 1)
  return Math.floor(Math.max(0, waiting - (takers - live)) / takers)
}

/** Assigns waiting items to a step run, which begins them when it has ended the ones before. */
export const giveAhead = (run: Run, stepRun: StepRun, items: ReadonlyArray<Item>, now: string): Outcome => {
  const draft = new Draft(run, now)
  for (const item of items) draft.assign(item, stepRun.id)
  return { run: draft.run, changes: draft.changes }
}

/** A task has begun an item that its step run had ahead; also while the run stops, of which its worker did not know. */
export const beginAhead = (run: Run, stepRun: StepRun, item: Item, now: string): Outcome & { readonly item: Item } => {
  const draft = new Draft(run, now)
  const begun = draft.begin(item, stepRun)
  return { run: draft.run, changes: draft.changes, item: begun }
}

/** A step run does not begin these items that it had ahead. */
export const giveBack = (run: Run, items: ReadonlyArray<Item>, now: string): Outcome => {
  const draft = new Draft(run, now)
  draft.giveBack(items)
  return { run: draft.run, changes: draft.changes }
}

/** Whether completed items of a step travel on themselves when their attempt has no outputs. */
export const forwards = (run: Run, step: number): boolean => run.steps[step]?.forward_done_items === true

/** Releases the reserved item of a task. Repeating it changes nothing. */
export const release = (
  run: Run,
  stepRun: StepRun,
  item: Item,
  { exception, outputs }: Release,
  now: string
): Decision => {
  if (stepRun.state !== "in_progress") return leaseLost(stepRun)
  if (item.state !== "in_progress" || item.stepRun !== stepRun.id) {
    const same = exception === null ? item.state === "done" : item.state === "failed" || item.state === "pending"
    return item.releasedBy === stepRun.id && same
      ? Result.succeed({ run, changes: [] })
      : Result.fail(notReserved(item))
  }
  const draft = new Draft(run, now)
  if (exception === null) {
    draft.moveItem(item, "done", { stepRun: stepRun.id, releasedBy: stepRun.id, exception: null })
    draft.event(stepRun.id, "ITEM_RELEASED", item.id)
    draft.endAttempts(stepRun.id, [item.id], "completed")
    draft.countAttempt(item.step, stepRun.id, null)
    if (outputs === "none" && forwards(run, item.step)) draft.forwardItem(item, stepRun)
  } else {
    draft.failItem(item, stepRun, exception, outputs === "incomplete" ? "incomplete" : "failed")
  }
  return draft.result()
}

/** The event of an output that a step run created from an item. */
export const outputCreated = (stepRun: StepRunId, item: WorkItemId): OutputCreated => ({
  _tag: "Event",
  stepRun,
  type: "OUTPUT_CREATED",
  item
})

type OutputCreated = Extract<Change, { readonly _tag: "Event" }>

/** A task creates an output of its reserved item; the caller writes its payload. */
export const createOutput = (
  run: Run,
  stepRun: StepRun,
  item: Item
): Result.Result<{ readonly run: Run; readonly changes: ReadonlyArray<OutputCreated> }, Refusal> => {
  const refusal = notRunning(stepRun)
  if (refusal !== null) return Result.fail(refusal)
  return item.stepRun === stepRun.id && item.state === "in_progress"
    ? Result.succeed({ run, changes: [outputCreated(stepRun.id, item.id)] })
    : Result.fail(notReserved(item))
}

const settledByPlatform = new Set<StepRunErrorCode>(["TIMEOUT", "TERMINATED", "WORKER_LOST"])

/**
 * Ends a step run, gives its items ahead back, and passes on the outputs that it holds. `outputs`: how many, of the item
 * that is still reserved (`held`) and of the others, which their releases have not dropped (`done`).
 */
export const finish = (
  run: Run,
  stepRun: StepRun,
  { ahead, item: held }: Hand,
  outputs: { readonly done: number; readonly held: number },
  error: { readonly code: StepRunErrorCode; readonly message: string } | null,
  now: string
): Decision => {
  if (stepRun.state !== "in_progress") return leaseLost(stepRun)
  const draft = new Draft(run, now)
  draft.giveBack(ahead)
  let released = outputs.done
  if (held !== null && error === null) {
    draft.moveItem(held, "done", { stepRun: stepRun.id, releasedBy: stepRun.id, exception: null })
    draft.event(stepRun.id, "ITEM_RELEASED", held.id)
    draft.endAttempts(stepRun.id, [held.id], "succeeded")
    draft.countAttempt(held.step, stepRun.id, null)
    released += outputs.held
    if (outputs.held === 0 && forwards(run, held.step)) {
      draft.forwardItem(held, stepRun)
      released += 1
    }
  } else if (held !== null && error !== null) {
    const type = settledByPlatform.has(error.code) ? "orchestrator" : "application"
    draft.failItem(held, stepRun, { code: error.code, type, message: error.message }, "interrupted")
  }
  if (released > 0) {
    const next = stepRun.step + 1 < run.steps.length ? stepRun.step + 1 : null
    const stop = next === null ? null : run.stop
    const state = stop === null ? "pending" : stop.asDone ? "done" : "failed"
    const exception = stop !== null && state === "failed" ? stopped(stop) : null
    const failure = next !== null && state === "failed" ? failureIn(run, next, exception) : null
    draft.changes.push({ _tag: "OutputsReleased", stepRun: stepRun.id, step: next, state, exception, failure })
    if (next !== null && state === "pending") draft.count(next, { waiting: released, open: released })
    if (state === "failed") draft.run = { ...draft.run, failed: draft.run.failed + released }
  }
  draft.moveStepRun(stepRun, error === null ? "completed" : "failed", error?.code ?? null)
  draft.event(stepRun.id, "END")
  return draft.result()
}

export interface StopCommand {
  readonly asDone: boolean
  readonly terminate: boolean
  readonly reason: string
}

/** A step run that has not ended, with its item. */
export interface Live {
  readonly stepRun: StepRun & { readonly stopRequested: boolean }
  readonly item: Item | null
}

/**
 * Stops a run: waiting items are settled, step runs that have not started end, running ones are asked to end or finish
 * their item. Of a run that is stopping, those that were to finish their item can still be asked to end.
 */
export const stop = (
  run: Run,
  live: ReadonlyArray<Live>,
  command: StopCommand,
  now: string
): Outcome & { readonly accepted: boolean } => {
  if (run.state !== "new" && run.state !== "in_progress" && run.state !== "stopping") {
    return { run, changes: [], accepted: false }
  }
  const draft = new Draft(run, now)
  const how: Stop = { asDone: command.asDone, reason: command.reason }
  if (run.state !== "stopping") draft.moveRun("stopping", { stop: how })
  for (const { stepRun } of live) {
    if (!command.terminate || stepRun.state !== "in_progress" || stepRun.stopRequested) continue
    draft.changes.push({ _tag: "StopRequested", stepRun: stepRun.id })
    draft.event(stepRun.id, "STOP_REQUESTED")
  }
  if (run.state === "stopping") return { run: draft.run, changes: draft.changes, accepted: true }
  const exception = command.asDone ? null : stopped(how)
  for (const { item, stepRun } of live) {
    if (stepRun.state === "in_progress") continue
    if (item !== null) {
      draft.moveItem(item, command.asDone ? "done" : "failed", { stepRun: stepRun.id, exception })
    }
    draft.moveStepRun(stepRun, "failed", "TERMINATED")
    draft.event(stepRun.id, "END")
  }
  const waiting = draft.run.counts.reduce((sum, counts) => sum + counts.waiting, 0)
  if (waiting > 0) {
    const failures = draft.run.counts.map((counts, step) =>
      exception !== null && counts.waiting > 0 ? failureIn(run, step, exception) : null
    )
    draft.changes.push({ _tag: "WaitingSettled", to: command.asDone ? "done" : "failed", exception, failures })
    draft.run.counts.forEach((counts, step) => draft.count(step, { waiting: -counts.waiting, open: -counts.waiting }))
    if (!command.asDone) draft.run = { ...draft.run, failed: draft.run.failed + waiting }
  }
  return { run: draft.run, changes: draft.changes, accepted: true }
}

/** The states from which an operation by hand starts, and those in which it has already happened. */
export const batchStates = {
  retry: { from: ["failed"], already: ["pending", "in_progress"] },
  mark_as_done: { from: ["failed"], already: ["done"] },
  delete: { from: ["new", "failed", "done"], already: [] }
} as const satisfies Record<string, { from: ReadonlyArray<WorkItemState>; already: ReadonlyArray<WorkItemState> }>

const endByHand = { retry: "retriedByHand", mark_as_done: "markedAsDone", delete: "deleted" } as const

/** Retries, marks as done or deletes failed and done items of one run by hand. The caller has checked the states. */
export const batch = (
  run: Run,
  operation: keyof typeof batchStates,
  items: ReadonlyArray<Item>,
  now: string
): Decision => {
  if (operation === "retry" && run.state === "stopping") {
    return refuse("CONFLICT", `the run ${run.id} is stopping; retry its items when it has ended`)
  }
  const draft = new Draft(run, now)
  for (const [stepRun, of] of Map.groupBy(items, (item) => item.stepRun)) {
    // Outputs of ended step runs were passed on: they stay.
    const held = of.filter((item) => (run.counts[item.step]?.live ?? 0) > 0).map(({ id }) => id)
    if (stepRun !== null && held.length > 0) draft.endAttempts(stepRun, held, endByHand[operation])
  }
  for (const item of items) {
    if (operation === "retry") draft.moveItem(item, "pending", { stepRun: null, attempts: 0, releasedBy: null })
    if (operation === "mark_as_done") draft.moveItem(item, "done", { stepRun: item.stepRun })
    if (operation === "delete") {
      draft.countItem(item, -1)
      draft.changes.push({ _tag: "ItemDeleted", id: item.id })
    }
  }
  if (run.state === "unresolved" && operation === "retry" && items.length > 0) {
    draft.moveRun("in_progress", { endedAt: null, stop: null, startedAt: run.startedAt ?? now })
  } else if (run.state === "unresolved" && draft.run.failed === 0) {
    draft.moveRun("completed", { endedAt: now })
  }
  return draft.result()
}
