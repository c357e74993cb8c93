/** Schedules of processes, the history of their occurrences, and what started a run. */
export const statements: ReadonlyArray<string> = [
  `ALTER TABLE process_run ADD COLUMN source_type TEXT`,
  `ALTER TABLE process_run ADD COLUMN source_id TEXT`,
  `ALTER TABLE process_run ADD COLUMN source_name TEXT`,
  `CREATE INDEX process_run_live_by_source ON process_run (workspace_id, source_id)
    WHERE source_id IS NOT NULL AND state IN ('new', 'in_progress', 'stopping')`,
  `CREATE TABLE schedule (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    id TEXT NOT NULL,
    process_id TEXT NOT NULL REFERENCES process (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    inputs TEXT NOT NULL,
    created_at TEXT NOT NULL,
    state TEXT NOT NULL,
    paused_by TEXT,
    starting TEXT NOT NULL,
    next_at TEXT,
    wake_at TEXT,
    waits INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
  )`,
  `CREATE UNIQUE INDEX schedule_by_name ON schedule (workspace_id, name)`,
  `CREATE INDEX schedule_by_process ON schedule (process_id, id)`,
  `CREATE INDEX schedule_due ON schedule (wake_at) WHERE wake_at IS NOT NULL`,
  `CREATE INDEX schedule_waiting ON schedule (workspace_id, id) WHERE waits = 1`,
  `CREATE TABLE schedule_occurrence (
    workspace_id TEXT NOT NULL,
    schedule_id TEXT NOT NULL,
    at TEXT NOT NULL,
    id TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT,
    why TEXT,
    process_run_id TEXT,
    PRIMARY KEY (workspace_id, schedule_id, at),
    FOREIGN KEY (workspace_id, schedule_id) REFERENCES schedule (workspace_id, id) ON DELETE CASCADE
  )`,
  `CREATE INDEX schedule_occurrence_by_schedule ON schedule_occurrence (workspace_id, schedule_id, id)`,
  `CREATE INDEX schedule_occurrence_by_age ON schedule_occurrence (recorded_at)`
]
