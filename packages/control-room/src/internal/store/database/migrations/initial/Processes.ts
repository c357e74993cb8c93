/** Processes and their runs, what starts them, and what is paused. */
export const statements: ReadonlyArray<string> = [
  // `deleted_at`: since when it is marked as deleted: for readers it no longer exists, and its rows are deleted in
  // small transactions.
  `CREATE TABLE process (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    description TEXT,
    created_at TEXT NOT NULL,
    steps TEXT NOT NULL,
    default_work_item TEXT,
    deleted_at TEXT,
    input_schema TEXT,
    check_payloads INTEGER NOT NULL DEFAULT 0,
    forward_done_items INTEGER NOT NULL DEFAULT 0,
    pause_after_failures INTEGER,
    UNIQUE (workspace_id, name)
  )`,
  `CREATE INDEX process_by_workspace ON process (workspace_id, id)`,
  `CREATE INDEX process_deleted ON process (deleted_at) WHERE deleted_at IS NOT NULL`,
  // `event_seq`: how many events a run has had.
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
    stop TEXT,
    event_seq BIGINT NOT NULL DEFAULT 0,
    deleted_at TEXT,
    source_type TEXT,
    source_id TEXT,
    source_name TEXT,
    priority INTEGER NOT NULL DEFAULT 0
  )`,
  `CREATE INDEX process_run_by_workspace ON process_run (workspace_id, id)`,
  `CREATE INDEX process_run_by_process ON process_run (process_id, id)`,
  `CREATE INDEX process_run_by_state ON process_run (workspace_id, state, id)`,
  `CREATE INDEX process_run_by_process_state ON process_run (process_id, state, id)`,
  `CREATE INDEX process_run_deleted ON process_run (deleted_at) WHERE deleted_at IS NOT NULL`,
  `CREATE INDEX process_run_by_end ON process_run (ended_at) WHERE ended_at IS NOT NULL AND deleted_at IS NULL`,
  `CREATE INDEX process_run_live_by_source ON process_run (workspace_id, source_id)
    WHERE source_id IS NOT NULL AND state IN ('new', 'in_progress', 'stopping')`,
  `CREATE INDEX process_run_completed ON process_run (process_id, ended_at) WHERE state = 'completed'`,
  `CREATE INDEX process_run_unresolved ON process_run (workspace_id, ended_at)
    WHERE state = 'unresolved' AND deleted_at IS NULL`,
  // One row for each step that names either. Those of a run belong to the definition that it was started with.
  // `package_version`: the version that a step names; null: the current one.
  `CREATE TABLE process_step (
    process_id TEXT NOT NULL REFERENCES process (id) ON DELETE CASCADE,
    process_run_id TEXT REFERENCES process_run (id) ON DELETE CASCADE,
    step_id TEXT NOT NULL,
    package_id TEXT,
    worker_group_id TEXT,
    package_version INTEGER
  )`,
  `CREATE INDEX process_step_by_process ON process_step (process_id)`,
  `CREATE INDEX process_step_by_run ON process_step (process_run_id) WHERE process_run_id IS NOT NULL`,
  `CREATE INDEX process_step_by_package ON process_step (package_id) WHERE package_id IS NOT NULL`,
  `CREATE INDEX process_step_by_group ON process_step (worker_group_id) WHERE worker_group_id IS NOT NULL`,
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
  `CREATE INDEX schedule_occurrence_by_age ON schedule_occurrence (recorded_at)`,
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
  `CREATE INDEX trigger_event_by_age ON trigger_event (received_at)`,
  // The subject is a process, a step, a worker or a worker group; the detail is JSON: by whom, why and since when.
  `CREATE TABLE pause (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    subject_id TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (workspace_id, subject_id)
  )`,
  // Only while the last attempt failed: a row is written on a failure, and deleted by the first success after it.
  `CREATE TABLE failure_streak (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    subject_id TEXT NOT NULL,
    failures INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, subject_id)
  )`,
  // The last success of a process whose runs have been deleted since: written with their deletion alone.
  `CREATE TABLE process_success (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    process_id TEXT NOT NULL REFERENCES process (id) ON DELETE CASCADE,
    completed_at TEXT NOT NULL,
    PRIMARY KEY (workspace_id, process_id)
  )`,
  `CREATE INDEX process_success_by_process ON process_success (process_id)`
]
