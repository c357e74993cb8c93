/**
 * The interpreter: it runs the body of one execution over its journal, and records what happens.
 *
 * Whenever the body is quiescent, one event is processed: the next recorded end, or else the next new event. When none is left, all
 * new entries are written together, and only then do the reached steps begin.
 *
 * This file has the loop. Its parts work on one value, the `Activation`: `Operations` has what branches are parked at,
 * `Starts` how it begins, `Attempts` the running steps, `Mail` incoming events, `Outside` bodies that do not come to rest,
 * `Compensation` undos, `Halting` halts, `Recorder` the writes.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Branches from "./Branches.ts"
import type { Services } from "./calls/Caller.ts"
import { interpreterOf } from "./calls/Calls.ts"
import * as Mail from "./Mail.ts"
import * as Operations from "./Operations.ts"
import * as Outside from "./Outside.ts"
import * as Activation from "./Activation.ts"
import * as Attempts from "./Attempts.ts"
import * as Compensation from "./Compensation.ts"
import * as Halting from "./Halting.ts"
import * as Recorder from "./Recorder.ts"
import * as Reports from "./Reports.ts"
import * as Starts from "./Starts.ts"
import * as Phase from "./state/Phase.ts"
import type { Entry, OwnershipLost } from "../model/Execution.ts"
import { at } from "../body/Position.ts"
import * as Replay from "../model/Replay.ts"
import * as Wall from "../model/Wall.ts"
import type { Options, Outcome, Session } from "./Contract.ts"

/** An execution that has been idle for so long is evicted from memory. */
export const parkAfterMillis = 5_000
const longestWaitMillis = 3_600_000

/** Returns the services that the branches of the body call. */
const servicesOf = (activation: Activation.Activation): Services => {
  const { body, branches, execution, history, host, mailbox, publish, replay, saying, undos } = activation
  const { chapter, id } = execution
  const isLive = () => !Activation.isBehind(activation)
  return {
    id,
    origin: chapter === 0 ? id : `${id}:${chapter}`,
    durable: host.durable,
    gates: host.gates,
    replays: Activation.isReplay(host),
    publish,
    isLive,
    recordedAt: replay.at,
    redoOf: (path) => history.redos.get(path) ?? 0,
    park: (branch, spec) => Operations.park(activation, branch, spec),
    branches,
    names: new Map(),
    isUndo: undos.isIn,
    register: (branch, path, undo) => Compensation.register(activation, branch, path, undo),
    continueAs: (input) => {
      activation.continued = { input }
    },
    says: body.says,
    isNew: () => saying.isNew(isLive()),
    set: (name, value) => saying.set(name, value, activation.now),
    append: (feed, value) => saying.append(feed, value, activation.now),
    messageId: mailbox.idOf,
    asked: saying.ask,
    answer: saying.answer
  }
}

const sessionOf = (activation: Activation.Activation): Session => ({
  poke: () => {
    activation.inbox.notify()
    Activation.wake(activation)
  },
  crowd: () => Activation.wake(activation),
  close: () => {
    activation.leaving.close()
    Activation.wake(activation)
  },
  isBusy: () => activation.operations.running() > 0 || !activation.branches.isAtRest(),
  abort: () => {
    activation.leaving.abort()
    Activation.wake(activation)
  },
  cancel: () => {
    activation.inbox.cancel(activation.now)
    Activation.wake(activation)
  }
})

/** Halts at a recorded step: the body has reached a new step instead, or one that is recorded in another order. */
const unreached = (activation: Activation.Activation, { path }: Entry) =>
  Halting.changedFlow(activation, path, activation.operations.first())

/** Delivers the next recorded end. */
const replayed = (activation: Activation.Activation, entry: Entry) => {
  const { operations, replay, saying, undos } = activation
  if (entry.path === Replay.cancelPath) {
    replay.advance()
    saying.passed(entry.ended ?? 0)
    return entry.value === Replay.abandonedValue
      ? Compensation.abandon(activation)
      : Compensation.cancelBody(activation, Replay.cancelledBy(entry.value))
  }
  if (entry.path === Replay.outcomePath) return unreached(activation, entry)
  const undone = replay.undoneBy(entry)
  if (undone !== undefined) {
    replay.advance()
    return undos.passed(undone)
  }
  const operation = operations.at(entry.path)
  if (operation === undefined && replay.defer(entry.path)) return
  if (operation === undefined) return unreached(activation, entry)
  replay.advance()
  Operations.deliver(activation, operation)
}

/** Advances the body by a recorded end, or by what it has reached. Returns null when there is neither. */
const advance = (activation: Activation.Activation): Effect.Effect<Outcome | void, OwnershipLost> | null => {
  const { continued, operations, phase, replay } = activation
  const recorded = replay.next()
  const isAtEnd = recorded === undefined || recorded.path === Replay.outcomePath
  if (phase._tag === "Ended" && isAtEnd) return Compensation.conclude(activation, phase)
  if (recorded !== undefined) {
    if (phase._tag !== "Ended" || replay.undoneBy(recorded) !== undefined) replayed(activation, recorded)
    else if (!replay.defer(recorded.path)) Halting.changedFlow(activation, recorded.path, null)
    return Effect.void
  }
  const outcome = Phase.outcomeOf(phase)
  if (outcome !== null) return Recorder.end(activation, outcome)
  if (operations.reached().length > 0) {
    const missed = replay.missed()
    if (missed !== null) {
      const unrecorded = operations.reached().find(({ entry }) => entry.begun === 0)
      Halting.changedFlow(activation, missed, unrecorded ?? null)
      return Effect.void
    }
    return Effect.forEach(operations.takeReached(), (operation) => Starts.takeUp(activation, operation), {
      discard: true
    })
  }
  return continued !== null && operations.isEmpty() ? Recorder.nextChapter(activation, continued.input) : null
}

/** Waits for the next event; returns true when the execution has been idle for so long that it can be evicted. */
const rest = Effect.fnUntraced(function* (activation: Activation.Activation, idleSince: number) {
  const { changed, host, now, operations } = activation
  const dueAt = Math.min(
    operations.timers.first()?.due ?? Infinity,
    Activation.deadlineOf(activation),
    Reports.dueAt(activation)
  )
  // A timer of the runtime would take a millisecond.
  if (dueAt <= now) return false
  const parkAt =
    host.durable && operations.running() === 0 ? idleSince + (host.isCrowded() ? 0 : parkAfterMillis) : Infinity
  const until = Math.min(dueAt, parkAt, now + longestWaitMillis)
  const woken = yield* Wall.openBefore(changed, until, host.now, now)
  return !woken && until === parkAt && dueAt > parkAt
})

const loop = Effect.fnUntraced(function* (activation: Activation.Activation): Effect.fn.Return<Outcome, OwnershipLost> {
  const { branches, changed, cutOff, host, inbox, leaving, operations, publish, ready } = activation
  let idleSince = activation.now
  while (true) {
    changed.closeUnsafe()
    activation.now = yield* host.now
    if (leaving.isAborted()) {
      yield* Attempts.abort(activation)
      yield* Recorder.release(activation, { wakeAt: activation.now })
      return { _tag: "Parked" }
    }
    if (!branches.isAtRest()) {
      const outside = Outside.look(activation)
      const outcome = outside === null ? undefined : yield* outside
      if (outcome !== undefined) return outcome
      yield* changed.await
      continue
    }
    if (activation.outside !== null) yield* Outside.over(activation)
    for (const event of cutOff.splice(0)) yield* publish(event)
    if (Compensation.mayAbandon(activation)) {
      Compensation.abandon(activation)
      continue
    }
    const further = Activation.isOpen(activation) ? advance(activation) : null
    if (further !== null) {
      const outcome = yield* further
      if (outcome !== undefined) return outcome
      continue
    }
    if (inbox.hasNews()) {
      yield* Mail.read(activation)
      // A cancel counts even if the execution halts now.
      continue
    }
    const event = Activation.isOpen(activation) ? Mail.next(activation) : (ready.shift() ?? null)
    if (event !== null) {
      idleSince = activation.now
      yield* event()
      continue
    }
    if (!Activation.isOpen(activation)) {
      if (operations.running() === 0) return yield* Recorder.leave(activation, activation.halted)
      // What is written of one that is halted depends on whether another build goes on with it.
      if (activation.halted !== null) yield* changed.await
      else if (Reports.take(activation)) yield* Recorder.flushReports(activation)
      else yield* Wall.openBefore(changed, Reports.dueAt(activation), host.now, activation.now)
      continue
    }
    if (host.onEdge !== undefined) {
      host.onEdge(operations.paths())
      return { _tag: "Parked" }
    }
    Reports.take(activation)
    if (!(yield* Recorder.flushToBegin(activation))) continue
    for (const recorded of operations.takeBegunWaits()) yield* recorded
    if (operations.toLaunch().length > 0) {
      Attempts.launchAll(activation)
      continue
    }
    if (yield* rest(activation, idleSince)) {
      yield* Recorder.release(activation)
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
    interpreterOf: (branch) => interpreterOf(branch, services),
    onRest: () => Activation.wake(activation),
    onDefect: (_branch, cause) => Halting.haltBody(activation, cause),
    undoWithin: (losers, done) => Compensation.undoWithin(activation, losers, done)
  })
  const activation: Activation.Activation = Activation.make(options, branches, yield* host.now, yield* Clock.Clock)
  const services = servicesOf(activation)
  activation.main = branches.start(
    null,
    "",
    (position) => at(position)(body.run),
    (exit) => {
      const { phase } = activation
      // The fiber runs the body, so its exit has the types of the body.
      if (phase._tag === "Running") activation.phase = Phase.end(phase, exit as Phase.Ended["exit"])
    }
  )
  Mail.sortIn(activation)
  onSession(sessionOf(activation))
  if (history.entries.length === 0) {
    yield* activation.publish((at) => ({ _tag: "FlowStarted", executionId: id, flow, at, version }))
  }
  // Parked fibers are dropped, not interrupted: no code of the body runs because an execution is evicted.
  return yield* loop(activation).pipe(
    Effect.onExit((exit) =>
      Effect.andThen(Exit.isSuccess(exit) ? Effect.void : Attempts.abort(activation), Outside.over(activation))
    )
  )
})
