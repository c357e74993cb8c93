/** What happens to a run, as it happens. */
import type { ProcessRunId, StepRunId } from "@signalbox/api/contract/Ids"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as Workers from "@signalbox/api/Workers"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** A step run, and why no worker can take it; null when one can. */
export interface WatchedStepRun extends StepRuns.StepRun {
  readonly no_worker: string | null
}

/** The run, or one of its step runs, in a state that was not seen before. */
export type Change = { readonly run: ProcessRuns.ProcessRun } | { readonly step_run: WatchedStepRun }

/** Why no worker can take a step run, null when it does not wait for one. */
const missingWorker = Effect.fnUntraced(function* (stepRun: StepRuns.StepRun) {
  if (stepRun.state !== "awaiting_worker") return null
  // A key that may see runs, and not what they do, sees the rest.
  const last = yield* Stream.runLast(StepRuns.events(stepRun.id)).pipe(
    Effect.catchReason("ControlRoomError", "Forbidden", () => Effect.succeedNone)
  )
  return Option.isSome(last) && last.value.event_type === "NO_WORKER" ? last.value.message : null
})

/** A step run with what it waits for. */
export const watched = Effect.fnUntraced(function* (stepRun: StepRuns.StepRun) {
  const found: WatchedStepRun = { ...stepRun, no_worker: yield* missingWorker(stepRun) }
  return found
})

/** A step run as it is shown; `log_incomplete`: how many lines of its log are missing, and why; null when none is. */
export interface ShownStepRun extends WatchedStepRun {
  readonly log_incomplete: string | null
}

/** How many requests read the events of step runs at a time. */
const readers = 8

/** Why the log of a step run is not whole; null when it is, or its events cannot be read. */
const incompleteLog = Effect.fnUntraced(
  function* (stepRun: StepRunId) {
    const said = yield* Stream.runCollect(
      Stream.filter(StepRuns.events(stepRun), ({ event_type }) => event_type === "LOG_INCOMPLETE")
    )
    return said.length === 0 ? null : said.map(({ message }) => message ?? "lines of the log were dropped").join("; ")
  },
  Effect.catchReason("ControlRoomError", "Forbidden", () => Effect.succeed(null))
)

/** Every step run of a run, the oldest first, with what it waits for and what its log lacks. */
export const shownStepRuns = Effect.fnUntraced(function* (run: ProcessRunId) {
  const found = yield* Stream.runCollect(StepRuns.stream(run))
  const show = Effect.fnUntraced(function* (stepRun: StepRuns.StepRun) {
    // A step run that has not begun has no log.
    const log_incomplete = stepRun.started_at === null ? null : yield* incompleteLog(stepRun.id)
    const shown: ShownStepRun = { ...(yield* watched(stepRun)), log_incomplete }
    return shown
  })
  return yield* Effect.forEach(found.toReversed(), show, { concurrency: readers })
})

/** Of a run with more step runs, the newest are watched. */
const watchedStepRuns = 500

/** What a step run without a reported reason waits for, as far as a client can see. */
const likelyReason = Effect.fnUntraced(function* (step: string) {
  const online = yield* Stream.runCollect(
    Stream.take(
      Stream.filter(Workers.stream(), ({ state }) => state !== "offline"),
      1
    )
  )
  return online.length === 0
    ? `no worker is online, and the step "${step}" waits for one; start one with \`signalbox worker start\``
    : `the step "${step}" waits for a worker: all matching workers may be busy; without a matching worker, the control room reports it after 10 seconds`
})

/** Why a run does not go on: what the first step run without a worker waits for; null when each has one, or it cannot be read. */
export const whatItWaitsFor = Effect.fnUntraced(
  function* (run: ProcessRunId) {
    const found = yield* Stream.runCollect(
      Stream.take(StepRuns.stream(run, { limit: watchedStepRuns }), watchedStepRuns)
    )
    const waiting = found.findLast(({ state }) => state === "awaiting_worker")
    if (waiting === undefined) return null
    return (yield* missingWorker(waiting)) ?? (yield* likelyReason(waiting.step.name))
  },
  Effect.orElseSucceed(() => null)
)

const stateOf = (change: Change): readonly [id: string, state: string] =>
  "run" in change
    ? [change.run.id, change.run.state]
    : [change.step_run.id, `${change.step_run.state} ${change.step_run.no_worker ?? ""}`]

const shortest = 100
const longest = 2000

const look = Effect.fnUntraced(function* (id: ProcessRunId) {
  // The run first: what its step runs did before it ended is then seen.
  const run = yield* ProcessRuns.get(id)
  const found = yield* Stream.runCollect(Stream.take(StepRuns.stream(id, { limit: watchedStepRuns }), watchedStepRuns))
  const stepRuns = yield* Effect.forEach(found.toReversed(), watched)
  const changes: ReadonlyArray<Change> = [...stepRuns.map((step_run) => ({ step_run })), { run }]
  return { changes, ended: ProcessRuns.hasEnded(run) }
})

interface Seen {
  /** The last state of each, by id. */
  readonly seen: ReadonlyMap<string, string>
  /** Milliseconds before the next poll. */
  readonly pause: number
}

const unseen: Seen = { seen: new Map(), pause: 0 }

/** Emits every change of a run and of its step runs, and ends with the run. */
export const changes = (run: ProcessRunId) =>
  Stream.paginate(
    unseen,
    Effect.fnUntraced(function* ({ pause, seen }) {
      yield* Effect.sleep(pause)
      const { changes, ended } = yield* look(run)
      const states = changes.map(stateOf)
      const fresh = changes.filter((_, index) => {
        const [id, state] = states[index] ?? []
        return id !== undefined && seen.get(id) !== state
      })
      const next = fresh.length > 0 ? shortest : Math.min(Math.max(pause, shortest) * 1.5, longest)
      return [fresh, ended ? Option.none() : Option.some({ seen: new Map(states), pause: next })] as const
    })
  )

/** Every step run of a run, once, as it comes. */
export const stepRuns = (run: ProcessRunId) =>
  changes(run).pipe(
    Stream.filter((change) => "step_run" in change),
    Stream.map(({ step_run }) => step_run),
    Stream.mapAccum(
      () => new Set<StepRunId>(),
      (known, stepRun) => [new Set([...known, stepRun.id]), known.has(stepRun.id) ? [] : [stepRun]] as const
    )
  )
