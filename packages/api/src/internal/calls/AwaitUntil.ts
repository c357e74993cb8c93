/** Polls until a condition holds. */
import { check, checkNames, time, timeOrForever } from "@signalbox/transport/OptionError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ControlRoomError, Timeout } from "../../ControlRoomError.ts"
import { names } from "./Known.ts"
import { polling } from "../../PollingClock.ts"
import { operationOf } from "./Operation.ts"

export interface AwaitOptions<A> {
  /** Fails with `ControlRoomError` (`Timeout`) after this; default: no limit. */
  readonly timeout?: Duration.Input | undefined
  /** The longest pause between two polls; default 5 seconds. The first pauses are shorter. */
  readonly pollInterval?: Duration.Input | undefined
  /** Receives the result of every poll. */
  readonly onPoll?: ((seen: A) => Effect.Effect<void>) | undefined
}

const awaitOptions = names<AwaitOptions<never>>("option", { timeout: 1, pollInterval: 1, onPoll: 1 })

export const awaitUntil = Effect.fnUntraced(function* <A, E, R>(
  look: Effect.Effect<A, E, R>,
  done: (seen: A) => boolean,
  /** The function that waits, and the text of a `Timeout`. */
  what: { readonly of: string; readonly path: string; readonly unfinished: string },
  options: AwaitOptions<A>
) {
  checkNames(what.of, options, awaitOptions.names)
  check("awaitEnd", options, { timeout: timeOrForever, pollInterval: time })
  const longest = Duration.toMillis(options.pollInterval ?? "5 seconds")
  const poll = Effect.gen(function* () {
    for (let pause = Math.min(50, longest); ; pause = Math.min(pause * 1.5, longest)) {
      const seen = yield* look
      if (options.onPoll !== undefined) yield* options.onPoll(seen)
      if (done(seen)) return seen
      yield* polling(Effect.sleep(pause))
    }
  })
  const timeout = options.timeout
  if (timeout === undefined) return yield* poll
  const millis = Duration.toMillis(timeout)
  const operation = yield* operationOf("awaitEnd")
  return yield* Effect.timeoutOrElse(poll, {
    duration: timeout,
    orElse: () =>
      Effect.fail(
        new ControlRoomError({
          reason: new Timeout({
            message: `${what.unfinished} within ${millis} ms`,
            afterMillis: millis,
            waitedFor: "outcome"
          }),
          request: { operation, method: "GET", path: what.path, attempts: 1, requestId: null }
        })
      )
  })
})
