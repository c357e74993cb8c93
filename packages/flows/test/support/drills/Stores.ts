/**
 * The stores that the drills go over.
 */
import { addressesOf, dropSchema, urlVariable } from "@signalbox/testkit/Postgres"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-drills-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const sqlite = Effect.map(temporaryFolder, (folder) => ({ file: join(folder, "flows.db") }))

/** A schema in the Postgres of the project at hand. */
export const postgres = Effect.suspend(() => {
  const url = process.env[urlVariable] ?? ""
  return Effect.acquireRelease(
    Effect.sync(() => ({ ...addressesOf(url), schema: `drill_${randomUUID().replaceAll("-", "")}` })),
    ({ schema }) => dropSchema(url, schema)
  )
})

/** A separate database in that Postgres, and a client outside it, for drills that end all connections. */
export const postgresDatabase = Effect.gen(function* () {
  const url = process.env[urlVariable] ?? ""
  const name = `drill_${randomUUID().replaceAll("-", "")}`
  const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
  const sql = Context.get(yield* Layer.build(client), PgClient.PgClient)
  yield* Effect.acquireRelease(sql`CREATE DATABASE ${sql(name)}`, () =>
    Effect.orDie(sql`DROP DATABASE ${sql(name)} WITH (FORCE)`)
  )
  const own = new URL(url)
  own.pathname = `/${name}`
  return {
    store: { url: own.href, schema: "drill" },
    /** Ends connections of its processes, as the server does; returns how many. */
    terminate: (among: (index: number) => boolean) =>
      Effect.gen(function* () {
        const rows = yield* sql<{ readonly pid: number }>`SELECT pid FROM pg_stat_activity WHERE datname = ${name}`
        const some = rows.filter((_, index) => among(index))
        yield* Effect.forEach(some, ({ pid }) => sql`SELECT pg_terminate_backend(${pid})`, { discard: true })
        return some.length
      }).pipe(Effect.orDie)
  }
}).pipe(Effect.orDie)
