/**
 * Where durable flows run, and where they are kept: the one layer in which a program that runs its flows durably differs
 * from one that runs them plainly.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** The engine could not start. The message says why and what to do; it holds no secrets. */
export class FlowEngineError extends Schema.TaggedError<FlowEngineError>()("FlowEngineError", {
  message: Schema.String
}) {}

export interface SqliteOptions {
  /** The file of the database. It and its folder are made when they are missing. */
  readonly file: string
}

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: Redacted.Redacted
  /** Where the tables are; made when it is missing. Default: `signalbox_flows`. */
  readonly schema?: string
}

export interface ClusterOptions extends PostgresOptions {
  /** Where the other runners reach this one. */
  readonly host: string
  readonly port: number
  /** Where this one listens, when that is another address than the one that others reach. Default: `host`. */
  readonly listenHost?: string
}

/** What the layers need that only some programs have. */
const load = <A>(what: string, packages: string, module: () => Promise<A>): Effect.Effect<A, FlowEngineError> =>
  Effect.tryPromise({
    try: module,
    catch: (cause) =>
      new FlowEngineError({
        message:
          `${what} cannot be loaded; install ${packages} beside @signalbox/flows ` +
          `(${cause instanceof Error ? cause.message : String(cause)})`
      })
  })

/**
 * An engine for durable flows. The layers differ in where they keep the executions, and in how many processes may run
 * them.
 *
 * ```ts
 * import * as Layer from "effect/Layer"
 * import { FlowEngine } from "@signalbox/flows/FlowEngine"
 *
 * export const engine = FlowEngine.layerSqlite({ file: "data/flows.db" })
 * export const forTests = Layer.fresh(FlowEngine.layerMemory)
 * ```
 */
export class FlowEngine extends Context.Service<
  FlowEngine,
  {
    /** What the engine is made of, for this package alone. */
    readonly parts: Context.Context<never>
  }
>()("@signalbox/flows/FlowEngine") {
  /**
   * For tests: nothing is kept, and under virtual time hours of sleep pass at once. Each build has executions of its own.
   */
  static readonly layerMemory: Layer.Layer<FlowEngine, FlowEngineError> = Layer.unwrap(
    Effect.map(
      load("the engine in memory", "effect", () => import("./internal/engine/Sqlite.ts")),
      ({ layer }) => layer(":memory:")
    )
  )

  /**
   * For one process, on a SQLite file: a second one is refused. What was under way when the process ended goes on once
   * its flow is registered again; what waits costs no memory.
   */
  static readonly layerSqlite = ({ file }: SqliteOptions): Layer.Layer<FlowEngine, FlowEngineError> =>
    Layer.unwrap(
      Effect.map(
        load("the engine on SQLite", "effect", () => import("./internal/engine/Sqlite.ts")),
        ({ layer }) => layer(file)
      )
    )

  /** As `layerSqlite`, on Postgres: one process for a schema. Needs `@effect/sql-pg`. */
  static readonly layerPostgres = (options: PostgresOptions): Layer.Layer<FlowEngine, FlowEngineError> =>
    Layer.unwrap(
      Effect.map(
        load("the engine on Postgres", "@effect/sql-pg", () => import("./internal/engine/Postgres.ts")),
        ({ layer }) => layer(options)
      )
    )

  /**
   * For several processes on one Postgres, which share the executions: those of one that dies go on in another in about
   * ten seconds. A step that was under way then runs again, with the same idempotency key. Slower than the engine of one
   * process. Needs `@effect/sql-pg` and `@effect/platform-node`.
   */
  static readonly layerCluster = (options: ClusterOptions): Layer.Layer<FlowEngine, FlowEngineError> =>
    Layer.unwrap(
      Effect.map(
        load(
          "the cluster engine",
          "@effect/sql-pg and @effect/platform-node",
          () => import("./internal/engine/Cluster.ts")
        ),
        ({ layer }) => layer(options)
      )
    )
}
