/**
 * Steps over the control room.
 */
import { ControlRoomError, transient } from "@signalbox/api/ControlRoomError"
import type * as Effect from "effect/Effect"
import { makeStep, type StepOptions } from "../../Step.ts"
import type { Awaited, Transient } from "./Position.ts"
import type { Codec } from "../model/Values.ts"

/** Defines a step over the control room: a durable execution retries transient failures, unless `with` sets a policy. */
export const ready = <I extends Codec, S extends Codec, E extends Codec, R>(
  name: string,
  options: StepOptions<I, S, E, R, never>,
  awaits?: (input: I["Type"]) => Effect.Effect<Awaited, never, R>
) => makeStep(name, options, { transient: transientOf, isSpaced: true, awaits })

const transientOf = (error: unknown): Transient | null => {
  const found = error instanceof ControlRoomError ? transient(error) : null
  return found === null || !(error instanceof ControlRoomError)
    ? null
    : { retryAfterMillis: found.retryAfterMillis, isBusy: error.reason._tag === "RateLimited" }
}
