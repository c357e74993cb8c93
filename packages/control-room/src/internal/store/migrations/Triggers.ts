/** Triggers, and the events that came to their addresses lately. */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE "trigger" (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    id TEXT NOT NULL,
    process_id TEXT NOT NULL REFERENCES process (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    created_at TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    starts TEXT,
    webhook TEXT,
    token_hash TEXT,
    secret TEXT,
    problem TEXT,
    problem_since TEXT,
    PRIMARY KEY (workspace_id, id)
  )`,
  `CREATE UNIQUE INDEX trigger_by_id ON "trigger" (id)`,
  `CREATE UNIQUE INDEX trigger_by_name ON "trigger" (workspace_id, name)`,
  `CREATE INDEX trigger_by_process ON "trigger" (process_id, id)`,
  `CREATE INDEX trigger_starting ON "trigger" (process_id) WHERE enabled = 1 AND starts IS NOT NULL`,
  `CREATE TABLE trigger_event (
    workspace_id TEXT NOT NULL,
    trigger_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    work_item_id TEXT NOT NULL,
    received_at TEXT NOT NULL,
    PRIMARY KEY (workspace_id, trigger_id, event_id),
    FOREIGN KEY (workspace_id, trigger_id) REFERENCES "trigger" (workspace_id, id) ON DELETE CASCADE
  )`,
  `CREATE INDEX trigger_event_by_age ON trigger_event (received_at)`
]
