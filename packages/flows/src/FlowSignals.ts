/**
 * Where plain runs of flows get their signals from.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { FlowDefect } from "./FlowDefect.ts"

/** Which signal: the execution, and the path where it is received. */
export interface SignalAddress {
  readonly executionId: string
  readonly path: string
}

export interface FlowSignals {
  /** Gives the signal as JSON when it comes. */
  readonly receive: (address: SignalAddress) => Effect.Effect<Schema.Json>
}

/**
 * What answers a `receive` of a signal in a plain run, such as a question on the terminal. Durable executions are sent theirs
 * with `Flow.handle`. Without it, a plain run that awaits a signal is a defect.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { FlowSignals } from "@signalbox/flows/FlowSignals"
 *
 * export const yes = Effect.provideService(FlowSignals, {
 *   receive: () => Effect.succeed({ approved: true, by: "script", comment: null })
 * })
 * ```
 */
export const FlowSignals = Context.Reference<FlowSignals>("@signalbox/flows/FlowSignals", {
  defaultValue: () => ({
    receive: ({ path }) =>
      Effect.die(
        new FlowDefect({
          message: `nobody sends the signal ${path} to a plain run: provide FlowSignals, or run the flow durably with Flow.execute`
        })
      )
  })
})

/** Signals by hand: those that come early wait; of two for one address the first counts. */
export const makeMailbox = Effect.sync(() => {
  const boxes = new Map<string, Deferred.Deferred<Schema.Json>>()
  const boxOf = ({ executionId, path }: SignalAddress) => {
    const id = `${executionId} ${path}`
    const box = boxes.get(id) ?? Deferred.makeUnsafe<Schema.Json>()
    boxes.set(id, box)
    return box
  }
  return {
    receive: (address: SignalAddress) => Effect.suspend(() => Deferred.await(boxOf(address))),
    send: (address: SignalAddress, value: Schema.Json) =>
      Effect.suspend(() => Effect.asVoid(Deferred.succeed(boxOf(address), value)))
  }
})
