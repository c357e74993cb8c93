/**
 * The idempotency scope of a step: the POSTs of a repeated step have the keys of the first attempt.
 */
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import { withIdempotencyScope } from "@signalbox/api/Idempotency"
import { Attempt } from "./Identity.ts"

/** A scope that fits a header: a key has at most 255 visible ASCII characters, and the call appends its number. */
const plain = /^[!-~]{1,200}$/

/** A step of a durable execution may be repeated days later. */
const ttlSeconds = 604_800

const shortened = (scope: string) =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(scope))),
    (digest) => Hex.encode(new Uint8Array(digest))
  )

export const inStepScope = <A, E, R>(
  executionId: string,
  scope: string,
  durable: boolean,
  execute: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  const options = durable ? { ttlSeconds } : {}
  const within = (scope: string) =>
    withIdempotencyScope(scope, Effect.provideService(execute, Attempt, { executionId, scope }), options)
  return plain.test(scope) ? within(scope) : Effect.flatMap(shortened(scope), within)
}
