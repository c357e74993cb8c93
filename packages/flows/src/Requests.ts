/**
 * Requests: messages that a flow answers.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { FlowContext } from "./FlowContext.ts"
import { claimed, conceal, Position, segment } from "./internal/body/Position.ts"
import type { Codec } from "./internal/model/Values.ts"
import type { Signal } from "./Signals.ts"

/** How a request is answered. */
export interface Answers<S extends Codec, E extends Codec> {
  readonly success: S
  readonly error: E
  /** Returns why an input is refused where it is sent, or null. The input fits its schema. */
  readonly validate: (input: unknown) => string | null
}

/** Something that is sent with `handle.request`: a request, or an approval. */
export interface Requestable<I extends Codec, S extends Codec, E extends Codec> {
  readonly kind: "signal" | "inbox"
  readonly name: string
  readonly schema: I
  readonly request: Answers<S, E>
}

/** A request that a body has received. */
export interface Asked<I, S, E> {
  /** The id with which it was sent. */
  readonly id: string
  readonly input: I
  /** Answers it: JSON by the schema, at most 1 MB, without secrets. A second answer is a defect. */
  readonly answer: (value: S) => Effect.Effect<void, never, FlowContext<never>>
  /** Refuses it with an error. */
  readonly refuse: (error: E) => Effect.Effect<void, never, FlowContext<never>>
}

/** A message that a flow answers. */
export interface Request<I extends Codec, S extends Codec, E extends Codec>
  extends Requestable<I, S, E>, Omit<Signal<I>, "receive" | "request" | "kind"> {
  readonly kind: "inbox"
  /** Waits for the next request, in the order of arrival, like an inbox. `key` distinguishes requests of one name, in branches. */
  readonly receive: (options?: {
    readonly key?: string | undefined
  }) => Effect.Effect<Asked<I["Type"], S["Type"], E["Type"]>, never, FlowContext<never>>
}

export interface RequestOptions<I extends Codec, S extends Codec, E extends Codec> {
  readonly input: I
  /** What it is answered with. */
  readonly success: S
  /** What it is refused with; default: nothing, so that it cannot be refused. */
  readonly error?: E | undefined
  /**
   * Returns why an input is refused, or null. It runs where the request is sent, before anything is recorded: the call fails with
   * `InvalidSignal`.
   */
  readonly validate?: ((input: I["Type"]) => string | null) | undefined
}

/**
 * Defines a request: a message that the body receives like one of an inbox, and answers once. List it in the `signals` of the flow, and
 * send it with `handle.request`, which waits for the answer. A request that is sent again with its id gets the same answer. One that is
 * unanswered when the execution ends, or begins its next chapter, is abandoned, which its sender learns at once.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const add = Flow.request("add", {
 *   input: Schema.Finite,
 *   success: Schema.Finite,
 *   validate: (amount) => (amount < 0 ? "expected at least 0" : null)
 * })
 *
 * export const account = Flow.make("account", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.Finite,
 *   error: Schema.Never,
 *   idempotencyKey: (owner) => owner,
 *   signals: [add],
 *   run: Effect.fnUntraced(function* () {
 *     let balance = 0
 *     while (balance < 100) {
 *       const asked = yield* add.receive()
 *       balance += asked.input
 *       yield* asked.answer(balance)
 *     }
 *     return balance
 *   })
 * })
 *
 * export const added = (owner: string, amount: number, id: string) =>
 *   Effect.flatMap(Flow.handle(account, owner), (handle) =>
 *     handle.request(add, amount, { id, within: "10 seconds" })
 *   )
 * ```
 */
export const request = <I extends Codec, S extends Codec, E extends Codec = typeof Schema.Never>(
  name: string,
  { error, input, success, validate }: RequestOptions<I, S, E>
): Request<I, S, E> => {
  // Without a schema for its error, `E` is `Never`.
  const refusal = (error ?? Schema.Never) as E
  return {
    kind: "inbox",
    name,
    schema: input,
    request: {
      success,
      error: refusal,
      // Messages are decoded by the schema before they are validated.
      validate: (value) => validate?.(value as I["Type"]) ?? null
    },
    receive: ({ key } = {}) => {
      const address = segment(name, key)
      const answering = <A extends Codec>(id: string, state: "answered" | "refused", schema: A, value: A["Type"]) =>
        conceal(
          Effect.flatMap(Position, ({ interpreter }) => interpreter.answer({ name: address, id, state, schema, value }))
        )
      return conceal(
        claimed(
          name,
          key,
          ({ path }, interpreter) =>
            Effect.map(interpreter.request({ path, name }, address, input), (asked) => ({
              ...asked,
              answer: (value: S["Type"]) => answering(asked.id, "answered", success, value),
              refuse: (value: E["Type"]) => answering(asked.id, "refused", refusal, value)
            })),
          { repeats: true }
        )
      )
    }
  }
}
