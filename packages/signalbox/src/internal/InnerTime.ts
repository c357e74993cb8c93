/**
 * Tracks which fibers wait for time and which work, in a program on any clock: so that a test can wait until nothing
 * more happens at this moment, and advance a `TestClock` to the next moment at which something does.
 */
import type * as Task from "@signalbox/worker/Task"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as TestClock from "effect/testing/TestClock"

/** A unit of work. While it sleeps it waits for time; otherwise it may be about to do something. */
interface Work {
  sleeping: number
  /** It did nothing for so long that it counts as waiting. */
  idle: boolean
}

/** The event loop must find nothing new this often in a row: a woken fiber does something within fewer turns. */
const calmTurns = 8
/** How long work that neither sleeps nor does anything is waited for, in milliseconds: it may be reading a file. */
const patience = 100

const isTestClock = (clock: Clock.Clock): clock is TestClock.TestClock => "adjust" in clock

const turn = Effect.callback<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

export interface InnerTime {
  /** For parts of the program that are not waited for. */
  readonly clock: Clock.Clock
  /** Runs an effect as work that `quiet` waits for. */
  readonly watch: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly watchStream: <A, E, R>(stream: Stream.Stream<A, E, R>) => Stream.Stream<A, E, R>
  /** Runs a long computation on another thread that waits for no other work, such as creating a key. */
  readonly compute: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** A counter of everything done so far. */
  readonly activity: () => number
  /** Waits until nothing more happens at this moment. */
  readonly quiet: Effect.Effect<void>
  /** Advances time by the duration, from one wake-up to the next; on a live clock, waits for it. */
  readonly advance: (duration: Duration.Input) => Effect.Effect<void>
  /** Advances time until the effect has ended. */
  readonly elapse: <A, E, R>(effect: Effect.Effect<A, E, R>, limit: Duration.Input) => Effect.Effect<A, E, R>
}

export const make = Effect.gen(function* () {
  const base = yield* Clock.Clock
  const dues = new Set<{ readonly at: number }>()
  const working = new Set<Work>()
  let activity = 0
  let computing = 0

  const clockOf = (work: Work): Clock.Clock => {
    const mark = (sleeping: 1 | -1) => {
      activity++
      work.sleeping += sleeping
      work.idle = false
    }
    const sleep = (duration: Duration.Duration) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const due = { at: base.currentTimeMillisUnsafe() + Duration.toMillis(duration) }
          dues.add(due)
          mark(1)
          return due
        }),
        () => base.sleep(duration),
        (due) =>
          Effect.sync(() => {
            dues.delete(due)
            mark(-1)
          })
      )
    if (isTestClock(base)) return { ...base, sleep }
    return {
      currentTimeMillisUnsafe: () => base.currentTimeMillisUnsafe(),
      currentTimeMillis: base.currentTimeMillis,
      currentTimeNanosUnsafe: () => base.currentTimeNanosUnsafe(),
      currentTimeNanos: base.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => base.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: base.monotonicTimeNanos,
      sleep
    }
  }

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

  const watch: InnerTime["watch"] = (effect) =>
    Effect.acquireUseRelease(begin, (work) => Effect.provideService(effect, Clock.Clock, clockOf(work)), end)

  const watchStream: InnerTime["watchStream"] = (stream) =>
    Stream.unwrap(
      Effect.map(Effect.acquireRelease(begin, end), (work) => Stream.provideService(stream, Clock.Clock, clockOf(work)))
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
    let since = performance.now()
    for (let turns = 0; turns < calmTurns;) {
      yield* turn
      const busy = [...working].filter(({ idle, sleeping }) => sleeping === 0 && !idle)
      if (activity !== seen || computing > 0) {
        seen = activity
        since = performance.now()
        turns = 0
      } else if (busy.length === 0) {
        turns++
      } else if (performance.now() - since > patience) {
        for (const work of busy) work.idle = true
      }
    }
  })

  /** Advances a test clock to the next wake-up, and waits for what happens then; not past `end`. */
  const step = Effect.fnUntraced(function* (clock: TestClock.TestClock, end: number) {
    let next = Infinity
    for (const { at } of dues) next = Math.min(next, at)
    if (next > end || next === Infinity) return false
    // The exact time: a sum of fractions may remain just before it.
    yield* clock.setTime(Math.max(next, clock.currentTimeMillisUnsafe()))
    yield* quiet
    return true
  })

  const advance = Effect.fnUntraced(function* (duration: Duration.Input) {
    if (!isTestClock(base)) return yield* base.sleep(Duration.fromInputUnsafe(duration))
    const end = (yield* base.currentTimeMillis) + Duration.toMillis(duration)
    yield* quiet
    while (yield* step(base, end));
    yield* base.setTime(end)
  })

  const elapse = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>, limit: Duration.Input) {
    if (!isTestClock(base)) return yield* effect
    const last = (yield* base.currentTimeMillis) + Duration.toMillis(limit)
    const fiber = yield* Effect.forkChild(watch(effect))
    const passing = Effect.gen(function* () {
      yield* quiet
      while (fiber.pollUnsafe() === undefined) {
        if (yield* step(base, last)) continue
        yield* Fiber.interrupt(fiber)
        return yield* Effect.die(
          new Error(
            `Testing.elapse: no end within ${Duration.format(Duration.fromInputUnsafe(limit))} of the test clock`
          )
        )
      }
      return yield* Fiber.join(fiber)
    })
    return yield* Effect.onInterrupt(passing, () => Fiber.interrupt(fiber))
  })

  const inner: InnerTime = {
    clock: clockOf({ sleeping: 0, idle: false }),
    watch,
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
