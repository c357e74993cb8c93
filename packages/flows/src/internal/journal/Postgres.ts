/**
 * The journal in a schema of a Postgres, for any number of processes.
 */
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import type { PostgresOptions } from "@signalbox/sql/PostgresOptions"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FlowEngineError } from "../../FlowErrors.ts"
import type { Journal } from "./Journal.ts"
import { Database, startError } from "./Database.ts"
import * as Sql from "./Sql.ts"
import { defaultSchema } from "./sql/Renewal.ts"

/** A client whose tables are in the schema. */
export const client = ({ directUrl, schema = defaultSchema, url }: PostgresOptions) =>
  Layer.catch(
    PostgresClient.layer({
      url,
      ...defined({ directUrl }),
      schema,
      applicationName: "signalbox flows"
    }),
    (error) => Layer.effectContext(Effect.fail(startError(error)))
  )

export const layer = (options: PostgresOptions): Layer.Layer<Journal, FlowEngineError> =>
  Sql.layer.pipe(Layer.provide(Database.layer), Layer.provide(client(options)))
