/**
 * The source of signals for plain runs of flows.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { FlowDefect } from "./FlowDefect.ts"

/** A signal: the execution, and the path where it is received. */
export interface SignalAddress {
  readonly executionId: string
  readonly path: string
}

export interface FlowSignals {
  /** Resolves to the value of the signal, as JSON. */
  readonly receive: (address: SignalAddress) => Effect.Effect<Schema.Json>
}

/**
 * Provides the values of signals in plain runs, for example from a question on the terminal. Durable executions get theirs by
 * `Flow.handle`. Without this service, a plain run that waits for a signal is a defect.
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
          message: `a plain run receives no signal ${path}: provide FlowSignals, or run the flow durably with Flow.execute`
        })
      )
  })
})

/** Creates a source of signals that a program sends itself: early ones wait; of two for one address the first counts. */
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
