/**
 * Wakes executions that wait for the end of others.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { executionIn, executionPrefix, subjectOf } from "../model/Awaited.ts"
import type { Awaiting } from "../model/Execution.ts"
import type { Journal } from "../journal/Journal.ts"

/** The number of executions in one query. */
const atATime = 500
/** The delay of wakes across processes: most executions are awaited by none, so their queries are combined. */
const gatherMillis = 50
const mostExpected = 10_000

/** Returns a function that wakes those that wait for the executions with these ids. */
const makeWake = (journal: Journal["Service"], poke: (id: string) => Effect.Effect<void>) => {
  const complete = ({ execution, path }: Awaiting) =>
    Effect.andThen(journal.send(execution, { kind: "done", name: path, id: "", value: null }), poke(execution))
  return (ids: Iterable<string>) =>
    Effect.forEach(
      Arr.chunksOf(ids, atATime),
      (some) => Effect.flatMap(journal.awaitingAny(some.map(subjectOf)), (waits) => Effect.forEach(waits, complete)),
      { discard: true }
    )
}

/**
 * Wakes executions that wait for others. The process that ends one does it; wakes that it missed are found when this process starts,
 * and whenever notifications may have been lost.
 */
export const make = (journal: Journal["Service"]) => {
  const changed = Latch.makeUnsafe()
  const hurried = Latch.makeUnsafe()
  const over = new Set<string>()
  /** Executions known to be awaited; there may be others. */
  const expected = new Set<string>()
  let mayHaveMissed = false

  const expect = (id: string) => {
    if (expected.size >= mostExpected) expected.clear()
    expected.add(id)
  }
  const sweep = Effect.fnUntraced(function* (wake: ReturnType<typeof makeWake>) {
    const waits = yield* journal.awaiting(executionPrefix)
    const awaited = new Set(waits.flatMap(({ subject }) => executionIn(subject) ?? []))
    for (const some of Arr.chunksOf(awaited, atATime)) {
      const unended = yield* journal.unended(some)
      for (const id of unended) expect(id)
      yield* wake(some.filter((id) => !unended.has(id)))
    }
  })

  const hurry = () => {
    hurried.openUnsafe()
    changed.openUnsafe()
  }

  return {
    /** Called when an execution of this process waits for this one. */
    awaited: expect,
    /** Called when an execution has ended. */
    ended: (id: string) => {
      over.add(id)
      if (expected.delete(id)) hurry()
      else changed.openUnsafe()
    },
    /** Called when ends of other executions may not have been notified. */
    missed: () => {
      mayHaveMissed = true
      hurry()
    },
    /** Wakes executions until it is interrupted; `poke` is called after a message was sent to one. */
    run: (poke: (id: string) => Effect.Effect<void>) => {
      const wake = makeWake(journal, poke)
      return Effect.gen(function* () {
        yield* changed.await
        yield* Effect.timeoutOption(hurried.await, gatherMillis)
        changed.closeUnsafe()
        hurried.closeUnsafe()
        const ids = [...over]
        over.clear()
        yield* wake(ids)
        if (!mayHaveMissed) return
        mayHaveMissed = false
        yield* sweep(wake)
      }).pipe(
        // The loop must survive a failed pass.
        Effect.catchDefect((defect) => Effect.logWarning("executions that wait for others could not be woken", defect)),
        Effect.forever
      )
    }
  }
}

export type ChildResults = ReturnType<typeof make>
