/**
 * Group commit. Whoever writes takes its turn on the one connection as a savepoint of a transaction that stays open until
 * nobody else has come, and is answered after its commit is on the disk: writers that come together wait for it once.
 *
 * The disk is waited for outside of the event loop: SQLite commits without a sync of the log, and `sync` does it. Until it
 * is done, reads do not see the commit, the next one waits, and its writers already write.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { ConnectionError, SqlError } from "effect/sql/SqlError"

export const savepoint = "turn"

export interface Options {
  /** Runs a statement that gives no rows. */
  readonly run: (sql: string) => Effect.Effect<void, SqlError>
  readonly isTransaction: () => boolean
  /** Whether turns share a commit; each has its own otherwise. */
  readonly shared: boolean
  /** From here to `synced`, reads see what is committed before. */
  readonly beforeCommit: Effect.Effect<void, SqlError>
  /** Resolves when what is committed is on the disk. */
  readonly sync: Effect.Effect<void, SqlError>
  /** Called when a commit is on the disk, or has failed. */
  readonly synced: () => void
  /** Why SQLite rolled the open transaction back by itself, as it does when the disk is full. */
  readonly whyLost: () => SqlError
}

const notStored = new SqlError({
  reason: new ConnectionError({
    message: "the disk failed to store a commit; nothing is written until the service is started again",
    operation: "commit",
    cause: new Error("the sync of the write-ahead log failed")
  })
})

/** What has been written since the last event was handled is committed once all that came with it are handled too. */
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
  /** Done when the transaction that is open is committed, or lost. */
  let batch: Deferred.Deferred<void, SqlError> | null = null

  /** Why nothing can be written any more: after a failed sync it is unknown what the disk has. */
  let broken: SqlError | null = null

  /** One commit at a time is on its way to the disk. Taken before the turn. */
  const flushing = yield* Semaphore.make(1)

  /** For the one whose turn it is. */
  const commitBatch = Effect.suspend(() => {
    const settled = batch
    batch = null
    if (settled === null) return Effect.succeed(null)
    const rollback = Effect.suspend(() => (isTransaction() ? Effect.ignore(run("ROLLBACK")) : Effect.void))
    // Whatever fails here, everyone who waits for the commit gets an answer.
    return Effect.suspend(() =>
      isTransaction() ? Effect.andThen(beforeCommit, run("COMMIT")) : Effect.fail(whyLost())
    ).pipe(
      Effect.onError(() => rollback),
      Effect.exit,
      Effect.map((exit) => ({ settled, exit }))
    )
  })

  /** For the one that flushes. */
  const storeBatch = Effect.fnUntraced(function* (committed: Effect.Success<typeof commitBatch>) {
    if (committed === null) return
    const { exit, settled } = committed
    const stored = Exit.isFailure(exit) ? exit : yield* Effect.exit(sync)
    if (Exit.isSuccess(exit) && Exit.isFailure(stored)) broken = notStored
    synced()
    yield* Deferred.done(settled, stored)
  })

  /** Commits, lets the next ones write, and waits for the disk. What is committed is stored, also when it is interrupted. */
  const flush = flushing.withPermit(
    Effect.uninterruptibleMask((restore) =>
      restore(turn.take(1)).pipe(
        Effect.andThen(Effect.ensuring(commitBatch, turn.release(1))),
        Effect.flatMap(storeBatch)
      )
    )
  )

  const commitSoon = Effect.andThen(afterOthers, flush).pipe(Effect.forkIn(scope))

  /** For the one whose turn it is and that flushes, or in memory, where there is nothing to wait for. */
  const commitNow = Effect.flatMap(commitBatch, storeBatch)

  /** Opens the transaction when there is none; whoever holds the turn is a part of it then. */
  const join = Effect.suspend(() => {
    if (broken !== null) return Effect.fail(broken)
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
          // What was rolled back to the savepoint, or never came to it.
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
    between: turn.withPermit,
    /** While everything that was written is on the disk, and nothing more is written. */
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
