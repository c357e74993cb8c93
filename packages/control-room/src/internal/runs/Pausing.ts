/** Pauses by hand, and by failures in a row; and the end of a pause. */
import type { PauseAction, Paused, PausedBy } from "@signalbox/api/contract/Pauses"
import type { ProcessId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import { Outbox } from "../delivery/Outbox.ts"
import type * as State from "../engine/State.ts"
import { AuditEntries } from "../store/audit/AuditEntries.ts"
import { Database } from "../store/database/Database.ts"
import { Pauses } from "../store/processes/Pauses.ts"
import { Processes } from "../store/processes/Processes.ts"
import type { NewEvent } from "../store/runs/StepRuns.ts"
import { WorkSignal } from "./WorkSignal.ts"

type AttemptEnded = Extract<State.Change, { readonly _tag: "AttemptEnded" }>

const byFailures: PausedBy = { type: "failures", id: null, name: null }

/** What is paused or resumed by hand. */
export interface Subject {
  readonly workspaceId: WorkspaceId
  readonly id: string
  /** The process that it is, or whose step it is; null for workers and groups. */
  readonly of: {
    readonly process: { readonly id: ProcessId; readonly name: string }
    readonly step: string | null
  } | null
}

export interface Pausing {
  readonly pause: (subject: Subject, by: PausedBy, note: string | null) => Effect.Effect<Paused>
  readonly resume: (subject: Subject) => Effect.Effect<void>
  /** Counts how an attempt ended, in the transaction around it; returns the events of the pauses that follow. */
  readonly attemptEnded: (run: State.Run, change: AttemptEnded) => Effect.Effect<ReadonlyArray<NewEvent>>
}

export const make = Effect.gen(function* () {
  const { transaction } = yield* Database
  const audit = yield* AuditEntries
  const outbox = yield* Outbox
  const pauses = yield* Pauses
  const processes = yield* Processes
  const signal = yield* WorkSignal

  const publish = ({ of, workspaceId }: Subject, action: PauseAction, paused: Paused | null) =>
    of === null ? Effect.void : outbox.pauseChanged({ workspaceId, run: null, ...of }, action, paused)

  const pause = Effect.fnUntraced(function* (subject: Subject, by: PausedBy, note: string | null) {
    const { isNew, paused } = yield* pauses.pause(subject.workspaceId, subject.id, { by, note, again: true })
    if (isNew) yield* publish(subject, "paused", paused)
    return paused
  }, transaction)

  const resume = Effect.fnUntraced(function* (subject: Subject) {
    if (!(yield* pauses.resume(subject.workspaceId, subject.id))) return
    yield* publish(subject, "resumed", null)
    yield* signal.afterCommit
  }, transaction)

  const attemptEnded = Effect.fnUntraced(function* (run: State.Run, { failure, limits, stepRun }: AttemptEnded) {
    const { processId, workspaceId } = run
    const subjects = limits.map(({ subject }) => subject)
    if (failure === null) {
      yield* pauses.succeeded(workspaceId, subjects)
      return []
    }
    const counts = yield* pauses.failed(workspaceId, subjects)
    const events: Array<NewEvent> = []
    for (const { kind, limit, subject } of limits) {
      if ((counts.get(subject) ?? 0) < limit) continue
      const note = `${limit} ${limit === 1 ? "failure" : "failures"} in a row, the last one: ${failure}`
      const { isNew, paused } = yield* pauses.pause(workspaceId, subject, { by: byFailures, note, again: false })
      if (!isNew) continue
      events.push({ stepRun, type: "PAUSED", item: null, message: `this attempt paused its ${kind}: ${note}` })
      const known = yield* processes.get(workspaceId, processId)
      const process = { id: processId, name: known?.view.name ?? "" }
      const step = run.steps.find(({ id }) => id === subject)?.name ?? null
      yield* audit.write({
        workspaceId,
        actor: { type: "system", id: null },
        action: step === null ? "pauseProcess" : "pauseProcessStep",
        resource: { type: step === null ? "process" : "process_step", id: subject, name: step ?? process.name },
        before: null,
        after: { note: `${limit} failures in a row`, process_run_id: run.id }
      })
      yield* outbox.pauseChanged({ workspaceId, process, step, run: run.id }, "paused", paused)
    }
    return events
  })

  const pausing: Pausing = { pause, resume, attemptEnded }
  return pausing
})
