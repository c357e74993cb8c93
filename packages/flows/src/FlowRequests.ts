/**
 * Requests to executions by their ids. `Flow.handle` has the same for the execution of a key.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { FlowEngine } from "./FlowEngine.ts"
import type {
  ExecutionConflict,
  ExecutionNotFound,
  InvalidSignal,
  RequestAbandoned,
  RequestUnanswered,
  SignalConflict
} from "./FlowErrors.ts"
import { segment } from "./internal/body/Position.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"
import * as Requesting from "./internal/engine/Requesting.ts"
import { asCall } from "./internal/journal/Calling.ts"
import { type Codec, recordSignal } from "./internal/model/Values.ts"
import { answerOf } from "./internal/operate/AnswerValues.ts"
import type { Requestable } from "./Requests.ts"

/** The errors of a request that was not sent. */
export type SendError = ExecutionNotFound | ExecutionConflict | SignalConflict | InvalidSignal

/** What has become of a request. */
export interface Answered {
  /** Identifies the request; empty for an approval. */
  readonly id: string
  /**
   * `answered`: `value` is the answer, of an approval whether it counted. `refused`: it is the error. `abandoned`: the execution has
   * ended, or begun its next chapter, without an answer. `pending`: there is none yet.
   */
  readonly state: "answered" | "refused" | "abandoned" | "pending"
  readonly value: Schema.Json
}

export interface SendOptions {
  /** Identifies the request: sent again with it, it gets the same answer. Default: a new one. An approval has none. */
  readonly id?: string | undefined
  /** How long to wait for the answer; default: not at all. */
  readonly wait?: Duration.Input | undefined
}

/**
 * Sends a request to an execution, by its name with its key as in `review[a]`, and waits for its answer. Fails, and records nothing, with
 * `InvalidSignal` when the flow lists no such request, or the input does not fit or is refused by its `validate`; with `SignalConflict`
 * when another input was sent with this id; with `ExecutionConflict` when the execution has ended; and with `ExecutionNotFound`.
 *
 * ```ts
 * import * as FlowRequests from "@signalbox/flows/FlowRequests"
 *
 * export const reviewed = (execution: string, id: string) =>
 *   FlowRequests.send(execution, "review", { pages: 3 }, { id, wait: "1 minute" })
 * ```
 */
export const send = Effect.fn("FlowRequests.send")(function* (
  execution: string,
  request: string,
  input: Schema.Json,
  { id, wait = 0 }: SendOptions = {}
): Effect.fn.Return<Answered, SendError, FlowEngine> {
  const { engine } = yield* engineOf
  const waitMillis = Duration.toMillis(Duration.fromInputUnsafe(wait))
  return yield* Requesting.request(engine, { execution, address: request, input, id, waitMillis })
}, asCall)

export interface AskOptions {
  /** Identifies the request: sent again with it, it gets the same answer. Default: a new one. An approval has none. */
  readonly id?: string | undefined
  /** Distinguishes requests with the same name, as in `receive`. */
  readonly key?: string | undefined
  /** How long to wait for the answer. Default: without a limit. */
  readonly within?: Duration.Input | undefined
}

/**
 * Sends a request and waits for its answer: returns it, or fails with the error of a refusal. Fails like `send`; with
 * `RequestUnanswered`, which has the id to send it again with, when it takes longer than `within`; and with `RequestAbandoned` when the
 * execution ends, or begins its next chapter, without an answer.
 */
export const ask = Effect.fn("FlowRequests.ask")(function* <I extends Codec, S extends Codec, E extends Codec>(
  execution: string,
  request: Requestable<I, S, E>,
  input: I["Type"],
  { id, key, within = Infinity }: AskOptions = {}
): Effect.fn.Return<S["Type"], E["Type"] | SendError | RequestUnanswered | RequestAbandoned, FlowEngine> {
  const { json } = yield* recordSignal(request, input)
  const address = segment(request.name, key)
  const answer = yield* send(execution, address, json, { id, wait: within })
  const withinMillis = Duration.toMillis(Duration.fromInputUnsafe(within))
  return yield* answerOf(request, { execution, address, withinMillis }, answer)
})
