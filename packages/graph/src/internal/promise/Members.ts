/** The functions of a client, each with its door: where a call is taken, and where it rejects. */
import { check, OptionError, type Rules, time } from "@signalbox/transport/OptionError"
import { checkPolicy } from "@signalbox/transport/Policy"
import {
  adaptListeners,
  type Calling,
  eitherSignal,
  execute,
  iterate,
  placeOf,
  standAt
} from "@signalbox/transport/Promised"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import type * as Path from "effect/Path"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Graph } from "../../Graph.ts"
import { type Policy, GraphPolicy } from "../../Policy.ts"
import { CalledAs } from "../requests/Operation.ts"
import { Closed, InvalidRequest, Timeout } from "./Errors.ts"
import { type Call, failure, rejection } from "./Failure.ts"

/** What effects of this package need. */
export type Services = Graph | FileSystem.FileSystem | Path.Path

/** How one call is made: the last argument of every function, after all of its own. */
export interface CallOptions {
  /** Aborts the call and its requests; it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** How long the call may take with all its requests and pauses, in milliseconds or as `"5 seconds"`; then it rejects with `Timeout`. */
  readonly timeout?: Duration.Input | undefined
  /** Overrides of the client's policy of retries and time limits. */
  readonly policy?: Partial<Policy> | undefined
}

/** What the calls of a client share, from its beginning to `close`. */
export interface Session {
  readonly runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
  readonly policy: Policy
  /** Aborted by `close`. */
  readonly closing: AbortController
}

const rules: Rules<CallOptions> = {
  signal: (value) => (value instanceof AbortSignal ? null : "expected an AbortSignal"),
  timeout: time
}
const names: ReadonlySet<string> = new Set(["signal", "timeout", "policy"])

const checked = (given: unknown, call: Call): CallOptions => {
  if (given === undefined) return {}
  const expected = "options of a call: signal, timeout or policy"
  const unknown = Predicate.isObject(given) ? Object.keys(given).find((name) => !names.has(name)) : "the last argument"
  if (unknown !== undefined) throw failure(InvalidRequest, `${unknown}: expected ${expected}`, call)
  // Its members are checked now.
  const options = given as CallOptions
  check(call.operation, options, rules)
  checkPolicy(call.operation, options.policy ?? {}, "policy.")
  return options
}

export const merged = (outer: CallOptions, inner: CallOptions): CallOptions => ({
  signal: eitherSignal(outer.signal, inner.signal),
  timeout: inner.timeout ?? outer.timeout,
  policy: { ...outer.policy, ...inner.policy }
})

/** How a call of a session runs. */
const callingOf = ({ closing, runtime }: Session, call: Call, options: CallOptions, isOfProgram: boolean) =>
  ({
    runtime,
    signal: eitherSignal(closing.signal, options.signal),
    rejection: (cause) => rejection(cause, call, isOfProgram),
    aborted: (reason) => (closing.signal.aborted ? failure(Closed, "the client is closed", call) : reason)
  }) satisfies Calling<Services>

const timedOut = (timeout: Duration.Input, call: Call) =>
  failure(Timeout, `not done within ${Duration.toMillis(timeout)} ms`, call)

/** Runs an effect for a call. */
export const run = <A>(
  session: Session,
  effect: Effect.Effect<A, unknown, Services>,
  call: Call,
  options: CallOptions,
  isOfProgram = false
): Promise<A> => {
  const { policy, timeout } = options
  const limited =
    timeout === undefined
      ? effect
      : Effect.timeoutOrElse(effect, { duration: timeout, orElse: () => Effect.fail(timedOut(timeout, call)) })
  const withPolicy = Effect.provideService(limited, GraphPolicy, { ...session.policy, ...policy })
  // The calls in an effect of the program's own have names of the modules.
  const named = isOfProgram ? withPolicy : Effect.provideService(withPolicy, CalledAs, call.operation)
  return execute(named, callingOf(session, call, options, isOfProgram))
}

const stream = (
  session: Session,
  source: Stream.Stream<unknown, unknown, Services>,
  call: Call,
  options: CallOptions
): AsyncIterable<unknown> => {
  const withPolicy = Stream.provideService(source, GraphPolicy, { ...session.policy, ...options.policy })
  const named = Stream.provideService(withPolicy, CalledAs, call.operation)
  return iterate(named, callingOf(session, call, options, false))
}

/** A function of a client: what it calls, and how many parameters it has before `CallOptions`. */
export interface Member {
  readonly of: unknown
  readonly parameters: number
  /** What the program gets of the result. */
  readonly present?: (value: never, call: Call) => unknown
}

type ParametersOf<F> = F extends (...args: infer A) => unknown
  ? Required<A> extends readonly [...infer Own, CallOptions]
    ? Own["length"]
    : never
  : never

/** The members of `C`, by name. */
export type Members<C> = {
  readonly [K in keyof C]: Member & { readonly parameters: ParametersOf<C[K]> }
}

const adapt = (argument: unknown): unknown =>
  Predicate.isObject(argument) && !(argument instanceof Uint8Array) && !Stream.isStream(argument)
    ? adaptListeners(argument, ["keep"])
    : argument

const doorOf = (session: Session, view: CallOptions, operation: string, { of, parameters, present }: Member) => {
  const door = (...given: ReadonlyArray<unknown>): unknown => {
    const call: Call = { operation, place: placeOf(door) }
    const made = make(given.slice(0, parameters), call)
    const isStream = Stream.isStream(made)
    try {
      const options = merged(view, checked(given[parameters], call))
      // The members of the modules need no other services.
      if (isStream) return stream(session, made as Stream.Stream<unknown, unknown, Services>, call, options)
      // As above.
      const result = run(session, made as Effect.Effect<unknown, unknown, Services>, call, options)
      return present === undefined ? result : result.then((value) => present(value as never, call)) // its own result
    } catch (error) {
      if (isStream) throw error
      return Promise.reject(error)
    }
  }
  const make = (args: ReadonlyArray<unknown>, call: Call): unknown => {
    if (typeof of !== "function") return of
    try {
      return of(...args.map(adapt))
    } catch (error) {
      throw error instanceof OptionError ? standAt(error, call.place) : error
    }
  }
  return door
}

/** The functions of one module of a client. */
export const functionsOf = (
  session: Session,
  view: CallOptions,
  name: string,
  members: Readonly<Record<string, Member>>
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(members).map(([member, value]) => [member, doorOf(session, view, `${name}.${member}`, value)])
  )
