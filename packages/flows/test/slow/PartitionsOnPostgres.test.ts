import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { Journal } from "../../src/internal/journal/Journal.ts"
import * as Postgres from "../../src/internal/journal/Postgres.ts"
import { partitionOf } from "../../src/internal/model/Partitions.ts"
import { postgresOptions, temporarySchema } from "../support/Engines.ts"
import { order } from "../support/journal/Bench.ts"

it.live("an execution has the partition of its id", () =>
  Effect.gen(function* () {
    const options = postgresOptions(yield* temporarySchema)
    const open = Effect.map(Layer.build(Layer.fresh(Postgres.layer(options))), Context.get(Journal))
    const sql = Context.get(yield* Layer.build(Layer.fresh(Postgres.client(options))), SqlClient.SqlClient)
    const partitions = Effect.map(
      sql<{
        readonly id: string
        readonly partition: number
      }>`SELECT id, partition_no AS partition FROM flow_run ORDER BY id`,
      (rows) => rows.map(({ id, partition }) => [id, partition])
    )
    const journal = yield* open
    for (const key of ["a", "b", "ü", "long ".repeat(40)]) yield* journal.create(order(key))
    const made = yield* partitions
    assert.deepStrictEqual(
      made,
      made.map(([id]) => [id, partitionOf(`${id}`)])
    )
  }).pipe(Effect.scoped)
)
