/** Pauses by hand, and by failures in a row; and the end of a pause. */
import type { Paused, PausedBy } from "@signalbox/api/contract/Pauses"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import type * as State from "../engine/State.ts"
import { Database } from "../store/Database.ts"
import { Pauses } from "../store/Pauses.ts"
import type { NewEvent } from "../store/StepRuns.ts"
import { WorkSignal } from "./WorkSignal.ts"

type AttemptEnded = Extract<State.Change, { readonly _tag: "AttemptEnded" }>

const byFailures: PausedBy = { type: "failures", id: null, name: null }

export interface Pausing {
  readonly pause: (
    workspace: WorkspaceId,
    subject: string,
    by: PausedBy,
    note: string | null
  ) => Effect.Effect<Paused>
  readonly resume: (workspace: WorkspaceId, subject: string) => Effect.Effect<void>
  /** Counts how an attempt ended, in the transaction around it; returns the events of the pauses that follow. */
  readonly attemptEnded: (run: State.Run, change: AttemptEnded) => Effect.Effect<ReadonlyArray<NewEvent>>
}

export const make = Effect.gen(function* () {
  const { transaction } = yield* Database
  const pauses = yield* Pauses
  const signal = yield* WorkSignal

  const attemptEnded = Effect.fnUntraced(function* (run: State.Run, { failure, limits, stepRun }: AttemptEnded) {
    const subjects = limits.map(({ subject }) => subject)
    if (failure === null) {
      yield* pauses.succeeded(run.workspaceId, subjects)
      return []
    }
    const counts = yield* pauses.failed(run.workspaceId, subjects)
    const events: Array<NewEvent> = []
    for (const { kind, limit, subject } of limits) {
      if ((counts.get(subject) ?? 0) < limit) continue
      const note = `${limit} failures in a row, the last one ${failure}`
      const { isNew } = yield* pauses.pause(run.workspaceId, subject, { by: byFailures, note, again: false })
      if (isNew) {
        events.push({ stepRun, type: "PAUSED", item: null, message: `this attempt paused its ${kind}: ${note}` })
      }
    }
    return events
  })

  const pausing: Pausing = {
    pause: (workspace, subject, by, note) =>
      Effect.map(transaction(pauses.pause(workspace, subject, { by, note, again: true })), ({ paused }) => paused),
    resume: (workspace, subject) =>
      transaction(
        Effect.flatMap(pauses.resume(workspace, subject), (ended) => (ended ? signal.afterCommit : Effect.void))
      ),
    attemptEnded
  }
  return pausing
})
