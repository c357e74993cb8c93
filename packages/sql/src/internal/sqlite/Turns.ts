/**
 * Group commit. Each writer takes its turn on the one connection, as a savepoint of a transaction that stays open until
 * no other writer is waiting; its write is confirmed when the commit is on the disk. Concurrent writers thus wait for
 * the disk once.
 *
 * The event loop does not wait for the disk: SQLite commits without syncing the log, and `sync` does that. Until it is
 * done, reads do not see the commit, and the next commit waits, while its writers already write.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { ConnectionError, SqlError } from "effect/sql/SqlError"

export const savepoint = "turn"

export interface Options {
  /** Runs a statement without result rows. */
  readonly run: (sql: string) => Effect.Effect<void, SqlError>
  readonly isTransaction: () => boolean
  /** Whether turns share a commit; otherwise each has a separate one. */
  readonly shared: boolean
  /** From here to `synced`, reads see only earlier commits. */
  readonly beforeCommit: Effect.Effect<void, SqlError>
  /** Resolves when all commits are on the disk. */
  readonly sync: Effect.Effect<void, SqlError>
  /** Called when a commit is on the disk, or has failed. */
  readonly synced: () => void
  /** Why SQLite rolled the open transaction back by itself, as it does when the disk is full. */
  readonly whyLost: () => SqlError
}

const notStored = new SqlError({
  reason: new ConnectionError({
    message: "the disk failed to store a commit; nothing more is written until the service is restarted",
    operation: "commit",
    cause: new Error("the sync of the write-ahead log failed")
  })
})

/** Writes are committed once all events of the same turn of the event loop are handled. */
const afterOthers = Effect.callback<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

export const make = Effect.fnUntraced(function* ({
  beforeCommit,
  isTransaction,
  run,
  shared,
  sync,
  synced,
  whyLost
}: Options) {
  const scope = yield* Scope.Scope
  const turn = yield* Semaphore.make(1)
  /** Completed when the open transaction is committed, or lost. */
  let batch: Deferred.Deferred<void, SqlError> | null = null

  /** Why nothing can be written any more: after a failed sync the content of the disk is unknown. */
  let broken: SqlError | null = null

  /** One commit at a time waits for the disk. Acquired before the turn. */
  const flushing = yield* Semaphore.make(1)

  /** For the holder of the turn. */
  const commitBatch = Effect.suspend(() => {
    const settled = batch
    batch = null
    if (settled === null) return Effect.succeed(null)
    const rollback = Effect.suspend(() => (isTransaction() ? Effect.ignore(run("ROLLBACK")) : Effect.void))
    // Whatever fails here, everyone who waits for the commit gets a result.
    return Effect.suspend(() =>
      isTransaction() ? Effect.andThen(beforeCommit, run("COMMIT")) : Effect.fail(whyLost())
    ).pipe(
      Effect.onError(() => rollback),
      Effect.exit,
      Effect.map((exit) => ({ settled, exit }))
    )
  })

  /** For the holder of `flushing`. */
  const storeBatch = Effect.fnUntraced(function* (committed: Effect.Success<typeof commitBatch>) {
    if (committed === null) return
    const { exit, settled } = committed
    const stored = Exit.isFailure(exit) ? exit : yield* Effect.exit(sync)
    if (Exit.isSuccess(exit) && Exit.isFailure(stored)) broken = notStored
    synced()
    yield* Deferred.done(settled, stored)
  })

  /**
   * Commits, lets the next writers start, and waits for the disk. Uninterruptible from the commit on, so that a commit
   * is always stored.
   */
  const flush = flushing.withPermit(
    Effect.uninterruptibleMask((restore) =>
      restore(turn.take(1)).pipe(
        Effect.andThen(Effect.ensuring(commitBatch, turn.release(1))),
        Effect.flatMap(storeBatch)
      )
    )
  )

  const commitSoon = Effect.andThen(afterOthers, flush).pipe(Effect.forkIn(scope))

  /** For the holder of the turn and of `flushing`, or in memory, where no disk is waited for. */
  const commitNow = Effect.flatMap(commitBatch, storeBatch)

  /** Opens the transaction when none is open; the holder of the turn then belongs to it. */
  const join = Effect.suspend(() => {
    if (broken !== null) return Effect.fail(broken)
    if (batch !== null && isTransaction()) return Effect.succeed(batch)
    // An error such as a full disk ends the transaction of all writers.
    const gone = batch === null ? Effect.void : Deferred.fail(batch, whyLost())
    const opened = Deferred.makeUnsafe<void, SqlError>()
    batch = null
    return gone.pipe(
      // Left open by a failed rollback.
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

  /** No writer may wait for a commit that will never happen. */
  yield* Effect.addFinalizer(() => flush)

  const finished = (joined: Deferred.Deferred<void, SqlError>) =>
    (shared ? Effect.void : commitNow).pipe(Effect.andThen(turn.release(1)), Effect.andThen(Deferred.await(joined)))

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
          // Releases the savepoint after a rollback to it, if it was created.
          const forget = isTransaction() ? Effect.ignore(run(`RELEASE ${savepoint}`)) : Effect.void
          return forget.pipe(Effect.andThen(shared ? Effect.void : commitNow), Effect.andThen(turn.release(1)))
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
    /** Runs one statement as a transaction. */
    once: <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(turn.take(1)), () =>
          Effect.matchCauseEffect(join, {
            onFailure: (cause) => Effect.andThen(turn.release(1), Effect.failCause(cause)),
            onSuccess: (joined) =>
              Effect.flatMap(Effect.exit(statement), (exit) =>
                Effect.andThen(Effect.exit(finished(joined)), (committed) =>
                  // A failed statement changed nothing, and its error says more than that of the commit.
                  Exit.isFailure(exit) || Exit.isSuccess(committed) ? exit : Effect.failCause(committed.cause)
                )
              )
          })
        )
      ),
    /** Runs an effect between turns, so that it never sees part of a transaction. */
    between: turn.withPermit,
    /** Runs an effect while everything written is on the disk, and no transaction writes. */
    exclusively: <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      flushing.withPermit(
        Effect.uninterruptibleMask((restore) =>
          restore(turn.take(1)).pipe(
            Effect.andThen(commitNow.pipe(Effect.andThen(restore(effect)), Effect.ensuring(turn.release(1))))
          )
        )
      )
  }
})
