/**
 * Durable flows by the clock: executions that begin at the times of a cron expression.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Cron from "effect/Cron"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Flow } from "./internal/FlowType.ts"
import type { FlowEngine } from "./FlowEngine.ts"
import type { FlowNotRegistered } from "./FlowErrors.ts"
import { begin } from "./internal/DurableStart.ts"
import { theEngine } from "./internal/engine/TheEngine.ts"
import type { Codec } from "./internal/Values.ts"

export type CatchUp = "latest" | "all" | "none"

export interface Options<I> {
  /** Names the schedule: up to when it has been carried out is kept under this name. */
  readonly name: string
  /** Five fields, or six with seconds first, such as `0 6 * * mon-fri`. */
  readonly cron: string
  /** Such as `Europe/Vienna`; default UTC. */
  readonly timeZone?: string
  /** The input of the execution that begins at this time. */
  readonly input: (at: DateTime.Utc) => I
  /**
   * What to do about times that passed while no process ran: `latest` begins one execution, for the last of them; `all`
   * one for each, in their order; `none` leaves them out, unless they passed less than a minute ago. Default `latest`.
   */
  readonly catchUp?: CatchUp
}

/** The options are of no use; the message says why. */
export class InvalidSchedule extends Schema.TaggedError<InvalidSchedule>()("InvalidSchedule", {
  name: Schema.String,
  message: Schema.String
}) {}

const lateMillis = 60_000
/** It looks at least this often, for clocks that are set and machines that sleep. */
const longestPause = 60_000
/** After something went wrong. */
const pauseAfterFailure = 5_000
/** So many missed times are caught up at a time. */
const batch = 100

interface Timetable {
  /** The next time after this one. */
  readonly after: (millis: number) => number
  /** The last time that is not after this one. */
  readonly upTo: (millis: number) => number
}

const timetableOf = Effect.fnUntraced(function* <I>({ cron, name, timeZone = "UTC" }: Options<I>) {
  const refuse = (message: string) => new InvalidSchedule({ name, message: `the schedule ${name}: ${message}` })
  if (name.trim() === "")
    return yield* new InvalidSchedule({ name, message: "name: Expected a text that is not empty" })
  const zone = DateTime.zoneMakeNamed(timeZone)
  if (Option.isNone(zone)) return yield* refuse(`timeZone: Expected a name such as Europe/Vienna, not ${timeZone}`)
  const parsed = Cron.parse(cron, zone.value)
  if (Result.isFailure(parsed)) return yield* refuse(`cron: ${parsed.failure.message}`)
  const timetable: Timetable = {
    after: (millis) => Cron.next(parsed.success, new Date(millis)).getTime(),
    upTo: (millis) => Cron.prev(parsed.success, new Date(millis + 1)).getTime()
  }
  const now = yield* Clock.currentTimeMillis
  yield* Effect.try({
    try: () => timetable.after(now),
    catch: () => refuse(`cron: ${cron} never comes, such as a 30th of February`)
  })
  return timetable
})

/** The times to begin executions at, and up to when the schedule has been carried out then. */
const dueTimes = ({ after, upTo }: Timetable, catchUp: CatchUp, from: number, now: number) => {
  if (after(from) > now) return { times: [], to: from }
  const latest = upTo(now)
  if (catchUp !== "all") {
    const missed = catchUp === "none" && now - latest > lateMillis
    return { times: missed ? [] : [latest], to: latest }
  }
  const times: Array<number> = []
  let at = from
  while (times.length < batch && after(at) <= now) {
    at = after(at)
    times.push(at)
  }
  return { times, to: at }
}

const look = Effect.fnUntraced(function* <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  timetable: Timetable,
  { catchUp = "latest", input, name }: Options<I["Type"]>
) {
  const { store } = yield* theEngine
  const now = yield* Clock.currentTimeMillis
  const from = yield* store.scheduledTo(name, now)
  const { times, to } = dueTimes(timetable, catchUp, from, now)
  for (const millis of times) {
    const time = DateTime.makeUnsafe(millis)
    yield* begin(flow, input(time), `${name} at ${DateTime.formatIso(time)}`)
  }
  if (to !== from) yield* store.advanceSchedule(name, from, to)
  return timetable.after(to)
})

/**
 * Looks once: begins what is due, and gives the time of the next in milliseconds. An execution has the schedule and its
 * time as its key, so it begins once, whoever looks and however often; only then is the schedule set to that time, by
 * whoever finds it where it was. Fails with `FlowNotRegistered` when the flow is not registered here.
 */
export const tick = Effect.fn("FlowSchedules.tick")(function* <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  options: Options<I["Type"]>
): Effect.fn.Return<number, InvalidSchedule | FlowNotRegistered, FlowEngine> {
  return yield* look(flow, yield* timetableOf(options), options)
})

/**
 * Begins an execution of a flow at each time of a cron expression, for as long as the layer is there; in several processes
 * with one store, in one of them. A schedule that is new begins with the next time; one that was there goes on after the
 * last time that it was carried out, as `catchUp` says. An hour that a change of the clocks leaves out comes after it, one
 * that it repeats comes once. Provide the `Flow.layer` of the flow around it.
 *
 * ```ts
 * import * as DateTime from "effect/DateTime"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 * import * as FlowSchedules from "@signalbox/flows/FlowSchedules"
 *
 * const nightly = Flow.make("nightly", {
 *   version: 1,
 *   input: Schema.Struct({ day: Schema.String }),
 *   success: Schema.String,
 *   error: Schema.Never,
 *   idempotencyKey: ({ day }) => day,
 *   run: ({ day }) => Effect.succeed(day)
 * })
 *
 * export const schedule = FlowSchedules.layer(nightly, {
 *   name: "nightly",
 *   cron: "30 2 * * *",
 *   timeZone: "Europe/Vienna",
 *   input: (at) => ({ day: DateTime.formatIsoDateUtc(at) })
 * }).pipe(Layer.provide(Flow.layer(nightly)))
 * ```
 */
export const layer = <I extends Codec, S extends Codec, E extends Codec, R>(
  flow: Flow<I, S, E, R>,
  options: Options<I["Type"]>
): Layer.Layer<never, InvalidSchedule, FlowEngine> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const timetable = yield* timetableOf(options)
      const pause = look(flow, timetable, options).pipe(
        Effect.flatMap((next) =>
          Effect.map(Clock.currentTimeMillis, (now) => Math.min(Math.max(next - now, 0), longestPause))
        ),
        // It must go on looking, whatever happens to one look; what is due is still due then.
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.failCause(cause)
            : Effect.as(
                Effect.logWarning(`the schedule ${options.name} could not be carried out, trying again`, cause),
                pauseAfterFailure
              )
        )
      )
      yield* Effect.forkScoped(Effect.forever(Effect.flatMap(pause, (millis) => Effect.sleep(millis))))
    })
  )
