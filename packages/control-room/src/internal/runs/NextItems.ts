/**
 * Settles the reserved items of several step runs of one run, with their outputs, and reserves the next one for each,
 * in one transaction.
 */
import type { ProcessRunId, StepRunId, WorkerId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Engine from "../engine/Engine.ts"
import { isLimited } from "../engine/Limits.ts"
import type * as State from "../engine/State.ts"
import { Refused } from "../engine/Refused.ts"
import { Database } from "../store/database/Database.ts"
import { Files, type StoredFile } from "../store/files/Files.ts"
import { type Freed, Limits } from "../store/items/Limits.ts"
import { type NewOutput, Outputs } from "../store/items/Outputs.ts"
import { PackageUses } from "../store/packages/PackageUses.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { RunItems } from "../store/items/RunItems.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import type { Reserved } from "../store/runs/StoredStepRun.ts"
import type { GivenItem } from "../store/items/StoredItem.ts"
import { HandOver } from "./HandOver.ts"
import * as LeaseHolder from "./LeaseHolder.ts"
import { Transitions } from "./Transitions.ts"
import * as WaitingItems from "./WaitingItems.ts"

/** How one step run ends its reserved item. */
export interface Settled {
  readonly item: WorkItemId
  /** The attempt of the item when it was reserved. */
  readonly attempt: number
  /** Null: done. */
  readonly exception: State.Exception | null
  readonly outputs: ReadonlyArray<Schema.Json>
  /** Whether the outputs of a failed attempt are dropped. */
  readonly dropOutputs: boolean
}

/** The request of one step run. */
export interface Ask {
  readonly stepRun: StepRunId
  readonly leaseToken: string
  /** Null: it only reads its reserved item. */
  readonly settled: Settled | null
  /** Whether it reserves a further item after it has settled one. */
  readonly reserve: boolean
}

/** A reserved item, with everything its task may see. */
export interface Given {
  readonly id: WorkItemId
  readonly attempt: number
  readonly payload: Schema.Json
  readonly files: ReadonlyArray<StoredFile>
}

type Worker = { readonly id: WorkerId; readonly workspaceId: WorkspaceId }

/** Whether a worker may act for a step run. */
const refusalOf = (worker: Worker, ask: Ask, found: Reserved | undefined): Refused | null => {
  if (found === undefined) {
    return new Refused({ code: "NOT_FOUND", message: `this run has no step run ${ask.stepRun}` })
  }
  const ended = Engine.notRunning(found.stepRun)
  return LeaseHolder.refusalOf(found.stepRun, worker.id, ask.leaseToken) ?? (ended === null ? null : new Refused(ended))
}

/** The reserved item of each step run, or the refusal of its request. */
type Reservations = Map<StepRunId, WorkItemId | Refused | null>

export class NextItems extends Context.Service<
  NextItems,
  {
    /**
     * Returns results in the order of the requests, one for each step run: its reserved item, null when it has none, or
     * the refusal. Null when the workspace has no such run.
     *
     * Safe to repeat: it then settles nothing, creates no outputs, and returns the item reserved before. An item is
     * settled only by the attempt that reserved it, and only a step run that settles one takes the next.
     */
    readonly next: (
      worker: Worker,
      run: ProcessRunId,
      asks: ReadonlyArray<Ask>
    ) => Effect.Effect<ReadonlyArray<Given | Refused | null> | null>
  }
>()("@signalbox/control-room/runs/NextItems") {
  static readonly layer = Layer.effect(
    NextItems,
    Effect.gen(function* () {
      const { now, transaction } = yield* Database
      const runs = yield* ProcessRuns
      const stepRuns = yield* StepRuns
      const runItems = yield* RunItems
      const limits = yield* Limits
      const waitingItems = yield* WaitingItems.make
      const outputs = yield* Outputs
      const files = yield* Files
      const uses = yield* PackageUses
      const { apply, commit } = yield* Transitions
      const handOver = yield* HandOver
      const room = yield* RoomState

      /** What the settled items will free of limits. */
      const freedBy = (run: State.Run, changes: ReadonlyArray<State.Change>) =>
        run.steps.some(isLimited)
          ? limits.held(changes.flatMap((change) => (change._tag === "ItemMoved" ? [change.id] : [])))
          : Effect.succeed<Freed>(new Map())

      /** The oldest waiting items of the steps, as many as each step has step runs that reserve one. */
      const waiting = Effect.fnUntraced(function* (
        run: State.Run,
        takers: ReadonlyArray<Reserved["stepRun"]>,
        freed: Freed
      ) {
        const found = new Map<number, Array<GivenItem>>()
        for (const [step, of] of Map.groupBy(takers, ({ step }) => step)) {
          found.set(step, [...(yield* waitingItems.of(run, step, of[0]?.workerId ?? null, of.length, freed))])
        }
        return found
      })

      const withFiles = Effect.fnUntraced(function* (given: ReadonlyArray<GivenItem>) {
        const owners = given.filter((item) => item.mayHaveFiles).map(({ id }) => id)
        const byOwner = Arr.groupBy(yield* files.ofOwners(owners), ({ ownerId }) => ownerId)
        return new Map(
          given.map(({ attempts, id, payload }): readonly [WorkItemId, Given] => [
            id,
            { id, attempt: attempts, payload, files: byOwner[id] ?? [] }
          ])
        )
      })

      /** Settles the reserved items as the step runs report; `takers` are those that reserve a further one. */
      const settle = Effect.fnUntraced(function* (
        locked: State.Run,
        reserved: ReadonlyMap<StepRunId, Reserved>,
        worker: Worker,
        asks: ReadonlyArray<Ask>,
        at: string
      ) {
        let run = locked
        const changes: Array<State.Change> = []
        const created: Array<NewOutput> = []
        const takers: Array<Reserved["stepRun"]> = []
        const reservations: Reservations = new Map()
        for (const ask of asks) {
          const found = reserved.get(ask.stepRun)
          const refused = refusalOf(worker, ask, found)
          if (found === undefined || refused !== null) {
            reservations.set(ask.stepRun, refused)
            continue
          }
          const { item, stepRun } = found
          const { settled } = ask
          reservations.set(stepRun.id, item?.id ?? null)
          if (settled === null) continue
          if (item === null || item.id !== settled.item || item.attempts !== settled.attempt) {
            // A repeated request, because the response was lost, or an item that it never reserved.
            if (yield* stepRuns.hasSettled(stepRun.id, settled.item)) continue
            const message = `the work item ${settled.item} is not reserved by this step run; release the reserved one`
            reservations.set(stepRun.id, new Refused({ code: "CONFLICT", message }))
            continue
          }
          const made =
            settled.outputs.length > 0 || !Engine.forwards(run, stepRun.step)
              ? 1
              : (yield* outputs.count(stepRun.id, item.id)).held
          const released = {
            exception: settled.exception,
            outputs: settled.dropOutputs ? "incomplete" : made === 0 ? "none" : "some"
          } as const
          const decision = Engine.release(run, stepRun, item, released, at)
          if (Result.isFailure(decision)) {
            reservations.set(stepRun.id, new Refused(decision.failure))
            continue
          }
          const dropped = decision.success.changes.some(({ _tag }) => _tag === "OutputsDropped")
          for (const payload of dropped ? [] : settled.outputs) {
            created.push({ item: item.id, stepRun: stepRun.id, payload })
            changes.push(Engine.outputCreated(stepRun.id, item.id))
          }
          changes.push(...decision.success.changes)
          run = decision.success.run
          reservations.set(stepRun.id, null)
          if (ask.reserve) takers.push(stepRun)
        }
        return { run, changes, created, takers, reservations }
      })

      /** Reserves the oldest waiting item for each of these step runs; returns the items after that. */
      const take = Effect.fnUntraced(function* (
        settled: State.Run,
        asking: ReadonlyArray<Reserved["stepRun"]>,
        reservations: Reservations,
        freed: Freed,
        at: string
      ) {
        const isActive = settled.state === "in_progress" && (yield* room.running)
        const over = yield* uses.rolledBack(settled, asking)
        const staying = asking.filter(({ id }) => !over.has(id))
        const handed = yield* handOver.of(
          settled,
          staying[0]?.workerId ?? null,
          staying.map(({ id }) => id)
        )
        const takers = staying.filter(({ id }) => !handed.has(id))
        const found = isActive ? yield* waiting(settled, takers, freed) : new Map<number, never>()
        let run = settled
        const changes: Array<State.Change> = []
        const taken: Array<GivenItem> = []
        for (const stepRun of takers) {
          const item = found.get(stepRun.step)?.shift()
          if (item === undefined) continue
          const decision = Engine.reserveNext(run, stepRun, null, item, at)
          if (Result.isFailure(decision) || decision.success.item === null) continue
          changes.push(...decision.success.changes)
          run = decision.success.run
          reservations.set(stepRun.id, item.id)
          taken.push({ ...item, attempts: item.attempts + 1 })
        }
        return { run, changes, taken }
      })

      const next = Effect.fnUntraced(function* (worker: Worker, id: ProcessRunId, asks: ReadonlyArray<Ask>) {
        const locking = yield* runs.lockAhead(id)
        // The run is locked before, so no other transaction moves these.
        const reserved = yield* stepRuns.reserved(
          id,
          asks.map(({ stepRun }) => stepRun)
        )
        const locked = yield* locking
        if (locked === null || locked.workspaceId !== worker.workspaceId) return null
        const at = yield* now
        const { changes, created, reservations, run, takers } = yield* settle(locked, reserved, worker, asks, at)
        const opened = [...reservations.values()].filter((reservation) => typeof reservation === "string")
        const given = opened.length === 0 ? [] : [...(yield* runItems.given(opened))]
        if (changes.length > 0) {
          yield* outputs.create(run, created)
          const freed = yield* freedBy(run, changes)
          const events = yield* apply(run, changes)
          const { taken, ...outcome } = yield* take(run, takers, reservations, freed, at)
          given.push(...taken)
          yield* commit(outcome, events)
        }
        const whole = yield* withFiles(given)
        return asks.map(({ stepRun }) => {
          const reservation = reservations.get(stepRun) ?? null
          return typeof reservation === "string" ? (whole.get(reservation) ?? null) : reservation
        })
      }, transaction)

      return NextItems.of({ next })
    })
  ).pipe(Layer.provide([HandOver.layer, Transitions.layer]))
}
