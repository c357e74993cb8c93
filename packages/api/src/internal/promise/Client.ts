/** The client of a room: the modules that it is given, and what concerns all of them. */
import { placeOf } from "@signalbox/transport/Promised"
import type * as Effect from "effect/Effect"
import type { ControlRoom } from "../../ControlRoom.ts"
import { type CallOptions, checked, merged } from "./CallOptions.ts"
import { nothingSeen } from "../calls/CurrentCall.ts"
import type { Call } from "./Failure.ts"
import { functionsOf, type Members } from "./Members.ts"
import { close, execute, type Session } from "./Session.ts"

/** What a client has beside its modules; `Self` is the client. */
export interface Connected<Self> extends AsyncDisposable {
  /**
   * Runs any effect that needs the connection.
   * @example const items = await room.run(Effect.map(WorkItems.list(), ({ data }) => data))
   */
  readonly run: <A, E>(effect: Effect.Effect<A, E, ControlRoom>, options?: CallOptions) => Promise<A>
  /**
   * The same client, whose calls and streams have these options, unless a call has its own.
   * @example const { data } = await room.with({ timeout: "5 seconds" }).workers.list()
   */
  readonly with: (options: CallOptions) => Self
  /**
   * The same client, whose calls and streams `signal` aborts, with their requests. They reject with its reason.
   * @example await room.withSignal(AbortSignal.timeout(60_000)).workItems.list()
   */
  readonly withSignal: (signal: AbortSignal) => Self
  /** Closes the connection and ends what is active, which rejects with `Closed`, as later calls do. May be called again. */
  readonly close: () => Promise<void>
}

/** Modules by the names that they have in a client. */
export type Resources = Readonly<Record<string, Members>>

/** The modules of a client that has these resources. */
export type ModulesOf<R extends Resources> = { readonly [K in keyof R]: R[K] extends Members<infer C> ? C : never }

/** A client with these resources. */
export type ClientOf<R extends Resources> = ModulesOf<R> & Connected<ClientOf<R>>

/** How functions beside a client call with its session and options. */
interface Callable {
  readonly [callable]: <A>(effect: Effect.Effect<A, unknown, ControlRoom>, call: Call, options: unknown) => Promise<A>
}

const callable = Symbol("@signalbox/api/promise: calls of functions beside the client")

/** Runs an effect for a function of this package that is no member of the client, such as one that needs Node. */
export const callWith = async <A>(
  client: Connected<unknown>,
  effect: Effect.Effect<A, unknown, ControlRoom>,
  operation: string,
  door: (...args: never) => unknown,
  options: CallOptions | undefined
): Promise<A> => {
  const call: Call = { operation, place: placeOf(door), seen: nothingSeen() }
  // Each client is made by `clientOf`.
  return (client as Connected<unknown> & Callable)[callable](effect, call, options)
}

/** A client of a session. `view`: the options of all its calls. */
export const clientOf = <R extends Resources>(session: Session, view: CallOptions, resources: R): ClientOf<R> => {
  const called = (operation: string, door: (...args: never) => unknown): Call => ({
    operation,
    place: placeOf(door),
    seen: nothingSeen()
  })
  const end = () => close(session)
  const client: Connected<ClientOf<R>> = {
    run: async function run(effect, options) {
      const call = called("run", client.run)
      return execute(session, effect, call, merged(view, checked(options, call)), true)
    },
    with: (options) => clientOf(session, merged(view, checked(options, called("with", client.with))), resources),
    withSignal: (signal) => clientOf(session, merged(view, { signal }), resources),
    close: end,
    [Symbol.asyncDispose]: end
  }
  const run: Callable[typeof callable] = async (effect, call, options) =>
    execute(session, effect, call, merged(view, checked(options, call)))
  Object.defineProperty(client, callable, { value: run })
  for (const [name, members] of Object.entries(resources)) {
    // Made when it is first used: a view of a client is for one call often.
    Object.defineProperty(client, name, {
      enumerable: true,
      configurable: true,
      get: () => {
        const value = functionsOf(session, view, name, members)
        Object.defineProperty(client, name, { value, enumerable: true, configurable: true, writable: true })
        return value
      }
    })
  }
  // The loop above has added the modules, each with the members of its interface, which `members` has checked.
  return client as ClientOf<R>
}
