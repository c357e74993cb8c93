/**
 * A process that runs executions: those that were submitted to it, and those that it claims when they are due.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { hostname } from "node:os"
import * as Pacing from "../body/Pacing.ts"
import { Journal } from "../journal/Journal.ts"
import { versionName } from "../model/Execution.ts"
import { NewId } from "../model/Ids.ts"
import * as Restless from "../model/Restless.ts"
import { Ownership } from "../ownership/Ownership.ts"
import * as Accepting from "./Accepting.ts"
import * as Activations from "./Activations.ts"
import * as ChildResults from "./ChildResults.ts"
import * as ClaimLoop from "./ClaimLoop.ts"
import * as IncompatibleVersions from "./IncompatibleVersions.ts"
import * as Metrics from "./Metrics.ts"
import * as Queues from "./Queues.ts"
import * as RegisteredFlows from "./RegisteredFlows.ts"
import * as Submission from "./Submission.ts"
import * as Waiters from "./Waiters.ts"
import * as Watchers from "./Watchers.ts"

export interface Settings {
  /** The largest number of executions in memory, without parked ones. */
  readonly concurrency: number
  /** Whether values are encrypted; default false. */
  readonly encrypts?: boolean | undefined
}

export const make = Effect.fnUntraced(function* ({ concurrency, encrypts = false }: Settings) {
  const journal = yield* Journal
  const ownership = yield* Ownership
  const newId = yield* NewId
  const scope = yield* Effect.scope

  // Each gets those above it; loops get the rest when they are started.
  const metrics = yield* Metrics.make
  const flows = RegisteredFlows.make()
  const watchers = Watchers.make()
  const queues = Queues.make(journal)
  const results = ChildResults.make(journal)
  const claims = ClaimLoop.make({ journal, ownership, metrics, flows, queues })
  const refusals = IncompatibleVersions.make(journal, claims.wake)
  const waiters = Waiters.make(journal, ownership, refusals)
  const activations = yield* Activations.make({
    process: {
      name: hostname(),
      journal,
      ownership,
      flows,
      metrics,
      watchers,
      refusals,
      results,
      gates: Pacing.make(),
      restless: Restless.make(),
      isCrowded: claims.isCrowded
    },
    concurrency,
    claims,
    waiters
  })
  const submissions = Submission.make({
    newId,
    journal,
    ownership,
    metrics,
    flows,
    watchers,
    queues,
    claims,
    activations,
    scope
  })

  const announce = Effect.suspend(() => ownership.announce(flows.versions()))

  const poke = (id: string) =>
    Effect.sync(() => {
      watchers.notify(id)
      // An execution in memory, also one that is just being evicted, reads it there, so none is claimed for it.
      if (activations.poke(id)) return
      if (queues.changed()) claims.wake()
      else claims.wakeFor(id)
      waiters.notify(id, null)
    })

  /** Decides again on commands that no owner will read. */
  const settle = Effect.gen(function* () {
    for (const id of yield* journal.unsettled) {
      const now = yield* journal.now
      yield* journal.change(id, (locked) => Effect.succeed(Accepting.again(locked, now)))
      yield* poke(id)
    }
  })

  /** Called when executions of other processes may have been released or have ended without a notification. */
  const missed = () => {
    queues.changed()
    claims.wake()
    results.missed()
  }

  yield* announce
  // If the database is unavailable, the claims end with the lease.
  yield* Effect.addFinalizer(() => Activations.briefly(ownership.leave))
  yield* activations.open
  yield* Effect.forkIn(claims.run(activations), scope)
  yield* Effect.forkIn(results.run(poke), scope)
  yield* Effect.forkIn(
    ownership.keep({
      flows: flows.versions,
      poke: activations.poke,
      drop: Effect.sync(() => {
        metrics.lostLease()
        activations.abortAll()
      }),
      freed: missed,
      wake: claims.wake,
      settle,
      giveBack: activations.release
    }),
    scope
  )
  yield* Effect.forkIn(
    journal.changes((process, id, hasEnded) =>
      Effect.sync(() => {
        watchers.notify(id)
        if (process !== null) {
          if (process === ownership.self() && id !== null) activations.poke(id)
          return
        }
        if (id === null) {
          missed()
          return waiters.notifyAll()
        }
        // Ends of its own executions need no notification.
        if (ownership.isShared && !activations.has(id) && queues.changed()) claims.wake()
        if (!hasEnded) claims.wakeFor(id)
        if (!activations.isOver(id)) waiters.notify(id, null)
      })
    ),
    scope
  )

  return {
    journal,
    metrics,
    registered: flows,
    /** Runs executions of this flow while the scope is open. */
    register: Effect.fnUntraced(function* (flow: RegisteredFlows.Registered) {
      flows.add(flow)
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          if (!flows.remove(flow)) return Effect.void
          queues.forget(flow)
          // Other processes rely on the registered versions.
          return Effect.flatMap(activations.close(versionName(flow)), (isDone) =>
            isDone ? Effect.asVoid(Activations.briefly(announce)) : Effect.void
          )
        })
      )
      yield* announce
      yield* Effect.forkScoped(refusals.reopenAll(flow))
      if (flow.drain !== true) yield* queues.register(flow, flow.limits)
      claims.wake()
    }),
    /** Creates an execution, or joins the one with its key; runs it immediately if it fits in memory. */
    submit: submissions.submit,
    isRefused: submissions.isRefused,
    submitMany: submissions.submitMany,
    debounce: submissions.debounce,
    /** Waits until an execution has ended or is halted. */
    settled: (id: string) => waiters.settled(id, activations.has),
    newId,
    /** Called when this process has sent a message to an execution, or changed it. */
    poke,
    /** Called when a command of this process has ended an execution: interrupts it, and wakes those that wait for it. */
    drop: (id: string) =>
      Effect.sync(() => {
        activations.abort(id)
        results.ended(id)
        watchers.notify(id)
      }),
    /**
     * Calls a function with the id of each execution that changes, while the scope is open; null: any may have. Of executions that
     * other processes run, only their start, their end and what is sent to them.
     */
    watch: watchers.watch,
    awaited: results.awaited,
    wakeWaiting: results.ended,
    isLive: activations.has,
    /** Whether other processes may use the same storage. */
    isShared: ownership.isShared,
    /** Whether values are encrypted, so that management shows them only to who may see them. */
    encrypts
  }
})

export type EngineParts = Effect.Success<ReturnType<typeof make>>

/** The engine of this program, only for this package. */
export class Engine extends Context.Service<Engine, EngineParts>()("@signalbox/flows/Engine") {}
