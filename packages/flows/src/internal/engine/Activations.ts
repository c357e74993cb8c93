/**
 * The executions in the memory of this process: each is started once, and removed when it ends or is evicted.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { Session } from "../interpreter/Contract.ts"
import { ofEngine } from "../journal/Calling.ts"
import { type Execution, versionName } from "../model/Execution.ts"
import type { ClaimLoop } from "./ClaimLoop.ts"
import * as Host from "./Host.ts"
import { isOver, type Waiters } from "./Waiters.ts"

/** How long an ending process waits for its running steps. */
const graceMillis = 10_000
/** Of that, for the writes of executions none of whose steps runs any more: the database may be away. */
const writingMillis = 3_000
/** How long an ending process waits for the database otherwise. */
const leavingMillis = 1_000
const closingPollMillis = 100

interface Entry {
  readonly version: string
  /** The row, as this process last wrote it. */
  row: Execution
  session: Session | null
  /** Whether a message was sent before the session existed. */
  poked: boolean
  /** Whether it was released, maybe before the session existed. */
  leaving: boolean
  /** Whether an ending process no longer waits for it. */
  aborted: boolean
  readonly done: Deferred.Deferred<void>
}

interface Parts {
  readonly process: Host.Process
  /** The largest number of executions in memory, without parked ones. */
  readonly concurrency: number
  readonly waiters: Pick<Waiters, "notify">
  readonly claims: Pick<ClaimLoop, "left">
}

/** Runs a statement of an ending process, unless the database is away. */
export const briefly = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.timeoutOption(Effect.interruptible(effect), leavingMillis)

const release = (entry: Entry) => {
  entry.leaving = true
  entry.session?.close()
}

/** Lets running steps end, and releases executions. Returns false when that took too long, such as without the database. */
const releaseAll = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>) {
  if (entries.length === 0) return true
  for (const entry of entries) release(entry)
  // Finalizers are uninterruptible by default.
  const all = Effect.interruptible(Effect.forEach(entries, ({ done }) => Deferred.await(done), { discard: true }))
  let idleMillis = 0
  for (let millis = 0; millis < graceMillis && idleMillis < writingMillis; millis += closingPollMillis) {
    if (Option.isSome(yield* Effect.timeoutOption(all, closingPollMillis))) return true
    idleMillis = entries.some(({ session }) => session?.isBusy() === true) ? 0 : idleMillis + closingPollMillis
  }
  for (const entry of entries) {
    entry.aborted = true
    entry.session?.abort()
  }
  return Option.isSome(yield* Effect.timeoutOption(all, leavingMillis))
})

export const make = Effect.fnUntraced(function* ({ claims, concurrency, process, waiters }: Parts) {
  const { metrics, restless } = process
  // A separate scope, so that executions are released before they are interrupted.
  const sessions = yield* Scope.make("parallel")
  const live = new Map<string, Entry>()
  let isEnding = false

  const isOpen = () => !isEnding
  const has = (id: string) => live.has(id)
  const free = () => concurrency - live.size

  const remove = (entry: Entry) => {
    const { id } = entry.row
    const wasFull = free() <= 0
    // It may have been claimed again.
    if (live.get(id) === entry) live.delete(id)
    metrics.inMemory(live.size)
    Deferred.doneUnsafe(entry.done, Effect.void)
    // A halted one may have an unread message that reopens it, so its callers read it.
    waiters.notify(id, entry.row.state === "halted" ? null : entry.row)
    claims.left(entry.row, wasFull)
  }

  /** Runs a claimed execution until it ends or is evicted from memory. */
  const start = (execution: Execution, isNew: boolean): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { flow, id } = execution
      const entry: Entry = {
        version: versionName(execution),
        row: execution,
        session: null,
        poked: false,
        leaving: false,
        aborted: false,
        done: Deferred.makeUnsafe()
      }
      live.set(id, entry)
      metrics.inMemory(live.size)
      const run = Host.run(process, {
        execution,
        isNew,
        onWrite: (changed) => {
          entry.row = { ...entry.row, ...changed }
        },
        onSession: (session) => {
          entry.session = session
          if (entry.poked) session.poke()
          if (isEnding || entry.leaving) session.close()
        }
      }).pipe(
        // Another process has claimed it.
        Effect.catchTag("OwnershipLost", () => Effect.sync(() => metrics.lostExecution(flow))),
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.logError(`the execution ${id} of ${flow} could not be run`, cause)
        ),
        Effect.ensuring(Effect.sync(() => remove(entry)))
      )
      return Effect.asVoid(Effect.forkIn(ofEngine(run), sessions))
    })

  return {
    isOpen,
    has,
    free,
    start,
    /** Whether an execution that is created now would run immediately. */
    hasRoom: () => isOpen() && free() > 0,
    /** Whether an execution in memory has ended or is halted, so that it notifies its callers itself. */
    isOver: (id: string): boolean => {
      const entry = live.get(id)
      return entry !== undefined && isOver(entry.row)
    },
    /** Lets an execution in memory read its messages; returns whether there is one. */
    poke: (id: string): boolean => {
      const entry = live.get(id)
      if (entry === undefined) return false
      entry.poked = true
      entry.session?.poke()
      return true
    },
    /** Evicts idle executions, because others wait for their memory. */
    crowd: () => {
      for (const { session } of live.values()) session?.crowd()
    },
    /** Releases matching executions, when their running steps have ended. */
    release: (which: (id: string) => boolean) => {
      for (const [id, entry] of live) if (which(id)) release(entry)
    },
    /** Releases the executions of a version. Returns false when that took too long. */
    close: (version: string) =>
      Effect.suspend(() =>
        releaseAll([...live.values()].filter((entry) => !entry.aborted && entry.version === version))
      ),
    abort: (id: string) => live.get(id)?.session?.abort(),
    abortAll: () => {
      for (const { session } of live.values()) session?.abort()
    },
    /** Lets executions run until the scope closes, which releases them. */
    open: Effect.gen(function* () {
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          isEnding = true
          return Effect.andThen(
            releaseAll([...live.values()].filter(({ aborted }) => !aborted)),
            Scope.close(sessions, Exit.void)
          )
        })
      )
      // It serves executions that are being released, too.
      yield* Effect.forkIn(restless.loop, sessions)
    })
  }
})

export type Activations = Effect.Success<ReturnType<typeof make>>
