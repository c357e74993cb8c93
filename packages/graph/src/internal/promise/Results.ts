/** Results of the calls of a batch, for programs without Effect. */
import * as Result from "effect/Result"
import * as Batch from "../../Batch.ts"
import type { GraphError } from "../../GraphError.ts"
import type { GraphRequestError } from "./Errors.ts"
import { type Call, classOf } from "./Failure.ts"

/** What became of one call: its value, or why there is none. */
export type BatchResult<A> = BatchSuccess<A> | BatchFailure

/** A call that is done. */
export interface BatchSuccess<A> {
  readonly outcome: "done"
  readonly value: A
}

/** A call that was refused, was not sent, or was sent and has no answer. */
export interface BatchFailure {
  readonly outcome: "refused" | "notSent" | "unknown"
  readonly error: GraphRequestError
}

const presented = <A>(result: Result.Result<A, GraphError>, call: Call): BatchResult<A> => {
  if (Result.isSuccess(result)) return { outcome: "done", value: result.success }
  const outcome = Batch.outcomeOf(result)
  return { outcome: outcome === "done" ? "refused" : outcome, error: classOf(result.failure, call) }
}

/** Of rows, in their order. */
export const presentAll = <A>(
  results: ReadonlyArray<Result.Result<A, GraphError>>,
  call: Call
): ReadonlyArray<BatchResult<A>> => results.map((result) => presented(result, call))

/** Of parts with names. */
export const presentNamed = (
  results: Readonly<Record<string, Result.Result<unknown, GraphError>>>,
  call: Call
): Readonly<Record<string, BatchResult<unknown>>> =>
  Object.fromEntries(Object.entries(results).map(([name, result]) => [name, presented(result, call)]))
