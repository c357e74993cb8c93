/**
 * Group commit. Whoever writes takes its turn on the one connection as a savepoint of a transaction that stays open until
 * nobody else has come, and is answered after its commit: writers that come together wait for the disk once.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"

export const savepoint = "turn"

export interface Options {
  /** Runs a statement that gives no rows. */
  readonly run: (sql: string) => Effect.Effect<void, SqlError>
  readonly isTransaction: () => boolean
  /** Whether turns share a commit; each has its own otherwise. */
  readonly shared: boolean
  /** Ends what reads of the state before, which would also keep the log from being written back. */
  readonly beforeCommit: () => void
  /** Why SQLite rolled the open transaction back by itself, as it does when the disk is full. */
  readonly whyLost: () => SqlError
}

/** What has been written since the last event was handled is committed once all that came with it are handled too. */
const afterOthers = Effect.callback<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

export const make = Effect.fnUntraced(function* ({ beforeCommit, isTransaction, run, shared, whyLost }: Options) {
  const scope = yield* Scope.Scope
  const turn = yield* Semaphore.make(1)
  /** Done when the transaction that is open is committed, or lost. */
  let batch: Deferred.Deferred<void, SqlError> | null = null

  const commitBatch = Effect.suspend(() => {
    const settled = batch
    batch = null
    if (settled === null) return Effect.void
    const rollback = Effect.suspend(() => (isTransaction() ? Effect.ignore(run("ROLLBACK")) : Effect.void))
    // Whatever fails here, everyone who waits for the commit gets an answer.
    return Effect.suspend(() => {
      if (!isTransaction()) return Effect.fail(whyLost())
      beforeCommit()
      return run("COMMIT")
    }).pipe(
      Effect.onError(() => rollback),
      Effect.exit,
      Effect.flatMap((exit) => Deferred.done(settled, exit)),
      Effect.asVoid
    )
  })

  const commitSoon = Effect.andThen(afterOthers, turn.withPermit(commitBatch)).pipe(Effect.forkIn(scope))

  /** Opens the transaction when there is none; whoever holds the turn is a part of it then. */
  const join = Effect.suspend(() => {
    if (batch !== null && isTransaction()) return Effect.succeed(batch)
    // An error such as a full disk ends the transaction of all.
    const gone = batch === null ? Effect.void : Deferred.fail(batch, whyLost())
    const opened = Deferred.makeUnsafe<void, SqlError>()
    batch = null
    return gone.pipe(
      // One whose rollback failed.
      Effect.andThen(Effect.suspend(() => (isTransaction() ? run("ROLLBACK") : Effect.void))),
      Effect.andThen(run("BEGIN IMMEDIATE")),
      Effect.andThen(
        Effect.suspend(() => {
          batch = opened
          return shared ? commitSoon : Effect.void
        })
      ),
      Effect.as(opened)
    )
  })

  /** Nothing may wait for a commit that does not come. */
  yield* Effect.addFinalizer(() => turn.withPermit(commitBatch))

  const finished = (joined: Deferred.Deferred<void, SqlError>) =>
    (shared ? Effect.void : commitBatch).pipe(Effect.andThen(turn.release(1)), Effect.andThen(Deferred.await(joined)))

  let holder = { joined: Deferred.makeUnsafe<void, SqlError>(), left: true }

  return {
    /** Takes the turn for one transaction, which begins with the savepoint and ends with `commit` or the scope. */
    take: Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        yield* restore(turn.take(1))
        const mine = { joined: Deferred.makeUnsafe<void, SqlError>(), left: false }
        holder = mine
        yield* Effect.addFinalizer(() => {
          if (mine.left) return Effect.void
          // What was rolled back to the savepoint, or never came to it.
          const forget = isTransaction() ? Effect.ignore(run(`RELEASE ${savepoint}`)) : Effect.void
          return forget.pipe(Effect.andThen(shared ? Effect.void : commitBatch), Effect.andThen(turn.release(1)))
        })
        mine.joined = yield* join
      })
    ),
    commit: Effect.suspend(() => {
      const mine = holder
      return Effect.andThen(
        run(`RELEASE ${savepoint}`),
        Effect.suspend(() => {
          mine.left = true
          return finished(mine.joined)
        })
      )
    }),
    /** One statement that is a transaction by itself. */
    once: <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(turn.take(1)), () =>
          Effect.matchCauseEffect(join, {
            onFailure: (cause) => Effect.andThen(turn.release(1), Effect.failCause(cause)),
            onSuccess: (joined) =>
              Effect.flatMap(Effect.exit(statement), (exit) =>
                Effect.andThen(Effect.exit(finished(joined)), (committed) =>
                  // A statement that failed changed nothing, and its error says more than that of the commit.
                  Exit.isFailure(exit) || Exit.isSuccess(committed) ? exit : Effect.failCause(committed.cause)
                )
              )
          })
        )
      ),
    /** Outside every turn, for what must not see the half of one. */
    between: turn.withPermit
  }
})
