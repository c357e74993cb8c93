/**
 * One commit for rows of the program and for what flows record.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { SendOptions } from "./Durable.ts"
import type { FlowDefinition } from "./FlowDefinition.ts"
import { FlowDefect } from "./FlowDefect.ts"
import type { FlowEngine } from "./FlowEngine.ts"
import {
  ExecutionConflict,
  ExecutionNotFound,
  FlowDraining,
  FlowExpired,
  type InvalidInput,
  type InvalidSignal,
  SignalConflict
} from "./FlowErrors.ts"
import { startOf } from "./internal/body/FlowType.ts"
import { segment } from "./internal/body/Position.ts"
import { Transactions } from "./internal/body/Transactions.ts"
import { engineOf } from "./internal/engine/EngineOf.ts"
import { messageOf } from "./internal/engine/MessageCheck.ts"
import { Attempt } from "./internal/model/Identity.ts"
import { type Codec, decodeRecorded, record, recordSignal, recordSubmitted } from "./internal/model/Values.ts"
import type { Signal } from "./Signals.ts"
import { makeStep, type Step } from "./Step.ts"

/**
 * Like `Flow.submit`, in the transaction of the `SqlClient`: the execution begins after its commit, and does not exist if it is rolled
 * back. On Postgres it is any client of the database that has the flows, on SQLite that of `FlowEngine.sqlClient`; another client is a
 * `FlowDefect`. Returns the id, also of an execution that exists with the key. Fails like `Flow.submit`.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import { SqlClient } from "effect/sql/SqlClient"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * const shipment = Flow.define("shipment", {
 *   version: 1,
 *   input: Schema.String,
 *   success: Schema.Void,
 *   error: Schema.Never,
 *   idempotencyKey: (order) => order
 * })
 *
 * export const accept = Effect.fnUntraced(function* (order: string) {
 *   const sql = yield* SqlClient
 *   return yield* sql.withTransaction(
 *     Effect.gen(function* () {
 *       yield* sql`INSERT INTO orders (id) VALUES (${order})`
 *       return yield* Flow.submitWithin(shipment, order)
 *     })
 *   )
 * })
 * ```
 */
export const submitWithin = Effect.fn("Flow.submitWithin")(function* <
  I extends Codec,
  S extends Codec,
  E extends Codec
>(
  flow: FlowDefinition<I, S, E>,
  input: I["Type"],
  options: { readonly key?: string } = {}
): Effect.fn.Return<string, InvalidInput | FlowExpired | FlowDraining | SqlError, SqlClient | FlowEngine> {
  const { engine } = yield* engineOf
  const { journal } = engine
  const given = yield* recordSubmitted(flow, input)
  const start = startOf(flow, given, options.key)
  const isQueued = start.limits.length > 0
  const wakeAt = isQueued ? null : yield* journal.now
  const isRefused = yield* engine.isRefused(start)
  const sql = yield* SqlClient
  const created = yield* journal.within(
    sql,
    Effect.fnUntraced(function* ({ create, findKey }) {
      const { flow, key, version } = start
      if (isRefused && (yield* findKey(flow, key)) === null) return yield* new FlowDraining({ flow, version })
      return yield* create({
        ...start,
        id: engine.newId(),
        parent: null,
        messages: [],
        state: isQueued ? "queued" : "running",
        owner: null,
        wakeAt
      })
    })
  )
  if (created._tag === "Expired") {
    const { endedAt, id, state } = created.expired
    return yield* new FlowExpired({ execution: id, state, endedAt })
  }
  const { id } = created.execution
  if (created._tag === "Created") yield* sql.afterCommit(engine.poke(id))
  return id
})

/**
 * Sends a signal to the execution of a flow with this key, in the transaction of the `SqlClient`: see `submitWithin`. An execution that
 * the same transaction submits is found too.
 */
export const signalWithin = Effect.fn("Flow.signalWithin")(function* <
  I extends Codec,
  S extends Codec,
  E extends Codec,
  V extends Codec
>(
  flow: FlowDefinition<I, S, E>,
  key: string,
  signal: Signal<V>,
  value: V["Type"],
  options: SendOptions = {}
): Effect.fn.Return<
  void,
  InvalidSignal | ExecutionNotFound | ExecutionConflict | SignalConflict | SqlError,
  SqlClient | FlowEngine
> {
  const { engine } = yield* engineOf
  const { json } = yield* recordSignal(signal, value)
  const address = segment(signal.name, options.key)
  const message = yield* messageOf({ flow: flow.name, version: flow.version }, flow.signals, {
    address,
    value: json,
    id: options.id
  })
  const sql = yield* SqlClient
  yield* engine.journal.within(
    sql,
    Effect.fnUntraced(function* ({ findKey, send }) {
      const execution = yield* findKey(flow.name, key)
      if (execution === null) return yield* new ExecutionNotFound({ execution: `${flow.name} ${key}` })
      const { id, state } = execution
      const { outcome } = yield* send(id, message)
      if (outcome === "conflict") return yield* new SignalConflict({ execution: id, signal: address })
      if (outcome === "sent") yield* sql.afterCommit(engine.poke(id))
      if (outcome === "sent" || outcome === "repeated") return
      const ended = `the execution ${id} has ended and accepts no signals`
      return yield* new ExecutionConflict({ execution: id, state, message: ended })
    })
  )
})

/** The database did not carry out the transaction of a step: nothing of it was written. */
export class TransactionFailed extends TaggedError<TransactionFailed>()("TransactionFailed", {
  step: Schema.String,
  message: Schema.String,
  /** Whether the database was away, full or busy, so that a durable execution tries again. */
  passing: Schema.Boolean
}) {}

/** The error schema of a transaction. */
type WithFailure<E extends Codec> = Schema.Union<readonly [E, typeof TransactionFailed]>

export interface TransactionOptions<I extends Codec, S extends Codec, E extends Codec, R> {
  readonly input: I
  /** The result: JSON by this schema, at most 1 MB, without secrets. */
  readonly success: S
  readonly error: E
  readonly run: (input: I["Type"]) => Effect.Effect<S["Type"], E["Type"] | SqlError, R>
}

/** @internal `transaction`, with another source of its client. */
export const makeTransaction = <I extends Codec, S extends Codec, E extends Codec, R, R2, const Name extends string>(
  name: Name,
  { error, input, run, success }: TransactionOptions<I, S, E, R>,
  client: Effect.Effect<SqlClient, never, R2>
): Step<I, S, WithFailure<E>, R | R2, Name> => {
  const what = `the result of the step ${name}`
  const failed = (error: SqlError, passing: boolean) =>
    new TransactionFailed({ step: name, message: `the transaction of ${name} failed: ${error.message}`, passing })
  return makeStep(
    name,
    {
      input,
      success,
      error: Schema.Union([error, TransactionFailed]),
      run: Effect.fnUntraced(function* (given: I["Type"]) {
        const { isPassing, once } = yield* Transactions
        const attempt = yield* Attempt
        if (attempt === null) {
          return yield* Effect.die(new FlowDefect({ message: `the transaction ${name} was used outside of a flow` }))
        }
        const { executionId: execution, scope } = attempt
        const committed = once(
          yield* client,
          { execution, scope },
          Effect.flatMap(run(given), (value) => Effect.map(record(success, value, what), ({ json }) => json))
        )
        const value = yield* Effect.catchIf(committed, isSqlError, (error) =>
          Effect.fail(failed(error, isPassing(error)))
        )
        return yield* decodeRecorded(success, value, what)
      })
    },
    {
      transient: (error) =>
        error instanceof TransactionFailed && error.passing ? { retryAfterMillis: null, acted: "no" } : null
    }
  )
}

/**
 * Creates a step whose rows and whose result are one commit: after a crash at any point both are there, or neither is and the step runs
 * again. `run` uses the `SqlClient` of its environment and nothing else that has effects; its transaction is open. On Postgres it is any
 * client of the database that has the flows, on SQLite that of `FlowEngine.sqlClient`. In `Flow.run` it is a plain transaction.
 *
 * While the database is away the step is retried, for a day. It fails with `TransactionFailed` when a statement is refused, such as by a
 * constraint, unless `run` handles that.
 *
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import { SqlClient } from "effect/sql/SqlClient"
 * import * as Flow from "@signalbox/flows/Flow"
 *
 * export const book = Flow.transaction("book", {
 *   input: Schema.Struct({ account: Schema.String, cents: Schema.Int }),
 *   success: Schema.Void,
 *   error: Schema.Never,
 *   run: Effect.fnUntraced(function* ({ account, cents }) {
 *     const sql = yield* SqlClient
 *     yield* sql`
 *       UPDATE accounts SET cents = cents + ${cents} WHERE id = ${account}`
 *   })
 * })
 * ```
 */
export const transaction = <I extends Codec, S extends Codec, E extends Codec, R, const Name extends string>(
  name: Name,
  options: TransactionOptions<I, S, E, R>
): Step<I, S, WithFailure<E>, R | SqlClient, Name> => makeTransaction(name, options, SqlClient)
