/** The loops of a linked worker: leases, heartbeats, and the active step runs. */
import type { StepRunId } from "@signalbox/api/contract/Ids"
import type { CallError, ControlRoomError, InvalidRequest } from "@signalbox/api/ControlRoomError"
import { defaultPolicy, RetryPolicy } from "@signalbox/api/Policy"
import { polling } from "@signalbox/api/PollingClock"
import type { Lease } from "@signalbox/api/robot/WorkerProtocol"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import { backoff, isUnknownWorker } from "../outcome/Failures.ts"
import type { Reports } from "./Reports.ts"
import type { BuildTime } from "./TimeLimit.ts"
import type { Ending } from "../outcome/StepRunError.ts"
import { type Execution, type Order, type Protocol, runStepRun } from "./StepRun.ts"
import * as Routine from "../outcome/Routine.ts"

export interface Options<R> {
  readonly protocol: Protocol
  /** The names of the worker's tasks. */
  readonly tasks: ReadonlyArray<string>
  /** Whether it also runs tasks of task packages. */
  readonly packages: boolean
  /** What it has, for steps that ask for it. */
  readonly labels: ReadonlyArray<string>
  /** `mayReserve` is false when the worker is ending. */
  readonly execute: (
    lease: Lease,
    reports: Reports,
    mayReserve: Effect.Effect<boolean>,
    buildTime: BuildTime
  ) => Effect.Effect<Execution<R>, never, Scope.Scope>
  readonly capacity: number
  readonly heartbeat: Duration.Input
  readonly drain: Duration.Input
  /** Takes one step run and ends with it. */
  readonly once: boolean
  /** Completes when draining must end at once. */
  readonly hurry: Effect.Effect<void>
}

/** How a step run of a worker ended. */
export interface Worked {
  readonly id: StepRunId
  readonly ending: Ending
}

interface Entry {
  readonly order: Deferred.Deferred<Order>
  started: boolean
  readonly ofPackage: boolean
}

/** How many seconds one call waits for work at the service. */
const waitSeconds = 20

/** Most polls find nothing: their spans have a level that exporters can leave out. */
const polled = Effect.provideService(References.CurrentTraceLevel, "Debug")

/** A retry cannot help: the worker is unknown, or its request is invalid. */
const isRefusal = (error: CallError): boolean => error._tag === "InvalidRequest" || isUnknownWorker(error)

/**
 * Leases and runs until interrupted, refused or drained, or with `once` until a step run has ended, which it returns. When
 * the service lets it drain, no more is leased, and step runs end as they do. When the scope closes no more is leased; step
 * runs may finish their reserved item for up to `drain`, while heartbeats continue, and are then terminated.
 */
export const serve = Effect.fnUntraced(function* <R>(
  options: Options<R>
): Effect.fn.Return<Worked | null, ControlRoomError | InvalidRequest, R | Scope.Scope> {
  const { labels, once, packages, protocol, tasks } = options
  const capacity = once ? 1 : options.capacity
  const live = new Map<StepRunId, Entry>()
  const room = yield* Latch.make(true)
  const drained = yield* Deferred.make<void>()
  let draining = false
  let worked: Worked | null = null
  let away = false

  const give = (id: StepRunId, order: Order) => {
    const entry = live.get(id)
    return entry === undefined ? Effect.void : Deferred.succeed(entry.order, order)
  }

  const leave = Effect.suspend(() => {
    draining = true
    return Deferred.succeed(drained, undefined)
  })

  const beat = Effect.suspend(() =>
    protocol.heartbeat([...live].filter(([, entry]) => entry.started).map(([id]) => id))
  ).pipe(
    Effect.flatMap(({ drain, lost, stop }) =>
      Effect.all([
        Effect.forEach(lost, (id) => give(id, "lost")),
        Effect.forEach(stop, (id) => give(id, "terminate")),
        drain === true ? leave : Effect.void
      ])
    ),
    // The next heartbeat is the retry.
    Effect.provideService(RetryPolicy, { ...defaultPolicy, attempts: 1, attemptTimeoutMillis: 5000 }),
    polled,
    Effect.ignoreCause({ log: "Debug", message: "heartbeat failed" })
  )

  /** Processes take time to end, so those of packages are told to stop earlier. */
  const pause = Effect.gen(function* () {
    const whole = Duration.toMillis(options.heartbeat)
    const slice = packages ? Math.min(whole, 1000) : whole
    for (let slept = 0; slept < whole; slept += slice) {
      yield* Effect.sleep(slice)
      if ([...live.values()].some((entry) => entry.ofPackage)) return
    }
  })

  const begin = Effect.fnUntraced(function* (lease: Lease, fibers: FiberSet.FiberSet) {
    const entry: Entry = { order: yield* Deferred.make<Order>(), started: false, ofPackage: lease.package !== null }
    live.set(lease.step_run_id, entry)
    if (live.size >= capacity) yield* room.close
    const end = Effect.suspend(() => {
      if (live.get(lease.step_run_id) === entry) live.delete(lease.step_run_id)
      return live.size < capacity ? room.open : Effect.void
    })
    const mayReserve = Effect.sync(() => !draining)
    const stepRun = runStepRun({
      lease,
      execute: (reports, buildTime) => options.execute(lease, reports, mayReserve, buildTime),
      protocol,
      order: entry.order,
      onStarted: Effect.sync(() => {
        entry.started = true
      })
    })
    const kept = Effect.map(stepRun, (ending) => {
      if (once) worked = { id: lease.step_run_id, ending }
    })
    yield* FiberSet.run(fibers, Effect.ensuring(kept, end))
  })

  const lease = Effect.suspend(() =>
    protocol.lease({ free: capacity - live.size, tasks, packages, labels, waitSeconds })
  ).pipe(
    polled,
    Effect.tapError((error) => {
      if (away || isRefusal(error)) return Effect.void
      away = true
      const reason = error._tag === "ControlRoomError" ? error.reason._tag : error._tag
      return Effect.annotateLogs(Effect.logWarning("the service is unavailable; retrying"), { reason })
    }),
    Effect.retry({ while: (error) => !isRefusal(error), schedule: backoff }),
    Effect.tap(() => {
      if (!away) return Effect.void
      away = false
      return Effect.logInfo("the service is available again")
    })
  )

  // The scope closes in reverse order: drain, then the heartbeats, then remaining fibers.
  const fibers = yield* FiberSet.make()
  yield* Effect.forkScoped(polling(Effect.forever(Effect.andThen(beat, pause))))
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      draining = true
      if (live.size > 0) yield* Routine.log("draining: the worker accepts no more step runs, and running ones continue")
      yield* Effect.raceFirst(Effect.timeoutOption(FiberSet.awaitEmpty(fibers), options.drain), options.hurry)
      yield* Effect.forEach([...live.keys()], (id) => give(id, "terminate"))
      yield* Effect.timeoutOption(FiberSet.awaitEmpty(fibers), "5 seconds")
    })
  )
  const leasing = Effect.gen(function* () {
    while (true) {
      yield* room.await
      const [took, leases] = yield* polling(Effect.timed(lease))
      for (const lease of leases) yield* begin(lease, fibers)
      // Avoids a tight loop with a service that responds without waiting for work.
      if (leases.length === 0 && Duration.toMillis(took) < 250) yield* polling(Effect.sleep("250 millis"))
      if (once && leases.length > 0) return
    }
  })
  yield* Effect.raceFirst(leasing, Deferred.await(drained))
  yield* FiberSet.awaitEmpty(fibers)
  return worked
})
