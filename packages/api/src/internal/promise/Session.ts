/** What the calls of a client share, from `connect` to `close`. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import type { ControlRoom } from "../../ControlRoom.ts"
import { IdempotencyKeys } from "../../Idempotency.ts"
import { type Policy, RetryPolicy } from "../../Policy.ts"
import type { CallOptions } from "./CallOptions.ts"
import { CurrentCall } from "../calls/CurrentCall.ts"
import { Closed, type ControlRoomError, Timeout } from "./Errors.ts"
import { type Call, failure, rejection } from "./Failure.ts"

export interface Session {
  readonly runtime: ManagedRuntime.ManagedRuntime<ControlRoom, unknown>
  readonly policy: Policy
  /** Ends what is iterated now, when the client is closed. */
  readonly iterating: Set<() => Promise<void>>
  isClosed: boolean
}

/** The error of a call of a client that is closed. */
export const closed = (call: Call): ControlRoomError => failure(Closed, "the client is closed", call)

/** The error of a call that has taken its whole `timeout`. */
export const timedOut = (timeout: Duration.Input, call: Call): ControlRoomError =>
  failure(Timeout, `not done within ${Duration.toMillis(timeout)} ms`, call)

const keysFrom = (key: string): IdempotencyKeys => {
  let count = 0
  return { next: Effect.sync(() => (++count === 1 ? key : `${key}/${count}`)), ttlSeconds: null }
}

/** The services that are different for each call. */
export const servicesOf = (
  session: Session,
  { headers, idempotencyKey, policy }: CallOptions,
  call: Call
): Context.Context<never> => {
  const operation = call.operation === "run" ? null : call.operation
  const current = Context.make(CurrentCall, { operation, headers, seen: call.seen })
  const withPolicy =
    policy === undefined ? current : Context.add(current, RetryPolicy, { ...session.policy, ...policy })
  return idempotencyKey === undefined ? withPolicy : Context.add(withPolicy, IdempotencyKeys, keysFrom(idempotencyKey))
}

/** Runs an effect for a call. `isOfProgram`: it is the program's own, and so are the errors in it that are not those of calls. */
export const execute = async <A>(
  session: Session,
  effect: Effect.Effect<A, unknown, ControlRoom>,
  call: Call,
  options: CallOptions,
  isOfProgram = false
): Promise<A> => {
  if (session.isClosed) throw closed(call)
  const { signal, timeout } = options
  signal?.throwIfAborted()
  const limited =
    timeout === undefined
      ? effect
      : Effect.timeoutOrElse(effect, { duration: timeout, orElse: () => Effect.fail(timedOut(timeout, call)) })
  const exit = await session.runtime.runPromiseExit(
    Effect.provideContext(limited, servicesOf(session, options, call)),
    { signal }
  )
  if (Exit.isSuccess(exit)) return exit.value
  if (signal?.aborted === true) throw signal.reason
  // What is active when the client is closed is interrupted.
  throw session.isClosed ? closed(call) : rejection(exit.cause, call, isOfProgram)
}

/** Closes the connection; what is active ends. */
export const close = async (session: Session): Promise<void> => {
  session.isClosed = true
  await Promise.all([...session.iterating].map((end) => end()))
  await session.runtime.dispose()
}
