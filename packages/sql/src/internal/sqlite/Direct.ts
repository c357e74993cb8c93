/**
 * Clients whose connection is always there, as that of SQLite. A statement that nobody traces or transforms runs on it at once, without the
 * span and the loan of a connection that `effect/sql` prepares for each.
 */
import * as Predicate from "effect/Predicate"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"

const TypeId = "~signalbox/sql/Direct"

interface Direct extends SqlClient {
  readonly [TypeId]: Connection
}

const isDirect = (client: SqlClient): client is Direct => Predicate.hasProperty(client, TypeId)

/** The client, of which this connection runs the statements outside of transactions. */
export const of = (client: SqlClient, connection: Connection): SqlClient =>
  Object.assign(client, { [TypeId]: connection })

/** The connection for statements outside of transactions; null where one is leased for each. */
export const connectionOf = (client: SqlClient): Connection | null => (isDirect(client) ? client[TypeId] : null)
