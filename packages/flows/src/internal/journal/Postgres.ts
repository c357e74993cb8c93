/**
 * The journal in a schema of a Postgres, for any number of processes.
 */
import * as PostgresClient from "@signalbox/sql/PostgresClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { FlowEngineError } from "../../FlowErrors.ts"
import type { Journal } from "../Journal.ts"
import { Database, startError } from "../sql/Database.ts"
import * as Sql from "./Sql.ts"
import { defaultSchema } from "./sql/Renewal.ts"

interface Options {
  readonly url: Redacted.Redacted
  readonly schema?: string
}

/** A client whose tables are in the schema. */
export const client = ({ schema = defaultSchema, url }: Options) =>
  Layer.catch(PostgresClient.layer({ url, schema, applicationName: "signalbox flows" }), (error) =>
    Layer.effectContext(Effect.fail(startError(error)))
  )

export const layer = (options: Options): Layer.Layer<Journal, FlowEngineError> =>
  Sql.layer.pipe(Layer.provide(Database.layer), Layer.provide(client(options)))
