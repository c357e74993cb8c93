/**
 * The interpreter: it runs the body of one execution over its journal, and records what happens.
 *
 * Whenever the body is quiescent, one event is processed: the next recorded end, or else the next new event. When none is left, all
 * new entries are written together, and only then do the reached steps begin.
 *
 * This file has the loop. Its parts work on one value, the `Stay`: `Operations` has steps and waits, `Mail` incoming events,
 * `Outside` bodies that do not come to rest, `Undoing` undos, `Writing` the writes.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Schema from "effect/Schema"
import { FlowEvents } from "../../FlowEvents.ts"
import * as Branches from "./Branches.ts"
import * as Calls from "./Calls.ts"
import * as Mail from "./Mail.ts"
import * as Operations from "./Operations.ts"
import * as Outside from "./Outside.ts"
import * as Activation from "./Activation.ts"
import * as Compensation from "./Compensation.ts"
import * as Recorder from "./Recorder.ts"
import type { Entry, OwnershipLost } from "../model/Execution.ts"
import { at } from "../body/Position.ts"
import * as Replay from "../model/Replay.ts"
import * as Wall from "../model/Wall.ts"
import type { Options, Outcome, Session } from "./Contract.ts"

/** An execution that has been idle for so long is evicted from memory. */
export const parkAfterMillis = 5_000
const longestWaitMillis = 3_600_000

/** Returns the services that the branches of the body call. */
const servicesOf = (stay: Activation.Stay): Calls.Services => {
  const { body, branches, execution, history, host, names, replay } = stay
  const redoOf = (path: string) => history.redos.get(path) ?? 0
  return {
    id: execution.id,
    chapter: execution.chapter,
    durable: host.durable,
    gates: host.gates,
    replays: Activation.isReplay(host),
    events: Context.get(body.context, FlowEvents),
    isLive: () => replay.next() === undefined && replay.missed() === null,
    recordedAt: replay.at,
    redoOf,
    park: (branch, spec) => Operations.park(stay, branch, spec),
    branches,
    names,
    isUndo: (prefix) => Compensation.isIn(stay, prefix),
    register: (branch, path, undo) => Compensation.register(stay, branch, path, undo),
    continueAs: (input) => {
      stay.continued = { input }
    }
  }
}

const sessionOf = (stay: Activation.Stay): Session => ({
  poke: () => {
    stay.hasMail = true
    Activation.wake(stay)
  },
  crowd: () => Activation.wake(stay),
  close: () => {
    if (stay.closing === "no") stay.closing = "close"
    Activation.wake(stay)
  },
  isBusy: () => stay.launched > 0 || !stay.branches.isAtRest(),
  abort: () => {
    stay.aborted = true
    Activation.wake(stay)
  },
  cancel: () => {
    stay.mail.push({ seq: stay.seen, kind: "cancel", name: "", id: "", value: null, at: stay.now })
    Activation.wake(stay)
  }
})

/** Returns what the body reached instead of a recorded step: a new step before one that is recorded in another order. */
const insteadOf = ({ operations, reached }: Activation.Stay): Activation.Operation | null =>
  reached[0] ?? operations.values().next().value ?? null

/** Delivers the next recorded end. */
const replayed = (stay: Activation.Stay, entry: Entry) => {
  const { operations, passing, replay } = stay
  if (entry.path === Replay.cancelPath) {
    replay.advance()
    return entry.value === Replay.abandonedValue ? Compensation.abandon(stay) : Compensation.cancelBody(stay)
  }
  if (entry.path === Replay.outcomePath) return Activation.changedFlow(stay, entry.path, insteadOf(stay))
  const undone = replay.undoneBy(entry)
  if (undone !== undefined) {
    replay.advance()
    const then = passing.get(undone)
    passing.delete(undone)
    return then?.()
  }
  const operation = operations.get(entry.path)
  if (operation === undefined && replay.defer(entry.path)) return
  if (operation === undefined) return Activation.changedFlow(stay, entry.path, insteadOf(stay))
  replay.advance()
  Operations.deliver(stay, operation)
}

/** Advances the body by a recorded end, or by what it has reached. Returns null when there is neither. */
const advance = (stay: Activation.Stay): Effect.Effect<Outcome | void, OwnershipLost> | null => {
  const { continued, finished, isUndoing, mainExit, operations, reached, replay } = stay
  const recorded = replay.next()
  const isAtEnd = recorded === undefined || recorded.path === Replay.outcomePath
  if (mainExit !== null && finished === null && !isUndoing && isAtEnd) return Compensation.conclude(stay)
  if (recorded !== undefined) {
    if (mainExit === null || isUndoing || replay.undoneBy(recorded) !== undefined) replayed(stay, recorded)
    else if (!replay.defer(recorded.path)) Activation.changedFlow(stay, recorded.path, null)
    return Effect.void
  }
  if (finished !== null) return Recorder.end(stay, finished)
  if (reached.length > 0) {
    const missed = replay.missed()
    if (missed !== null) {
      Activation.changedFlow(stay, missed, reached.find(({ entry }) => entry.begun === 0) ?? null)
      return Effect.void
    }
    stay.reached = []
    return Effect.forEach(reached, (operation) => Operations.takeUp(stay, operation), { discard: true })
  }
  return continued !== null && operations.size === 0 ? Recorder.nextChapter(stay, continued.input) : null
}

/** Waits for the next event; returns true when the execution has been idle for so long that it can be evicted. */
const rest = Effect.fnUntraced(function* (stay: Activation.Stay, idleSince: number) {
  const { changed, host, launched, now, timers } = stay
  const dueAt = timers.first()?.due ?? Infinity
  // A timer of the runtime would take a millisecond.
  if (dueAt <= now) return false
  const parkAt = host.durable && launched === 0 ? idleSince + (host.isCrowded() ? 0 : parkAfterMillis) : Infinity
  const until = Math.min(dueAt, parkAt, now + longestWaitMillis)
  const woken = yield* Wall.openBefore(changed, until, host.now, now)
  return !woken && until === parkAt && dueAt > parkAt
})

/** Whether steps and waits may begin. */
const isOpen = ({ closing, halted }: Activation.Stay) => halted === null && closing === "no"

const loop = Effect.fnUntraced(function* (stay: Activation.Stay): Effect.fn.Return<Outcome, OwnershipLost> {
  const { branches, changed, host, operations, publish, ready } = stay
  let idleSince = stay.now
  while (true) {
    changed.closeUnsafe()
    stay.now = yield* host.now
    if (stay.aborted) {
      yield* Operations.abort(stay)
      yield* Recorder.release(stay, { wakeAt: stay.now })
      return { _tag: "Parked" }
    }
    if (!branches.isAtRest()) {
      const outside = Outside.look(stay)
      const outcome = outside === null ? undefined : yield* outside
      if (outcome !== undefined) return outcome
      yield* changed.await
      continue
    }
    if (stay.outside !== null) yield* Outside.over(stay)
    const cutOff = stay.cutOff
    stay.cutOff = []
    for (const event of cutOff) yield* publish(event)
    if (Compensation.mayAbandon(stay)) {
      Compensation.abandon(stay)
      continue
    }
    const further = isOpen(stay) ? advance(stay) : null
    if (further !== null) {
      const outcome = yield* further
      if (outcome !== undefined) return outcome
      continue
    }
    if (stay.hasMail) {
      yield* Mail.read(stay)
      // A cancel counts even if the execution halts now.
      continue
    }
    const event = isOpen(stay) ? Mail.next(stay) : (ready.shift() ?? null)
    if (event !== null) {
      idleSince = stay.now
      yield* event()
      continue
    }
    if (!isOpen(stay)) {
      if (stay.launched === 0) return yield* Recorder.leave(stay, stay.halted)
      yield* changed.await
      continue
    }
    if (host.onEdge !== undefined) {
      host.onEdge([...operations.keys()])
      return { _tag: "Parked" }
    }
    if (!(yield* Recorder.flushToBegin(stay))) continue
    const begun = stay.begunWaits
    stay.begunWaits = []
    for (const recorded of begun) yield* recorded
    if (stay.toLaunch.length > 0) {
      Operations.launchAll(stay)
      continue
    }
    if (yield* rest(stay, idleSince)) {
      yield* Recorder.release(stay)
      return { _tag: "Parked" }
    }
  }
})

/** Runs an execution until it ends or is evicted from memory. */
export const run = Effect.fnUntraced(function* (options: Options) {
  const { body, execution, history, host, onSession } = options
  const { flow, id, version } = execution
  const branches: Branches.Branches = Branches.make({
    context: body.context,
    interpreterOf: (branch) => Calls.interpreterOf(branch, services),
    onRest: () => Activation.wake(stay),
    onDefect: (_branch, cause) => Activation.haltBody(stay, cause),
    undoWithin: (losers, done) => Compensation.undoWithin(stay, losers, done)
  })
  const stay: Activation.Stay = Activation.make(options, branches, yield* host.now, yield* Clock.Clock)
  const services = servicesOf(stay)
  stay.main = branches.start(
    null,
    "",
    (position) => at(position)(body.run),
    (exit) => {
      // The fiber runs the body, so its exit has the types of the body.
      stay.mainExit = exit as Exit.Exit<Schema.Json, unknown>
    }
  )
  Mail.sortIn(stay)
  onSession(sessionOf(stay))
  if (history.entries.length === 0) {
    yield* stay.publish((at) => ({ _tag: "FlowStarted", executionId: id, flow, at, version }))
  }
  // Parked fibers are dropped, not interrupted: no code of the body runs because an execution is evicted.
  return yield* loop(stay).pipe(
    Effect.onExit((exit) =>
      Effect.andThen(Exit.isSuccess(exit) ? Effect.void : Operations.abort(stay), Outside.over(stay))
    )
  )
})
