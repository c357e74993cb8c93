/**
 * The engines that suites go over, and processes that end and begin again on one store.
 */
import { databaseOf, dropSchema, urlVariable } from "@signalbox/testkit/Postgres"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FlowEngine, type FlowEngineError, type Options, over, type SharedOptions } from "../../src/FlowEngine.ts"
import { Journal } from "../../src/internal/journal/Journal.ts"
import * as Sqlite from "../../src/internal/journal/Sqlite.ts"
import * as Local from "../../src/internal/ownership/Local.ts"
import { LeaseClock } from "../../src/internal/journal/sql/Store.ts"
import { throughTime } from "./Time.ts"

/** A file in a new folder. */
export const temporaryFile = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-flows-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "flows.db")
)

/** The Postgres of the project at hand. */
export const postgresUrl = process.env[urlVariable] ?? ""

/** A separate schema. */
export const temporarySchema = Effect.acquireRelease(
  Effect.sync(() => `flows_${randomUUID().replaceAll("-", "")}`),
  (schema) => dropSchema(postgresUrl, schema)
)

/** Leases by the clock of the journal: where time is virtual, that of the server says nothing. */
export const leasesInVirtualTime = Layer.succeed(LeaseClock, "journal")

export const postgresOptions = (schema: string) => ({ ...databaseOf(postgresUrl), schema })

type EngineLayer = Layer.Layer<FlowEngine, FlowEngineError>

/** What processes run on, one after the other or beside each other. Each build of `process` is a new one. */
export class Store extends Context.Service<
  Store,
  {
    readonly process: (options?: Options & SharedOptions) => EngineLayer
    /** What stands before the names of its views and functions in SQL. */
    readonly prefix: string
  }
>()("test/Store") {
  /** A journal in memory that outlives the processes. */
  static readonly memory = Layer.effect(
    Store,
    Effect.map(Layer.build(Layer.fresh(Sqlite.layerMemory)), (context) => {
      const journal = Layer.succeed(Journal, Context.get(context, Journal))
      return Store.of({ prefix: "", process: (options) => Layer.fresh(over(journal, Local.layer, options)) })
    })
  )

  static readonly sqlite = Layer.effect(
    Store,
    Effect.map(temporaryFile, (file) =>
      Store.of({ prefix: "", process: (options) => Layer.fresh(FlowEngine.layerSqlite({ file, ...options })) })
    )
  )

  static readonly postgres = Layer.effect(
    Store,
    Effect.map(temporarySchema, (schema) =>
      Store.of({
        prefix: `${schema}.`,
        process: (options) =>
          Layer.fresh(
            Layer.provide(FlowEngine.layerPostgres({ ...postgresOptions(schema), ...options }), leasesInVirtualTime)
          )
      })
    )
  )
}

/**
 * Runs an effect in a separate process, which runs these flows and ends with the effect: steps that run have ten seconds
 * then, of virtual time unless `through` says otherwise.
 */
export const inProcess = Effect.fnUntraced(function* <A, E, R, E2, R2>(
  flows: Layer.Layer<never, E2, R2>,
  effect: Effect.Effect<A, E, R>,
  options: Options & SharedOptions = {},
  through: <B, E3, R3>(effect: Effect.Effect<B, E3, R3>) => Effect.Effect<Exit.Exit<B, E3>, never, R3> = throughTime
) {
  const { process } = yield* Store
  const scope = yield* Scope.make()
  const layer = Layer.fresh(Layer.provideMerge(flows, process(options)))
  const exit = yield* Effect.exit(
    Effect.flatMap(Layer.buildWithScope(layer, scope), (context) => Effect.provide(effect, context))
  )
  yield* through(Scope.close(scope, exit))
  return yield* exit
})
