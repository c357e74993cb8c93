import { assert, it } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Killing from "./support/Killing.ts"
import { freePort, postgresUrl, temporarySchema } from "./support/Engines.ts"

it.live("a schedule of two processes begins each execution once, and goes on without a gap when one is killed", () =>
  Effect.gen(function* () {
    const schema = yield* temporarySchema
    const client = yield* Layer.build(PgClient.layer({ url: Redacted.make(postgresUrl), maxConnections: 1 }))
    const read = Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [table] = yield* sql<{ found: string | null }>`
          SELECT to_regclass(${`${schema}.flow_execution`})::text AS found`
      if (table === undefined || table.found === null) return []
      const rows = yield* sql<{ flow_key: string; state: string }>`
          SELECT flow_key, state FROM ${sql(schema)}.flow_execution ORDER BY started_at, id`
      return rows.map(({ flow_key, state }) => ({
        at: Date.parse(flow_key.replace("each second at ", "")),
        state
      }))
    }).pipe(Effect.provideContext(client))
    const completed = (count: number) =>
      Effect.gen(function* () {
        while ((yield* read).filter(({ state }) => state === "completed").length < count) {
          yield* Effect.sleep("100 millis")
        }
      }).pipe(Effect.timeout("60 seconds"))

    const startOne = Effect.flatMap(freePort, (port) => Killing.start([schema, `${port}`], "scheduled.ts"))
    const first = yield* startOne
    yield* completed(1)
    yield* startOne
    yield* completed(4)
    yield* first.kill
    const before = (yield* read).length
    yield* completed(before + 3)

    const times = (yield* read).map(({ at }) => at).sort((one, other) => one - other)
    const [begin = 0] = times
    assert.deepStrictEqual(
      times,
      times.map((_, index) => begin + index * 1_000)
    )
  }).pipe(Effect.scoped)
)
