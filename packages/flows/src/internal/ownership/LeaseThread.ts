/**
 * The thread that renews the lease of this process while its event loop stands still, as seen by the process. Without it the loop
 * renews a longer lease.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { Worker } from "node:worker_threads"
import type { Keeper } from "../model/Execution.ts"
import * as StepCode from "./StepCode.ts"
import * as Marks from "./thread/Marks.ts"
import { beatMillis, type Given, noticedMillis, type Report } from "./thread/Protocol.ts"

/** How long a process keeps its claims without a renewal. */
export const leaseMillis = 6_000
/** The same when only the event loop renews, which may be late. */
export const looseLeaseMillis = 30_000

export interface Options {
  /** The module of the thread; false: without one. */
  readonly module: () => URL | string | false
  readonly url: string
  readonly schema: string
  /** How long the event loop may stand still before the process loses its claims. */
  readonly stallLimitMillis: number
}

export interface LeaseThread {
  /** Returns the length of a lease that the event loop renews. */
  readonly leaseMillis: () => number
  /** Waits until the thread has ended, or could not start: the lease is then longer. */
  readonly ended: Effect.Effect<void>
  /** Renews the lease of this process from now on. */
  readonly follow: (process: string) => void
  /** Renews nothing from now on. */
  readonly rest: () => void
  readonly within: StepCode.StepCode["within"]
}

const seconds = (millis: number): string => `${Math.round(millis / 1_000)} s`
const advice = "let steps compute in a worker thread, or in pieces with Effect.yieldNow between them"

const duringOf = (keeper: Keeper): string => {
  switch (keeper._tag) {
    case "Step":
      return `, in the step ${keeper.step.path} of the execution ${keeper.step.execution}`
    case "Unknown":
      return ", in one of the steps that were running"
    case "Other":
      return ""
  }
}

const logOf = (report: Report): Effect.Effect<void> => {
  switch (report._tag) {
    case "Stood": {
      const { keeper, millis } = report
      const during = duringOf(keeper)
      return Effect.logWarning(
        `the event loop was blocked for ${seconds(millis)}${during}: everything else in this process waited; ${advice}`
      )
    }
    case "Unreachable":
      return Effect.logWarning(
        `the thread that renews the lease of the flows does not reach the database (${report.message}): until it does, a step that ` +
          `computes for longer than ${seconds(leaseMillis)} loses its execution`
      )
    case "Ended":
      return Effect.logWarning(
        `the thread that renews the lease of the flows does not run (${report.message}): the event loop renews it, and a step that ` +
          `computes for longer than ${seconds(looseLeaseMillis)} loses its execution; in a bundle, set \`leaseThread\` to ` +
          "the file of @signalbox/flows/LeaseThread"
      )
  }
}

const make = Effect.fnUntraced(function* ({ module, schema, stallLimitMillis, url }: Options) {
  const reports = yield* Queue.unbounded<Report>()
  const memory = Marks.makeMemory()
  const marks = Marks.makeWriter(memory)
  const code = StepCode.make(marks)
  let worker: Worker | null = null

  const hasEnded = Deferred.makeUnsafe<void>()
  const ended = (thread: Worker | null, error: unknown) => {
    // After its error a thread exits; when the process ends, that is as it should be.
    if (worker !== thread) return
    worker = null
    const message = error instanceof Error ? error.message : String(error)
    Deferred.doneUnsafe(hasEnded, Effect.void)
    Queue.offerUnsafe(reports, { _tag: "Ended", message })
  }

  const start = (file: URL | string) => {
    const given: Given = { url, schema, memory, leaseMillis, stallLimitMillis }
    const started = new Worker(file, { workerData: given, name: "signalbox flows lease" })
    // The thread does not keep the process alive.
    started.unref()
    started.on("message", (report: Report) => Queue.offerUnsafe(reports, report))
    started.once("error", (error) => ended(started, error))
    started.once("exit", (status) => ended(started, `it ended with the status ${status}`))
    return started
  }

  /** Shows the thread that the event loop runs. Without a thread it is the only one that sees how late it is. */
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      let last = performance.now()
      const timer = setInterval(() => {
        const now = performance.now()
        const millis = now - last - beatMillis
        last = now
        marks.beat()
        if (worker === null && millis > noticedMillis)
          Queue.offerUnsafe(reports, { _tag: "Stood", millis, keeper: { _tag: "Other" } })
      }, beatMillis)
      timer.unref()
      return timer
    }),
    (timer) => Effect.sync(() => clearInterval(timer))
  )

  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(reports), logOf)))
  yield* Effect.acquireRelease(
    Effect.match(
      Effect.try(() => {
        const file = module()
        return file === false ? null : start(file)
      }),
      {
        onFailure: ({ cause }) => ended(null, cause),
        onSuccess: (started) => {
          worker = started
        }
      }
    ),
    () =>
      Effect.callback<void>((resume) => {
        if (worker === null) return resume(Effect.void)
        const ending = worker
        worker = null
        ending.ref()
        ending.once("exit", () => resume(Effect.void))
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        ending.postMessage({ _tag: "End" })
        const timer = setTimeout(() => void ending.terminate(), 1_000)
        ending.once("exit", () => clearTimeout(timer))
      })
  )

  const post = (process: string | null) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker?.postMessage({ _tag: "Follow", process })
  }
  return {
    leaseMillis: () => (worker === null ? looseLeaseMillis : leaseMillis),
    ended: Deferred.await(hasEnded),
    follow: (process) => post(process),
    rest: () => post(null),
    within: (step, context, start) => (worker === null ? start(context) : code.within(step, context, start))
  } satisfies LeaseThread
})

/** The thread of this process; null when there is none to be, as in virtual time: the loop then renews the usual lease. */
export const LeaseThread = Context.Reference<LeaseThread | null>("@signalbox/flows/LeaseThread", {
  defaultValue: () => null
})

export const layer = (options: Options): Layer.Layer<never> =>
  Layer.effect(
    LeaseThread,
    Effect.flatMap(Clock.Clock, (clock): Effect.Effect<LeaseThread | null, never, Scope.Scope> =>
      // Only `TestClock` has it.
      Predicate.hasProperty(clock, "adjust") ? Effect.succeed(null) : make(options)
    )
  )
