/**
 * Many calls in few requests: twenty at a time, each with its own result.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { Graph } from "./Graph.ts"
import type { GraphError, RequestInfo } from "./GraphError.ts"
import { collected } from "./internal/requests/Collected.ts"
import { decoder } from "./internal/requests/Call.ts"
import { operationOf } from "./internal/requests/Operation.ts"
import { info, type PartAnswer, type PartCall, pendingOf, problemOf } from "./internal/requests/Parts.ts"
import { deliverAll } from "./internal/requests/Rounds.ts"

export type { PartAnswer, PartCall } from "./internal/requests/Parts.ts"

/** A call of a batch, and how its answer is read. */
export interface Part<A> {
  readonly call: PartCall
  readonly read: (answer: PartAnswer, request: RequestInfo) => Effect.Effect<A, GraphError>
}

/** A part whose answer is decoded by a schema. */
export const part = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
  schema: S,
  call: PartCall
): Part<S["Type"]> => {
  const decode = decoder(schema)
  return { call, read: (answer, request) => decode(answer.body, request) }
}

/** A part whose answer comes as it is. */
export const raw = (call: PartCall): Part<PartAnswer> => ({ call, read: Effect.succeed })

/** What the parts give, under their names. */
export type Results<P extends Readonly<Record<string, Part<unknown>>>> = {
  readonly [K in keyof P]: Result.Result<P[K] extends Part<infer A> ? A : never, GraphError>
}

/** What became of a call of a batch. */
export type Outcome = "done" | "refused" | "notSent" | "unknown"

/**
 * What became of a call: `done`; `refused` by the service, for the reason of the error; `notSent`, so that it can be sent again;
 * or `unknown`: it was sent, and the connection broke before an answer came.
 *
 * ```ts
 * import * as Batch from "@signalbox/graph/Batch"
 * import type { GraphError } from "@signalbox/graph/GraphError"
 * import type * as Result from "effect/Result"
 *
 * export const again = <Row>(
 *   rows: ReadonlyArray<Row>,
 *   results: ReadonlyArray<Result.Result<unknown, GraphError>>
 * ) =>
 *   rows.filter((_, n) => {
 *     const result = results[n]
 *     return result !== undefined && Batch.outcomeOf(result) === "notSent"
 *   })
 * ```
 */
export const outcomeOf = (result: Result.Result<unknown, GraphError>): Outcome => {
  if (Result.isSuccess(result)) return "done"
  const { _tag } = result.failure.reason
  return _tag === "OutcomeUnknown" ? "unknown" : _tag === "NotSent" ? "notSent" : "refused"
}

/** Sends parts under their names, and reads the answer of each. */
const sendAll = Effect.fnUntraced(function* (
  parts: ReadonlyArray<readonly [id: string, part: Part<unknown>]>
): Effect.fn.Return<ReadonlyArray<Result.Result<unknown, GraphError>>, GraphError, Graph> {
  const operation = yield* operationOf(null)
  const pending = parts.map(([id, { call }]) => pendingOf(id, call, operation))
  const problem = problemOf(pending)
  if (problem !== undefined) return yield* problem
  const outcomes = yield* deliverAll(pending)
  return yield* Effect.forEach(pending, (part, index) => {
    const outcome = outcomes.get(part)
    const read = parts[index]?.[1].read
    if (outcome === undefined || read === undefined) return Effect.die(new Error(`${part.id} has no outcome`))
    return Result.isFailure(outcome)
      ? Effect.succeed(outcome)
      : Effect.result(read(outcome.success, info(part, outcome.success)))
  })
})

/**
 * Sends named parts, in requests of at most twenty, and returns the result of each. A part that is throttled is sent again by
 * itself, when its own answer says; the others are not held up by it.
 *
 * A connection that breaks loses no result: reads are sent again by the policy, and a write that was sent and got no answer has
 * `OutcomeUnknown`. Parts after a request that was refused as a whole, or after two in a row that broke, have `NotSent`.
 * Fails, with nothing sent, only when the parts cannot be a batch.
 *
 * ```ts
 * import * as Batch from "@signalbox/graph/Batch"
 * import { Drive } from "@signalbox/graph/model/Drive"
 * import { User } from "@signalbox/graph/model/User"
 *
 * export const start = Batch.send({
 *   me: Batch.part(User, { path: "/me" }),
 *   drive: Batch.part(Drive, { path: "/me/drive" })
 * })
 * ```
 */
export const send = Effect.fn("Batch.send")(function* <P extends Readonly<Record<string, Part<unknown>>>>(
  parts: P
): Effect.fn.Return<Results<P>, GraphError, Graph> {
  const entries = Object.entries(parts)
  const results = yield* sendAll(entries)
  return Object.fromEntries(entries.map(([id], index) => [id, results[index]])) as Results<P> // each was read by the part of its name
})

/**
 * Sends a part for each row, in requests of at most twenty, and returns the results in the order of the rows. As `send`, it loses
 * no result: `outcomeOf` says which rows are done, and which can be sent again.
 *
 * ```ts
 * import * as Batch from "@signalbox/graph/Batch"
 * import { User } from "@signalbox/graph/model/User"
 * import { path } from "@signalbox/graph/Path"
 *
 * export const people = (ids: ReadonlyArray<string>) =>
 *   Batch.all(ids, (id) => Batch.part(User, { path: path`/users/${id}` }))
 * ```
 */
export const all = Effect.fn("Batch.all")(function* <Row, A>(
  rows: Iterable<Row>,
  toPart: (row: Row, index: number) => Part<A>
): Effect.fn.Return<ReadonlyArray<Result.Result<A, GraphError>>, GraphError, Graph> {
  const parts = Array.from(rows, (row, index) => [String(index), toPart(row, index)] as const)
  return (yield* sendAll(parts)) as ReadonlyArray<Result.Result<A, GraphError>> // each was read by the part of its row
})

/**
 * Runs an effect whose concurrent calls travel together, in requests of at most twenty. Each call has its own result, errors and
 * retries, as without it; bytes and streams go by themselves.
 *
 * ```ts
 * import * as Batch from "@signalbox/graph/Batch"
 * import * as Users from "@signalbox/graph/Users"
 * import * as Effect from "effect/Effect"
 *
 * export const managers = (ids: ReadonlyArray<string>) =>
 *   Batch.collect(
 *     Effect.forEach(ids, (id) => Effect.result(Users.manager(id)), {
 *       concurrency: "unbounded"
 *     })
 *   )
 * ```
 */
export const collect = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Graph> =>
  Effect.flatMap(Graph, (graph) => Effect.provideService(effect, Graph, collected(graph)))
