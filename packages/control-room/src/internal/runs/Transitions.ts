/** What all commands on runs share: the locked run, and writing the decision of the engine. */
import type { ProcessRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Predicate } from "effect/Predicate"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import * as Counters from "../telemetry/Counters.ts"
import * as UnusedBlobs from "../blobs/UnusedBlobs.ts"
import { Outbox } from "../delivery/Outbox.ts"
import * as Engine from "../engine/Engine.ts"
import { isLimited } from "../engine/Limits.ts"
import type * as State from "../engine/State.ts"
import { Refused } from "../engine/Refused.ts"
import { Changes, type Hint } from "../store/room/Changes.ts"
import { Database } from "../store/database/Database.ts"
import { Failures } from "../store/items/Failures.ts"
import { Files } from "../store/files/Files.ts"
import { Limits } from "../store/items/Limits.ts"
import { Outputs } from "../store/items/Outputs.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { type ItemAhead, type ItemMove, RunItems } from "../store/items/RunItems.ts"
import { type NewEvent, StepRuns } from "../store/runs/StepRuns.ts"
import type { StoredStepRun } from "../store/runs/StoredStepRun.ts"
import { WorkItems } from "../store/items/WorkItems.ts"
import { HandOver } from "./HandOver.ts"
import * as Pausing from "./Pausing.ts"
import { WorkSignal } from "./WorkSignal.ts"

/** Converts a decision of the engine: its outcome, or its refusal as an error. */
export const decided = <A extends State.Outcome>(decision: Result.Result<A, State.Refusal>) =>
  Result.isSuccess(decision) ? Effect.succeed(decision.success) : Effect.fail(new Refused(decision.failure))

/** Whether a change adds to the groups of failures. */
const fails = (change: State.Change) =>
  change._tag === "WaitingSettled"
    ? change.to === "failed"
    : (change._tag === "ItemMoved" || change._tag === "OutputsReleased") && change.failure !== null

const isUnderLimits = (run: State.Run) => run.steps.some(isLimited)

/** What those who watch the workspace are told of a change of a run. */
const hintsOf = (id: ProcessRunId, outcomes: ReadonlyArray<State.Outcome>): ReadonlyArray<Hint> => {
  const has = (test: Predicate<State.Change>) => outcomes.some(({ changes }) => changes.some(test))
  const hints: Array<Hint> = [
    { topic: "runs", id },
    { topic: "items", id },
    { topic: "step_runs", id }
  ]
  // The worker of a step run has become busy or idle.
  if (has(({ _tag }) => _tag === "StepRunMoved")) hints.push({ topic: "workers", id: null })
  if (has(fails)) hints.push({ topic: "failures", id: null })
  return hints
}

/** All but `change` run in the caller's transaction. */
export class Transitions extends Context.Service<
  Transitions,
  {
    /** Loads and locks the run for a change. */
    readonly locked: (id: ProcessRunId) => Effect.Effect<State.Run, Refused>
    /** Loads and locks the run for a change, and reads the step run after that. */
    readonly lockedStepRun: (
      known: StoredStepRun
    ) => Effect.Effect<{ readonly run: State.Run; readonly stepRun: StoredStepRun }, Refused>
    /**
     * Changes a run as the engine decides for one of its step runs, in a separate transaction, and returns the
     * decision. `at`: the time of the change.
     */
    readonly change: <A extends State.Outcome>(
      known: StoredStepRun,
      decide: (
        run: State.Run,
        stepRun: StoredStepRun,
        at: string
      ) => Effect.Effect<Result.Result<A, State.Refusal>, Refused>
    ) => Effect.Effect<A, Refused>
    /** Writes changes, and returns their events, which `commit` writes. */
    readonly apply: (run: State.Run, changes: ReadonlyArray<State.Change>) => Effect.Effect<ReadonlyArray<NewEvent>>
    /** Writes an outcome and its consequences, after the events of the changes applied before. */
    readonly commit: (outcome: State.Outcome, before?: ReadonlyArray<NewEvent>) => Effect.Effect<void>
    /** Deletes those of these blobs that no row names, when the transaction is committed. */
    readonly dropBlobs: (unused: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("@signalbox/control-room/runs/Transitions") {
  static readonly layer = Layer.effect(
    Transitions,
    Effect.gen(function* () {
      const {
        now,
        sql: { afterCommit },
        transaction
      } = yield* Database
      const runs = yield* ProcessRuns
      const stepRuns = yield* StepRuns
      const items = yield* WorkItems
      const runItems = yield* RunItems
      const limits = yield* Limits
      const outputs = yield* Outputs
      const files = yield* Files
      const dropBlobs = yield* UnusedBlobs.make
      const handOver = yield* HandOver
      const signal = yield* WorkSignal
      const outbox = yield* Outbox
      const failures = yield* Failures
      const changes = yield* Changes
      const { attemptEnded } = yield* Pausing.make

      const existing = Effect.fnUntraced(function* (id: ProcessRunId, locking: Effect.Effect<State.Run | null>) {
        return (yield* locking) ?? (yield* new Refused({ code: "CONFLICT", message: `the run ${id} was deleted` }))
      })

      const locked = (id: ProcessRunId) => existing(id, runs.lock(id))

      const lockedStepRun = Effect.fnUntraced(function* (known: StoredStepRun) {
        const locking = yield* runs.lockAhead(known.processRunId)
        const stepRun = yield* stepRuns.lock(known.id)
        const run = yield* existing(known.processRunId, locking)
        if (stepRun === null || stepRun.leaseHash !== known.leaseHash) {
          return yield* new Refused({ code: "LEASE_LOST", message: "the lease was revoked; stop the task" })
        }
        return { run, stepRun }
      })

      const apply = Effect.fnUntraced(function* (run: State.Run, changes: ReadonlyArray<State.Change>) {
        if (changes.length === 0) return []
        const ahead: Array<ItemAhead> = []
        const moves: Array<ItemMove> = []
        const deleted: Array<WorkItemId> = []
        const events: Array<NewEvent> = []
        const failed: Array<State.FailureKind | null> = []
        for (const change of changes) {
          switch (change._tag) {
            case "ItemAhead":
              ahead.push(change)
              break
            case "ItemMoved":
              moves.push(change)
              failed.push(change.failure)
              break
            case "Event":
              events.push(change)
              break
            case "ItemDeleted":
              deleted.push(change.id)
              break
            case "WaitingSettled":
              yield* runItems.settleWaiting(run, change)
              if (isUnderLimits(run)) yield* limits.settled(run.id)
              failed.push(...change.failures)
              break
            case "OutputsReleased": {
              const items = yield* outputs.release(run, change)
              if (change.state === "pending" && isUnderLimits(run)) yield* limits.enter(run, items)
              failed.push(change.failure)
              break
            }
            case "OutputsDropped":
              yield* dropBlobs(yield* files.removeOwners(yield* outputs.drop(change.stepRun, change.items)))
              break
            case "ItemForwarded":
              yield* files.copy(run.workspaceId, change.item, yield* outputs.forward(run, change))
              break
            case "AttemptEnded":
              events.push(...(yield* attemptEnded(run, change)))
              break
            case "Notification":
              yield* outbox.notify(run, change.action)
              break
            default:
              events.push(...(yield* stepRuns.apply(run, change)))
              if (change._tag === "StepRunMoved" && (change.to === "completed" || change.to === "failed")) {
                yield* handOver.ended(run)
                yield* afterCommit(Metric.update(Counters.stepRunsEnded(change.error), 1))
              }
          }
        }
        yield* runItems.assign(ahead)
        yield* runItems.move(moves)
        if (moves.length > 0 && isUnderLimits(run)) yield* limits.moved(run, moves)
        yield* items.remove(deleted)
        yield* failures.occurred(
          run,
          failed.filter((failure) => failure !== null)
        )
        return events
      })

      const commit = Effect.fnUntraced(function* (outcome: State.Outcome, before: ReadonlyArray<NewEvent> = []) {
        const events = [...before, ...(yield* apply(outcome.run, outcome.changes))]
        const due: Array<ReadonlyArray<WorkItemId>> = []
        for (const [step, free] of Engine.capacity(outcome.run).entries()) {
          if (free === 0) due.push([])
          else if (isLimited(outcome.run.steps[step])) due.push(yield* limits.next(outcome.run, step, free))
          else due.push(yield* runItems.dueIds(outcome.run.id, step, free))
        }
        const settled = Engine.settle(outcome.run, due, yield* now)
        events.push(...(yield* apply(settled.run, settled.changes)))
        yield* stepRuns.addEvents(events)
        yield* runs.save(settled.run)
        const queued = settled.changes.some(
          (change) =>
            change._tag === "StepRunsQueued" || (change._tag === "StepRunCreated" && change.state === "awaiting_worker")
        )
        if (queued) yield* signal.afterCommit
        yield* changes.tell(outcome.run.workspaceId, () => hintsOf(outcome.run.id, [outcome, settled]))
      })

      const change: (typeof Transitions.Service)["change"] = (known, decide) =>
        transaction(
          Effect.gen(function* () {
            const { run, stepRun } = yield* lockedStepRun(known)
            const outcome = yield* Effect.flatMap(decide(run, stepRun, yield* now), decided)
            if (outcome.changes.length > 0) yield* commit(outcome)
            return outcome
          })
        )

      return Transitions.of({ locked, lockedStepRun, change, apply, commit, dropBlobs })
    })
  ).pipe(Layer.provide(HandOver.layer))
}
