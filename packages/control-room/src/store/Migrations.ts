/**
 * The database schema, the same on SQLite and Postgres. Timestamps are ISO 8601 text in UTC, so they sort as text;
 * JSON is text. A migration that has been released is never edited.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"

const tables = [
  `CREATE TABLE workspace (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    organization_id TEXT NOT NULL,
    organization_name TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    permissions TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`,
  `CREATE TABLE link_token (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    secret_hash TEXT NOT NULL,
    expires_at TEXT NOT NULL
  )`,
  `CREATE TABLE worker (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL
  )`,
  `CREATE TABLE process (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    description TEXT,
    created_at TEXT NOT NULL,
    steps TEXT NOT NULL,
    default_work_item TEXT,
    UNIQUE (workspace_id, name)
  )`,
  `CREATE TABLE process_run (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    process_id TEXT NOT NULL REFERENCES process (id),
    process_name TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at TEXT NOT NULL,
    started_at TEXT,
    ended_at TEXT,
    started_by TEXT NOT NULL,
    steps TEXT NOT NULL,
    counts TEXT NOT NULL,
    failed BIGINT NOT NULL,
    stop TEXT
  )`,
  `CREATE INDEX process_run_by_workspace ON process_run (workspace_id, id)`,
  `CREATE INDEX process_run_by_process ON process_run (process_id, id)`,
  `CREATE INDEX process_run_by_state ON process_run (workspace_id, state, id)`,
  `CREATE TABLE step_run (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    process_id TEXT NOT NULL,
    process_run_id TEXT NOT NULL REFERENCES process_run (id) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    step_id TEXT NOT NULL,
    step_name TEXT NOT NULL,
    task_name TEXT NOT NULL,
    timeout_seconds INTEGER,
    env TEXT NOT NULL,
    state TEXT NOT NULL,
    state_updated_at TEXT NOT NULL,
    error_code TEXT,
    started_at TEXT,
    ended_at TEXT,
    first_item_id TEXT NOT NULL,
    timeout_at TEXT,
    stop_requested INTEGER NOT NULL DEFAULT 0,
    worker_id TEXT,
    lease_hash TEXT,
    lease_expires_at TEXT,
    run_token_hash TEXT
  )`,
  `CREATE INDEX step_run_by_run ON step_run (process_run_id, id)`,
  `CREATE INDEX step_run_awaiting ON step_run (workspace_id, task_name, id) WHERE state = 'awaiting_worker'`,
  `CREATE INDEX step_run_live ON step_run (worker_id) WHERE state IN ('new', 'awaiting_worker', 'in_progress')`,
  `CREATE TABLE step_run_event (
    id TEXT PRIMARY KEY,
    step_run_id TEXT NOT NULL REFERENCES step_run (id) ON DELETE CASCADE,
    event_type TEXT NOT NULL,
    work_item_id TEXT,
    created_at TEXT NOT NULL
  )`,
  `CREATE INDEX step_run_event_by_step_run ON step_run_event (step_run_id, id)`,
  `CREATE TABLE work_item (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    process_id TEXT NOT NULL REFERENCES process (id),
    process_run_id TEXT REFERENCES process_run (id) ON DELETE CASCADE,
    step INTEGER,
    step_id TEXT,
    step_run_id TEXT,
    parent_id TEXT,
    state TEXT NOT NULL,
    state_updated_at TEXT,
    created_at TEXT NOT NULL,
    payload TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    released_by TEXT,
    not_before TEXT,
    exception TEXT
  )`,
  `CREATE INDEX work_item_by_workspace ON work_item (workspace_id, id)`,
  `CREATE INDEX work_item_by_state ON work_item (workspace_id, state, id)`,
  `CREATE INDEX work_item_by_process ON work_item (process_id, state, id)`,
  `CREATE INDEX work_item_by_process_id ON work_item (process_id, id)`,
  `CREATE INDEX work_item_by_run ON work_item (process_run_id, id)`,
  `CREATE INDEX work_item_by_run_state ON work_item (process_run_id, state, id)`,
  `CREATE INDEX work_item_waiting ON work_item (process_run_id, step, id) WHERE state = 'pending' AND step_run_id IS NULL`,
  `CREATE INDEX work_item_delayed ON work_item (not_before) WHERE state = 'pending' AND not_before IS NOT NULL`,
  `CREATE INDEX work_item_by_step_run ON work_item (step_run_id) WHERE step_run_id IS NOT NULL`,
  `CREATE TABLE output (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    process_id TEXT NOT NULL,
    process_run_id TEXT NOT NULL REFERENCES process_run (id) ON DELETE CASCADE,
    step_run_id TEXT NOT NULL,
    parent_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    payload TEXT NOT NULL,
    released INTEGER NOT NULL
  )`,
  `CREATE INDEX output_by_run ON output (process_run_id, id) WHERE released = 1`,
  `CREATE INDEX output_by_step_run ON output (step_run_id, parent_id) WHERE released = 0`,
  `CREATE TABLE file (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    name TEXT NOT NULL,
    size BIGINT NOT NULL,
    blob TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (owner_id, name)
  )`
]

const loader = Migrator.fromRecord({
  "0001_init": Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const table of tables) yield* sql.unsafe(table)
  })
})

/** Brings the database to the newest schema; does nothing when it is there already. */
export const migrate = Migrator.make({})({ loader, table: "migration" })

export const layer = Layer.effectDiscard(migrate)
