/**
 * More secrets than fit into a page.
 */
import * as Secrets from "@signalbox/api/Secrets"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

/** This many secrets, oldest first: copies of one, since a request for each would take longer than the test. */
export const manySecrets = Effect.fnUntraced(function* (name: string, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* Secrets.create(name, { items: {} })
  // Numbers of one length, so that ids sort in order.
  const first = 10_000
  yield* sql`
    INSERT INTO secret (id, workspace_id, name, description, version, items, created_at, updated_at)
    WITH RECURSIVE counter (n) AS (SELECT ${sql.literal(String(first))} UNION ALL SELECT n + 1 FROM counter WHERE n < ${first + count - 2})
    SELECT id || '-' || n, workspace_id, name || '_' || n, description, version, items, created_at, updated_at
    FROM secret, counter WHERE name = ${name}`
  return [name, ...Array.from({ length: count - 1 }, (_, n) => `${name}_${first + n}`)]
})
