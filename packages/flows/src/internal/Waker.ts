/**
 * Who wakes executions that await the end of others.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { executionIn, executionPrefix, subjectOf } from "./Awaited.ts"
import type { Awaiting, Journal } from "./Journal.ts"

/** Executions that are asked for together. */
const atATime = 500
/** Whoever awaits in another process is told so much later: most executions are awaited by none, and are asked for together. */
const gatherMillis = 50
const mostExpected = 10_000

/**
 * Wakes executions that await others. The process that ends one does it; what it did not get to is found when this process
 * begins, and whenever changes may have been missed.
 */
export const makeWaker = (journal: Journal["Service"], poke: (id: string) => Effect.Effect<void>) => {
  const changed = Latch.makeUnsafe()
  const hurried = Latch.makeUnsafe()
  const over = new Set<string>()
  /** Known to be awaited: some, not all of them. */
  const expected = new Set<string>()
  let mayHaveMissed = false

  const complete = ({ execution, path }: Awaiting) =>
    Effect.andThen(journal.send(execution, { kind: "done", name: path, id: "", value: null }), poke(execution))
  const wake = (ids: Iterable<string>) =>
    Effect.forEach(
      Arr.chunksOf(ids, atATime),
      (some) => Effect.flatMap(journal.awaitingAny(some.map(subjectOf)), (waits) => Effect.forEach(waits, complete)),
      { discard: true }
    )
  const expect = (id: string) => {
    if (expected.size >= mostExpected) expected.clear()
    expected.add(id)
  }
  const sweep = Effect.gen(function* () {
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
    /** An execution of this process awaits this one. */
    awaited: expect,
    /** An execution has ended. */
    ended: (id: string) => {
      over.add(id)
      if (expected.delete(id)) hurry()
      else changed.openUnsafe()
    },
    /** Others may have ended, and nobody was told. */
    missed: () => {
      mayHaveMissed = true
      hurry()
    },
    loop: Effect.gen(function* () {
      yield* changed.await
      yield* Effect.timeoutOption(hurried.await, gatherMillis)
      changed.closeUnsafe()
      hurried.closeUnsafe()
      const ids = [...over]
      over.clear()
      yield* wake(ids)
      if (!mayHaveMissed) return
      mayHaveMissed = false
      yield* sweep
    }).pipe(
      // It must go on, whatever happens to one look.
      Effect.catchDefect((defect) => Effect.logWarning("executions that await others could not be woken", defect)),
      Effect.forever
    )
  }
}
