/**
 * Where durable flows run, and where they are kept: the one layer in which a program that runs its flows durably differs
 * from one that runs them plainly.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { FlowEngineError } from "./FlowErrors.ts"
import type { ClusterOptions, PostgresOptions, SqliteOptions } from "./internal/engine/Options.ts"
import { type Parts, withRegistered } from "./internal/engine/Parts.ts"

export { FlowEngineError } from "./FlowErrors.ts"
export type { ClusterOptions, PostgresOptions, SqliteOptions } from "./internal/engine/Options.ts"

/** An engine of these parts. */
const engine = (parts: Layer.Layer<Parts, FlowEngineError>): Layer.Layer<FlowEngine, FlowEngineError> =>
  Layer.effect(
    FlowEngine,
    Effect.map(Effect.context<Parts>(), (context) => FlowEngine.of({ parts: withRegistered(context) }))
  ).pipe(Layer.provide(parts))

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
      ({ layer }) => engine(layer(":memory:"))
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
        ({ layer }) => engine(layer(file))
      )
    )

  /** As `layerSqlite`, on Postgres: one process for a schema. */
  static readonly layerPostgres = (options: PostgresOptions): Layer.Layer<FlowEngine, FlowEngineError> =>
    Layer.unwrap(
      Effect.map(
        load("the engine on Postgres", "effect", () => import("./internal/engine/Postgres.ts")),
        ({ layer }) => engine(layer(options))
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
        ({ layer }) => engine(layer(options))
      )
    )
}
