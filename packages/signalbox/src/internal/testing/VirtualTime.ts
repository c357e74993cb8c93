/**
 * Tracks which fibers sleep and which work, in a program on any clock. A test can then wait until nothing more happens
 * at the current time, and advance a `TestClock` to the next time at which something does.
 */
import { PollingClock } from "@signalbox/api/PollingClock"
import type * as Task from "@signalbox/worker/Task"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as TestClock from "effect/testing/TestClock"

/** A unit of work. Unless it sleeps, it may be about to do something. */
interface Work {
  sleeping: number
  /** It has done nothing for so long that it counts as sleeping. */
  idle: boolean
}

/** The pause between two polls. Workers wake before the service, which looks for workers that have fallen silent. */
interface Poll {
  readonly at: number
  readonly of: Polling
  readonly woken: Latch.Latch
}
export type Polling = "worker" | "service"

/** Work that is due at a time without a fiber that sleeps until then. */
export interface Agenda {
  /** The time after now at which something is due next; null when nothing is. */
  readonly nextDue: Effect.Effect<number | null>
  /** Runs everything that is due. */
  readonly tick: Effect.Effect<void>
}

/** How many turns of the event loop in a row must bring nothing new: a woken fiber does something within fewer. */
const calmTurns = 8
/** How long `quiet` waits for work that neither sleeps nor does anything, in milliseconds. */
const patience = 100
/** What one turn of the event loop may add to that: on a busy machine a turn takes long, and nothing had a chance to happen. */
const longestTurn = 5
/** How long it waits while the process reads a file or looks up a name: ends a read that never returns. */
const patienceForReads = 30_000

/** Whether the process waits for the disk or for the name of a host, as far as the runtime reports it. */
const isReading = () => process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfoReq)/.test(name))

const isTestClock = (clock: Clock.Clock): clock is TestClock.TestClock => "adjust" in clock

const turn = Effect.callback<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

export interface InnerTime {
  /** The clock for parts of the program that `quiet` does not wait for. */
  readonly clock: Clock.Clock
  /** The clock for pauses between polls: advancing time does not stop at their ends. */
  readonly polling: (of: Polling) => Clock.Clock
  /** Runs an effect as work that `quiet` waits for, whose sleeps are pauses between polls. */
  readonly watchPolling: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs an effect as work that `quiet` waits for. */
  readonly watch: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly watchStream: <A, E, R>(stream: Stream.Stream<A, E, R>) => Stream.Stream<A, E, R>
  /** Runs a long computation on another thread that depends on no other work, such as creating a key. */
  readonly compute: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Counts everything that has begun or ended so far. */
  readonly activity: () => number
  /** Waits until nothing more happens at the current time. */
  readonly quiet: Effect.Effect<void>
  /** Advances a `TestClock` step by step to everything that is due; sleeps on any other clock. */
  readonly advance: (duration: Duration.Input, agenda: Agenda) => Effect.Effect<void>
  /** Advances a `TestClock` until the effect has ended. */
  readonly elapse: <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    limit: Duration.Input,
    agenda: Agenda
  ) => Effect.Effect<A, E, R>
}

export const make = Effect.gen(function* () {
  const base = yield* Clock.Clock
  const dues = new Set<{ readonly at: number }>()
  const working = new Set<Work>()
  let activity = 0
  let computing = 0

  const polls = new Set<Poll>()
  /** How many fibers are advancing the time. */
  let moving = 0

  const mark = (work: Work, sleeping: 1 | -1) => {
    activity++
    work.sleeping += sleeping
    work.idle = false
  }

  const sleepOf = (work: Work) => (duration: Duration.Duration) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const due = { at: base.currentTimeMillisUnsafe() + Duration.toMillis(duration) }
        dues.add(due)
        mark(work, 1)
        return due
      }),
      () => base.sleep(duration),
      (due) =>
        Effect.sync(() => {
          dues.delete(due)
          mark(work, -1)
        })
    )

  /** Waits until the poll is due; while time is advanced here, until it is woken. */
  const pollOver = (poll: Poll): Effect.Effect<void> =>
    Effect.suspend(() => {
      const left = poll.at - base.currentTimeMillisUnsafe()
      if (left <= 0) return Effect.void
      poll.woken.closeUnsafe()
      const woken = poll.woken.await
      return Effect.andThen(
        moving > 0 ? woken : Effect.raceFirst(base.sleep(Duration.millis(left)), woken),
        pollOver(poll)
      )
    })

  const pollOf = (work: Work, of: Polling) => (duration: Duration.Duration) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const at = base.currentTimeMillisUnsafe() + Duration.toMillis(duration)
        const poll = { at, of, woken: Latch.makeUnsafe() }
        polls.add(poll)
        mark(work, 1)
        return poll
      }),
      pollOver,
      (poll) =>
        Effect.sync(() => {
          polls.delete(poll)
          mark(work, -1)
        })
    )

  const clockOf = (sleep: Clock.Clock["sleep"]): Clock.Clock =>
    isTestClock(base)
      ? { ...base, sleep }
      : {
          currentTimeMillisUnsafe: () => base.currentTimeMillisUnsafe(),
          currentTimeMillis: base.currentTimeMillis,
          currentTimeNanosUnsafe: () => base.currentTimeNanosUnsafe(),
          currentTimeNanos: base.currentTimeNanos,
          monotonicTimeNanosUnsafe: () => base.monotonicTimeNanosUnsafe(),
          monotonicTimeNanos: base.monotonicTimeNanos,
          sleep
        }

  const nobody = (): Work => ({ sleeping: 0, idle: false })

  const begin = Effect.sync(() => {
    const work: Work = { sleeping: 0, idle: false }
    working.add(work)
    activity++
    return work
  })
  const end = (work: Work) =>
    Effect.sync(() => {
      working.delete(work)
      activity++
    })

  const clocksOf = (work: Work) =>
    Context.make(Clock.Clock, clockOf(sleepOf(work))).pipe(Context.add(PollingClock, clockOf(pollOf(work, "worker"))))
  const watch: InnerTime["watch"] = (effect) =>
    Effect.acquireUseRelease(begin, (work) => Effect.provideContext(effect, clocksOf(work)), end)

  const watchPolling: InnerTime["watch"] = (effect) =>
    Effect.acquireUseRelease(
      begin,
      (work) => Effect.provideService(effect, Clock.Clock, clockOf(pollOf(work, "worker"))),
      end
    )

  const watchStream: InnerTime["watchStream"] = (stream) =>
    Stream.unwrap(
      Effect.map(Effect.acquireRelease(begin, end), (work) => Stream.provideContext(stream, clocksOf(work)))
    )

  const compute: InnerTime["compute"] = (effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() => void computing++),
      () => effect,
      () =>
        Effect.sync(() => {
          computing--
          activity++
        })
    )

  const quiet = Effect.gen(function* () {
    let seen = activity
    let last = performance.now()
    let waited = 0
    let read = 0
    for (let turns = 0; turns < calmTurns;) {
      yield* turn
      const now = performance.now()
      waited += Math.min(now - last, longestTurn)
      last = now
      const busy = [...working].filter(({ idle, sleeping }) => sleeping === 0 && !idle)
      if (activity !== seen || computing > 0) {
        seen = activity
        waited = 0
        read = 0
        turns = 0
      } else if (busy.length === 0) {
        turns++
      } else if (waited > patience && read < patienceForReads && isReading()) {
        // When the read is through, its reader has the whole time again for what it does with it.
        read += waited
        waited = 0
      } else if (waited > patience) {
        for (const work of busy) work.idle = true
      }
    }
  })

  /** Wakes the polls that are due, one after the other, the earliest first. */
  const wakePolls = Effect.fnUntraced(function* (of: Polling) {
    for (;;) {
      const now = base.currentTimeMillisUnsafe()
      const [next] = [...polls].filter((poll) => poll.of === of && poll.at <= now).toSorted((a, b) => a.at - b.at)
      if (next === undefined) return
      next.woken.openUnsafe()
      yield* quiet
    }
  })

  /** Sets a test clock, and waits for what happens then. */
  const moveTo = Effect.fnUntraced(function* (clock: TestClock.TestClock, at: number, tick: Effect.Effect<void>) {
    // Sets the time instead of adding to it: a sum of fractions may end just before it.
    yield* clock.setTime(Math.max(at, clock.currentTimeMillisUnsafe()))
    yield* quiet
    yield* wakePolls("worker")
    yield* tick
    yield* quiet
    yield* wakePolls("service")
  })

  /** The next time at which something happens; Infinity when nothing will. */
  const nextMoment = Effect.fnUntraced(function* (agenda: Agenda) {
    const due = yield* agenda.nextDue
    return Math.min(due ?? Infinity, ...[...dues].map(({ at }) => at))
  })

  const moved = <A, E, R>(effect: Effect.Effect<A, E, R>, { tick }: Agenda) => {
    // Wakes all polls, which then wait for the clock or to be woken.
    const change = (by: 1 | -1) =>
      Effect.sync(() => {
        moving += by
        for (const { woken } of polls) woken.openUnsafe()
      })
    return Effect.acquireUseRelease(
      change(1),
      () => Effect.andThen(Effect.andThen(quiet, Effect.andThen(tick, quiet)), effect),
      () => change(-1)
    )
  }

  const advance: InnerTime["advance"] = Effect.fnUntraced(function* (duration, agenda) {
    if (!isTestClock(base)) return yield* base.sleep(Duration.fromInputUnsafe(duration))
    const end = (yield* base.currentTimeMillis) + Duration.toMillis(duration)
    const moments = Effect.gen(function* () {
      for (let next = yield* nextMoment(agenda); next <= end; next = yield* nextMoment(agenda)) {
        yield* moveTo(base, next, agenda.tick)
      }
      yield* moveTo(base, end, agenda.tick)
    })
    return yield* moved(moments, agenda)
  })

  const elapse: InnerTime["elapse"] = Effect.fnUntraced(function* <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    limit: Duration.Input,
    agenda: Agenda
  ) {
    if (!isTestClock(base)) return yield* effect
    const last = (yield* base.currentTimeMillis) + Duration.toMillis(limit)
    const fiber = yield* Effect.forkChild(watch(effect))
    const passing = Effect.gen(function* () {
      while (fiber.pollUnsafe() === undefined) {
        const next = yield* nextMoment(agenda)
        // When nothing else is due, the effect waits for a poll.
        const at = next <= last ? next : Math.min(...[...polls].map((poll) => poll.at))
        if (at <= last) {
          yield* moveTo(base, at, agenda.tick)
          continue
        }
        yield* Fiber.interrupt(fiber)
        return yield* Effect.die(
          new Error(
            `Testing.elapse: no end within ${Duration.format(Duration.fromInputUnsafe(limit))} of the test clock`
          )
        )
      }
      return yield* Fiber.join(fiber)
    })
    return yield* Effect.onInterrupt(moved(passing, agenda), () => Fiber.interrupt(fiber))
  })

  const inner: InnerTime = {
    clock: clockOf(sleepOf(nobody())),
    polling: (of) => clockOf(pollOf(nobody(), of)),
    watch,
    watchPolling,
    watchStream,
    compute,
    activity: () => activity,
    quiet,
    advance,
    elapse
  }
  return inner
})

/** A task's own HTTP requests use the client of the program, not the service under test. */
const contextOf = (client: Option.Option<HttpClient.HttpClient>): Context.Context<never> =>
  Option.isNone(client) ? Context.empty() : Context.make(HttpClient.HttpClient, client.value)

/** The run of a task for an item, and the stream that it may return, as work that `quiet` waits for. */
export const watchTask = <R>(
  time: InnerTime,
  client: Option.Option<HttpClient.HttpClient>,
  outputs: Effect.Effect<Task.Outputs<R>, unknown, R>
): Effect.Effect<Task.Outputs<R>, unknown, R> => {
  const context = contextOf(client)
  return Effect.map(time.watch(Effect.provideContext(outputs, context)), (made) =>
    Stream.isStream(made) ? time.watchStream(Stream.provideContext(made, context)) : made
  )
}
