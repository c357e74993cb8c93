/**
 * The time of a program in a test, on any clock. It knows which fibers sleep and which work, so a test can wait until nothing more
 * happens at the current time, and advance a `TestClock` to the next time at which something does.
 */
import { PollingClock } from "@signalbox/api/PollingClock"
import type * as Task from "@signalbox/worker/Task"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as TestClock from "effect/testing/TestClock"
import * as Activity from "./Activity.ts"
import * as Mover from "./Mover.ts"
import * as Polls from "./Polls.ts"
import { quietOf } from "./Quiet.ts"
import * as Sleeps from "./Sleeps.ts"

export interface VirtualTime {
  /** The clock for parts of the program that `quiet` does not wait for. */
  readonly clock: Clock.Clock
  /** The clock for pauses between polls: advancing time does not stop at their ends. */
  readonly polling: (of: Polls.Polling) => Clock.Clock
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
  readonly advance: (duration: Duration.Input, agenda: Mover.Agenda) => Effect.Effect<void>
  /** Advances a `TestClock` until the effect has ended. */
  readonly elapse: <A, E, R>(
    effect: Effect.Effect<A, E, R>,
    limit: Duration.Input,
    agenda: Mover.Agenda
  ) => Effect.Effect<A, E, R>
}

const isTestClock = (clock: Clock.Clock): clock is TestClock.TestClock => "adjust" in clock

/** The same clock with another `sleep`. */
const withSleep = (base: Clock.Clock, sleep: Clock.Clock["sleep"]): Clock.Clock =>
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

export const make = Effect.gen(function* () {
  const base = yield* Clock.Clock
  const activity = Activity.make()
  const sleeps = Sleeps.make(base, activity)
  const polls = Polls.make(base, activity)
  const quiet = quietOf(activity)
  const moved = isTestClock(base) ? { clock: base, sleeps, polls, quiet } : null

  const clockOf = (work: Activity.Work) => withSleep(base, sleeps.of(work))
  const pollingOf = (work: Activity.Work, of: Polls.Polling) => withSleep(base, polls.of(work, of))
  const clocksOf = (work: Activity.Work) =>
    Context.make(Clock.Clock, clockOf(work)).pipe(Context.add(PollingClock, pollingOf(work, "worker")))
  const watch: VirtualTime["watch"] = (effect) =>
    Effect.acquireUseRelease(activity.begin, (work) => Effect.provideContext(effect, clocksOf(work)), activity.end)

  const time: VirtualTime = {
    clock: clockOf(Activity.unobserved()),
    polling: (of) => pollingOf(Activity.unobserved(), of),
    watch,
    watchPolling: (effect) =>
      Effect.acquireUseRelease(
        activity.begin,
        (work) => Effect.provideService(effect, Clock.Clock, pollingOf(work, "worker")),
        activity.end
      ),
    watchStream: (stream) =>
      Stream.unwrap(
        Effect.map(Effect.acquireRelease(activity.begin, activity.end), (work) =>
          Stream.provideContext(stream, clocksOf(work))
        )
      ),
    compute: activity.compute,
    activity: activity.count,
    quiet,
    advance: (duration, agenda) =>
      moved === null ? base.sleep(Duration.fromInputUnsafe(duration)) : Mover.advance(moved, duration, agenda),
    elapse: (effect, limit, agenda) => (moved === null ? effect : Mover.elapse(moved, watch(effect), limit, agenda))
  }
  return time
})

/** A task's own HTTP requests use the client of the program, not the service under test. */
const contextOf = (client: Option.Option<HttpClient.HttpClient>): Context.Context<never> =>
  Option.isNone(client) ? Context.empty() : Context.make(HttpClient.HttpClient, client.value)

/** The run of a task for an item, and the stream that it may return, as work that `quiet` waits for. */
export const watchTask = <R>(
  time: VirtualTime,
  client: Option.Option<HttpClient.HttpClient>,
  outputs: Effect.Effect<Task.Outputs<R>, unknown, R>
): Effect.Effect<Task.Outputs<R>, unknown, R> => {
  const context = contextOf(client)
  return Effect.map(time.watch(Effect.provideContext(outputs, context)), (made) =>
    Stream.isStream(made) ? time.watchStream(Stream.provideContext(made, context)) : made
  )
}
