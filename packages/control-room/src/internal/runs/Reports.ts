/**
 * Settles what one step run has ended of its items, in memory: decides in the order in which its task did it, and writes
 * nothing.
 */
import type { StepRunId, WorkerId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Engine from "../engine/Engine.ts"
import type * as State from "../engine/State.ts"
import { Refused } from "../engine/Refused.ts"
import { type NewOutput, Outputs } from "../store/items/Outputs.ts"
import { RunItems } from "../store/items/RunItems.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import type { Reserved } from "../store/runs/StoredStepRun.ts"
import * as LeaseHolder from "./LeaseHolder.ts"
import { Secrecy } from "./Secrecy.ts"

/** An item as it was given: a repeated request is about the same attempt. */
export interface Attempt {
  readonly item: WorkItemId
  /** The attempt of the item when it was given. */
  readonly attempt: number
}

/** How one step run ends its reserved item. */
export interface Settled extends Attempt {
  /** Null: done. */
  readonly exception: State.Exception | null
  readonly outputs: ReadonlyArray<Schema.Json>
  /** Whether the outputs of a failed attempt are dropped. */
  readonly dropOutputs: boolean
}

/** What a step run does with items ahead. */
export interface Ahead {
  /** The one that it has begun after all that it has settled; null: it waits for an item. */
  readonly begun: Attempt | null
  /** Those that it has not begun. */
  readonly notBegun: ReadonlyArray<WorkItemId>
  /** How many it wants to have that it has not begun. */
  readonly wanted: number
}

/** The request of one step run. */
export interface Ask {
  readonly stepRun: StepRunId
  readonly leaseToken: string
  /** In the order in which their tasks ended; none: it only reads its items. */
  readonly settled: ReadonlyArray<Settled>
  /** Whether it reserves a further item after it has settled some. */
  readonly reserve: boolean
  /** Null: it takes one item after the other, each with a request. */
  readonly ahead: Ahead | null
}

export type Worker = { readonly id: WorkerId; readonly workspaceId: WorkspaceId }

/** A step run after what it has reported. */
export interface Reported extends Reserved {
  readonly ask: Ask
  /** False for a repeated request: it then takes no item either. */
  readonly isNew: boolean
}

/** What a report changes. */
interface Report {
  readonly run: State.Run
  readonly changes: ReadonlyArray<State.Change>
  readonly created: ReadonlyArray<NewOutput>
  readonly reported: Reported
}

/** Whether a worker may act for a step run. */
const refusalOf = (worker: Worker, ask: Ask, found: Reserved | undefined): Refused | null => {
  if (found === undefined) {
    return new Refused({ code: "NOT_FOUND", message: `this run has no step run ${ask.stepRun}` })
  }
  const ended = Engine.notRunning(found.stepRun)
  return LeaseHolder.refusalOf(found.stepRun, worker.id, ask.leaseToken) ?? (ended === null ? null : new Refused(ended))
}

export const make = Effect.gen(function* () {
  const stepRuns = yield* StepRuns
  const outputs = yield* Outputs
  const runItems = yield* RunItems
  const secrecy = yield* Secrecy

  /** The result of the report of a step run; a refusal leaves everything of it as it was. */
  return Effect.fnUntraced(function* (
    before: State.Run,
    worker: Worker,
    ask: Ask,
    found: Reserved | undefined,
    at: string
  ): Effect.fn.Return<Report, Refused> {
    const refused = refusalOf(worker, ask, found)
    if (refused !== null) return yield* refused
    if (found === undefined) return yield* Effect.die("a step run that is not refused was found")
    const { stepRun } = found
    let { ahead, item } = found
    let run = before
    const changes: Array<State.Change> = []
    const created: Array<NewOutput> = []

    /** Whether the step run is at this attempt. It is as well when the item was ahead, and begins so. */
    const reaches = ({ attempt, item: id }: Attempt) => {
      if (item !== null) return item.id === id && item.attempts === attempt
      const next = ahead.find((one) => one.id === id)
      if (next?.attempts !== attempt - 1) return false
      const begun = Engine.beginAhead(run, stepRun, next, at)
      run = begun.run
      changes.push(...begun.changes)
      item = begun.item
      ahead = ahead.filter((one) => one !== next)
      return true
    }

    for (const settled of ask.settled) {
      if (!reaches(settled) || item === null) {
        // A repeated request, because the response was lost, or an item that it never reserved.
        if (yield* stepRuns.hasSettled(stepRun.id, settled.item)) continue
        const message = `the work item ${settled.item} is not reserved by this step run; release the reserved one`
        return yield* new Refused({ code: "CONFLICT", message })
      }
      const made =
        settled.outputs.length > 0 || !Engine.forwards(run, stepRun.step)
          ? 1
          : (yield* outputs.count(stepRun.id, item.id)).held
      const released = {
        exception:
          settled.exception &&
          (yield* secrecy.cleaned(run.processId, runItems.payloadOf(settled.item), settled.exception)),
        outputs: settled.dropOutputs ? "incomplete" : made === 0 ? "none" : "some"
      } as const
      const decision = Engine.release(run, stepRun, item, released, at)
      if (Result.isFailure(decision)) return yield* new Refused(decision.failure)
      const dropped = decision.success.changes.some(({ _tag }) => _tag === "OutputsDropped")
      for (const payload of dropped ? [] : settled.outputs) {
        created.push({ item: item.id, stepRun: stepRun.id, payload })
        changes.push(Engine.outputCreated(stepRun.id, item.id))
      }
      changes.push(...decision.success.changes)
      run = decision.success.run
      item = null
    }
    const begun = ask.ahead?.begun ?? null
    if (begun !== null && !reaches(begun) && !(yield* stepRuns.hasSettled(stepRun.id, begun.item))) {
      const message = `the work item ${begun.item} is not one that this step run has ahead; begin one that it has`
      return yield* new Refused({ code: "CONFLICT", message })
    }
    return { run, changes, created, reported: { stepRun, item, ahead, ask, isNew: changes.length > 0 } }
  })
})
