/**
 * How a process carries a schedule out. Several processes may do so for one row: occurrences to start are recorded in one write,
 * started under their keys, and recorded as started in the next write, so that each starts once wherever a process dies.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import type { FlowDraining, FlowExpired, FlowNotRegistered, InvalidInput } from "../../FlowErrors.ts"
import { detailOf } from "../model/Failure.ts"
import type { EngineParts } from "../engine/Engine.ts"
import { hasEnded } from "../model/Execution.ts"
import { type Journal } from "../journal/Journal.ts"
import * as Decide from "./Decide.ts"
import * as Row from "./Row.ts"

export interface Local extends Decide.Wanted {
  /** Starts the execution of an occurrence, or joins it; returns its id. */
  readonly begin: (at: number) => Effect.Effect<string, InvalidInput | FlowNotRegistered | FlowExpired | FlowDraining>
  readonly cancel: (execution: string) => Effect.Effect<void>
  /** Whether this program takes executions of the flow. */
  readonly isRegistered: () => boolean
  /** Opened when another part of this program has changed the row. */
  readonly changed: Latch.Latch
}

/** The longest pause between polls: clocks may be set, machines sleep and, on shared storage, other processes send commands. */
const longestPause = { alone: 60_000, shared: 10_000 }
const pauseAfterFailure = 5_000
/** An occurrence that has been due for so long causes a warning. */
const overdueMillis = 60_000

/** Returns the executions of a schedule that have not ended, halted and suspended ones included. */
export const runningOf = (journal: Journal["Service"], { running }: Row.Row) =>
  Effect.map(
    Effect.forEach(running, ({ at, execution }) =>
      Effect.map(journal.find(execution), (found) =>
        found === null || hasEnded(found.state) ? [] : [{ at, execution, state: found.state }]
      )
    ),
    (all): ReadonlyArray<Decide.Running> => all.flat()
  )

/** Starts the executions that were decided to start. One that cannot start stays in the row, with the reason. */
const begun = Effect.fnUntraced(function* ({ begin, definition: { name } }: Local, row: Row.Row, now: number) {
  const started: Array<Row.Outcome> = []
  let problem: Row.Row["problem"] = null
  for (const at of row.starting) {
    const outcome = yield* begin(at).pipe(
      Effect.map((execution) => Decide.started(at, execution, null)),
      Effect.catchTags({
        FlowExpired: ({ execution }) =>
          Effect.succeed(Decide.started(at, execution, "the execution has already run, and is no longer retained")),
        FlowNotRegistered: ({ message }) => Effect.succeed(message),
        FlowDraining: ({ message }) => Effect.succeed(message),
        InvalidInput: ({ message }) => Effect.succeed(`input: of ${Decide.iso(at)}: ${message}`)
      }),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.succeed(`input: of ${Decide.iso(at)}: ${detailOf(cause).message}`)
      )
    )
    if (typeof outcome === "string") {
      problem = { since: row.problem?.message === outcome ? row.problem.since : now, message: outcome }
      break
    }
    started.push(outcome)
  }
  if (problem !== null && problem.message !== row.problem?.message) {
    yield* Effect.logWarning(`the schedule ${name} cannot start an execution, retrying: ${problem.message}`)
  }
  return {
    ...row,
    starting: row.starting.slice(started.length),
    running: [
      ...row.running,
      ...started.flatMap(({ at, execution }) => (execution === null ? [] : [{ at, execution }]))
    ],
    problem,
    recent: [...row.recent, ...started]
  }
})

/** Carries out the next step of a row with the definition of this build. */
const step = Effect.fnUntraced(function* (journal: Journal["Service"], local: Local, row: Row.Row, now: number) {
  const overlaps = row.definition.overlap === "allow"
  const running = overlaps ? [] : yield* runningOf(journal, row)
  const looked: Row.Row = {
    ...row,
    running: overlaps ? row.running : running.map(({ at, execution }) => ({ at, execution })),
    stop: running.length === 0 ? null : row.stop
  }
  if (looked.stop === "cancel") {
    yield* Effect.forEach(running, ({ execution }) => local.cancel(execution), { discard: true })
    return [{ ...looked, stop: "await" } satisfies Row.Row, running] as const
  }
  // Recorded before anything starts: until then another process may replace the waiting occurrence.
  if (looked.stop !== row.stop) return [looked, running] as const
  if (looked.stop === null && looked.starting.length > 0) return [yield* begun(local, looked, now), running] as const
  return [Decide.tick(looked, running, now), running] as const
})

/** The pause until the next poll. */
interface Pause {
  readonly millis: number
  /** The end of one of these ends the pause. */
  readonly orEnded: ReadonlyArray<string>
  /** Why this process cannot carry out due occurrences. */
  readonly hindered: string | null
}

const again: Pause = { millis: 0, orEnded: [], hindered: null }

const look = Effect.fnUntraced(function* ({ isShared, journal }: EngineParts, local: Local) {
  const longest = isShared ? longestPause.shared : longestPause.alone
  const until = (at: number | null, now: number) => Math.min(Math.max((at ?? Infinity) - now, 0), longest)
  const { name } = local.definition
  const [, pause] = yield* Row.update(
    journal,
    name,
    Effect.fnUntraced(function* (row, now): Effect.fn.Return<readonly [Row.Row | null, Pause]> {
      // The schedule was removed: a program creates it again when it starts.
      if (row === null) return [null, { ...again, millis: longest }]
      const isOverdue = row.wakeAt !== null && now - row.wakeAt > overdueMillis
      if (row.digest !== local.digest) {
        const hindered = `another build set a different definition at ${Decide.iso(row.setAt)} and does not execute the schedule`
        return [row, { millis: longest, orEnded: [], hindered: isOverdue ? hindered : null }]
      }
      if (Decide.isIdle(row, now)) return [row, { ...again, millis: until(row.wakeAt, now) }]
      if (!local.isRegistered()) {
        const hindered = `${local.flow}, version ${local.version}, is not registered: provide its Flow.layer`
        return [row, { millis: pauseAfterFailure, orEnded: [], hindered }]
      }
      const [next, running] = yield* step(journal, local, row, now)
      if (next.problem !== null) return [next, { ...again, millis: pauseAfterFailure }]
      if (!Row.equal(row, next)) return [next, again]
      // The end of a halted one is not notified, and may take a person days.
      const orEnded = running.filter(({ state }) => state !== "halted").map(({ execution }) => execution)
      return [row, { ...again, millis: until(row.wakeAt, now), orEnded }]
    })
  )
  return pause
})

/** Returns the occurrences to start that have already started. */
const begunOf = (journal: Journal["Service"], { definition, flow, starting }: Row.Row) =>
  Effect.map(
    Effect.forEach(starting, (at) =>
      Effect.map(journal.findKey(flow, Decide.keyOf(definition.name, at)), (found) =>
        found === null ? [] : [{ at, execution: found.id }]
      )
    ),
    (all): ReadonlyArray<Row.Started> => all.flat()
  )

/** Sets the definition: from now on only builds with the same one carry the schedule out. */
export const set = Effect.fnUntraced(function* (journal: Journal["Service"], wanted: Decide.Wanted) {
  const { name } = wanted.definition
  yield* Row.update(
    journal,
    name,
    Effect.fnUntraced(function* (row, now): Effect.fn.Return<readonly [Row.Row, void]> {
      if (row === null) return [Decide.created(wanted, now), undefined]
      if (row.digest === wanted.digest) return [row, undefined]
      const begun = row.flow === wanted.flow ? [] : yield* begunOf(journal, row)
      return [Decide.changed(row, wanted, now, begun), undefined]
    })
  )
})

/** Carries a schedule out until it is interrupted. */
export const run = Effect.fnUntraced(function* (engine: EngineParts, local: Local) {
  const { name } = local.definition
  let said: string | null = null
  while (true) {
    local.changed.closeUnsafe()
    const pause = yield* look(engine, local).pipe(
      // The loop must survive a failed poll; due occurrences are still due at the next one.
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.as(Effect.logWarning(`the schedule ${name} could not be executed, retrying`, cause), {
              ...again,
              millis: pauseAfterFailure
            })
      )
    )
    if (pause.hindered !== null && pause.hindered !== said) {
      yield* Effect.logWarning(`the schedule ${name} is due and is not executed by this program: ${pause.hindered}`)
    }
    said = pause.hindered
    if (pause.millis === 0) {
      yield* Effect.yieldNow
      continue
    }
    const woken = [local.changed.await, ...pause.orEnded.map((id) => Effect.asVoid(engine.settled(id)))]
    yield* Effect.timeoutOption(Effect.raceAllFirst(woken), pause.millis)
  }
})
