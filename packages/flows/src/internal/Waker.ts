/**
 * Who wakes executions that await the end of others.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { executionIn, executionPrefix, subjectOf } from "./Awaited.ts"
import { type Awaiting, hasEnded, type Journal } from "./Journal.ts"

/** So few are looked up one by one. */
const few = 3
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
  const subjectIn =
    (ids: ReadonlySet<string>) =>
    ({ subject }: Awaiting): boolean => {
      const id = executionIn(subject)
      return id !== null && ids.has(id)
    }

  const wake = Effect.fnUntraced(function* (ids: ReadonlySet<string>) {
    const prefixes = ids.size > few ? [executionPrefix] : [...ids].map(subjectOf)
    const waits = (yield* Effect.forEach(prefixes, journal.awaiting)).flat().filter(subjectIn(ids))
    yield* Effect.forEach(waits, complete, { discard: true })
  })
  const expect = (id: string) => {
    if (expected.size >= mostExpected) expected.clear()
    expected.add(id)
  }
  const sweep = Effect.gen(function* () {
    const awaited = new Set(
      (yield* journal.awaiting(executionPrefix)).flatMap(({ subject }) => executionIn(subject) ?? [])
    )
    const ended = new Set<string>()
    for (const id of awaited) {
      const execution = yield* journal.find(id)
      if (execution === null || hasEnded(execution.state)) ended.add(id)
      else expect(id)
    }
    if (ended.size > 0) yield* wake(ended)
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
      const ids = new Set(over)
      over.clear()
      if (ids.size > 0) yield* wake(ids)
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
