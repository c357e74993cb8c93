/**
 * The database schema, the same on SQLite and Postgres. Timestamps are ISO 8601 text in UTC, so they sort as text;
 * JSON is text. A migration that has been released is never edited.
 */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { make } from "@signalbox/sql/Migrations"
import type { Sql } from "@signalbox/sql/Sql"
import { integer, queryOne, Row, text } from "@signalbox/sql/Table"
import * as Access from "./migrations/initial/Access.ts"
import * as Alerts from "./migrations/initial/Alerts.ts"
import * as Content from "./migrations/initial/Content.ts"
import * as Processes from "./migrations/initial/Processes.ts"
import * as Room from "./migrations/initial/Room.ts"
import * as Webhooks from "./migrations/initial/Webhooks.ts"
import * as Work from "./migrations/initial/Work.ts"
import * as Workers from "./migrations/initial/Workers.ts"
import * as AccessOfPeople from "./migrations/Access.ts"
import * as AlertGathering from "./migrations/AlertGathering.ts"
import * as AlertReceivers from "./migrations/AlertReceivers.ts"
import * as Audit from "./migrations/Audit.ts"
import * as AuditRoom from "./migrations/AuditRoom.ts"
import * as ConsoleMarks from "./migrations/ConsoleMarks.ts"
import * as IdempotencyMakers from "./migrations/IdempotencyMakers.ts"
import * as ItemSteps from "./migrations/ItemSteps.ts"
import * as Limits from "./migrations/Limits.ts"
import * as Needs from "./migrations/Needs.ts"
import * as People from "./migrations/People.ts"
import * as NodeNames from "./migrations/NodeNames.ts"
import * as Nodes from "./migrations/Nodes.ts"
import * as Providers from "./migrations/Providers.ts"
import * as RefusedHooks from "./migrations/RefusedHooks.ts"
import * as RunTraces from "./migrations/RunTraces.ts"
import * as SecretFields from "./migrations/SecretFields.ts"
import * as SecretHosts from "./migrations/SecretHosts.ts"
import * as Turns from "./migrations/Turns.ts"

/** The tables of version 0.1.0, the oldest whose rooms are opened, in the order of their references. */
const initial = [
  ...Access.statements,
  ...Workers.statements,
  ...Content.statements,
  ...Processes.statements,
  ...Work.statements,
  ...Webhooks.statements,
  ...Alerts.statements,
  ...Room.statements
]

export const migrations = {
  // Rooms of 0.1.0 have recorded the last of the steps by which it made its tables.
  "0032_run_steps": initial,
  "0033_run_traces": RunTraces.statements,
  "0034_console_marks": ConsoleMarks.statements,
  "0035_item_steps": ItemSteps.statements,
  "0041_nodes": Nodes.statements,
  "0043_idempotency_makers": IdempotencyMakers.statements,
  "0044_secret_hosts": SecretHosts.statements,
  "0046_refused_hooks": RefusedHooks.statements,
  "0047_alert_gathering": AlertGathering.statements,
  "0048_alert_receivers": AlertReceivers.statements,
  // Rooms that were made before 0.1.0 had failed items without a group.
  "0049_failures_grouped": ["DROP INDEX IF EXISTS work_item_without_failure"],
  "0050_node_names": NodeNames.statements,
  "0051_turns": Turns.statements,
  "0052_limits": Limits.statements,
  "0053_needs": Needs.statements,
  "0054_audit": Audit.statements,
  "0055_people": People.statements,
  "0056_providers": Providers.statements,
  "0057_secret_fields": SecretFields.statements,
  "0058_access": AccessOfPeople.statements,
  "0059_audit_room": AuditRoom.statements
}

/** Brings the database to the newest schema; does nothing when it has it already. */
export const migrate = make({ table: "migration", migrations })

const select = "SELECT migration_id, name FROM migration ORDER BY migration_id DESC LIMIT 1"
const parsed = <E>(found: Effect.Effect<ReadonlyArray<object>, E>) =>
  queryOne(Row({ migration_id: integer, name: text }), found, (row) => [row.migration_id, row.name] as const)

/** Returns the newest migration of the database; null when it has none. Fails for a database without the table. */
export const newest = Effect.flatMap(SqlClient.SqlClient, (sql) => parsed(sql.unsafe(select)))

/** Like `newest`, in a service that has started. */
export const newestOf = (sql: Sql) => parsed(sql.unsafe(select))

/** The name of the newest migration of this version. */
export const latest = Object.keys(migrations).at(-1) ?? ""

/** The name of a migration as in the list above. */
export const label = ([id, name]: readonly [id: number, name: string]) => `${String(id).padStart(4, "0")}_${name}`
