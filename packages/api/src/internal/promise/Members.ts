/** The functions of a client, each with its door: where a call is taken, and where it rejects. */
import { OptionError } from "@signalbox/transport/OptionError"
import { type Place, placeOf, standAt } from "@signalbox/transport/Promised"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ControlRoom } from "../../ControlRoom.ts"
import { adapt } from "./Adapt.ts"
import { type CallOptions, checked, merged } from "./CallOptions.ts"
import { nothingSeen } from "../calls/CurrentCall.ts"
import type { Call } from "./Failure.ts"
import { iterate } from "./Iteration.ts"
import { argumentsAt, type ReadPage, returnsPages, withNextPage } from "./Pages.ts"
import { execute, type Session } from "./Session.ts"

/** What is known of the response behind a result: of its last request to the service. */
export interface ResponseInfo {
  /** Null: nothing was sent. */
  readonly status: number | null
  /** The id of the request in the logs of the service. */
  readonly requestId: string | null
  /** How often that request was sent. */
  readonly attempts: number
}

/** The result of a call; `withResponse` resolves to it and what is known of the response. */
export interface ApiPromise<A> extends Promise<A> {
  readonly withResponse: () => Promise<{ readonly data: A; readonly response: ResponseInfo }>
}

/** How many parameters of its own each function of a client has: its `CallOptions` are the argument after these. */
export type Arities<C> = {
  readonly [K in keyof C]: C[K] extends (...args: infer A) => unknown
    ? Required<A> extends readonly [...infer Own, CallOptions]
      ? Own["length"]
      : never
    : never
}

/** The functions of a module that a client has, as its member of the type `C`. */
export interface Members<out C = unknown> {
  /** Only a type. */
  readonly "~Client"?: C
  readonly module: Readonly<Record<string, unknown>>
  readonly arities: Readonly<Record<string, number>>
  readonly adapt: (argument: unknown) => unknown
}

/** The members of `C`, over the functions of a module. */
export const members = <C>(
  module: { readonly [K in keyof C]: unknown },
  arities: Arities<C>,
  adaptArgument = adapt
): Members<C> => ({ module, arities, adapt: adaptArgument })

const promised = (
  session: Session,
  effect: Effect.Effect<unknown, unknown, ControlRoom>,
  call: Call,
  options: CallOptions
): ApiPromise<unknown> => {
  const result = execute(session, effect, call, options)
  return Object.assign(result, {
    withResponse: async () => ({ data: await result, response: { ...call.seen } })
  })
}

/** What a function of a module has returned, as what a program without Effect gets. */
const running = (session: Session, made: unknown, call: Call, options: CallOptions) =>
  Stream.isStream(made)
    ? // Members of the modules need no service but `ControlRoom`.
      iterate(session, made as Stream.Stream<unknown, unknown, ControlRoom>, call, options)
    : // As above.
      promised(session, made as Effect.Effect<unknown, unknown, ControlRoom>, call, options)

/** The same with a failure. */
const failing = (made: unknown, error: unknown) => (Stream.isStream(made) ? Stream.fail(error) : Effect.fail(error))

/** A function of a module. */
interface Door {
  readonly operation: string
  readonly value: unknown
  readonly arity: number
  readonly adapt: Members["adapt"]
  /** It returns pages. */
  readonly isList: boolean
}

const doorOf = (session: Session, view: CallOptions, { adapt: adaptOwn, arity, isList, operation, value }: Door) => {
  const make = (args: ReadonlyArray<unknown>, place: Place): unknown => {
    if (typeof value !== "function") return value
    try {
      return value(...args.map(adaptOwn))
    } catch (error) {
      throw error instanceof OptionError ? standAt(error, place) : error
    }
  }
  const paged = (made: unknown, given: ReadonlyArray<unknown>, options: unknown) => {
    if (!isList) return made
    const read: ReadPage = (cursor, own, place) => from(place, [...argumentsAt(given, arity, cursor), own ?? options])
    // A list of a module is an effect.
    return Effect.map(made as Effect.Effect<unknown, unknown, ControlRoom>, (result) => withNextPage(result, read))
  }
  const from = (place: Place, given: ReadonlyArray<unknown>) => {
    const call: Call = { operation, place, seen: nothingSeen() }
    // A cursor as an argument of its own, as lists took it before.
    const own = typeof given[arity] === "string" ? arity + 1 : arity
    const made = paged(make(given.slice(0, own), place), given, given[own])
    if (given.length <= own) return running(session, made, call, view)
    try {
      return running(session, made, call, merged(view, checked(given[own], call)))
    } catch (error) {
      return running(session, failing(made, error), call, view)
    }
  }
  const door = (...given: ReadonlyArray<unknown>) => from(placeOf(door), given)
  return door
}

/** The functions of one module, for a client. */
export const functionsOf = (
  session: Session,
  view: CallOptions,
  name: string,
  { adapt: adaptArgument, arities, module }: Members
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(arities).map(([member, arity]) => [
      member,
      doorOf(session, view, {
        operation: `${name}.${member}`,
        value: module[member],
        arity,
        adapt: adaptArgument,
        isList: returnsPages(member)
      })
    ])
  )
