/**
 * Commands of workers and of their tasks: step runs are leased, started and ended, and their items reserved and
 * released.
 */
import type { StepRunId, WorkerId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { StepRunErrorCode } from "@signalbox/api/contract/StepRuns"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Engine from "../engine/Engine.ts"
import type * as State from "../engine/State.ts"
import { Refused } from "../engine/Refused.ts"
import { Database } from "../store/database/Database.ts"
import { Outputs } from "../store/items/Outputs.ts"
import { RunItems } from "../store/items/RunItems.ts"
import { type Leased, Leases } from "../store/runs/Leases.ts"
import { PackageUses } from "../store/packages/PackageUses.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import type { StoredStepRun } from "../store/runs/StoredStepRun.ts"
import { lostAfter } from "../settings/Limits.ts"
import { WorkItems } from "../store/items/WorkItems.ts"
import { HandOver } from "./HandOver.ts"
import { Secrecy } from "./Secrecy.ts"
import { decided, Transitions } from "./Transitions.ts"
import * as WaitingItems from "./WaitingItems.ts"

/** A lease that is not started within this time expires. */
const leaseTime = Duration.seconds(30)

/** Why a step run failed. */
export interface StepRunError {
  readonly code: StepRunErrorCode
  readonly message: string
}

export interface StepRunCommands {
  readonly lease: (
    worker: { readonly id: WorkerId; readonly workspaceId: WorkspaceId },
    tasks: ReadonlyArray<string>,
    packages: boolean,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Leased>>
  readonly startStepRun: (stepRun: StoredStepRun) => Effect.Effect<void, Refused>
  /** The environment of a step run is built, or has been. */
  readonly build: (stepRun: StoredStepRun, state: "started" | "ended") => Effect.Effect<void, Refused>
  readonly reserveNext: (stepRun: StoredStepRun) => Effect.Effect<WorkItemId | null, Refused>
  readonly release: (
    stepRun: StoredStepRun,
    item: WorkItemId,
    exception: State.Exception | null,
    /** Whether the outputs of a failed attempt are dropped; default: they are passed on. */
    dropOutputs?: boolean
  ) => Effect.Effect<void, Refused>
  readonly createOutput: (
    stepRun: StoredStepRun,
    item: WorkItemId,
    payload: Schema.Json
  ) => Effect.Effect<WorkItemId, Refused>
  readonly finish: (stepRun: StoredStepRun, error: StepRunError | null) => Effect.Effect<void, Refused>
  /**
   * Records a heartbeat of a worker with these step runs: which of them it must stop, and which it no longer owns. A
   * step run that the worker has started and no longer names is lost: the worker was killed and has restarted.
   */
  readonly heard: (
    worker: WorkerId,
    stepRuns: ReadonlyArray<StepRunId>
  ) => Effect.Effect<{ readonly stop: ReadonlyArray<StepRunId>; readonly lost: ReadonlyArray<StepRunId> }>
  /** Ends a step run for a reason of the platform; does nothing if it has just ended itself. */
  readonly end: (stepRun: StoredStepRun, error: StepRunError) => Effect.Effect<void>
}

export const make = Effect.gen(function* () {
  const { millis, transaction } = yield* Database
  const leases = yield* Leases
  const uses = yield* PackageUses
  const stepRuns = yield* StepRuns
  const items = yield* WorkItems
  const runItems = yield* RunItems
  const waiting = yield* WaitingItems.make
  const outputs = yield* Outputs
  const { change, lockedStepRun } = yield* Transitions
  const handOver = yield* HandOver
  const room = yield* RoomState
  const secrecy = yield* Secrecy

  const lease = Effect.fnUntraced(function* (
    worker: { readonly id: WorkerId; readonly workspaceId: WorkspaceId },
    tasks: ReadonlyArray<string>,
    packages: boolean,
    limit: number
  ) {
    if (!(yield* room.running)) return []
    const expires = (yield* millis) + Duration.toMillis(leaseTime)
    return yield* leases.lease(worker, tasks, packages, limit, new Date(expires).toISOString())
  }, transaction)

  const startStepRun = (known: StoredStepRun) =>
    Effect.asVoid(
      change(known, (run, stepRun, at) =>
        // Repeated by the same lease, because the response was lost: already done.
        stepRun.state === "in_progress"
          ? Effect.succeed(Result.succeed({ run, changes: [] }))
          : Effect.map(runItems.held(stepRun), ({ item }) => Engine.startStepRun(run, stepRun, item, at))
      )
    )

  const build = (known: StoredStepRun, state: "started" | "ended") =>
    Effect.asVoid(change(known, (run, stepRun, at) => Effect.succeed(Engine.build(run, stepRun, state, at))))

  const reserveNext = (known: StoredStepRun) =>
    Effect.map(
      change(
        known,
        Effect.fnUntraced(function* (run, stepRun, at) {
          const { item } = yield* runItems.held(stepRun)
          const isFree = item === null && (yield* room.running)
          const isOver =
            isFree &&
            ((yield* uses.rolledBack(run, [stepRun])).has(stepRun.id) ||
              (yield* handOver.of(run, stepRun.workerId, [stepRun.id])).has(stepRun.id))
          const [next] = isFree && !isOver ? yield* waiting.of(run, stepRun.step, stepRun.workerId, 1) : []
          return Engine.reserveNext(run, stepRun, item, next ?? null, at)
        })
      ),
      ({ item }) => item
    )

  const itemOf = Effect.fnUntraced(function* (stepRun: StoredStepRun, id: WorkItemId) {
    const item = yield* items.get(stepRun.workspaceId, id)
    if (item !== null && item.processRunId === stepRun.processRunId) return item
    return yield* new Refused({ code: "NOT_FOUND", message: `this run has no work item ${id}` })
  })

  const release = (
    known: StoredStepRun,
    id: WorkItemId,
    exception: State.Exception | null,
    dropOutputs: boolean = false
  ) =>
    Effect.asVoid(
      change(
        known,
        Effect.fnUntraced(function* (run, stepRun, at) {
          const item = yield* itemOf(stepRun, id)
          const cleaned = exception && (yield* secrecy.cleaned(run.processId, Effect.succeed(item.payload), exception))
          const made = Engine.forwards(run, stepRun.step) ? (yield* outputs.count(stepRun.id, id)).held : 1
          const of = dropOutputs ? "incomplete" : made === 0 ? "none" : "some"
          return Engine.release(run, stepRun, item, { exception: cleaned, outputs: of }, at)
        })
      )
    )

  const createOutput = Effect.fnUntraced(function* (known: StoredStepRun, id: WorkItemId, payload: Schema.Json) {
    const { run, stepRun } = yield* lockedStepRun(known)
    const item = yield* itemOf(stepRun, id)
    const { changes } = yield* decided(Engine.createOutput(run, stepRun, item))
    const [output] = yield* outputs.create(run, [{ item: item.id, stepRun: stepRun.id, payload }])
    yield* stepRuns.addEvents(changes)
    return output ?? (yield* Effect.die(new Error("an output was not created")))
  }, transaction)

  /** Why a step run failed, without the secrets of the item that it has. */
  const clean = Effect.fnUntraced(function* ({ processId }: State.Run, item: WorkItemId, error: StepRunError) {
    const payload = runItems.payloadOf(item)
    const { message } = yield* secrecy.cleaned(processId, payload, { ...error, type: "application" })
    return { ...error, message }
  })

  const finish = (known: StoredStepRun, error: StepRunError | null) =>
    Effect.asVoid(
      change(
        known,
        Effect.fnUntraced(function* (run, stepRun, at) {
          const hand = yield* runItems.held(stepRun)
          const unreleased = yield* outputs.count(stepRun.id, hand.item?.id ?? null)
          const cleaned = error && hand.item ? yield* clean(run, hand.item.id, error) : error
          return Engine.finish(run, stepRun, hand, unreleased, cleaned, at)
        })
      )
    )

  const end = (stepRun: StoredStepRun, error: StepRunError) =>
    Effect.catchTag(finish(stepRun, error), "Refused", () => Effect.void)

  const heard = Effect.fnUntraced(function* (worker: WorkerId, ids: ReadonlyArray<StepRunId>) {
    // A step run started after the worker sent the heartbeat may be missing in it.
    const cutoff = new Date((yield* millis) - Duration.toMillis(lostAfter)).toISOString()
    const { dropped, lost, stop } = yield* leases.ofWorker(worker, ids, cutoff)
    for (const stepRun of dropped) {
      yield* end(stepRun, { code: "WORKER_LOST", message: "the worker has restarted without this step run" })
    }
    return { stop, lost }
  })

  const commands: StepRunCommands = {
    lease,
    startStepRun,
    build,
    reserveNext,
    release,
    createOutput,
    finish,
    heard,
    end
  }
  return commands
})
