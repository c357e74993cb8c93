/** Builds an outcome of the engine: every move is made here, and checked against the tables of moves. */
import type { StepRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import type { ProcessRunState } from "@signalbox/api/contract/ProcessRuns"
import type { StepRunErrorCode, StepRunEventType, StepRunState } from "@signalbox/api/contract/StepRuns"
import type { WorkItemState } from "@signalbox/api/contract/WorkItems"
import * as Result from "effect/Result"
import { failureIn } from "./Failures.ts"
import {
  allows,
  type AttemptEnd,
  type Move,
  outputMoves,
  processRunMoves,
  stepRunMoves,
  workItemMoves
} from "./Moves.ts"
import type { Change, Decision, Exception, FailureLimit, Item, Run, StepCounts, StepRun, Stop } from "./State.ts"

/**
 * A step run that exceeds the time limit of its step is ended by its worker; if not, so many seconds later by the
 * service.
 */
const timeoutGraceSeconds = 10

/** Characters of a message in the note of a pause. */
const longestName = 200

/** The exception of items that a stop fails. */
export const stopped = (stop: Stop): Exception => ({ code: "STOPPED", type: "orchestrator", message: stop.reason })

/** What people call an exception. */
const nameOf = ({ code, message, type }: Exception) =>
  code !== "" ? code : message !== "" ? `"${message.slice(0, longestName)}"` : `of type ${type}`

/** A change under construction: the run is updated with each change, so that its counters always match the rows. */
export class Draft {
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
    this.run = { ...this.run, ...patch, state: to, unmoved: false }
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
      exception: patch.exception,
      failure: to === "failed" ? failureIn(this.run, item.step, patch.exception ?? null) : null
    })
  }

  /** An item begins: its attempt counts from now on. */
  begin(item: Item, stepRun: StepRun): Item {
    const begun: Item = { ...item, state: "in_progress", stepRun: stepRun.id, attempts: item.attempts + 1 }
    this.moveItem(item, begun.state, { stepRun: begun.stepRun, attempts: begun.attempts })
    this.event(stepRun.id, "ITEM_RESERVED", item.id)
    return begun
  }

  /** Assigns a pending item to a step run that begins it later; null: it waits for any. */
  assign(item: Item, stepRun: StepRunId | null): void {
    this.countItem(item, -1)
    this.countItem({ ...item, stepRun }, 1)
    this.changes.push({ _tag: "ItemAhead", id: item.id, stepRun })
  }

  /** Items ahead that their step run will not begin wait again; those of a stopped run are settled as waiting ones were. */
  giveBack(items: ReadonlyArray<Item>): void {
    const { stop } = this.run
    for (const item of items) {
      this.assign(item, null)
      const waiting: Item = { ...item, stepRun: null }
      if (stop?.asDone === true) this.moveItem(waiting, "done", { stepRun: null })
      if (stop?.asDone === false) this.moveItem(waiting, "failed", { stepRun: null, exception: stopped(stop) })
    }
  }

  moveStepRun(stepRun: StepRun, to: StepRunState, error: StepRunErrorCode | null): void {
    mustAllow(stepRunMoves, stepRun.state, to)
    if (to === "completed" || to === "failed") {
      this.count(stepRun.step, { live: -1, held: stepRun.state === "new" ? -1 : 0 })
    }
    const timeoutAt = to === "in_progress" ? this.timeoutOf(stepRun) : null
    this.changes.push({ _tag: "StepRunMoved", id: stepRun.id, to, error, timeoutAt })
  }

  /** When the service ends a step run whose time begins now: the worker ends the task before, and reports what it left. */
  timeoutOf({ step }: StepRun): string | null {
    const limit = this.run.steps[step]?.timeout_seconds
    return limit === undefined ? null : this.later(limit + timeoutGraceSeconds)
  }

  event(stepRun: StepRunId, type: StepRunEventType, item: WorkItemId | null = null): void {
    this.changes.push({ _tag: "Event", stepRun, type, item })
  }

  /** How an attempt ended, where failures in a row pause something; those of the business say nothing of systems. */
  countAttempt(step: number, stepRun: StepRunId, exception: Exception | null): void {
    const { id, pause_after_failures, pause_process_after } = this.run.steps[step] ?? {}
    const limits: Array<FailureLimit> = []
    if (id !== undefined && pause_after_failures !== undefined) {
      limits.push({ kind: "step", subject: id, limit: pause_after_failures })
    }
    if (pause_process_after !== undefined) {
      limits.push({ kind: "process", subject: this.run.processId, limit: pause_process_after })
    }
    const counts = exception === null || exception.type === "application" || exception.type === "orchestrator"
    if (limits.length === 0 || !counts || this.run.stop !== null) return
    this.changes.push({ _tag: "AttemptEnded", stepRun, failure: exception === null ? null : nameOf(exception), limits })
  }

  /** Drops the held outputs of attempts that ended in this way, unless they stay held. */
  endAttempts(stepRun: StepRunId, items: ReadonlyArray<WorkItemId>, end: AttemptEnd): void {
    if (outputMoves[end].outputs === "dropped") this.changes.push({ _tag: "OutputsDropped", stepRun, items })
  }

  /** An item of a step that forwards completed items travels on itself, if its attempt has no outputs. */
  forwardItem(item: Item, stepRun: StepRun): void {
    this.changes.push({ _tag: "ItemForwarded", stepRun: stepRun.id, item: item.id })
    this.event(stepRun.id, "OUTPUT_CREATED", item.id)
  }

  /** An attempt failed: the item is queued again if the step retries such failures, else it fails. */
  failItem(item: Item, stepRun: StepRun, exception: Exception, end: "failed" | "incomplete" | "interrupted"): void {
    const { failed_outputs, retry } = this.run.steps[item.step] ?? {}
    const again =
      retry !== undefined &&
      exception.type !== "business" &&
      item.attempts < retry.max_attempts &&
      this.run.stop === null
    const dropped = failed_outputs === "drop" ? "incomplete" : end
    this.endAttempts(stepRun.id, [item.id], again ? "retriedByPolicy" : dropped)
    if (again) {
      const notBefore = this.later(retry.delay_seconds)
      this.moveItem(item, "pending", { stepRun: null, releasedBy: stepRun.id, notBefore, exception })
    } else {
      this.moveItem(item, "failed", { stepRun: stepRun.id, releasedBy: stepRun.id, exception })
    }
    this.event(stepRun.id, "ITEM_FAILED", item.id)
    this.countAttempt(item.step, stepRun.id, exception)
  }

  result(): Decision {
    return Result.succeed({ run: this.run, changes: this.changes })
  }
}

const mustAllow = <S extends string>(moves: ReadonlyArray<Move<S>>, from: S, to: S): void => {
  // The caller has checked the state: another one here is a bug of this module, not of the input.
  if (!allows(moves, from, to)) throw new Error(`no move from ${from} to ${to}`)
}
