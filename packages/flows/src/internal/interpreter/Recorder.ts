/**
 * The writes of an execution: new entries between two steps, the release of the claim, the end, the next chapter.
 */
import { defined } from "@signalbox/transport/Defined"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Failure } from "../../FlowEvents.ts"
import { detailOf, failureOf } from "../model/Failure.ts"
import { Children } from "../body/ChildExecutions.ts"
import { haltedBy } from "./Halts.ts"
import type { Outcome } from "./Contract.ts"
import type { OwnershipLost, Write } from "../model/Execution.ts"
import { type Halted, isReplay, type Stay, unset } from "./Activation.ts"

interface Options extends Pick<Write, "begins" | "newChapter" | "suspends"> {
  readonly force?: boolean
}

/** Writes all pending changes, if there are any, or if it is forced. Returns false when a command must be read before. */
export const flush = (
  stay: Stay,
  more: Write["execution"] = {},
  { begins = false, force = false, newChapter = false, suspends = [] }: Options = {}
): Effect.Effect<boolean, OwnershipLost> =>
  Effect.suspend(() => {
    const { dirty, dirtyUndos, launched, seen, settled, taken, timers, toLaunch, written } = stay
    const isRunning = launched + toLaunch.length > 0 || stay.outside?.isShown === true
    if (!stay.isUndoing) stay.state = isRunning ? "running" : "waiting"
    const { state } = stay
    const wakeAt = timers.first()?.due ?? null
    const row: Write["execution"] = {
      ...defined({
        state: state === written.state ? undefined : state,
        wakeAt: wakeAt === written.wakeAt ? undefined : wakeAt
      }),
      ...more
    }
    const isWorth = dirty.size + dirtyUndos.size + taken.length > 0 || Object.keys(row).length > 0
    if (!isWorth && !newChapter && !force) return Effect.succeed(true)
    const write: Write = {
      execution: row,
      entries: [...dirty.values()],
      undos: [...dirtyUndos.values()].map(({ failure, path, position, redo, state }) => ({
        path,
        redo,
        state,
        position,
        failure
      })),
      taken,
      seen,
      ...defined({
        settled: settled.length === 0 ? undefined : settled,
        begins: begins || undefined,
        suspends: suspends.length === 0 ? undefined : suspends,
        newChapter: newChapter || undefined
      })
    }
    const [entries, undos] = [[...dirty], [...dirtyUndos]]
    dirty.clear()
    dirtyUndos.clear()
    stay.taken = []
    stay.settled = []
    stay.written = { state, wakeAt }
    return Effect.tap(stay.host.write(write), (isWritten) =>
      Effect.sync(() => {
        if (isWritten) return
        for (const [key, entry] of entries) dirty.set(key, entry)
        for (const [path, undo] of undos) dirtyUndos.set(path, undo)
        stay.taken = taken
        stay.settled = settled
        stay.written = written
        stay.hasMail = true
      })
    )
  })

/**
 * Writes all pending changes before steps begin. Returns false when a command has arrived before: none may begin until it is read. An
 * interrupted attempt that runs again needs a write too, although nothing else has changed.
 */
export const flushToBegin = (stay: Stay) =>
  flush(stay, {}, { begins: stay.toLaunch.length > 0, force: stay.toLaunch.length > 0 })

/** Releases the claim. */
export const release = (stay: Stay, more: Write["execution"] = {}, options: Options = {}) =>
  flush(stay, { owner: null, ...more }, options)

/** Evicts the execution from memory before its end. */
export const leave = Effect.fnUntraced(function* (
  stay: Stay,
  why: Halted | null
): Effect.fn.Return<Outcome, OwnershipLost> {
  const { execution, host, now, publish } = stay
  if (isReplay(host) && why !== null) return { _tag: "Halted", ...why }
  // What was to begin begins at the next stay: it would be recorded as running, and as cut off when that is late.
  for (const operation of stay.toLaunch) unset(stay, operation)
  if (why === null) {
    const suspended = stay.closing === "suspend"
    if (suspended) yield* release(stay, { state: "suspended", wakeAt: null }, { suspends: stay.suspends })
    else yield* release(stay, { wakeAt: now })
    return suspended ? { _tag: "Suspended" } : { _tag: "Parked" }
  }
  // If another build may be able to run it, the engine decides.
  if (why.mine || !host.durable) {
    const { flow, id } = execution
    const by = { host: host.name, process: host.process }
    yield* release(stay, { state: "halted", wakeAt: null, failure: haltedBy(why, by) })
    yield* publish((at) => ({ _tag: "FlowFailed", executionId: id, flow, at, failure: failureOf(why.cause) }))
  }
  return { _tag: "Halted", ...why }
})

/** Ends the execution. */
export const end = Effect.fnUntraced(function* (
  stay: Stay,
  outcome: Outcome
): Effect.fn.Return<Outcome, OwnershipLost> {
  const { body, execution, host, now, publish } = stay
  const { flow, id } = execution
  if (isReplay(host)) return outcome
  // Before the end is recorded, so that a process that repeats the end also cancels them.
  if (stay.mayHaveChildren) yield* Context.get(body.context, Children).endAll(id)
  const over = { owner: null, wakeAt: null, endedAt: now } as const
  switch (outcome._tag) {
    case "Completed": {
      const { result } = outcome
      yield* flush(stay, { ...over, state: "completed", result, failure: null })
      yield* publish((at) => ({ _tag: "FlowCompleted", executionId: id, flow, at, result }))
      break
    }
    case "Failed": {
      const { cause, error } = outcome
      yield* flush(stay, { ...over, state: "failed", error, failure: detailOf(cause) })
      yield* publish((at) => ({ _tag: "FlowFailed", executionId: id, flow, at, failure: failureOf(cause) }))
      break
    }
    default: {
      const failure: Failure = { kind: "interrupted", tag: null, message: host.durable ? "cancelled" : "interrupted" }
      yield* flush(stay, { ...over, state: "cancelled", failure })
      yield* publish((at) => ({ _tag: "FlowFailed", executionId: id, flow, at, failure }))
    }
  }
  return outcome
})

/** Restarts the execution with another input and an empty journal. */
export const nextChapter = Effect.fnUntraced(function* (
  stay: Stay,
  input: Schema.Json
): Effect.fn.Return<Outcome, OwnershipLost> {
  if (isReplay(stay.host)) return { _tag: "Continued", input }
  // Messages that were not received belong to the next chapter.
  const { open, received } = stay.mailbox.split()
  const first = [...open, ...stay.mail.map(({ seq }) => seq)].reduce(
    (least, seq) => Math.min(least, seq),
    stay.seen + 1
  )
  stay.taken.push(...received.filter((seq) => seq >= first))
  stay.seen = first - 1
  yield* flush(stay, { input, chapter: stay.execution.chapter + 1 }, { newChapter: true })
  return { _tag: "Continued", input }
})
