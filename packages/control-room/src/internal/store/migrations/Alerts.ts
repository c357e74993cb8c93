/** Alerts: their channels, what they have found, and the messages about it. */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE alert_channel (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    target TEXT NOT NULL,
    email TEXT,
    settings TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_sent_at TEXT,
    last_failed_at TEXT,
    last_error TEXT,
    next_call_at TEXT,
    PRIMARY KEY (workspace_id, id)
  )`,
  `CREATE UNIQUE INDEX alert_channel_by_name ON alert_channel (workspace_id, name)`,
  `CREATE INDEX alert_channel_due ON alert_channel (next_call_at) WHERE next_call_at IS NOT NULL`,
  `CREATE TABLE alert (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    rule TEXT NOT NULL,
    repeat_seconds INTEGER,
    quiet TEXT,
    muted TEXT,
    created_at TEXT NOT NULL,
    since TEXT NOT NULL,
    check_at TEXT,
    PRIMARY KEY (workspace_id, id)
  )`,
  `CREATE UNIQUE INDEX alert_by_name ON alert (workspace_id, name)`,
  `CREATE INDEX alert_due ON alert (check_at) WHERE check_at IS NOT NULL`,
  `CREATE TABLE alert_target (
    workspace_id TEXT NOT NULL,
    alert_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, alert_id, channel_id),
    FOREIGN KEY (workspace_id, alert_id) REFERENCES alert (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, channel_id) REFERENCES alert_channel (workspace_id, id)
  )`,
  `CREATE INDEX alert_target_by_channel ON alert_target (workspace_id, channel_id)`,
  `CREATE TABLE alert_firing (
    workspace_id TEXT NOT NULL,
    id TEXT NOT NULL,
    alert_id TEXT NOT NULL,
    state TEXT NOT NULL,
    subject TEXT NOT NULL,
    message TEXT NOT NULL,
    began_at TEXT NOT NULL,
    ended_at TEXT,
    last_told_at TEXT,
    last_error TEXT,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, alert_id) REFERENCES alert (workspace_id, id) ON DELETE CASCADE
  )`,
  `CREATE UNIQUE INDEX alert_firing_open ON alert_firing (workspace_id, alert_id, subject) WHERE state <> 'over'`,
  `CREATE INDEX alert_firing_by_alert ON alert_firing (workspace_id, alert_id, id)`,
  `CREATE INDEX alert_firing_by_age ON alert_firing (ended_at) WHERE state = 'over'`,
  `CREATE TABLE alert_message (
    workspace_id TEXT NOT NULL,
    id TEXT NOT NULL,
    alert_id TEXT NOT NULL,
    firing_id TEXT,
    channel_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    event TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    last_attempt_at TEXT,
    next_attempt_at TEXT,
    error TEXT,
    claim TEXT,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, alert_id) REFERENCES alert (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, channel_id) REFERENCES alert_channel (workspace_id, id) ON DELETE CASCADE
  )`,
  `CREATE INDEX alert_message_by_alert ON alert_message (workspace_id, alert_id, id)`,
  `CREATE INDEX alert_message_by_channel ON alert_message (workspace_id, channel_id)`,
  `CREATE INDEX alert_message_pending ON alert_message (workspace_id, channel_id, next_attempt_at, id)
    WHERE state = 'pending'`,
  `CREATE INDEX alert_message_by_age ON alert_message (created_at)`,
  // The last success of a process whose runs have been deleted since: written with their deletion alone.
  `CREATE TABLE process_success (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    process_id TEXT NOT NULL REFERENCES process (id) ON DELETE CASCADE,
    completed_at TEXT NOT NULL,
    PRIMARY KEY (workspace_id, process_id)
  )`,
  `CREATE INDEX process_success_by_process ON process_success (process_id)`,
  `CREATE INDEX process_run_completed ON process_run (process_id, ended_at) WHERE state = 'completed'`,
  // How full the disk of each node is; a node belongs to no workspace.
  `CREATE TABLE node_disk (
    node TEXT PRIMARY KEY,
    used_percent INTEGER NOT NULL,
    measured_at TEXT NOT NULL
  )`
]
