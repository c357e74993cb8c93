/**
 * The database schema, the same on SQLite and Postgres. Timestamps are ISO 8601 text in UTC, so they sort as text;
 * JSON is text. A migration that has been released is never edited.
 */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { make } from "@signalbox/sql/Migrations"
import * as AlertGathering from "./migrations/AlertGathering.ts"
import * as AlertReceivers from "./migrations/AlertReceivers.ts"
import * as Alerts from "./migrations/Alerts.ts"
import * as Access from "./migrations/Access.ts"
import * as Backups from "./migrations/Backups.ts"
import * as Bulk from "./migrations/Bulk.ts"
import * as ConsoleSessions from "./migrations/ConsoleSessions.ts"
import * as BulkOperations from "./migrations/BulkOperations.ts"
import * as ConsoleMarks from "./migrations/ConsoleMarks.ts"
import * as Content from "./migrations/Content.ts"
import * as FailureOrder from "./migrations/FailureOrder.ts"
import * as Failures from "./migrations/Failures.ts"
import * as Git from "./migrations/Git.ts"
import * as IdempotencyMakers from "./migrations/IdempotencyMakers.ts"
import * as HeldOutputs from "./migrations/HeldOutputs.ts"
import * as ReservedItems from "./migrations/ReservedItems.ts"
import * as Init from "./migrations/Init.ts"
import * as ItemSteps from "./migrations/ItemSteps.ts"
import * as InputSchemas from "./migrations/InputSchemas.ts"
import * as KeyLifetimes from "./migrations/KeyLifetimes.ts"
import * as Looks from "./migrations/Looks.ts"
import * as Nodes from "./migrations/Nodes.ts"
import * as Names from "./migrations/Names.ts"
import * as Operations from "./migrations/Operations.ts"
import * as Order from "./migrations/Order.ts"
import * as PackageVersions from "./migrations/PackageVersions.ts"
import * as Pages from "./migrations/Pages.ts"
import * as Pauses from "./migrations/Pauses.ts"
import * as ProcessSteps from "./migrations/ProcessSteps.ts"
import * as Requests from "./migrations/Requests.ts"
import * as Retention from "./migrations/Retention.ts"
import * as RunSteps from "./migrations/RunSteps.ts"
import * as RunTraces from "./migrations/RunTraces.ts"
import * as RefusedHooks from "./migrations/RefusedHooks.ts"
import * as SecretHosts from "./migrations/SecretHosts.ts"
import * as Schedules from "./migrations/Schedules.ts"
import * as Triggers from "./migrations/Triggers.ts"
import * as Waits from "./migrations/Waits.ts"
import * as Webhooks from "./migrations/Webhooks.ts"
import * as WorkerLabels from "./migrations/WorkerLabels.ts"

export const migrations = {
  "0001_init": Init.statements,
  "0002_access": Access.statements,
  "0003_webhooks": Webhooks.statements,
  "0004_content": Content.statements,
  "0005_requests": Requests.statements,
  "0006_pages": Pages.statements,
  "0007_looks": Looks.statements,
  "0008_retention": Retention.statements,
  "0009_git": Git.statements,
  "0010_in_hand": ReservedItems.statements,
  "0011_waits": Waits.statements,
  "0012_bulk": Bulk.statements,
  "0013_key_lifetimes": KeyLifetimes.statements,
  "0014_process_steps": ProcessSteps.statements,
  "0015_input_schemas": InputSchemas.statements,
  "0016_held_outputs": HeldOutputs.statements,
  "0017_operations": Operations.statements,
  "0018_worker_labels": WorkerLabels.statements,
  "0019_names": Names.statements,
  "0020_schedules": Schedules.statements,
  "0021_triggers": Triggers.statements,
  "0022_order": Order.statements,
  "0023_pauses": Pauses.statements,
  "0024_failures": Failures.statements,
  "0025_bulk_operations": BulkOperations.statements,
  "0027_backups": Backups.statements,
  "0028_alerts": Alerts.statements,
  "0029_console_sessions": ConsoleSessions.statements,
  "0030_package_versions": PackageVersions.statements,
  "0031_failure_order": FailureOrder.statements,
  "0032_run_steps": RunSteps.statements,
  "0033_run_traces": RunTraces.statements,
  "0034_console_marks": ConsoleMarks.statements,
  "0035_item_steps": ItemSteps.statements,
  "0041_nodes": Nodes.statements,
  "0043_idempotency_makers": IdempotencyMakers.statements,
  "0044_secret_hosts": SecretHosts.statements,
  "0046_refused_hooks": RefusedHooks.statements,
  "0047_alert_gathering": AlertGathering.statements,
  "0048_alert_receivers": AlertReceivers.statements
}

/** Brings the database to the newest schema; does nothing when it has it already. */
export const migrate = make({ table: "migration", migrations })

/** Returns the newest migration of the database; null for a new database. */
export const newest = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly migration_id: number; readonly name: string }>`
    SELECT migration_id, name FROM migration ORDER BY migration_id DESC LIMIT 1`
  return row === undefined ? null : ([row.migration_id, row.name] as const)
})

/** The name of the newest migration of this version. */
export const latest = Object.keys(migrations).at(-1) ?? ""

/** The name of a migration as in the list above. */
export const label = ([id, name]: readonly [id: number, name: string]) => `${String(id).padStart(4, "0")}_${name}`
