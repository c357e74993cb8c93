/** Step runs, work items and their failures. */
export const statements: ReadonlyArray<string> = [
  // `details_gone`: whether its console, events and artifacts were deleted by retention.
  // `labels`: sorted JSON, so that equal sets are equal text; null: any worker.
  // `package_version`: what a step run was leased with.
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
    run_token_hash TEXT,
    worker_group_id TEXT,
    package_id TEXT,
    messages_received BIGINT NOT NULL DEFAULT 0,
    events_received BIGINT NOT NULL DEFAULT 0,
    details_gone INTEGER NOT NULL DEFAULT 0,
    wait_told INTEGER NOT NULL DEFAULT 0,
    labels TEXT,
    sort_key INTEGER NOT NULL DEFAULT 0,
    package_version INTEGER,
    package_digest TEXT
  )`,
  `CREATE INDEX step_run_by_run ON step_run (process_run_id, id)`,
  `CREATE INDEX step_run_live ON step_run (worker_id) WHERE state IN ('new', 'awaiting_worker', 'in_progress')`,
  `CREATE INDEX step_run_leased ON step_run (lease_expires_at) WHERE state = 'awaiting_worker' AND worker_id IS NOT NULL`,
  `CREATE INDEX step_run_running ON step_run (worker_id) WHERE state = 'in_progress'`,
  `CREATE INDEX step_run_limited ON step_run (timeout_at) WHERE state = 'in_progress' AND timeout_at IS NOT NULL`,
  `CREATE INDEX step_run_by_end ON step_run (ended_at) WHERE ended_at IS NOT NULL AND details_gone = 0`,
  `CREATE INDEX step_run_untold ON step_run (state_updated_at)
    WHERE state = 'awaiting_worker' AND worker_id IS NULL AND wait_told = 0`,
  `CREATE INDEX step_run_open ON step_run (process_run_id, id) WHERE state IN ('new', 'awaiting_worker', 'in_progress')`,
  `CREATE INDEX step_run_labels ON step_run (workspace_id, labels)
    WHERE state = 'awaiting_worker' AND labels IS NOT NULL`,
  `CREATE INDEX step_run_awaiting ON step_run (workspace_id, task_name, sort_key, id)
    WHERE state = 'awaiting_worker' AND worker_id IS NULL`,
  `CREATE INDEX step_run_awaiting_package ON step_run (workspace_id, sort_key, id)
    WHERE state = 'awaiting_worker' AND worker_id IS NULL AND package_id IS NOT NULL`,
  `CREATE INDEX step_run_holding_package ON step_run (workspace_id, package_id, package_version)
    WHERE state IN ('awaiting_worker', 'in_progress') AND package_version IS NOT NULL`,
  `CREATE INDEX step_run_times ON step_run (process_run_id, step, started_at, ended_at) WHERE started_at IS NOT NULL`,
  `CREATE TABLE step_run_event (
    id TEXT PRIMARY KEY,
    step_run_id TEXT NOT NULL REFERENCES step_run (id) ON DELETE CASCADE,
    event_type TEXT NOT NULL,
    work_item_id TEXT,
    created_at TEXT NOT NULL,
    message TEXT
  )`,
  `CREATE INDEX step_run_event_by_step_run ON step_run_event (step_run_id, id)`,
  `CREATE TABLE console_message (
    id TEXT PRIMARY KEY,
    step_run_id TEXT NOT NULL REFERENCES step_run (id) ON DELETE CASCADE,
    timestamp TEXT NOT NULL,
    message TEXT NOT NULL
  )`,
  `CREATE INDEX console_message_by_step_run ON console_message (step_run_id, id)`,
  // `tags`: a JSON array for views; null without tags. Filters use the table.
  // `failure`: set while the item is failed.
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
    exception TEXT,
    priority INTEGER NOT NULL DEFAULT 0,
    sort_key INTEGER NOT NULL DEFAULT 0,
    due_at TEXT,
    at_risk_at TEXT,
    reference TEXT,
    tags TEXT,
    failure TEXT
  )`,
  `CREATE INDEX work_item_by_workspace ON work_item (workspace_id, id)`,
  `CREATE INDEX work_item_by_state ON work_item (workspace_id, state, id)`,
  `CREATE INDEX work_item_by_process ON work_item (process_id, state, id)`,
  `CREATE INDEX work_item_by_process_id ON work_item (process_id, id)`,
  `CREATE INDEX work_item_by_run ON work_item (process_run_id, id)`,
  `CREATE INDEX work_item_by_run_state ON work_item (process_run_id, state, id)`,
  `CREATE INDEX work_item_in_hand ON work_item (step_run_id)
    WHERE step_run_id IS NOT NULL AND state IN ('pending', 'in_progress')`,
  `CREATE INDEX work_item_delayed ON work_item (process_run_id, step, not_before, id)
    WHERE state = 'pending' AND step_run_id IS NULL AND not_before IS NOT NULL`,
  // For the exception that an event of an unresolved run names.
  `CREATE INDEX work_item_failed ON work_item (process_run_id, state_updated_at, id) WHERE state = 'failed'`,
  `CREATE INDEX work_item_by_parent ON work_item (parent_id) WHERE parent_id IS NOT NULL`,
  `CREATE INDEX work_item_ready ON work_item (process_run_id, step, sort_key, id)
    WHERE state = 'pending' AND step_run_id IS NULL AND not_before IS NULL`,
  `CREATE UNIQUE INDEX work_item_open_reference ON work_item (workspace_id, process_id, reference)
    WHERE reference IS NOT NULL AND state IN ('new', 'pending', 'in_progress', 'failed')`,
  `CREATE INDEX work_item_by_reference ON work_item (workspace_id, reference, id) WHERE reference IS NOT NULL`,
  `CREATE INDEX work_item_due ON work_item (workspace_id, id)
    WHERE due_at IS NOT NULL AND state IN ('new', 'pending', 'in_progress')`,
  `CREATE INDEX work_item_by_failure ON work_item (workspace_id, failure, id, state_updated_at)
    WHERE state = 'failed' AND failure IS NOT NULL`,
  `CREATE INDEX work_item_by_failure_time ON work_item (workspace_id, failure, state_updated_at)
    WHERE state = 'failed' AND failure IS NOT NULL`,
  `CREATE INDEX work_item_settled ON work_item (process_run_id, state, step) WHERE state IN ('done', 'failed')`,
  // Its columns have the names of those of items, so that one walks it like the table of items.
  `CREATE TABLE work_item_tag (
    workspace_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    id TEXT NOT NULL REFERENCES work_item (id) ON DELETE CASCADE,
    PRIMARY KEY (workspace_id, tag, id)
  )`,
  `CREATE INDEX work_item_tag_by_item ON work_item_tag (id)`,
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
  `CREATE INDEX output_by_run ON output (process_run_id, id)`,
  `CREATE INDEX output_by_step_run ON output (step_run_id, parent_id, id) WHERE released = 0`,
  `CREATE INDEX output_passed_on ON output (parent_id) WHERE released = 1`,
  // Counts and times come from the items: a row is written by its first item, by people, and when a resolved group
  // recurs.
  // `last_seen_at`: written once in a while, unlike the times of the items: it orders the groups, and need not be
  // exact.
  `CREATE TABLE failure_group (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    id TEXT NOT NULL,
    process_id TEXT NOT NULL REFERENCES process (id) ON DELETE CASCADE,
    step_id TEXT,
    type TEXT NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    created_at TEXT NOT NULL,
    state TEXT NOT NULL,
    muted_until TEXT,
    note TEXT,
    assignee TEXT,
    updated_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace_id, id)
  )`,
  `CREATE INDEX failure_group_by_age ON failure_group (updated_at)`,
  `CREATE INDEX failure_group_by_last_seen ON failure_group (workspace_id, last_seen_at, id)`,
  `CREATE INDEX failure_group_by_process ON failure_group (process_id, last_seen_at, id)`,
  `CREATE INDEX failure_group_by_state ON failure_group (workspace_id, state, last_seen_at, id)`,
  // `attempts`: how often the next part of a job was begun, and how many of its targets are still taken one at a
  // time.
  `CREATE TABLE bulk_operation (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    id TEXT NOT NULL,
    operation TEXT NOT NULL,
    filter TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    ended_at TEXT,
    total BIGINT NOT NULL,
    done BIGINT NOT NULL DEFAULT 0,
    refused BIGINT NOT NULL DEFAULT 0,
    refusals TEXT NOT NULL DEFAULT '[]',
    position TEXT NOT NULL DEFAULT '',
    claim TEXT,
    claimed_until TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    singles INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, id)
  )`,
  `CREATE INDEX bulk_operation_open ON bulk_operation (updated_at, id) WHERE state IN ('waiting', 'in_progress')`,
  `CREATE INDEX bulk_operation_ended ON bulk_operation (ended_at) WHERE ended_at IS NOT NULL`
]
