/**
 * The engine of durable flows, as one layer: it runs and stores executions.
 */
import { check, orNull, type Rule, text, time, whole } from "@signalbox/transport/OptionError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { SqlClient } from "effect/sql/SqlClient"
import type { Sharding } from "effect/cluster/Sharding"
import { FlowEngineError } from "./FlowErrors.ts"
import type { FlowValues } from "./FlowValues.ts"
import { Engine, make } from "./internal/engine/Engine.ts"
import { Journal } from "./internal/journal/Journal.ts"
import * as Sealed from "./internal/journal/Sealed.ts"
import { defaultSchema } from "./internal/journal/sql/Renewal.ts"
import type { Ownership } from "./internal/ownership/Ownership.ts"
import * as LeaseThread from "./internal/ownership/LeaseThread.ts"
import * as Leases from "./internal/ownership/Leases.ts"
import * as Local from "./internal/ownership/Local.ts"
import * as Retention from "./internal/engine/Retention.ts"
import { RunWatchers } from "./internal/engine/RunWatchers.ts"
import { LocalSchedules } from "./internal/engine/RegisteredSchedules.ts"

export { FlowEngineError } from "./FlowErrors.ts"

export interface Options {
  /** The largest number of executions in memory, without evicted ones; default 1,000. */
  readonly concurrency?: number | undefined
  /** How long executions are retained after their end. */
  readonly retain?: RetainOptions | undefined
  /**
   * Encrypts inputs, results, errors, messages and what steps record: `FlowValues.aes`. Flow names, keys, tags, states and times stay
   * readable. Default: values are stored as JSON.
   */
  readonly values?: FlowValues | undefined
}

/** `null` means for ever. */
export interface RetainOptions {
  /** Default 30 days. */
  readonly completed?: Duration.Input | null
  /** Failed and cancelled ones; default 90 days. */
  readonly others?: Duration.Input | null
  /** Key, state and end of deleted executions, so that their key is not used again; default for ever. */
  readonly keys?: Duration.Input | null
}

export interface SqliteOptions extends Options {
  /** The file of the database. It and its folder are created if they are missing. */
  readonly file: string
}

/** Options of the processes that share one Postgres. */
export interface SharedOptions {
  /**
   * How long a step may keep the event loop before the process loses its executions: they then continue in another process. At most 10
   * minutes; default 2 minutes. A step that costs its process the executions three times halts its execution.
   */
  readonly stallLimit?: Duration.Input | undefined
  /**
   * The file of `@signalbox/flows/LeaseThread`, the module of the thread that renews the lease of this process while a step
   * computes. Set it in a bundled program that has it as a file of its own. `false`: without a thread, so that a step may keep the event loop for 30 seconds.
   */
  readonly leaseThread?: URL | string | false | undefined
}

export interface PostgresOptions extends Options, SharedOptions {
  /** `postgres://user:password@host:port/database`, of the server or, together with `directUrl`, of a connection pooler. */
  readonly url: Redacted.Redacted
  /**
   * The address of the server itself when `url` leads to a connection pooler, such as PgBouncer in transaction mode. Migrations,
   * notifications and the renewal of leases use it. Default: `url` is that of the server.
   */
  readonly directUrl?: Redacted.Redacted
  /** The schema of the tables; created if it is missing. Default: `signalbox_flows`. */
  readonly schema?: string
}

const keptFor = orNull(time)
const defaultStallLimit = "2 minutes"
const longestStallLimit = Duration.minutes(10)

/** At most the longest one; else an endless loop would keep its executions. */
const stallTime: Rule = (value) => {
  const expected = time(value)
  if (expected !== null) return expected
  // `time` has checked it.
  return Duration.isLessThanOrEqualTo(Duration.fromInputUnsafe(value as Duration.Input), longestStallLimit)
    ? null
    : "expected a length of time of at most 10 minutes"
}

/** The module of the thread. In a program of CommonJS this throws; it is then started without. */
const leaseThreadFile = (): URL => {
  const file = new URL("./LeaseThread.js", import.meta.url)
  // Started from the sources.
  if (import.meta.url.endsWith(".ts")) file.pathname = file.pathname.replace(/js$/, "ts")
  return file
}

/** The thread of an engine on Postgres. */
const threadOf = (of: string, options: PostgresOptions) => {
  const { leaseThread, schema = defaultSchema, stallLimit = defaultStallLimit, url, directUrl = url } = options
  check(of, { stallLimit }, { stallLimit: stallTime })
  return LeaseThread.layer({
    module: () => leaseThread ?? leaseThreadFile(),
    url: Redacted.value(directUrl),
    schema,
    stallLimitMillis: Duration.toMillis(Duration.fromInputUnsafe(stallLimit))
  })
}

const defaultConcurrency = 1_000

const sealed = <E>(journal: Layer.Layer<Journal, E>, values: FlowValues): Layer.Layer<Journal, E> =>
  Layer.effect(
    Journal,
    Effect.map(Journal, (journal) => Sealed.make(journal, values))
  ).pipe(Layer.provide(journal))

/** @internal The services of every engine. */
export type Parts = Engine | RunWatchers | LocalSchedules

/** @internal An engine over a journal. */
export const over = <R = never>(
  journal: Layer.Layer<Journal, FlowEngineError>,
  ownership: Layer.Layer<Ownership, never, Journal | R>,
  options: Options = {}
): Layer.Layer<FlowEngine, FlowEngineError, Exclude<R, Journal>> => {
  const { concurrency = defaultConcurrency, retain = {}, values } = options
  check("FlowEngine", options, { concurrency: whole(1) })
  check("FlowEngine", retain, { completed: keptFor, others: keptFor, keys: keptFor }, "retain.")
  const kept = values === undefined ? journal : sealed(journal, values)
  const parts = Layer.mergeAll(RunWatchers.layer, Retention.layer(retain), LocalSchedules.layer).pipe(
    Layer.provideMerge(Layer.effect(Engine, make({ concurrency, encrypts: values !== undefined }))),
    Layer.provide(Layer.provideMerge(ownership, kept)),
    // Two engines of one program share nothing.
    Layer.fresh
  )
  return Layer.effect(
    FlowEngine,
    Effect.map(Effect.context<Parts>(), (context) => FlowEngine.of({ parts: context }))
  ).pipe(Layer.provide(parts))
}

/** Loads modules whose packages are optional peer dependencies. */
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
 * An engine for durable flows. The layers differ in where they store executions, and in how many processes may run them. They fail
 * with `FlowEngineError`.
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
    /** The services of the engine, only for this package. */
    readonly parts: Context.Context<never>
  }
>()("@signalbox/flows/FlowEngine") {
  /**
   * The client of the database that has the flows, for tables of the program beside them. On SQLite, `Flow.transaction` and
   * `Flow.submitWithin` need it, since a file has one writer. On Postgres its names are those of the schema of the flows: use a client of
   * the program's own there.
   */
  static readonly sqlClient: Layer.Layer<SqlClient, never, FlowEngine> = Layer.effect(
    SqlClient,
    // `over` builds every engine with these services.
    Effect.map(FlowEngine, ({ parts }) => Context.get(parts as Context.Context<Parts>, Engine).journal.sql)
  )

  /**
   * For tests: executions are in memory, and with a `TestClock` hours of sleep pass immediately. Each build of the layer has separate
   * executions.
   */
  static readonly layerMemory: Layer.Layer<FlowEngine, FlowEngineError> = Layer.unwrap(
    Effect.map(
      load("the engine in memory", "effect", () => import("./internal/journal/Sqlite.ts")),
      ({ layerMemory }) => over(layerMemory, Local.layer)
    )
  )

  /**
   * For one process, on a SQLite file; a second process is refused. Executions that had not ended when the process did continue when
   * their flow is registered again; waiting ones use no memory.
   */
  static readonly layerSqlite = ({ file, ...options }: SqliteOptions): Layer.Layer<FlowEngine, FlowEngineError> => {
    check("FlowEngine.layerSqlite", { file }, { file: text })
    return Layer.unwrap(
      Effect.map(
        load("the engine on SQLite", "effect", () => import("./internal/journal/Sqlite.ts")),
        ({ layer }) => over(layer(file), Local.layer, options)
      )
    )
  }

  /**
   * For any number of processes on one Postgres, which share the executions: those of a process that dies continue in another
   * within ten seconds, and at once in one that starts on the same host (Linux, without a container of its own). An interrupted step then runs again, with the same idempotency keys. Needs `@effect/sql-pg`.
   */
  static readonly layerPostgres = (options: PostgresOptions): Layer.Layer<FlowEngine, FlowEngineError> => {
    const thread = threadOf("FlowEngine.layerPostgres", options)
    return Layer.unwrap(
      Effect.map(
        load("the engine on Postgres", "@effect/sql-pg", () => import("./internal/journal/Postgres.ts")),
        ({ layer }) => over(layer(options), Layer.provide(Leases.layer, thread), options)
      )
    )
  }

  /**
   * For the runners of a cluster of `effect/cluster` on one Postgres: like `layerPostgres`, but each runner claims the executions of
   * its shards (of the group `default`) first. When a shard has no runner, or its runner has not registered the version of the flow,
   * another runner claims them after about a second. An execution runs where it was submitted until it waits for more than a few
   * seconds. The messages of the cluster are not used.
   *
   * ```ts
   * import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
   * import * as PgClient from "@effect/sql-pg/PgClient"
   * import * as Layer from "effect/Layer"
   * import * as Redacted from "effect/Redacted"
   * import { FlowEngine } from "@signalbox/flows/FlowEngine"
   *
   * const url = Redacted.make("postgres://flows@localhost/flows")
   *
   * // The address of each runner is in its environment: HOST and PORT.
   * const runner = Layer.provide(NodeClusterSocket.layer(), PgClient.layer({ url }))
   *
   * export const engine = Layer.provide(FlowEngine.layerCluster({ url }), runner)
   * ```
   */
  static readonly layerCluster = (options: PostgresOptions): Layer.Layer<FlowEngine, FlowEngineError, Sharding> => {
    const thread = threadOf("FlowEngine.layerCluster", options)
    return Layer.unwrap(
      Effect.map(
        load("the engine on a cluster", "@effect/sql-pg", () =>
          Promise.all([import("./internal/journal/Postgres.ts"), import("./internal/ownership/Cluster.ts")])
        ),
        ([journal, ownership]) => over(journal.layer(options), Layer.provide(ownership.layer, thread), options)
      )
    )
  }
}
