/**
 * How a run moves: pure functions from what a command touches to the run as it is then and the changes to write, or a
 * refusal. Nothing here knows of a database, a clock or HTTP. A caller applies the changes and the run in one
 * transaction in which no one else changes this run.
 */
import type { ProcessRunId, ProcessId, StepId, StepRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { StepDefinition } from "@signalbox/api/contract/Processes"
import type { ProcessRunAction, ProcessRunState } from "@signalbox/api/contract/ProcessRuns"
import type { StepRunErrorCode, StepRunEventType, StepRunState } from "@signalbox/api/contract/StepRuns"
import type { ExceptionType, WorkItemState } from "@signalbox/api/contract/WorkItems"
import * as Result from "effect/Result"
import { allows, type Move, processRunMoves, stepRunMoves, workItemMoves } from "./Moves.ts"

/** A step as a run started with it. */
export interface RunStep extends StepDefinition {
  readonly id: StepId
}

/** What is where in one step of a run. Always equal to a recount of the rows. */
export interface StepCounts {
  /** Pending items without a step run. */
  readonly waiting: number
  /** Pending and in-progress items. */
  readonly open: number
  /** Step runs that have not ended. */
  readonly live: number
  /** Of these, those in state `new`. */
  readonly held: number
}

export interface Stop {
  readonly asDone: boolean
  readonly reason: string
}

export interface Run {
  readonly id: ProcessRunId
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly state: ProcessRunState
  readonly steps: ReadonlyArray<RunStep>
  readonly counts: ReadonlyArray<StepCounts>
  /** Failed items. */
  readonly failed: number
  readonly stop: Stop | null
  readonly startedAt: string | null
  readonly endedAt: string | null
}

export interface StepRun {
  readonly id: StepRunId
  /** Index of its step. */
  readonly step: number
  readonly state: StepRunState
}

export interface Exception {
  readonly code: string
  readonly type: ExceptionType
  readonly message: string
}

export interface Item {
  readonly id: WorkItemId
  readonly step: number
  readonly state: WorkItemState
  readonly stepRun: StepRunId | null
  /** Attempts begun since the item came or was last retried by hand. */
  readonly attempts: number
  /** The step run that released it last. */
  readonly releasedBy: StepRunId | null
}

export type Change =
  | {
      readonly _tag: "ItemMoved"
      readonly id: WorkItemId
      readonly to: WorkItemState
      readonly stepRun: StepRunId | null
      readonly attempts: number
      readonly releasedBy: StepRunId | null
      /** Not before this may a step run take it; null: at once. */
      readonly notBefore: string | null
      /** Undefined: stays as it is. */
      readonly exception: Exception | null | undefined
    }
  | { readonly _tag: "ItemDeleted"; readonly id: WorkItemId }
  /** All items of all steps that wait without a step run. */
  | { readonly _tag: "WaitingSettled"; readonly to: "done" | "failed"; readonly exception: Exception | null }
  | { readonly _tag: "StepRunCreated"; readonly step: number; readonly item: WorkItemId; readonly state: StepRunState }
  /** All step runs of a step that are `new`. */
  | { readonly _tag: "StepRunsQueued"; readonly step: number }
  | {
      readonly _tag: "StepRunMoved"
      readonly id: StepRunId
      readonly to: StepRunState
      readonly error: StepRunErrorCode | null
      /** When it starts: how long it may run; null: as long as it takes. */
      readonly timeoutAt: string | null
    }
  | { readonly _tag: "StopRequested"; readonly stepRun: StepRunId }
  /** What an attempt made that did not end well. */
  | { readonly _tag: "OutputsDropped"; readonly stepRun: StepRunId; readonly item: WorkItemId }
  /** The outputs of a step run go on: to a step as items, or, with `step` null, to the outputs of the run. */
  | {
      readonly _tag: "OutputsReleased"
      readonly stepRun: StepRunId
      readonly step: number | null
      readonly state: "pending" | "done" | "failed"
      readonly exception: Exception | null
    }
  | {
      readonly _tag: "Event"
      readonly stepRun: StepRunId
      readonly type: StepRunEventType
      readonly item: WorkItemId | null
    }
  | Notification

/** What the world is told of the run. It holds for the run as the outcome has it. */
export interface Notification {
  readonly _tag: "Notification"
  readonly action: ProcessRunAction
}

/** Why nothing was changed. */
export interface Refusal {
  readonly code: "CONFLICT" | "LEASE_LOST"
  readonly message: string
}

export interface Outcome {
  readonly run: Run
  readonly changes: ReadonlyArray<Change>
}

type Decision = Result.Result<Outcome, Refusal>

/** A step run that takes longer than its step allows is ended by its worker, so long later by the service. */
const timeoutGraceSeconds = 10

const zero: StepCounts = { waiting: 0, open: 0, live: 0, held: 0 }

/** A change in the making: the run moves along with the changes, so that the counters can not part from the rows. */
class Draft {
  run: Run
  readonly changes: Array<Change> = []
  readonly now: string
  constructor(run: Run, now: string) {
    this.run = run
    this.now = now
  }

  later(seconds: number): string {
    return new Date(Date.parse(this.now) + seconds * 1000).toISOString()
  }

  count(step: number, by: Partial<StepCounts>): void {
    const counts = this.run.counts.map((old, index) =>
      index === step
        ? {
            waiting: old.waiting + (by.waiting ?? 0),
            open: old.open + (by.open ?? 0),
            live: old.live + (by.live ?? 0),
            held: old.held + (by.held ?? 0)
          }
        : old
    )
    this.run = { ...this.run, counts }
  }

  countItem(item: Pick<Item, "state" | "step" | "stepRun">, sign: 1 | -1): void {
    const open = item.state === "pending" || item.state === "in_progress"
    if (open)
      this.count(item.step, { open: sign, waiting: item.state === "pending" && item.stepRun === null ? sign : 0 })
    if (item.state === "failed") this.run = { ...this.run, failed: this.run.failed + sign }
  }

  moveRun(to: ProcessRunState, patch: Partial<Pick<Run, "startedAt" | "endedAt" | "stop">> = {}): void {
    mustAllow(processRunMoves, this.run.state, to)
    const starts = this.run.startedAt === null && (patch.startedAt ?? null) !== null
    this.run = { ...this.run, ...patch, state: to }
    if (starts) this.changes.push({ _tag: "Notification", action: "started" })
    if (to === "completed" || to === "unresolved") this.changes.push({ _tag: "Notification", action: to })
  }

  moveItem(
    item: Item,
    to: WorkItemState,
    patch: {
      readonly stepRun: StepRunId | null
      readonly attempts?: number
      readonly releasedBy?: StepRunId | null
      readonly notBefore?: string | null
      readonly exception?: Exception | null
    }
  ): void {
    mustAllow(workItemMoves, item.state, to)
    this.countItem(item, -1)
    this.countItem({ state: to, step: item.step, stepRun: patch.stepRun }, 1)
    this.changes.push({
      _tag: "ItemMoved",
      id: item.id,
      to,
      stepRun: patch.stepRun,
      attempts: patch.attempts ?? item.attempts,
      releasedBy: patch.releasedBy === undefined ? item.releasedBy : patch.releasedBy,
      notBefore: patch.notBefore ?? null,
      exception: patch.exception
    })
  }

  moveStepRun(stepRun: StepRun, to: StepRunState, error: StepRunErrorCode | null): void {
    mustAllow(stepRunMoves, stepRun.state, to)
    if (to === "completed" || to === "failed") {
      this.count(stepRun.step, { live: -1, held: stepRun.state === "new" ? -1 : 0 })
    }
    const limit = to === "in_progress" ? this.run.steps[stepRun.step]?.timeout_seconds : undefined
    // The worker ends the task in time, and then reports what it has said and left behind.
    const timeoutAt = limit === undefined ? null : this.later(limit + timeoutGraceSeconds)
    this.changes.push({ _tag: "StepRunMoved", id: stepRun.id, to, error, timeoutAt })
  }

  event(stepRun: StepRunId, type: StepRunEventType, item: WorkItemId | null = null): void {
    this.changes.push({ _tag: "Event", stepRun, type, item })
  }

  /** An attempt went wrong: back to the queue when the step retries such failures, else failed. */
  failItem(item: Item, stepRun: StepRun, exception: Exception): void {
    const retry = this.run.steps[item.step]?.retry
    const again =
      retry !== undefined &&
      exception.type !== "business" &&
      item.attempts < retry.max_attempts &&
      this.run.stop === null
    this.changes.push({ _tag: "OutputsDropped", stepRun: stepRun.id, item: item.id })
    if (again) {
      const notBefore = this.later(retry.delay_seconds)
      this.moveItem(item, "pending", { stepRun: null, releasedBy: stepRun.id, notBefore, exception })
    } else {
      this.moveItem(item, "failed", { stepRun: stepRun.id, releasedBy: stepRun.id, exception })
    }
    this.event(stepRun.id, "ITEM_FAILED", item.id)
  }

  result(): Decision {
    return Result.succeed({ run: this.run, changes: this.changes })
  }
}

const mustAllow = <S extends string>(moves: ReadonlyArray<Move<S>>, from: S, to: S): void => {
  // A caller has checked the state before: getting here with another is a bug of this module, not of the input.
  if (!allows(moves, from, to)) throw new Error(`no move from ${from} to ${to}`)
}

const refuse = (code: Refusal["code"], message: string): Decision => Result.fail({ code, message })

const leaseLost = (stepRun: StepRun): Decision =>
  refuse("LEASE_LOST", `the step run is ${stepRun.state}: it is no longer this worker's; stop the task`)

const stopped = (stop: Stop): Exception => ({ code: "STOPPED", type: "orchestrator", message: stop.reason })

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

/** Whether a step may start: at once, or when all that comes before it is settled. */
const gateOpen = (run: Run, step: number): boolean =>
  run.steps[step]?.start_after !== "previous_step" ||
  run.counts.slice(0, step).every((counts) => counts.open === 0 && counts.live === 0)

/** How many more step runs each step could have at this moment, if that many items are due. */
export const capacity = (run: Run): ReadonlyArray<number> =>
  run.counts.map((counts, step) =>
    run.state === "new" || run.state === "in_progress"
      ? Math.max(0, Math.min(counts.waiting, (run.steps[step]?.max_parallel ?? 1) - counts.live))
      : 0
  )

/**
 * What follows from any command: step runs for waiting items, open gates, and the end of the run. `due` holds, per
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
  draft.moveItem(item, "in_progress", { stepRun: stepRun.id, attempts: item.attempts + 1 })
  draft.event(stepRun.id, "ITEM_RESERVED", item.id)
  if (run.state === "new") draft.moveRun("in_progress", { startedAt: now })
  return draft.result()
}

/** A task asks for a further item; `held` is the one in hand, which is then the answer. */
export const reserveNext = (
  run: Run,
  stepRun: StepRun,
  held: Item | null,
  next: Item | null,
  now: string
): Result.Result<Outcome & { readonly item: WorkItemId | null }, Refusal> => {
  if (stepRun.state !== "in_progress") return Result.fail(refusalOf(leaseLost(stepRun)))
  if (held !== null || next === null || run.state !== "in_progress") {
    return Result.succeed({ run, changes: [], item: held?.id ?? null })
  }
  const draft = new Draft(run, now)
  draft.moveItem(next, "in_progress", { stepRun: stepRun.id, attempts: next.attempts + 1 })
  draft.event(stepRun.id, "ITEM_RESERVED", next.id)
  return Result.succeed({ run: draft.run, changes: draft.changes, item: next.id })
}

const refusalOf = (decision: Decision): Refusal =>
  Result.isFailure(decision) ? decision.failure : { code: "CONFLICT", message: "refused" }

/** A task settles the item in hand; `exception` null: done. Saying the same again changes nothing. */
export const release = (run: Run, stepRun: StepRun, item: Item, exception: Exception | null, now: string): Decision => {
  if (stepRun.state !== "in_progress") return leaseLost(stepRun)
  if (item.state !== "in_progress" || item.stepRun !== stepRun.id) {
    const same = exception === null ? item.state === "done" : item.state === "failed" || item.state === "pending"
    return item.releasedBy === stepRun.id && same
      ? Result.succeed({ run, changes: [] })
      : refuse("CONFLICT", `the work item is ${item.state} and not in the hand of this step run; reserve it first`)
  }
  const draft = new Draft(run, now)
  if (exception === null) {
    draft.moveItem(item, "done", { stepRun: stepRun.id, releasedBy: stepRun.id, exception: null })
    draft.event(stepRun.id, "ITEM_RELEASED", item.id)
  } else {
    draft.failItem(item, stepRun, exception)
  }
  return draft.result()
}

const settledByPlatform = new Set<StepRunErrorCode>(["TIMEOUT", "TERMINATED", "WORKER_LOST"])

/** A task ended. `outputs` are those of its done items, `heldOutputs` those of the item still in hand. */
export const finish = (
  run: Run,
  stepRun: StepRun,
  held: Item | null,
  outputs: { readonly done: number; readonly held: number },
  error: { readonly code: StepRunErrorCode; readonly message: string } | null,
  now: string
): Decision => {
  if (stepRun.state !== "in_progress") return leaseLost(stepRun)
  const draft = new Draft(run, now)
  let released = outputs.done
  if (held !== null && error === null) {
    draft.moveItem(held, "done", { stepRun: stepRun.id, releasedBy: stepRun.id, exception: null })
    draft.event(stepRun.id, "ITEM_RELEASED", held.id)
    released += outputs.held
  } else if (held !== null && error !== null) {
    draft.failItem(held, stepRun, {
      code: error.code,
      type: settledByPlatform.has(error.code) ? "orchestrator" : "application",
      message: error.message
    })
  }
  if (released > 0) {
    const next = stepRun.step + 1 < run.steps.length ? stepRun.step + 1 : null
    const stop = next === null ? null : run.stop
    const state = stop === null ? "pending" : stop.asDone ? "done" : "failed"
    const exception = stop !== null && state === "failed" ? stopped(stop) : null
    draft.changes.push({ _tag: "OutputsReleased", stepRun: stepRun.id, step: next, state, exception })
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

/** Stops a run: what waits is settled, what has not started ends, what runs is asked to end or finishes its item. */
export const stop = (
  run: Run,
  live: ReadonlyArray<{ readonly stepRun: StepRun; readonly item: Item | null }>,
  command: StopCommand,
  now: string
): Outcome & { readonly accepted: boolean } => {
  if (run.state !== "new" && run.state !== "in_progress") {
    return { run, changes: [], accepted: run.state === "stopping" }
  }
  const draft = new Draft(run, now)
  const how: Stop = { asDone: command.asDone, reason: command.reason }
  const exception = command.asDone ? null : stopped(how)
  draft.moveRun("stopping", { stop: how })
  for (const { item, stepRun } of live) {
    if (stepRun.state === "in_progress") {
      if (command.terminate) {
        draft.changes.push({ _tag: "StopRequested", stepRun: stepRun.id })
        draft.event(stepRun.id, "STOP_REQUESTED")
      }
      continue
    }
    if (item !== null) {
      draft.moveItem(item, command.asDone ? "done" : "failed", { stepRun: stepRun.id, exception })
    }
    draft.moveStepRun(stepRun, "failed", "TERMINATED")
    draft.event(stepRun.id, "END")
  }
  const waiting = draft.run.counts.reduce((sum, counts) => sum + counts.waiting, 0)
  if (waiting > 0) {
    draft.changes.push({ _tag: "WaitingSettled", to: command.asDone ? "done" : "failed", exception })
    draft.run.counts.forEach((counts, step) => draft.count(step, { waiting: -counts.waiting, open: -counts.waiting }))
    if (!command.asDone) draft.run = { ...draft.run, failed: draft.run.failed + waiting }
  }
  return { run: draft.run, changes: draft.changes, accepted: true }
}

/** The states from which an operation by hand starts, and those in which it has been done already. */
export const batchStates = {
  retry: { from: ["failed"], already: ["pending", "in_progress"] },
  mark_as_done: { from: ["failed"], already: ["done"] },
  delete: { from: ["new", "failed", "done"], already: [] }
} as const satisfies Record<string, { from: ReadonlyArray<WorkItemState>; already: ReadonlyArray<WorkItemState> }>

/** Retries, marks as done or deletes failed and done items of one run by hand. The states were checked before. */
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
