/** Processes that share a journal on Postgres. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { PostgresOptions } from "../../../src/FlowEngine.ts"
import { Journal } from "../../../src/internal/journal/Journal.ts"
import * as Postgres from "../../../src/internal/journal/Postgres.ts"
import * as Sql from "../../../src/internal/journal/Sql.ts"
import { Database } from "../../../src/internal/journal/Database.ts"
import type { Process } from "./Held.ts"

/** A process with its own pool. */
export const open = (options: PostgresOptions, database = Database.layer) =>
  Layer.build(
    Layer.fresh(Sql.layer.pipe(Layer.provide(database), Layer.provideMerge(Layer.fresh(Postgres.client(options)))))
  ).pipe(
    Effect.map((context): Process => ({
      journal: Context.get(context, Journal),
      sql: Context.get(context, SqlClient.SqlClient)
    })),
    Effect.orDie
  )
