/**
 * Settles the items that several step runs of one run have ended, with their outputs, and reserves the next one for each,
 * in one transaction. Step runs of a step with a retry also get items ahead, which they begin without waiting for a
 * response; until they report that, such an item is pending and assigned to its step run.
 */
import type { ProcessRunId, StepRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Engine from "../engine/Engine.ts"
import { isLimited } from "../engine/Limits.ts"
import type * as State from "../engine/State.ts"
import type { Refused } from "../engine/Refused.ts"
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
import * as Reports from "./Reports.ts"
import { Secrecy } from "./Secrecy.ts"
import { Transitions } from "./Transitions.ts"
import * as WaitingItems from "./WaitingItems.ts"

/** An item, with everything its task may see. */
export interface Given {
  readonly id: WorkItemId
  /** That it is, or will be when it begins. */
  readonly attempt: number
  readonly payload: Schema.Json
  readonly files: ReadonlyArray<StoredFile>
}

/** The items of a step run after its request. */
export interface Answer {
  /** The reserved one; null when it has none, or has itself said which one it has begun. */
  readonly item: Given | null
  /** Those that it may begin next and does not have yet, in their order. */
  readonly ahead: ReadonlyArray<Given>
  /** Whether it may have some, and begin them without waiting for a response. */
  readonly mayBegin: boolean
}

/** How many items all step runs of a request get ahead, and of how many: with more, one transaction has many items anyway. */
const mostAhead = 100
const mostTakers = 32

/** A step run with the items that it has after its request. */
interface Taker extends Reports.Reported {
  readonly mayBegin: boolean
}

export class NextItems extends Context.Service<
  NextItems,
  {
    /**
     * Returns results in the order of the requests, one for each step run: its items, or the refusal. Null when the
     * workspace has no such run.
     *
     * Safe to repeat: it then settles and begins nothing, creates no outputs, and returns the items given before. An item
     * is settled only by the attempt that it was given for, and only a step run that settles one takes the next.
     */
    readonly next: (
      worker: Reports.Worker,
      run: ProcessRunId,
      asks: ReadonlyArray<Reports.Ask>
    ) => Effect.Effect<ReadonlyArray<Answer | Refused> | null>
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
      const report = yield* Reports.make

      /** What the settled items will free of limits. */
      const freedBy = (run: State.Run, changes: ReadonlyArray<State.Change>) =>
        run.steps.some(isLimited)
          ? limits.held(changes.flatMap((change) => (change._tag === "ItemMoved" ? [change.id] : [])))
          : Effect.succeed<Freed>(new Map())

      /** What the step runs report, one after the other; each only if all of it is in order. */
      const settle = Effect.fnUntraced(function* (
        locked: State.Run,
        reserved: ReadonlyMap<StepRunId, Reserved>,
        worker: Reports.Worker,
        asks: ReadonlyArray<Reports.Ask>,
        at: string
      ) {
        let run = locked
        const changes: Array<State.Change> = []
        const created: Array<NewOutput> = []
        const results: Array<Result.Result<Reports.Reported, Refused>> = []
        for (const ask of asks) {
          const decision = yield* Effect.result(report(run, worker, ask, reserved.get(ask.stepRun), at))
          results.push(Result.map(decision, ({ reported }) => reported))
          if (Result.isFailure(decision)) continue
          run = decision.success.run
          changes.push(...decision.success.changes)
          created.push(...decision.success.created)
        }
        return { run, changes, created, results }
      })

      /** Which of these step runs of one step, of one worker, take a further item. */
      const takersOf = Effect.fnUntraced(function* (run: State.Run, reported: ReadonlyArray<Reports.Reported>) {
        const [first] = reported
        if (first === undefined || run.state !== "in_progress" || !(yield* room.running)) return new Set<StepRunId>()
        const { step, workerId } = first.stepRun
        // Items that are not given are not begun either.
        const hasAhead = reported.some(({ ahead }) => ahead.length > 0)
        if (hasAhead && !(yield* runItems.mayBeGiven(run, step, workerId))) return new Set<StepRunId>()
        const asking = reported.flatMap(({ ask, stepRun }) => (ask.reserve ? [stepRun] : []))
        const over = yield* uses.rolledBack(run, asking)
        const staying = asking.flatMap(({ id }) => (over.has(id) ? [] : [id]))
        const handed = yield* handOver.of(run, workerId, staying)
        return new Set(staying.filter((id) => !handed.has(id)))
      })

      /** Reserves the next item for each of these step runs of one step that has none, and gives items ahead. */
      const take = Effect.fnUntraced(function* (
        settled: State.Run,
        reported: ReadonlyArray<Reports.Reported>,
        freed: Freed,
        at: string
      ) {
        let run = settled
        const changes: Array<State.Change> = []
        const taken: Array<GivenItem> = []
        const decided = (outcome: State.Outcome) => {
          run = outcome.run
          changes.push(...outcome.changes)
        }
        const staying = yield* takersOf(run, reported)
        const isStaying = ({ stepRun }: Reports.Reported) => staying.has(stepRun.id)
        const step = reported[0]?.stepRun.step ?? 0
        const worker = reported[0]?.stepRun.workerId ?? null

        const without = reported.filter((one) => isStaying(one) && one.item === null && one.ahead.length === 0)
        const due = without.length === 0 ? [] : [...(yield* waitingItems.of(run, step, worker, without.length, freed))]
        const takers = reported.map((one): Taker => {
          if (one.item !== null) return { ...one, mayBegin: isStaying(one) }
          if (!isStaying(one)) {
            decided(Engine.giveBack(run, one.ahead, at))
            return { ...one, ahead: [], mayBegin: false }
          }
          const [first, ...ahead] = one.ahead
          const found = first === undefined ? due.shift() : undefined
          const next = first ?? found
          if (next === undefined) return { ...one, mayBegin: true }
          const begun = Engine.beginAhead(run, one.stepRun, next, at)
          decided(begun)
          if (found !== undefined) taken.push({ ...found, ...begun.item })
          return { ...one, item: begun.item, ahead, mayBegin: true }
        })

        const share =
          reported.length > mostTakers
            ? 0
            : Math.min(Engine.shareAhead(run, step), Math.floor(mostAhead / reported.length))
        const missing = ({ ahead, ask, mayBegin }: Taker) =>
          mayBegin ? Math.max(0, Math.min(share, ask.ahead?.wanted ?? 0) - ahead.length) : 0
        const wanted = takers.reduce((sum, taker) => sum + missing(taker), 0)
        // Those that were taken above are written with the rest, so the query still finds them.
        const reserved = new Set(taken.map(({ id }) => id))
        const found = wanted === 0 ? [] : yield* runItems.dueAhead(run, step, worker, wanted + reserved.size)
        const waiting = found.filter(({ id }) => !reserved.has(id))
        const given = takers.map((taker): Taker => {
          const more = waiting.splice(0, missing(taker))
          decided(Engine.giveAhead(run, taker.stepRun, more, at))
          taken.push(...more)
          return { ...taker, ahead: [...taker.ahead, ...more] }
        })
        return { run, changes, taken, takers: given }
      })

      const withFiles = Effect.fnUntraced(function* (given: ReadonlyArray<GivenItem>) {
        const owners = given.filter((item) => item.mayHaveFiles).map(({ id }) => id)
        const byOwner = Arr.groupBy(yield* files.ofOwners(owners), ({ ownerId }) => ownerId)
        return new Map(
          given.map(({ attempts, id, payload, state }): readonly [WorkItemId, Given] => [
            id,
            { id, attempt: state === "pending" ? attempts + 1 : attempts, payload, files: byOwner[id] ?? [] }
          ])
        )
      })

      /** What a step run is sent of its items: not those that it has. */
      const sent = ({ ahead, ask, item }: Taker) => {
        const has = new Set(ask.ahead?.notBegun)
        return {
          item: ask.ahead?.begun === null || ask.ahead === null ? (item?.id ?? null) : null,
          ahead: ahead.flatMap(({ id }) => (has.has(id) ? [] : [id]))
        }
      }

      const next = Effect.fnUntraced(function* (
        worker: Reports.Worker,
        id: ProcessRunId,
        asks: ReadonlyArray<Reports.Ask>
      ) {
        const locking = yield* runs.lockAhead(id)
        // The run is locked before, so no other transaction moves these.
        const reserved = yield* stepRuns.reserved(
          id,
          asks.map(({ stepRun }) => stepRun)
        )
        const locked = yield* locking
        if (locked === null || locked.workspaceId !== worker.workspaceId) return null
        const at = yield* now
        const { changes, created, results, run } = yield* settle(locked, reserved, worker, asks, at)
        const takers = new Map<StepRunId, Taker>()
        const taken: Array<GivenItem> = []
        if (changes.length > 0) {
          yield* outputs.create(run, created)
          const freed = yield* freedBy(run, changes)
          const events = yield* apply(run, changes)
          let outcome: State.Outcome = { run, changes: [] }
          const reported = results.flatMap((one) => (Result.isSuccess(one) && one.success.isNew ? [one.success] : []))
          for (const of of Map.groupBy(reported, ({ stepRun }) => stepRun.step).values()) {
            const some = yield* take(outcome.run, of, freed, at)
            outcome = { run: some.run, changes: [...outcome.changes, ...some.changes] }
            taken.push(...some.taken)
            for (const taker of some.takers) takers.set(taker.stepRun.id, taker)
          }
          yield* commit(outcome, events)
        }
        const answers = results.map((result) =>
          Result.map(result, (one) => {
            const taker = takers.get(one.stepRun.id) ?? { ...one, mayBegin: true }
            return { ...sent(taker), mayBegin: taker.mayBegin && Engine.mayHaveAhead(run, one.stepRun.step) }
          })
        )
        const ids = answers.flatMap((one) =>
          Result.isSuccess(one) ? [...(one.success.item === null ? [] : [one.success.item]), ...one.success.ahead] : []
        )
        const read = new Set(taken.map((item) => item.id))
        const others = ids.filter((one) => !read.has(one))
        const given = others.length === 0 ? taken : [...taken, ...(yield* runItems.given(others))]
        const whole = yield* withFiles(given)
        return answers.map((answer): Answer | Refused => {
          if (Result.isFailure(answer)) return answer.failure
          const { ahead, item, mayBegin } = answer.success
          return {
            item: item === null ? null : (whole.get(item) ?? null),
            ahead: ahead.flatMap((one) => whole.get(one) ?? []),
            mayBegin
          }
        })
      }, transaction)

      return NextItems.of({ next })
    })
  ).pipe(Layer.provide([HandOver.layer, Secrecy.layer, Transitions.layer]))
}
