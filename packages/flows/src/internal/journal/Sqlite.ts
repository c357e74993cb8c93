/**
 * The journal in a SQLite file, which one process has to itself.
 */
import * as SqliteClient from "@signalbox/sql/SqliteClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlClient } from "effect/sql/SqlClient"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { FlowEngineError } from "../../FlowErrors.ts"
import type { Journal } from "../Journal.ts"
import { Database } from "../sql/Database.ts"
import * as Sql from "./Sql.ts"

const failed = (message: string) => new FlowEngineError({ message })

/** A client that has the file for itself. */
const client = (file: string): Layer.Layer<SqlClient, FlowEngineError> => {
  const folder = Effect.try({
    try: () => void (file === ":memory:" || mkdirSync(dirname(file), { recursive: true })),
    catch: (cause) => failed(`cannot create the folder of ${file}: ${cause instanceof Error ? cause.message : cause}`)
  })
  const opened = Layer.catchTag(SqliteClient.layer({ filename: file }), "SqliteOpenError", ({ message }) =>
    Layer.effectContext(Effect.fail(failed(message)))
  )
  return Layer.unwrap(Effect.as(folder, opened))
}

export const layer = (file: string): Layer.Layer<Journal, FlowEngineError> =>
  Sql.layer.pipe(Layer.provide(Database.layer), Layer.provide(client(file)))
