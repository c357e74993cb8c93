/**
 * Copies the write-ahead log into the database in a separate thread. SQLite would do it inside a commit, and block the
 * event loop until the disk has all of it.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Schema from "effect/Schema"
import { Worker } from "node:worker_threads"

export interface Options {
  readonly filename: string
  /** Milliseconds from a commit to the checkpoint. */
  readonly delay: number
  /**
   * From this many pages in the log on, writers wait for a checkpoint, after which the log restarts from its beginning.
   */
  readonly restartAfter: number
  /** Runs an effect while no transaction writes. */
  readonly exclusively: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/** Inline, because the name of a file would differ between sources and builds, and a bundler would leave it out. */
const source = `
  const { parentPort, workerData } = require("node:worker_threads")
  process.emitWarning = () => {} // Node 22 calls its SQLite experimental in each thread
  const { DatabaseSync } = require("node:sqlite")
  const db = new DatabaseSync(workerData, { timeout: 1000 })
  db.exec("PRAGMA wal_autocheckpoint = 0")
  parentPort.on("message", (mode) => {
    if (mode === "close") {
      db.close()
      parentPort.close()
      return
    }
    try {
      const { log, checkpointed } = db.prepare("PRAGMA wal_checkpoint(" + mode + ")").get()
      parentPort.postMessage({ log, checkpointed })
    } catch (error) {
      parentPort.postMessage({ error: String(error) })
    }
  })`

const Answer = Schema.Union([
  Schema.Struct({ log: Schema.Finite, checkpointed: Schema.Finite }),
  Schema.Struct({ error: Schema.String })
])

class CheckpointFailed extends Schema.TaggedError<CheckpointFailed>()("CheckpointFailed", { message: Schema.String }) {}

export const make = Effect.fnUntraced(function* ({ delay, exclusively, filename, restartAfter }: Options) {
  const written = yield* Latch.make(false)
  let worker: Worker | null = null

  yield* Effect.addFinalizer(() =>
    Effect.callback<void>((resume) => {
      if (worker === null) return resume(Effect.void)
      // A program with nothing else to do would exit before the database is closed.
      worker.ref()
      worker.once("exit", () => resume(Effect.void))
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage("close")
    })
  )

  /** The thread is started on first use: many databases are closed within milliseconds. */
  const running = () => {
    if (worker !== null) return worker
    const started = new Worker(source, { eval: true, workerData: filename })
    // The thread does not keep the process alive.
    started.unref()
    started.once("exit", () => {
      worker = null
    })
    return (worker = started)
  }

  const checkpoint = (mode: "PASSIVE" | "RESTART") =>
    Effect.callback<unknown, CheckpointFailed>((resume) => {
      const thread = running()
      const forget = () => thread.off("error", failed).off("exit", failed).off("message", answered)
      const failed = (error: unknown) => {
        forget()
        resume(Effect.fail(new CheckpointFailed({ message: `the thread of checkpoints ended: ${String(error)}` })))
      }
      const answered = (answer: unknown) => {
        forget()
        resume(Effect.succeed(answer))
      }
      thread.once("error", failed).once("exit", failed).once("message", answered)
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      thread.postMessage(mode)
      return Effect.sync(forget)
    }).pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Answer)),
      Effect.flatMap((answer) =>
        "error" in answer ? Effect.fail(new CheckpointFailed({ message: answer.error })) : Effect.succeed(answer)
      )
    )

  // Real time, since this is about the disk; `Clock` may be virtual.
  const pause = Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), delay)
    timer.unref()
    return Effect.sync(() => clearTimeout(timer))
  })

  yield* Effect.gen(function* () {
    yield* written.await
    yield* pause
    yield* written.close
    const { checkpointed, log } = yield* checkpoint("PASSIVE")
    if (log > restartAfter) yield* exclusively(checkpoint("RESTART"))
    // Something was read or written concurrently.
    else if (checkpointed < log) yield* written.open
  }).pipe(
    Effect.catchCause((cause) => Effect.logWarning(`the write-ahead log of ${filename} was not copied`, cause)),
    Effect.forever,
    Effect.forkScoped
  )

  return {
    /** Must be called after each commit. */
    committed: () => written.openUnsafe()
  }
})
