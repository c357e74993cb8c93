/** `SIGNALBOX_DEBUG=client`: what a client does, for people who look. */
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { Listeners } from "./Events.ts"
import { type Events, lineOf } from "./internal/events/Words.ts"

/** Whether the variable names clients, alone or among others: `client,flows`. */
const isOn = Config.String("SIGNALBOX_DEBUG").pipe(
  Effect.map((value) => value.split(/[\s,]+/).includes("client")),
  Effect.orElseSucceed(() => false)
)

/**
 * Returns listeners that write a line per event to standard error (in browsers to the console) when `SIGNALBOX_DEBUG` has `client`;
 * undefined when it has not. Where there is no environment it is off.
 */
export const debugListeners: Effect.Effect<Listeners | undefined> = Effect.gen(function* () {
  if (!(yield* isOn)) return undefined
  const clock = yield* Clock.Clock
  const console = yield* Console.Console
  const write =
    <K extends keyof Events>(name: K) =>
    (event: Events[K]): void =>
      console.error(`${new Date(clock.currentTimeMillisUnsafe()).toISOString()} ${lineOf(name, event)}`)
  return {
    onRequest: write("onRequest"),
    onResponse: write("onResponse"),
    onRetry: write("onRetry"),
    onPause: write("onPause")
  }
})
