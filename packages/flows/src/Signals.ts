/**
 * Signals: values that a flow waits for and that are sent from outside, such as the decision of a person.
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { FlowContext } from "./FlowContext.ts"
import { claimed, conceal, segment } from "./internal/body/Position.ts"
import type { Codec } from "./internal/model/Values.ts"
import type { Answers } from "./Requests.ts"

/** Something that can be sent to an execution: one value, or with `inbox` many. */
export interface Signal<S extends Codec> {
  readonly kind: "signal" | "inbox"
  readonly name: string
  readonly schema: S
  /** How it is answered; absent when it is not. */
  readonly request?: Answers<Codec, Codec> | undefined
  /**
   * Waits until the signal is sent, without a limit; returns immediately if it was sent before. For a signal each call returns the
   * same value, for an inbox the next message. `key` distinguishes signals with the same name, in branches. A plain run gets them
   * from `FlowSignals`.
   */
  readonly receive: (options?: { readonly key?: string }) => Effect.Effect<S["Type"], never, FlowContext<never>>
}

const make =
  (kind: Signal<Codec>["kind"]) =>
  <S extends Codec>(name: string, schema: S): Signal<S> => ({
    kind,
    name,
    schema,
    receive: ({ key } = {}) =>
      conceal(
        claimed(name, key, ({ path }, interpreter) => interpreter[kind]({ path, name }, segment(name, key), schema), {
          repeats: true
        })
      )
  })

/**
 * Defines a signal: one value for an execution, or for a key in it. List it in the `signals` of the flow, and send it with
 * `Flow.handle`. Sending an equal value again is accepted; another value fails with `SignalConflict`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const price = Flow.signal("price", Schema.Finite)
 *
 * export const offer = Flow.make("offer", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.Finite,
 *   error: Schema.Never,
 *   idempotencyKey: (id) => id,
 *   signals: [price],
 *   run: () => price.receive()
 * })
 *
 * export const send = (id: string) =>
 *   Effect.flatMap(Flow.handle(offer, id), (handle) => handle.signal(price, 12))
 * ```
 */
export const signal = make("signal")

/**
 * Defines an inbox: any number of messages, each with an id, so that a repeated one is received once. Each `receive` returns the
 * next message in the order of arrival.
 */
export const inbox = make("inbox")

/** The decision of a person. */
export const Approval = Schema.Struct({
  approved: Schema.Boolean,
  /** Who decided. */
  by: Schema.String,
  comment: Schema.NullOr(Schema.String)
})
export interface Approval extends Schema.Schema.Type<typeof Approval> {}

/** The answer to an approval that is sent with `handle.request`. */
export const Counted = Schema.Struct({
  /**
   * Whether the flow has received this decision. False: another one came before, or the flow did not wait for it any more, since a race
   * was decided or the execution has ended.
   */
  counted: Schema.Boolean,
  /** The decision that the flow receives, or has received; null when there is none. */
  decision: Schema.NullOr(Approval)
})
export interface Counted extends Schema.Schema.Type<typeof Counted> {}

/** A signal for the decision of a person. */
export interface ApprovalSignal extends Signal<typeof Approval> {
  readonly request: Answers<typeof Counted, typeof Schema.Never>
}

/**
 * Defines a signal for the decision of a person. A refusal is a value, not an error. Sent with `handle.request`, it says whether it
 * counted.
 */
export const approval = (name: string): ApprovalSignal => ({
  ...signal(name, Approval),
  request: { success: Counted, error: Schema.Never, validate: () => null }
})
