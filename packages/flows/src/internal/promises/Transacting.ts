/**
 * Transactions of programs without Effect, over the client of the database that has the flows.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { FlowDefect } from "../../FlowDefect.ts"
import { FlowEngine } from "../../FlowEngine.ts"
import type { FlowDefinition } from "../../FlowDefinition.ts"
import type { SendOptions } from "../../Durable.ts"
import type { Signal } from "../../Signals.ts"
import * as Transactions from "../../Transactions.ts"
import { Transactions as Current } from "../body/Transactions.ts"
import type { Codec } from "../model/Values.ts"
import { errorOf, FlowError } from "./Thrown.ts"

/**
 * Runs a statement and resolves to its rows. Parameters are `?` on SQLite and `$1`, `$2` on Postgres, where tables outside of the schema
 * of the flows are named with theirs: `public.orders`.
 */
export type Query = <Row extends object>(
  text: string,
  parameters?: ReadonlyArray<unknown>
) => Promise<ReadonlyArray<Row>>

/** What a transaction can do. Its calls are awaited one after the other. */
export interface TransactionTools {
  readonly query: Query
  /** Submits an execution, which begins after the commit; resolves to its id. */
  readonly submit: <I extends Codec, S extends Codec, E extends Codec>(
    flow: FlowDefinition<I, S, E>,
    input: I["Type"],
    options?: { readonly key?: string }
  ) => Promise<string>
  /** Sends a signal to the execution of a key with the commit. */
  readonly signal: <I extends Codec, S extends Codec, E extends Codec, V extends Codec>(
    flow: FlowDefinition<I, S, E>,
    key: string,
    signal: Signal<V>,
    value: V["Type"],
    options?: SendOptions
  ) => Promise<void>
}

interface TransactionDefinition<I extends Codec, O extends Codec> {
  readonly input: I
  readonly success: O
  readonly run: (input: I["Type"], tools: { readonly query: Query }) => PromiseLike<O["Type"]> | O["Type"]
}

const ofEngine: Effect.Effect<SqlClient> = Effect.flatMap(Current, ({ sql }) =>
  sql === null
    ? Effect.die(new FlowDefect({ message: "a transaction needs openFlows: a plain run has no database" }))
    : Effect.succeed(sql)
)

/** Runs an async function whose statements are those of the open transaction. */
const queried = <A>(run: (query: Query) => PromiseLike<A> | A): Effect.Effect<A, FlowError> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.flatMap(ofEngine, (sql) =>
      Effect.tryPromise({
        try: async () => run((text, parameters = []) => Effect.runPromiseWith(context)(sql.unsafe(text, parameters))),
        catch: errorOf
      })
    )
  )

/** A transaction whose `run` is an async function. */
export const transactionOf = <I extends Codec, O extends Codec>(
  name: string,
  { input, run, success }: TransactionDefinition<I, O>
) =>
  Transactions.makeTransaction(
    name,
    {
      input,
      success,
      error: FlowError,
      run: (given: I["Type"]) => queried<O["Type"]>((query) => run(given, { query }))
    },
    ofEngine
  )

/** Runs an async function in a transaction, which is rolled back when it rejects. */
export const transacted = <A>(
  run: (tools: TransactionTools) => PromiseLike<A> | A
): Effect.Effect<A, SqlError, FlowEngine> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    return yield* sql.withTransaction(
      Effect.contextWith((context: Context.Context<FlowEngine | SqlClient>) => {
        const within = <B, E>(effect: Effect.Effect<B, E, FlowEngine | SqlClient>) =>
          Effect.runPromiseWith(context)(effect)
        const tools: TransactionTools = {
          query: (text, parameters = []) => within(sql.unsafe(text, parameters)),
          submit: (flow, input, options) => within(Transactions.submitWithin(flow, input, options)),
          signal: (flow, key, signal, value, options) =>
            within(Transactions.signalWithin(flow, key, signal, value, options))
        }
        // What it throws is what the caller gets, and of any kind.
        return Effect.promise(async () => run(tools))
      })
    )
  }).pipe(Effect.provide(FlowEngine.sqlClient))
